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

// ErrEventAsList is the error of an event as PartialObjectMetadataList, which a real server
// finds when it has one to send: it ends the stream without a word (PM-02).
var ErrEventAsList = errors.New("an event is no list")

// AppendEvent appends the watch frame that shows a record (WA-01, WA-32).
func (p *Encoder) AppendEvent(b []byte, event watch.EventType, rec *memstore.Record) ([]byte, error) {
	if p.out.Form == negotiate.PartialList {
		return b, ErrEventAsList
	}
	body, err := p.body(rec)
	if err != nil {
		return b, err
	}
	return p.frame(b, event, body)
}

// AppendBookmark appends a BOOKMARK frame: an object of the watched kind with
// nothing but its resourceVersion (BM-02) and, at the end of the initial
// events, the annotation that says so (BM-06).
func (p *Encoder) AppendBookmark(b []byte, revision string, initialEventsEnd bool) ([]byte, error) {
	if p.out.Form == negotiate.PartialList {
		return b, ErrEventAsList
	}
	obj := p.res.New()
	m, err := meta.Accessor(obj)
	if err != nil {
		return b, err
	}
	m.SetResourceVersion(revision)
	if initialEventsEnd {
		m.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	body, err := p.encode(obj)
	if err != nil {
		return b, err
	}
	return p.frame(b, watch.Bookmark, body)
}

// AppendError appends the ERROR frame that ends a watch (WA-18).
func (p *Encoder) AppendError(b []byte, s *metav1.Status) ([]byte, error) {
	switch p.out.Media {
	case negotiate.Protobuf:
		object, err := codec.StatusEnvelope(s)
		if err != nil {
			return b, err
		}
		b = codec.AppendWatchEvent(b, string(watch.Error), len(object))
		return append(b, object...), nil
	case negotiate.CBOR:
		b, err := cborFrame(b, watch.Error)
		if err != nil {
			return b, err
		}
		return cborDocument(b, s)
	}
	object, err := json.Marshal(s)
	if err != nil {
		return b, err
	}
	b = append(b, `{"type":"ERROR","object":`...)
	b = append(b, object...)
	return append(b, "}\n"...), nil
}

// frame puts an event around a piece.
func (p *Encoder) frame(b []byte, event watch.EventType, body []byte) ([]byte, error) {
	switch p.out.Media {
	case negotiate.Protobuf:
		size := codec.EnvelopeSize(p.kind.GroupVersion().String(), p.kind.Kind, len(body))
		b = codec.AppendWatchEvent(b, string(event), size)
		return p.wrap(b, body), nil
	case negotiate.CBOR:
		b, err := cborFrame(b, event)
		if err != nil {
			return b, err
		}
		return p.wrapCBOR(b, body)
	}
	b = append(b, `{"type":"`...)
	b = append(b, event...)
	b = append(b, `","object":`...)
	b = append(b, p.head...)
	b = append(b, body[1:]...)
	return append(b, "}\n"...), nil
}
