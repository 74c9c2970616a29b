package timeline

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"example.com/fakeapi/internal/frames"
)

// bodyInfo is the metadata of the object in a body.
type bodyInfo struct {
	Type                             string // of an event
	Namespace, Name, ResourceVersion string
	reason                           string // of a Status
}

// ObjectName returns the name of the object in the body, or "" if there is none.
func (b Body) ObjectName() string { return objectInfo(b).Name }

// eventInfo parses a frame of a watch, which may be truncated.
func eventInfo(b Body) (t bodyInfo) {
	switch b.ContentType {
	case runtime.ContentTypeJSON:
		t = jsonInfo(b.Data, "object.")
	case runtime.ContentTypeProtobuf:
		if len(b.Data) < frames.LengthPrefixSize {
			return t
		}
		event := b.Data[frames.LengthPrefixSize:]
		t = protobufInfo(field(field(event, 2), 1))
		t.Type = string(field(event, 1))
	case runtime.ContentTypeCBORSequence:
		if text, err := frames.CBORToJSON(b.Data); err == nil { // fails if truncated
			t = jsonInfo(text, "object.")
		}
	}
	if t.Type == "ERROR" {
		t.Name = t.reason
	}
	return t
}

// objectInfo parses the body of a response, which may be truncated.
func objectInfo(b Body) bodyInfo {
	switch b.ContentType {
	case runtime.ContentTypeJSON:
		return jsonInfo(b.Data, "")
	case runtime.ContentTypeProtobuf:
		return protobufInfo(b.Data)
	case runtime.ContentTypeCBOR:
		if text, err := frames.CBORToJSON(b.Data); err == nil { // fails if truncated
			return jsonInfo(text, "")
		}
	case runtime.ContentTypeYAML:
		whole := b.Data[:bytes.LastIndexByte(b.Data, '\n')+1]
		text, err := yaml.YAMLToJSON(whole)
		if err != nil {
			return bodyInfo{}
		}
		return jsonInfo(text, "")
	}
	return bodyInfo{}
}

// jsonInfo parses JSON, which may be truncated. base is the path of the object.
func jsonInfo(text []byte, base string) (t bodyInfo) {
	leaves := map[string]*string{
		"type":                            new(string),
		base + "reason":                   &t.reason,
		base + "metadata.name":            &t.Name,
		base + "metadata.namespace":       &t.Namespace,
		base + "metadata.resourceVersion": &t.ResourceVersion,
	}
	if base != "" {
		leaves["type"] = &t.Type
	}
	// An error means that the text is truncated.
	_ = jsonLeaves(json.NewDecoder(bytes.NewReader(text)), "", leaves)
	return t
}

var errNoObject = errors.New("no object")

// jsonLeaves reads an object at a path, which ends with a dot or is empty, and sets the values of
// leaves.
func jsonLeaves(d *json.Decoder, path string, leaves map[string]*string) error {
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return errors.Join(errNoObject, err)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string)
		switch at := path + name; {
		case leaves[at] != nil:
			var value any
			err = d.Decode(&value)
			*leaves[at], _ = value.(string)
		case at == "object", at == "metadata", at == "object.metadata":
			err = jsonLeaves(d, at+".", leaves)
		default:
			err = d.Decode(new(json.RawMessage))
		}
		if err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// protobufInfo parses the metadata of any object or list. It is field 1 of both, but
// resourceVersion has different field numbers.
func protobufInfo(body []byte) (t bodyInfo) {
	envelope, ok := bytes.CutPrefix(body, []byte(frames.ProtobufPrefix))
	if !ok {
		return t
	}
	kind := string(field(field(envelope, 1), 2))
	object := field(envelope, 2)
	metadata := field(object, 1)
	switch {
	case kind == "Status":
		t.reason = string(field(object, 4))
	case strings.HasSuffix(kind, "List"):
		t.ResourceVersion = string(field(metadata, 2))
	default:
		t.Name, t.Namespace, t.ResourceVersion = string(field(metadata, 1)), string(field(metadata, 3)), string(field(metadata, 6))
	}
	return t
}

// field returns the bytes of a field of a protobuf message, possibly truncated, or nil if the
// message does not have it.
func field(message []byte, number uint64) []byte {
	for len(message) > 0 {
		tag, n := binary.Uvarint(message)
		if n <= 0 {
			return nil
		}
		value, rest, err := consumeValue(message[n:], tag&7)
		if tag == number<<3|2 {
			return value
		}
		if err != nil {
			return nil
		}
		message = rest
	}
	return nil
}

// consumeValue splits off a value of a wire type. If it returns an error, value is all of message.
func consumeValue(message []byte, wire uint64) (value, rest []byte, err error) {
	size := uint64(0)
	switch wire {
	case 0:
		_, n := binary.Uvarint(message)
		if n <= 0 {
			return nil, nil, io.ErrUnexpectedEOF
		}
		size = uint64(n)
	case 1:
		size = 8
	case 2:
		length, n := binary.Uvarint(message)
		if n <= 0 {
			return nil, nil, io.ErrUnexpectedEOF
		}
		size, message = length, message[n:]
	case 5:
		size = 4
	default:
		return nil, nil, io.ErrUnexpectedEOF
	}
	if size > uint64(len(message)) {
		return message, nil, io.ErrUnexpectedEOF
	}
	return message[:size], message[size:], nil
}
