package encode

import (
	"encoding/json"
	"errors"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/memstore"
)

// ErrEventAsList is returned for a watch event that was requested as PartialObjectMetadataList. A
// real server closes the stream without an error when it has an event to send (PM-02).
var ErrEventAsList = errors.New("a watch event cannot be encoded as a list")

// AppendEvent appends the watch frame of a record (WA-01, WA-32).
func (e *Encoder) AppendEvent(b []byte, event watch.EventType, rec *memstore.Record) ([]byte, error) {
	if e.out.Form == negotiate.PartialList {
		return b, ErrEventAsList
	}
	body, err := e.recordBody(rec)
	if err != nil {
		return b, err
	}
	return e.appendFrame(b, event, body)
}

// AppendBookmark appends a BOOKMARK frame. Its object has the watched kind and nothing but a
// resourceVersion (BM-02) and, at the end of the initial events, an annotation (BM-06).
func (e *Encoder) AppendBookmark(b []byte, revision string, initialEventsEnd bool) ([]byte, error) {
	if e.out.Form == negotiate.PartialList {
		return b, ErrEventAsList
	}
	obj := e.res.New()
	m, err := meta.Accessor(obj)
	if err != nil {
		return b, err
	}
	m.SetResourceVersion(revision)
	if initialEventsEnd {
		m.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	body, err := e.encodeBody(obj)
	if err != nil {
		return b, err
	}
	return e.appendFrame(b, watch.Bookmark, body)
}

// AppendError appends the ERROR frame that ends a watch (WA-18).
func (e *Encoder) AppendError(b []byte, s *metav1.Status) ([]byte, error) {
	switch e.out.Media {
	case negotiate.Protobuf:
		object, err := codec.EncodeStatusEnvelope(s)
		if err != nil {
			return b, err
		}
		b = codec.AppendWatchEventHeader(b, string(watch.Error), len(object))
		return append(b, object...), nil
	case negotiate.CBOR:
		b, err := appendCBOREventHeader(b, watch.Error)
		if err != nil {
			return b, err
		}
		return appendCBORDocument(b, s)
	}
	object, err := json.Marshal(s)
	if err != nil {
		return b, err
	}
	b = append(b, `{"type":"ERROR","object":`...)
	b = append(b, object...)
	return append(b, "}\n"...), nil
}

// appendFrame appends a watch frame with an encoded body.
func (e *Encoder) appendFrame(b []byte, event watch.EventType, body []byte) ([]byte, error) {
	switch e.out.Media {
	case negotiate.Protobuf:
		size := codec.EnvelopeSize(e.kind.GroupVersion().String(), e.kind.Kind, len(body))
		b = codec.AppendWatchEventHeader(b, string(event), size)
		return e.addTypeMeta(b, body), nil
	case negotiate.CBOR:
		b, err := appendCBOREventHeader(b, event)
		if err != nil {
			return b, err
		}
		return e.addCBORTypeMeta(b, body)
	}
	b = append(b, `{"type":"`...)
	b = append(b, event...)
	b = append(b, `","object":`...)
	b = append(b, e.typeMeta...)
	b = append(b, body[1:]...)
	b = append(b, e.bodyEnd...)
	return append(b, "}\n"...), nil
}
