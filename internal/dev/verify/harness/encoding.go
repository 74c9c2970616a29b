package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
)

// Encoding decodes the objects and watch events of a kind in a media type, JSON or Protobuf.
type Encoding struct {
	Kind      Kind
	MediaType string
}

// ErrMalformed is wrapped by errors about complete frames that cannot be decoded.
var ErrMalformed = errors.New("malformed event")

// Decode decodes an object or a list and returns it with its kind.
func (e Encoding) Decode(raw []byte) (obj runtime.Object, kind string, err error) {
	obj, gvk, err := e.decoder().Decode(raw, nil, nil)
	if err != nil {
		return nil, "", err
	}
	return obj, gvk.Kind, nil
}

// EventReader returns a function that reads the next event of a watch.
func (e Encoding) EventReader(body io.Reader) func() (Event, error) {
	next := protobufFrames(body)
	if e.MediaType == JSON {
		next = jsonFrames(body)
	}
	return func() (Event, error) {
		eventType, raw, err := next()
		if err != nil {
			return Event{}, err
		}
		event, err := e.decodeEvent(watch.EventType(eventType), raw)
		if err != nil {
			err = fmt.Errorf("%w: %s %s: %w", ErrMalformed, eventType, raw, err)
		}
		return event, err
	}
}

func jsonFrames(body io.Reader) func() (string, []byte, error) {
	decoder := json.NewDecoder(body)
	return func() (string, []byte, error) {
		var event struct {
			Type   string
			Object json.RawMessage
		}
		err := decoder.Decode(&event)
		return event.Type, event.Object, err
	}
}

func protobufFrames(body io.Reader) func() (string, []byte, error) {
	frames := protobuf.LengthDelimitedFramer.NewFrameReader(io.NopCloser(body))
	buffer := make([]byte, 64<<10)
	return func() (string, []byte, error) {
		n, err := frames.Read(buffer)
		if err != nil {
			return "", nil, err
		}
		var event metav1.WatchEvent
		err = event.Unmarshal(buffer[:n])
		return event.Type, event.Object.Raw, err
	}
}

// decodeEvent decodes the object of an event.
func (e Encoding) decodeEvent(eventType watch.EventType, raw []byte) (event Event, err error) {
	if eventType == watch.Error {
		e.Kind.Custom = false // the object is a Status
	}
	obj, kind, err := e.Decode(raw)
	if err != nil {
		return event, err
	}
	if status, ok := obj.(*metav1.Status); ok {
		return Event{Type: eventType, Code: int(status.Code), Message: status.Message}, nil
	}
	if kind != e.Kind.Name {
		return event, fmt.Errorf("the kind is %s, not %s", kind, e.Kind.Name)
	}
	event = Event{Type: eventType, InitialEventsEnd: obj.(metav1.Object).GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"}
	event.Object, err = ObjectFrom(obj)
	return event, err
}

// decoder returns the decoder of the kind in the media type.
func (e Encoding) decoder() runtime.Decoder {
	switch {
	case e.Kind.Custom:
		return unstructured.UnstructuredJSONScheme
	case e.MediaType == Protobuf:
		return protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	}
	return kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, kjson.SerializerOptions{})
}
