package faults

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/fakeapi/internal/frames"
)

// framing reads and writes the frames of one media type.
type framing interface {
	contentType() string
	// parseEvent sets the fields of op that describe the frame. It reports whether the frame is an
	// event.
	parseEvent(frame []byte, op *Op) bool
	// errorFrame returns the frame of an ERROR event.
	errorFrame(metav1.Status) []byte
	// edit returns the edited frame.
	edit(frame []byte, e edit) ([]byte, error)
}

// framingFor returns the framing of a Content-Type, nil if it is not supported.
func framingFor(contentType string) framing {
	switch frames.MediaType(contentType) {
	case runtime.ContentTypeJSON:
		return jsonFraming{}
	case runtime.ContentTypeProtobuf:
		return protobufFraming{}
	case runtime.ContentTypeCBORSequence:
		return cborFraming{}
	}
	return nil
}

// jsonFraming has one JSON object on each line.
type jsonFraming struct{}

func (jsonFraming) contentType() string { return runtime.ContentTypeJSON }

// objectMeta is the metadata that rules use.
type objectMeta struct {
	Name        string            `json:"name"`
	Namespace   string            `json:"namespace"`
	Annotations map[string]string `json:"annotations"`
}

func (jsonFraming) parseEvent(frame []byte, op *Op) bool {
	var event struct {
		Type   watch.EventType `json:"type"`
		Object struct {
			Metadata objectMeta `json:"metadata"`
			// The rows of a Table have the metadata of its objects.
			Rows []struct {
				Object struct {
					Metadata objectMeta `json:"metadata"`
				} `json:"object"`
			} `json:"rows"`
		} `json:"object"`
	}
	var typeErr *json.UnmarshalTypeError // an object with invalid metadata is still an event
	if err := json.Unmarshal(frame, &event); err != nil && !errors.As(err, &typeErr) || event.Type == "" {
		return false
	}
	m := event.Object.Metadata
	if rows := event.Object.Rows; len(rows) > 0 && m.Name == "" {
		m = rows[0].Object.Metadata
	}
	m.describeEvent(event.Type, op)
	return true
}

func (m objectMeta) describeEvent(event watch.EventType, op *Op) {
	op.Event = event
	if m.Name != "" {
		op.Name, op.Namespace = m.Name, m.Namespace
	}
	op.InitialEventsEnd = event == watch.Bookmark && m.Annotations[metav1.InitialEventsAnnotationKey] == "true"
}

func (jsonFraming) errorFrame(s metav1.Status) []byte {
	status := bytes.TrimSuffix(jsonStatus(s), []byte("\n"))
	return []byte(`{"type":"` + string(watch.Error) + `","object":` + string(status) + "}\n")
}

func (jsonFraming) edit(frame []byte, e edit) ([]byte, error) {
	return editJSON(frame, e.path, e.jsonValue())
}

// protobufFraming has a length of four bytes in big-endian order and a metav1.WatchEvent of that
// length.
type protobufFraming struct{}

func (protobufFraming) contentType() string { return runtime.ContentTypeProtobuf + ";stream=watch" }

func (protobufFraming) parseEvent(frame []byte, op *Op) bool {
	var event metav1.WatchEvent
	if len(frame) < frames.LengthPrefixSize || event.Unmarshal(frame[frames.LengthPrefixSize:]) != nil || event.Type == "" {
		return false
	}
	protobufObjectMeta(event.Object.Raw).describeEvent(watch.EventType(event.Type), op)
	return true
}

// protobufObjectMeta reads the metadata of an encoded object of any type: it is field 1 of all
// types. In a Status that field is a ListMeta, which has selfLink in place of the name; current
// servers do not set it.
func protobufObjectMeta(object []byte) objectMeta {
	envelope, ok := bytes.CutPrefix(object, []byte(frames.ProtobufPrefix))
	if !ok {
		return objectMeta{}
	}
	var unknown runtime.Unknown
	if unknown.Unmarshal(envelope) != nil {
		return objectMeta{}
	}
	var partial metav1.PartialObjectMetadata
	if partial.Unmarshal(unknown.Raw) != nil {
		return objectMeta{}
	}
	return objectMeta{partial.Name, partial.Namespace, partial.Annotations}
}

func (protobufFraming) errorFrame(s metav1.Status) []byte {
	return protobufFrame(&metav1.WatchEvent{
		Type:   string(watch.Error),
		Object: runtime.RawExtension{Raw: protobufStatus(s)},
	})
}

// protobufFrame returns the frame of an event.
func protobufFrame(event *metav1.WatchEvent) []byte {
	data := mustMarshal(event)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), data...)
}

func (protobufFraming) edit(frame []byte, e edit) ([]byte, error) {
	var event metav1.WatchEvent
	if err := event.Unmarshal(frame[frames.LengthPrefixSize:]); err != nil {
		return nil, err
	}
	if err := editProtobufEvent(&event, e); err != nil {
		return nil, err
	}
	return protobufFrame(&event), nil
}
