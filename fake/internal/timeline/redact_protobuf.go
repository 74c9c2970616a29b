package timeline

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"strings"

	"example.com/fakeapi/internal/frames"
	"example.com/fakeapi/internal/requestinfo"
)

// protobufFields has functions that redact the value of a field, by the number of the field in its
// message.
type protobufFields map[uint64]func(value []byte) []byte

// message redacts a message that is a field of another one.
func (f protobufFields) message(value []byte) []byte { return redactMessage(value, f) }

func redactText(value []byte) []byte {
	if len(value) == 0 {
		return nil
	}
	return []byte(requestinfo.Redacted)
}

// redactBytes is redactText for a field that is base64 in JSON.
func redactBytes(value []byte) []byte {
	if len(value) == 0 {
		return nil
	}
	plain, _ := base64.StdEncoding.DecodeString(requestinfo.Redacted)
	return plain
}

// redactAnnotation redacts an entry of the annotations.
func redactAnnotation(entry []byte) []byte {
	if string(field(entry, 1)) != lastApplied {
		return entry
	}
	return redactMessage(entry, protobufFields{2: redactText})
}

// metadataProtobuf has the fields of an ObjectMeta.
func metadataProtobuf() protobufFields { return protobufFields{12: redactAnnotation} }

// secretProtobuf has the fields of a Secret: metadata, data and stringData.
func secretProtobuf() protobufFields {
	return protobufFields{
		1: metadataProtobuf().message,
		2: protobufFields{2: redactBytes}.message,
		4: protobufFields{2: redactText}.message,
	}
}

// tokenRequestProtobuf has the token in the status of a TokenRequest.
func tokenRequestProtobuf() protobufFields {
	return protobufFields{3: protobufFields{1: redactText}.message}
}

// tokenReviewProtobuf has the token in the spec of a TokenReview.
func tokenReviewProtobuf() protobufFields {
	return protobufFields{2: protobufFields{1: redactText}.message}
}

// statusProtobuf has the messages of a Status.
func statusProtobuf() protobufFields {
	return protobufFields{
		3: redactText,
		5: protobufFields{4: protobufFields{2: redactText}.message}.message,
	}
}

// redactProtobuf replaces values in an object, a list or an event. It returns nil for what is
// neither.
func (f *secretFields) redactProtobuf(data []byte) []byte {
	if object := f.redactEnvelope(data); object != nil {
		return object
	}
	if len(data) < frames.LengthPrefixSize {
		return nil
	}
	event := redactMessage(data[frames.LengthPrefixSize:], protobufFields{
		2: protobufFields{1: f.redactEnvelope}.message,
	})
	missing := int(binary.BigEndian.Uint32(data)) - len(data) + frames.LengthPrefixSize
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(event)+missing)), event...)
}

// redactEnvelope replaces values in an object with its prefix and its kind.
func (f *secretFields) redactEnvelope(data []byte) []byte {
	envelope, ok := bytes.CutPrefix(data, []byte(frames.ProtobufPrefix))
	if !ok {
		return nil
	}
	object := f.object
	kind, isList := strings.CutSuffix(string(field(field(envelope, 1), 2)), "List")
	switch kind {
	case "Status":
		object = f.status
	case "PartialObjectMetadata":
		object = protobufFields{1: metadataProtobuf().message}
	}
	if isList {
		object = protobufFields{2: object.message}
	}
	return append([]byte(frames.ProtobufPrefix), redactMessage(envelope, protobufFields{2: object.message})...)
}

// redactMessage replaces fields in a message, which may be truncated. It leaves out what is not the
// encoding of a field.
func redactMessage(message []byte, fields protobufFields) (redacted []byte) {
	for len(message) > 0 {
		tag, n := binary.Uvarint(message)
		if n <= 0 {
			break
		}
		value, rest, err := consumeValue(message[n:], tag&7)
		redact := fields[tag>>3]
		switch {
		case tag&7 != 2 && err != nil:
			return redacted
		case tag&7 != 2 || redact == nil:
			redacted = append(redacted, message[:len(message)-len(rest)]...)
		default:
			length, _ := binary.Uvarint(message[n:])
			missing := length - uint64(len(value))
			value = redact(value)
			redacted = binary.AppendUvarint(append(redacted, message[:n]...), uint64(len(value))+missing)
			redacted = append(redacted, value...)
		}
		message = rest
	}
	return redacted
}
