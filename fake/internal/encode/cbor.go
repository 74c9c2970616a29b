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

// typeMetaPairs is how many pairs say the type of an object.
const typeMetaPairs = 2

// cborTypeMeta is the pairs that say a type.
func cborTypeMeta(kind schema.GroupVersionKind) string {
	pairs, err := codec.EncodeCBORStrings("kind", kind.Kind, "apiVersion", kind.GroupVersion().String())
	if err != nil {
		panic(fmt.Sprintf("a text is no CBOR: %v", err)) // all texts are
	}
	return string(pairs)
}

// addCBORTypeMeta puts the type around a piece, and the mark in front.
func (e *Encoder) addCBORTypeMeta(b, body []byte) ([]byte, error) {
	return codec.AppendCBORMapWithPairs(codec.AppendCBORSelfDescribe(b), []byte(e.typeMeta), typeMetaPairs, body)
}

// appendCBORDocument appends an object that has its type.
func appendCBORDocument(b []byte, obj runtime.Object) ([]byte, error) {
	item, err := codec.MarshalCBOR(obj)
	if err != nil {
		return b, err
	}
	return append(codec.AppendCBORSelfDescribe(b), item...), nil
}

// appendCBOREventHeader opens an item of the sequence that a watch is (CB-02); the object with its mark follows.
func appendCBOREventHeader(b []byte, event watch.EventType) ([]byte, error) {
	pairs, err := codec.EncodeCBORStrings("type", string(event), "object")
	if err != nil {
		return b, err
	}
	return append(codec.AppendCBORMap(codec.AppendCBORSelfDescribe(b), 2), pairs...), nil
}

// writeCBORList writes a list, as List does.
func (e *Encoder) writeCBORList(w http.ResponseWriter, list metav1.ListMeta, bodies [][]byte) error {
	opening, err := e.cborListPrefix(list, len(bodies))
	if err != nil {
		return err
	}
	item := e.cborItemEncoder()
	size := len(opening)
	for _, body := range bodies {
		b, err := item(body)
		if err != nil {
			return err
		}
		size += len(b)
	}
	w.Header().Set("Content-Length", strconv.Itoa(size))
	buffered := bufio.NewWriterSize(w, min(listBuffer, size))
	_, _ = buffered.Write(opening)
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

// cborItemEncoder gives what makes the items of a list of pieces: with their type where items have one. An item is good until the next.
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

// cborListPrefix is a list up to its first item.
func (e *Encoder) cborListPrefix(list metav1.ListMeta, items int) ([]byte, error) {
	kind := e.kind
	kind.Kind = e.listKind()
	metadata, err := codec.MarshalCBOR(list)
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
