package codec

import (
	"encoding/binary"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/internal/frames"
)

// A protobuf body is frames.ProtobufPrefix and a runtime.Unknown message (PB-02):
// field 1 the TypeMeta, 2 the object, 3 and 4 the empty contentEncoding and
// contentType. A list message has its ListMeta as field 1 and each item as
// field 2. Both are assembled here from parts that are encoded once.

// emptyContentFields is the encoding of an empty contentEncoding and contentType.
var emptyContentFields = []byte{0x1a, 0x00, 0x22, 0x00}

// marshaler is what every generated type has.
type marshaler interface{ Marshal() ([]byte, error) }

// MarshalProtobuf gives the protobuf message of an object, without any envelope.
func MarshalProtobuf(obj any) ([]byte, error) {
	m, ok := obj.(marshaler)
	if !ok {
		return nil, fmt.Errorf("%T has no protobuf encoding", obj)
	}
	return m.Marshal()
}

// AppendEnvelope appends everything that stands before a message of size bytes
// of the given kind; the message and then EnvelopeEnd follow it.
func AppendEnvelope(b []byte, apiVersion, kind string, size int) []byte {
	b = append(b, frames.ProtobufPrefix...)
	b = AppendField(b, 1, FieldSize(len(apiVersion))+FieldSize(len(kind)))
	b = AppendField(b, 1, len(apiVersion))
	b = append(b, apiVersion...)
	b = AppendField(b, 2, len(kind))
	b = append(b, kind...)
	return AppendField(b, 2, size)
}

// EnvelopeEnd is what stands behind the message.
func EnvelopeEnd() []byte { return emptyContentFields }

// AppendField appends the tag and the length of a length-delimited field.
func AppendField(b []byte, field, size int) []byte {
	b = protowire.AppendTag(b, protowire.Number(field), protowire.BytesType)
	return protowire.AppendVarint(b, uint64(size))
}

// FieldSize is the number of bytes that AppendField and size bytes take.
func FieldSize(size int) int {
	return protowire.SizeTag(1) + protowire.SizeBytes(size)
}

// Envelope wraps a whole message.
func Envelope(apiVersion, kind string, message []byte) []byte {
	b := make([]byte, 0, len(message)+len(apiVersion)+len(kind)+32)
	b = AppendEnvelope(b, apiVersion, kind, len(message))
	b = append(b, message...)
	return append(b, emptyContentFields...)
}

// AppendWatchEventHeader appends a length-delimited WatchEvent frame (WA-32) around
// an enveloped object of which size bytes are announced; they follow.
func AppendWatchEventHeader(b []byte, eventType string, size int) []byte {
	raw := FieldSize(size)
	event := FieldSize(len(eventType)) + FieldSize(raw)
	b = binary.BigEndian.AppendUint32(b, uint32(event))
	b = AppendField(b, 1, len(eventType))
	b = append(b, eventType...)
	b = AppendField(b, 2, raw)
	return AppendField(b, 1, size)
}

// EncodeStatusEnvelope is a Status in protobuf.
func EncodeStatusEnvelope(s *metav1.Status) ([]byte, error) {
	message, err := s.Marshal()
	if err != nil {
		return nil, err
	}
	return Envelope("v1", "Status", message), nil
}

// EnvelopeSize is the size of the envelope and a message of size bytes.
func EnvelopeSize(apiVersion, kind string, size int) int {
	typeMeta := FieldSize(len(apiVersion)) + FieldSize(len(kind))
	return len(frames.ProtobufPrefix) + FieldSize(typeMeta) + FieldSize(size) + len(emptyContentFields)
}
