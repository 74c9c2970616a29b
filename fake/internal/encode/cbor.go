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

// typePairs is how many pairs say the type of an object.
const typePairs = 2

// cborType is the pairs that say a type.
func cborType(kind schema.GroupVersionKind) string {
	pairs, err := codec.CBORPairs("kind", kind.Kind, "apiVersion", kind.GroupVersion().String())
	if err != nil {
		panic(fmt.Sprintf("a text is no CBOR: %v", err)) // all texts are
	}
	return string(pairs)
}

// wrapCBOR puts the type around a piece, and the mark in front.
func (p *Encoder) wrapCBOR(b, body []byte) ([]byte, error) {
	return codec.AppendCBORTyped(codec.AppendCBORSelfDescribe(b), []byte(p.head), typePairs, body)
}

// cborDocument appends an object that has its type.
func cborDocument(b []byte, obj runtime.Object) ([]byte, error) {
	item, err := codec.MarshalCBOR(obj)
	if err != nil {
		return b, err
	}
	return append(codec.AppendCBORSelfDescribe(b), item...), nil
}

// cborFrame opens an item of the sequence that a watch is (CB-02); the object with its mark follows.
func cborFrame(b []byte, event watch.EventType) ([]byte, error) {
	pairs, err := codec.CBORPairs("type", string(event), "object")
	if err != nil {
		return b, err
	}
	return append(codec.AppendCBORMap(codec.AppendCBORSelfDescribe(b), 2), pairs...), nil
}

// cborList writes a list, as List does.
func (p *Encoder) cborList(w http.ResponseWriter, list metav1.ListMeta, bodies [][]byte) error {
	opening, err := p.cborOpening(list, len(bodies))
	if err != nil {
		return err
	}
	item := p.cborItem()
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

// cborItem gives what makes the items of a list of pieces: with their type where items have one. An item is good until the next.
func (p *Encoder) cborItem() func(body []byte) ([]byte, error) {
	if p.itemHead() == "" {
		return func(body []byte) ([]byte, error) { return body, nil }
	}
	var item []byte
	pairs := []byte(p.head)
	return func(body []byte) (_ []byte, err error) {
		item, err = codec.AppendCBORTyped(item[:0], pairs, typePairs, body)
		return item, err
	}
}

// cborOpening is a list up to its first item.
func (p *Encoder) cborOpening(list metav1.ListMeta, items int) ([]byte, error) {
	kind := p.kind
	kind.Kind = p.listKind()
	metadata, err := codec.MarshalCBOR(list)
	if err != nil {
		return nil, err
	}
	first, err := codec.CBORPairs("metadata")
	if err != nil {
		return nil, err
	}
	second, err := codec.CBORPairs("items")
	if err != nil {
		return nil, err
	}
	b := codec.AppendCBORMap(codec.AppendCBORSelfDescribe(nil), typePairs+2)
	b = append(b, cborType(kind)...)
	b = append(append(b, first...), metadata...)
	if b = append(b, second...); p.nullItems(items) {
		return codec.AppendCBORNull(b), nil
	}
	return codec.AppendCBORArray(b, items), nil
}
