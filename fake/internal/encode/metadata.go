package encode

import (
	"reflect"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/typedjson"
	"example.com/fakeapi/memstore"
)

// partialJSON is the description of the JSON of a PartialObjectMetadata.
var partialJSON = sync.OnceValue(func() *typedjson.Type {
	return new(typedjson.Types).NewType(reflect.TypeFor[metav1.PartialObjectMetadata]())
})

// customMetadata returns the JSON of the metadata of a custom resource, as the body of a
// PartialObjectMetadata, without decoding the rest. It reports false if that is not supported.
func customMetadata(r *resource.Resource, rec *memstore.Record) (body []byte, ok bool, err error) {
	metadata, err := codec.CustomMetadata(r, rec)
	if err != nil {
		return nil, false, err
	}
	var partial metav1.PartialObjectMetadata
	if !partialJSON().Decode(slices.Concat([]byte(`{"metadata":`), metadata, []byte(`}`)), &partial) {
		return nil, false, nil
	}
	body, ok = partialJSON().Append(nil, &partial)
	return body, ok, nil
}
