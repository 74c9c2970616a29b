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

// bodyInfo is what a body tells of its object.
type bodyInfo struct {
	Type                             string // of an event
	Namespace, Name, ResourceVersion string
	reason                           string // of a Status
}

// eventInfo reads the frame of a watch, as far as it was kept.
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
		if text, err := frames.CBORToJSON(b.Data); err == nil { // else it was not kept whole
			t = jsonInfo(text, "object.")
		}
	}
	if t.Type == "ERROR" {
		t.Name = t.reason
	}
	return t
}

// objectInfo reads the body of an answer, as far as it was kept.
func objectInfo(b Body) bodyInfo {
	switch b.ContentType {
	case runtime.ContentTypeJSON:
		return jsonInfo(b.Data, "")
	case runtime.ContentTypeProtobuf:
		return protobufInfo(b.Data)
	case runtime.ContentTypeCBOR:
		if text, err := frames.CBORToJSON(b.Data); err == nil { // else it was not kept whole
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

// jsonInfo reads up to the end, or to where the text is cut off. base is the path of
// the object in it.
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
	// An error is the end of what can be read.
	_ = jsonLeaves(json.NewDecoder(bytes.NewReader(text)), "", leaves)
	return t
}

var errNoObject = errors.New("no object")

// jsonLeaves reads an object whose path is given, with a dot at its end, and fills in leaves.
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

// protobufInfo reads an object of any kind: its metadata are field 1, of an object and
// of a list, which have their resourceVersions in different places.
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

// field gives the bytes of a field of a protobuf message, or what is there of them if
// the message is cut off; nil if it has none.
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

// consumeValue parts a value of a wire type from what follows; with an error all is the value.
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
