package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/internal/frames"
)

// errUnsupportedEdit is returned for edits that need the type of the object.
var errUnsupportedEdit = errors.New("in protobuf only kind, apiVersion and metadata can be edited, items be removed or emptied, " +
	"and in frames the type be set and the object removed; use a client that accepts application/json")

// editProtobufEvent edits a watch event.
func editProtobufEvent(event *metav1.WatchEvent, e edit) (err error) {
	switch {
	case e.path[0] == "type" && len(e.path) == 1:
		event.Type, err = e.stringValue()
	case e.path[0] == "object" && len(e.path) > 1:
		inner := e
		inner.path = e.path[1:]
		event.Object.Raw, err = editProtobuf(event.Object.Raw, inner)
	case e.path[0] == "object" && (e.value == "" || e.value == "null"):
		event.Object.Raw = nil
	default:
		err = errUnsupportedEdit
	}
	return err
}

// stringValue returns the value as a string, "" to remove it. It fails if the value is not a
// string.
func (e edit) stringValue() (s string, err error) {
	if e.value == "" {
		return "", nil
	}
	if json.Unmarshal([]byte(e.value), &s) != nil || e.value == "null" {
		return "", fmt.Errorf("in protobuf %s is a string and cannot be %s", e.pointer, e.value)
	}
	return s, nil
}

// editProtobuf edits an encoded object, including its envelope.
func editProtobuf(body []byte, e edit) ([]byte, error) {
	envelope, ok := bytes.CutPrefix(body, []byte(frames.ProtobufPrefix))
	if !ok {
		return nil, errors.New("the body is not an object in protobuf")
	}
	var object runtime.Unknown
	if err := object.Unmarshal(envelope); err != nil {
		return nil, err
	}
	var err error
	switch {
	case e.path[0] == "kind" && len(e.path) == 1:
		object.Kind, err = e.stringValue()
	case e.path[0] == "apiVersion" && len(e.path) == 1:
		object.APIVersion, err = e.stringValue()
	case slices.Contains([]string{"APIGroup", "APIGroupList", "APIResourceList", "APIVersions"}, object.Kind):
		err = errUnsupportedEdit // these have no metadata
	case e.path[0] == "metadata" && (strings.HasSuffix(object.Kind, "List") || object.Kind == "Status"):
		object.Raw, err = editMetadata(object.Raw, e, &metav1.ListMeta{}, &metav1.ListMeta{})
	case e.path[0] == "metadata":
		object.Raw, err = editMetadata(object.Raw, e, &metav1.ObjectMeta{}, &metav1.ObjectMeta{})
	case e.path[0] == "items" && strings.HasSuffix(object.Kind, "List"):
		object.Raw, err = editItems(object.Raw, e)
	default:
		err = errUnsupportedEdit
	}
	if err != nil {
		return nil, err
	}
	return append([]byte(frames.ProtobufPrefix), mustMarshal(&object)...), nil
}

// protobufMessage is a message that also has a JSON encoding.
type protobufMessage interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// The numbers of the fields that all objects and all lists have.
const (
	metadataField = 1
	itemsField    = 2
)

// editMetadata edits the metadata field of an object by converting it to JSON and back.
func editMetadata(raw []byte, e edit, old, edited protobufMessage) ([]byte, error) {
	fields, err := readFields(raw)
	if err != nil {
		return nil, err
	}
	var rest []byte
	for _, f := range fields {
		if f.number != metadataField {
			rest = append(rest, f.raw...)
		} else if err := old.Unmarshal(f.content); err != nil {
			return nil, err
		}
	}
	doc, err := json.Marshal(map[string]any{"metadata": old})
	if err != nil {
		return nil, err
	}
	if doc, err = editJSON(doc, e.path, e.jsonValue()); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(doc))
	d.DisallowUnknownFields()
	if err := d.Decode(&struct {
		Metadata protobufMessage `json:"metadata"`
	}{edited}); err != nil {
		return nil, fmt.Errorf("the edited metadata has no protobuf encoding: %w", err)
	}
	return append(appendField(nil, metadataField, mustMarshal(edited)), rest...), nil
}

// editItems removes one item or all items of a list.
func editItems(raw []byte, e edit) ([]byte, error) {
	remove := -1
	switch {
	case len(e.path) == 1 && e.value == "[]":
	case len(e.path) == 2 && e.value == "":
		at, err := strconv.Atoi(e.path[1])
		if err != nil || at < 0 {
			return raw, nil // nothing to remove, as in JSON
		}
		remove = at
	case len(e.path) == 1:
		return nil, errors.New("in protobuf items cannot be null; use a client that accepts application/json")
	default:
		return nil, errUnsupportedEdit
	}
	fields, err := readFields(raw)
	if err != nil {
		return nil, err
	}
	var kept []byte
	items := 0
	for _, f := range fields {
		if f.number == itemsField {
			if items++; remove < 0 || items-1 == remove {
				continue
			}
		}
		kept = append(kept, f.raw...)
	}
	return kept, nil
}

// protobufField is one field of an encoded message.
type protobufField struct {
	number  protowire.Number
	raw     []byte // tag and value
	content []byte // the value of a length-delimited field, nil for others
}

var errInvalidProtobuf = errors.New("the object is not a protobuf message")

// readFields splits a message into its fields without knowing its type.
func readFields(raw []byte) (fields []protobufField, err error) {
	for len(raw) > 0 {
		number, wireType, tagLen := protowire.ConsumeTag(raw)
		if tagLen < 0 {
			return nil, errInvalidProtobuf
		}
		valueLen := protowire.ConsumeFieldValue(number, wireType, raw[tagLen:])
		if valueLen < 0 {
			return nil, errInvalidProtobuf
		}
		f := protobufField{number: number, raw: raw[:tagLen+valueLen]}
		if wireType == protowire.BytesType {
			f.content, _ = protowire.ConsumeBytes(raw[tagLen:])
		}
		fields = append(fields, f)
		raw = raw[tagLen+valueLen:]
	}
	return fields, nil
}

// appendField appends a length-delimited field.
func appendField(to []byte, number protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, number, protowire.BytesType), content)
}
