package encode

import (
	"bufio"
	"fmt"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/fakeapi/fake/internal/codec"
)

// typeMetaPairs is the number of pairs of a TypeMeta.
const typeMetaPairs = 2

// cborTypeMeta returns the encoded pairs of a TypeMeta.
func cborTypeMeta(kind schema.GroupVersionKind) string {
	pairs, err := codec.EncodeCBORStrings("kind", kind.Kind, "apiVersion", kind.GroupVersion().String())
	if err != nil {
		panic(fmt.Sprintf("encode: a string does not encode as CBOR: %v", err)) // every string does
	}
	return string(pairs)
}

// addCBORTypeMeta appends the self-describe tag and body with its TypeMeta.
func (e *Encoder) addCBORTypeMeta(b, body []byte) ([]byte, error) {
	return codec.AppendCBORMapWithPairs(codec.AppendCBORSelfDescribe(b), []byte(e.typeMeta), typeMetaPairs, body)
}

// appendCBORDocument appends an object that has its TypeMeta.
func appendCBORDocument(b []byte, obj runtime.Object) ([]byte, error) {
	item, err := codec.MarshalCBOR(obj)
	if err != nil {
		return b, err
	}
	return append(codec.AppendCBORSelfDescribe(b), item...), nil
}

// appendCBOREventHeader begins an item of the CBOR sequence of a watch (CB-02). The object with its
// self-describe tag must follow.
func appendCBOREventHeader(b []byte, event watch.EventType) ([]byte, error) {
	pairs, err := codec.EncodeCBORStrings("type", string(event), "object")
	if err != nil {
		return b, err
	}
	return append(codec.AppendCBORMap(codec.AppendCBORSelfDescribe(b), 2), pairs...), nil
}

// writeCBORList is WriteList for CBOR.
func (e *Encoder) writeCBORList(w http.ResponseWriter, list metav1.ListMeta, bodies [][]byte) error {
	prefix, err := e.cborListPrefix(list, len(bodies))
	if err != nil {
		return err
	}
	item := e.cborItemEncoder()
	size := len(prefix)
	for _, body := range bodies {
		b, err := item(body)
		if err != nil {
			return err
		}
		size += len(b)
	}
	w.Header().Set("Content-Length", strconv.Itoa(size))
	buffered := bufio.NewWriterSize(w, min(listBuffer, size))
	_, _ = buffered.Write(prefix)
	for _, body := range bodies {
		b, err := item(body)
		if err != nil {
			return err
		}
		_, _ = buffered.Write(b)
	}
	_ = buffered.Flush()
	return nil
}

// cborItemEncoder returns a function that returns a list item for a body, with its TypeMeta if
// items have one. The result is valid until the next call.
func (e *Encoder) cborItemEncoder() func(body []byte) ([]byte, error) {
	if e.itemTypeMeta() == "" {
		return func(body []byte) ([]byte, error) { return body, nil }
	}
	var item []byte
	pairs := []byte(e.typeMeta)
	return func(body []byte) (_ []byte, err error) {
		item, err = codec.AppendCBORMapWithPairs(item[:0], pairs, typeMetaPairs, body)
		return item, err
	}
}

// cborListPrefix returns a list up to its first item.
func (e *Encoder) cborListPrefix(list metav1.ListMeta, items int) ([]byte, error) {
	kind := e.kind
	kind.Kind = e.listKind()
	metadata, err := codec.MarshalCBOR(e.listMeta(list))
	if err != nil {
		return nil, err
	}
	metadataKey, err := codec.EncodeCBORStrings("metadata")
	if err != nil {
		return nil, err
	}
	itemsKey, err := codec.EncodeCBORStrings("items")
	if err != nil {
		return nil, err
	}
	b := codec.AppendCBORMap(codec.AppendCBORSelfDescribe(nil), typeMetaPairs+2)
	b = append(b, cborTypeMeta(kind)...)
	b = append(append(b, metadataKey...), metadata...)
	if b = append(b, itemsKey...); e.hasNullItems(items) {
		return codec.AppendCBORNull(b), nil
	}
	return codec.AppendCBORArray(b, items), nil
}
