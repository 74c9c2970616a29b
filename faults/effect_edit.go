package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SetField puts a value into the JSON of the answer's body, or of the frame, at
// the place that a JSON pointer (RFC 6901) tells: "/metadata/continue",
// "/items/0/metadata/name", in a frame "/type", "/object/kind". Objects on the
// way that are missing are made; all other bytes stay. The value is anything
// that [encoding/json] can encode, a [json.RawMessage] to say it in JSON.
//
// An answer in protobuf can be edited as far as its form allows: the type of an
// event, kind, apiVersion and what is in metadata; of a list also /items as a
// whole, if the value is an empty list, and one item, if it is removed. What
// cannot be done, here or in a body that is no JSON, is answered with 500 (in a
// stream an ERROR event) and the reason, and noted in the hits. An answer without
// a body stays as it is, which is noted, too.
func SetField(pointer string, value any) Effect {
	e := edit{pointer: pointer}
	if e.path, e.err = parsePointer(pointer); e.err != nil {
		return e
	}
	data, err := json.Marshal(value)
	if of := (*json.MarshalerError)(nil); errors.As(err, &of) {
		err = of.Unwrap()
	}
	if err == nil {
		e.value, err = canonicalJSON(data)
	}
	if err != nil {
		e.err = fmt.Errorf("the value for %s is no JSON: %w", pointer, err)
	}
	return e
}

// RemoveField takes out what a JSON pointer leads to, as [SetField] puts it in.
// A document without it stays as it is.
func RemoveField(pointer string) Effect {
	path, err := parsePointer(pointer)
	return edit{pointer: pointer, path: path, err: err}
}

type edit struct {
	pointer string
	path    []string // what pointer says
	value   string   // canonical JSON; "" to remove
	err     error    // of what it was made from
}

// canonicalJSON gives the one text for a value that rules keep.
func canonicalJSON(data []byte) (string, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return "", err
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

// jsonValue gives the value as JSON, nil to remove.
func (e edit) jsonValue() []byte {
	if e.value == "" {
		return nil
	}
	return []byte(e.value)
}

func (e edit) applyCommitted(x *exchange, a *bufferedResponse) outcome {
	if a.Body.Len() == 0 { // HEAD, 204, 304
		x.notApplied = "the answer has no body"
		return proceed
	}
	edited, err := e.editBody(a)
	if err != nil {
		x.notApplied = err.Error()
		writeStatus(x.w, x.r, completeStatus(e.notAppliedStatus(err), x.op))
		return finished
	}
	a.setBody(edited)
	return proceed
}

func (e edit) editBody(a *bufferedResponse) ([]byte, error) {
	if err := a.decompress(); err != nil {
		return nil, err
	}
	contentType := a.Header().Get("Content-Type")
	switch framingFor(contentType).(type) {
	case jsonFraming:
		return editJSON(a.Body.Bytes(), e.path, e.jsonValue())
	case protobufFraming:
		return editProtobuf(a.Body.Bytes(), e)
	}
	return nil, fmt.Errorf("a body of %q cannot be edited", contentType)
}

func (e edit) applyStream(s *watchWriter, f *frame) outcome {
	edited, err := s.framing.edit(f.data, e)
	if err != nil {
		s.x.notApplied = err.Error()
		s.writeNow(s.framing.errorFrame(completeStatus(e.notAppliedStatus(err), s.op)))
		return finished
	}
	f.data = edited
	return proceed
}

// notAppliedStatus says why the client gets this instead of what the rule is for: to
// serve the answer untouched would be a test that tests nothing.
func (e edit) notAppliedStatus(why error) metav1.Status {
	return apierrors.NewInternalError(fmt.Errorf("the rule for %s cannot be applied: %w", e, why)).Status()
}

// Overwrite replaces bytes of the answer's body, or of the frame, from an offset
// on: what a broken cable or a wrong build does. Bytes are counted as they
// travel. What is shorter than that is sent as it is.
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
		return errors.New("overwrite takes an offset that is not negative, and at least one byte")
	}
	return nil
}

func (e overwrite) applyCommitted(_ *exchange, a *bufferedResponse) outcome {
	e.overwriteBytes(a.Body.Bytes())
	return proceed
}

func (e overwrite) applyStream(_ *watchWriter, f *frame) outcome {
	f.data = bytes.Clone(f.data)
	e.overwriteBytes(f.data)
	return proceed
}

func (e overwrite) overwriteBytes(data []byte) {
	if e.offset+len(e.text) <= len(data) {
		copy(data[e.offset:], e.text)
	}
}
