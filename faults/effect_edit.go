package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SetField sets a value in the JSON of the response body or of the frame. The JSON pointer (RFC
// 6901) selects the value: "/metadata/continue", "/items/0/metadata/name", in a frame "/type" or
// "/object/kind". Missing parent objects are created, and all other bytes are unchanged. The value
// is anything that [encoding/json] can encode, for instance a [json.RawMessage].
//
// In protobuf only some fields can be set: the type of an event, kind, apiVersion, and the fields
// of metadata; in a list also /items, if the value is an empty list. [RemoveField] can remove one
// item. An edit that is not possible, or a body that is not JSON, results in a 500 with the reason
// (in a stream an ERROR event), and the hit is marked as not applied. A response without a body is
// sent unchanged, and the hit is marked as not applied.
func SetField(pointer string, value any) Effect {
	e := edit{pointer: pointer}
	if e.path, e.err = parsePointer(pointer); e.err != nil {
		return e
	}
	data, err := json.Marshal(value)
	if marshalErr := (*json.MarshalerError)(nil); errors.As(err, &marshalErr) {
		err = marshalErr.Unwrap()
	}
	if err == nil {
		e.value, err = canonicalJSON(data)
	}
	if err != nil {
		e.err = fmt.Errorf("the value for %s is not valid JSON: %w", pointer, err)
	}
	return e
}

// RemoveField removes the value that a JSON pointer selects. See [SetField] for the pointer and the
// limits. A document without the value is unchanged.
func RemoveField(pointer string) Effect {
	path, err := parsePointer(pointer)
	return edit{pointer: pointer, path: path, err: err}
}

type edit struct {
	pointer string
	path    []string // pointer, parsed
	value   string   // canonical JSON; "" to remove
	err     error    // of parsing the pointer or encoding the value
}

// canonicalJSON returns the form of a JSON value that rules store and print.
func canonicalJSON(data []byte) (string, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return "", err
	}
	if _, err := d.Token(); err != io.EOF {
		return "", errors.New("there is something after the value")
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), err
}

func (e edit) String() string {
	if e.value == "" {
		return callText("remove", quote(e.pointer))
	}
	var text string
	if json.Unmarshal([]byte(e.value), &text) == nil && e.value[0] == '"' {
		return callText("set", quote(e.pointer), quote(text))
	}
	return callText("set", quote(e.pointer), callText("json", quote(e.value)))
}
func (edit) isFinal() bool  { return false }
func (e edit) check() error { return e.err }

// jsonValue returns the value as JSON, nil to remove.
func (e edit) jsonValue() []byte {
	if e.value == "" {
		return nil
	}
	return []byte(e.value)
}

func (e edit) applyCommitted(x *exchange, resp *bufferedResponse) outcome {
	if resp.Body.Len() == 0 { // HEAD, 204, 304
		x.notApplied = "the response has no body"
		return proceed
	}
	edited, err := e.editBody(resp)
	if err != nil {
		x.notApplied = err.Error()
		writeStatus(x.w, x.r, completeStatus(e.notAppliedStatus(err), x.op))
		return finished
	}
	resp.setBody(edited)
	return proceed
}

func (e edit) editBody(resp *bufferedResponse) ([]byte, error) {
	if err := resp.decompress(); err != nil {
		return nil, err
	}
	contentType := resp.Header().Get("Content-Type")
	switch framingFor(contentType).(type) {
	case jsonFraming:
		return editJSON(resp.Body.Bytes(), e.path, e.jsonValue())
	case protobufFraming:
		return editProtobuf(resp.Body.Bytes(), e)
	}
	return nil, fmt.Errorf("a body of %q cannot be edited", contentType)
}

func (e edit) applyStream(w *watchWriter, f *frame) outcome {
	edited, err := w.framing.edit(f.data, e)
	if err != nil {
		w.x.notApplied = err.Error()
		w.writeNow(w.framing.errorFrame(completeStatus(e.notAppliedStatus(err), w.op)))
		return finished
	}
	f.data = edited
	return proceed
}

// notAppliedStatus returns the Status that the client receives if the edit is not possible. An
// unchanged response would hide that the fault was not injected.
func (e edit) notAppliedStatus(reason error) metav1.Status {
	return apierrors.NewInternalError(fmt.Errorf("the effect %s cannot be applied: %w", e, reason)).Status()
}

// Overwrite replaces bytes of the response body or of the frame, starting at offset, as data
// corruption does. Bytes are counted as they are sent, that is after compression. A body or frame
// that is too short is sent unchanged.
func Overwrite(offset int, text string) Effect { return overwrite{offset, text} }

type overwrite struct {
	offset int
	text   string
}

func (e overwrite) String() string {
	return callText("overwrite", strconv.Itoa(e.offset), quote(e.text))
}
func (overwrite) isFinal() bool { return false }
func (e overwrite) check() error {
	if e.offset < 0 || e.text == "" {
		return errors.New("overwrite takes a non-negative offset and at least one byte")
	}
	return nil
}

func (e overwrite) applyCommitted(_ *exchange, resp *bufferedResponse) outcome {
	e.overwriteBytes(resp.Body.Bytes())
	return proceed
}

func (e overwrite) applyStream(_ *watchWriter, f *frame) outcome {
	e.overwriteBytes(f.data)
	return proceed
}

func (e overwrite) overwriteBytes(data []byte) {
	if len(e.text) <= len(data)-e.offset { // the sum of both could overflow
		copy(data[e.offset:], e.text)
	}
}
