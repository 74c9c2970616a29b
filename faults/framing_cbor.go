package faults

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/fakeapi/internal/frames"
)

// cborFraming has one CBOR item for each event. The event and its object have the self-described
// tag.
type cborFraming struct{}

func (cborFraming) contentType() string { return runtime.ContentTypeCBORSequence }

// parseEvent converts the frame to JSON, which is slow, because frames in CBOR are rare.
func (cborFraming) parseEvent(frame []byte, op *Op) bool {
	text, err := frames.CBORToJSON(frame)
	return err == nil && jsonFraming{}.parseEvent(text, op)
}

func (cborFraming) errorFrame(s metav1.Status) []byte {
	frame, err := jsonToCBOR(jsonFraming{}.errorFrame(s))
	if err != nil {
		panic(err) // the frame was created here
	}
	return frame
}

func (cborFraming) edit(frame []byte, e edit) ([]byte, error) {
	text, err := frames.CBORToJSON(frame)
	if err != nil {
		return nil, err
	}
	if text, err = (jsonFraming{}).edit(text, e); err != nil {
		return nil, err
	}
	return jsonToCBOR(text)
}

// jsonToCBOR converts a frame from JSON to CBOR.
func jsonToCBOR(text []byte) ([]byte, error) {
	var event struct {
		Type   watch.EventType `json:"type"`
		Object any             `json:"object"`
	}
	if err := utiljson.Unmarshal(text, &event); err != nil {
		return nil, err
	}
	object, err := direct.Marshal(event.Object)
	if err != nil {
		return nil, err
	}
	return direct.Marshal(taggedEvent{event.Type, object})
}

// taggedEvent is an event with an encoded object; the event and the object have the self-described
// tag.
type taggedEvent struct {
	eventType watch.EventType
	object    []byte
}

// MarshalCBOR encodes the event as a map of two entries, ordered by the length of their keys.
func (m taggedEvent) MarshalCBOR() ([]byte, error) {
	event := []byte(frames.CBORSelfDescribedTag + "\xa2")
	for _, part := range []any{"type", string(m.eventType), "object"} {
		b, err := direct.Marshal(part)
		if err != nil {
			return nil, err
		}
		event = append(event, b...)
	}
	return append(append(event, frames.CBORSelfDescribedTag...), m.object...), nil
}
