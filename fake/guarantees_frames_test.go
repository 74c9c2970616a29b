package fakeapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/watch"
)

// tongue reads what is said of a kind in a media type.
type tongue struct {
	kind  kind
	media string
}

// errGarbled is of a frame that came whole and cannot be read.
var errGarbled = errors.New("garbled frame")

// decode reads an object or a list.
func (l tongue) decode(raw []byte) (obj runtime.Object, kind string, err error) {
	decoder := runtime.Decoder(codecs()[l.media])
	if l.kind.custom {
		decoder = unstructured.UnstructuredJSONScheme
	}
	obj, gvk, err := decoder.Decode(raw, nil, nil)
	if err != nil {
		return nil, "", err
	}
	return obj, gvk.Kind, nil
}

// frames gives a function that reads the next frame of a watch.
func (l tongue) frames(body io.Reader) func() (glimpse, error) {
	next := protobufFrames(body)
	if l.media == jsonMedia {
		next = jsonFrames(body)
	}
	return func() (glimpse, error) {
		event, raw, err := next()
		if err != nil {
			return glimpse{}, err
		}
		g, err := l.glimpse(watch.EventType(event), raw)
		if err != nil {
			err = fmt.Errorf("%w: %s %s: %w", errGarbled, event, raw, err)
		}
		return g, err
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

// glimpse decodes a frame.
func (l tongue) glimpse(event watch.EventType, raw []byte) (g glimpse, err error) {
	if event == watch.Error {
		l.kind.custom = false // a Status is not of the kind
	}
	obj, kind, err := l.decode(raw)
	if err != nil {
		return g, err
	}
	if status, ok := obj.(*metav1.Status); ok {
		return glimpse{event: event, code: int(status.Code), message: status.Message}, nil
	}
	if kind != l.kind.name {
		return g, fmt.Errorf("it is a %s, not a %s", kind, l.kind.name)
	}
	g = glimpse{event: event, ends: obj.(metav1.Object).GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"}
	g.thing, err = thingOf(obj)
	return g, err
}
