package faults

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/fakeapi/internal/frames"
)

// cborFraming is one item an event, with a mark in front of it and of its object.
type cborFraming struct{}

func (cborFraming) contentType() string { return runtime.ContentTypeCBORSequence }

// parseEvent goes the way over JSON: what rules ask is little, and frames in CBOR are
// rare.
func (cborFraming) parseEvent(frame []byte, op *Op) bool {
	text, err := frames.CBORToJSON(frame)
	return err == nil && jsonFraming{}.parseEvent(text, op)
}

func (cborFraming) errorFrame(s metav1.Status) []byte {
	frame, err := jsonToCBOR(jsonFraming{}.errorFrame(s))
	if err != nil {
		panic(err) // the frame is our own
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

// jsonToCBOR gives a frame that is in JSON in CBOR.
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

// taggedEvent is an event whose object is encoded already, with marks in front of both.
type taggedEvent struct {
	eventType watch.EventType
	object    []byte
}

// MarshalCBOR puts the event together: a map of two, in the order in which keys are
// sorted, by their length.
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
