package codec

import (
	"encoding/binary"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/internal/frames"
)

// A protobuf body is frames.ProtobufPrefix and a runtime.Unknown message (PB-02). Field 1 of the
// message is the TypeMeta, 2 the object, 3 and 4 the empty contentEncoding and contentType. A list
// message has its ListMeta as field 1 and each item as field 2. Both are assembled here from parts
// that are encoded once.

// emptyContentFields is the encoding of an empty contentEncoding and contentType.
var emptyContentFields = []byte{0x1a, 0x00, 0x22, 0x00}

// marshaler is implemented by all generated types.
type marshaler interface{ Marshal() ([]byte, error) }

// MarshalProtobuf returns the protobuf message of an object, without the envelope.
func MarshalProtobuf(obj any) ([]byte, error) {
	m, ok := obj.(marshaler)
	if !ok {
		return nil, fmt.Errorf("%T has no protobuf encoding", obj)
	}
	return m.Marshal()
}

// AppendEnvelope appends the part of the envelope before a message of size bytes. The message and
// EnvelopeEnd must follow.
func AppendEnvelope(b []byte, apiVersion, kind string, size int) []byte {
	b = append(b, frames.ProtobufPrefix...)
	b = AppendField(b, 1, FieldSize(len(apiVersion))+FieldSize(len(kind)))
	b = AppendField(b, 1, len(apiVersion))
	b = append(b, apiVersion...)
	b = AppendField(b, 2, len(kind))
	b = append(b, kind...)
	return AppendField(b, 2, size)
}

// EnvelopeEnd returns the part of the envelope after the message.
func EnvelopeEnd() []byte { return emptyContentFields }

// AppendField appends the tag and the length of a length-delimited field.
func AppendField(b []byte, field, size int) []byte {
	b = protowire.AppendTag(b, protowire.Number(field), protowire.BytesType)
	return protowire.AppendVarint(b, uint64(size))
}

// FieldSize returns the size of a length-delimited field with size bytes of content, including its
// tag and length. The number of the field must be less than 16.
func FieldSize(size int) int {
	return protowire.SizeTag(1) + protowire.SizeBytes(size)
}

// Envelope returns a message in its envelope.
func Envelope(apiVersion, kind string, message []byte) []byte {
	b := make([]byte, 0, len(message)+len(apiVersion)+len(kind)+32)
	b = AppendEnvelope(b, apiVersion, kind, len(message))
	b = append(b, message...)
	return append(b, emptyContentFields...)
}

// AppendWatchEventHeader appends the beginning of a length-delimited WatchEvent frame (WA-32). The
// enveloped object, of size bytes, must follow.
func AppendWatchEventHeader(b []byte, eventType string, size int) []byte {
	raw := FieldSize(size)
	event := FieldSize(len(eventType)) + FieldSize(raw)
	b = binary.BigEndian.AppendUint32(b, uint32(event))
	b = AppendField(b, 1, len(eventType))
	b = append(b, eventType...)
	b = AppendField(b, 2, raw)
	return AppendField(b, 1, size)
}

// EncodeStatusEnvelope returns a Status as a protobuf body.
func EncodeStatusEnvelope(s *metav1.Status) ([]byte, error) {
	message, err := s.Marshal()
	if err != nil {
		return nil, err
	}
	return Envelope("v1", "Status", message), nil
}

// EnvelopeSize returns the size of a message of size bytes in its envelope.
func EnvelopeSize(apiVersion, kind string, size int) int {
	typeMeta := FieldSize(len(apiVersion)) + FieldSize(len(kind))
	return len(frames.ProtobufPrefix) + FieldSize(typeMeta) + FieldSize(size) + len(emptyContentFields)
}
