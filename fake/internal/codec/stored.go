package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"example.com/fakeapi/fake/internal/crd/versions"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/typedjson"
	"example.com/fakeapi/memstore"
)

// Key returns the key of an object of r in the store. With an empty namespace or name it is the
// prefix of a collection, for instance "pods/" or "pods/default/".
func Key(r *resource.Resource, namespace, name string) string {
	prefix := r.StorageResource.Resource
	if r.StorageResource.Group != "" {
		prefix += "." + r.StorageResource.Group
	}
	if !r.Namespaced {
		return prefix + "/" + name
	}
	if namespace == "" {
		return prefix + "/"
	}
	return prefix + "/" + namespace + "/" + name
}

// resourceVersionKey precedes the resourceVersion in the JSON of every object. metadata is the
// first field of every built-in type, and no unescaped quote precedes the resourceVersion in it, so
// that the first match is the right one.
var resourceVersionKey = []byte(`"resourceVersion":"`)

// EncodeDraft encodes an object of r's StorageVersion for the store. It clears the object's kind,
// apiVersion and resourceVersion. The data is appended to buffer, which must be empty and may be
// nil.
func EncodeDraft(r *resource.Resource, obj runtime.Object, buffer []byte) (*memstore.Draft, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return encodeCustomDraft(r, u, buffer)
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	m.SetResourceVersion("0") // a placeholder
	data, err := appendJSON(buffer, r, obj)
	if err == nil && !r.StoredAsJSON && normalizeEmpty(data, obj) {
		data, err = appendJSON(data[:0], r, obj)
	}
	if err != nil {
		return nil, err
	}
	m.SetResourceVersion("")
	at := bytes.Index(data, resourceVersionKey)
	if at < 0 {
		return nil, fmt.Errorf("%s has no metadata for the resourceVersion", r.Kind)
	}
	at += len(resourceVersionKey)
	data = append(data[:at], data[at+1:]...)
	return &memstore.Draft{
		Data:           data,
		RevisionOffset: at,
		UID:            string(m.GetUID()),
		Labels:         memstore.MakePairs(m.GetLabels()),
		Fields:         indexedFields(r, obj, m, ""),
	}, nil
}

// appendJSON appends the JSON of an object of a built-in type to b.
func appendJSON(b []byte, r *resource.Resource, obj runtime.Object) ([]byte, error) {
	if data, ok := r.JSON(obj).Append(b, obj); ok {
		return data, nil
	}
	return json.Marshal(obj)
}

// DecodeStored decodes a record into an object of r's StorageVersion, with kind and apiVersion set.
// A custom resource is converted to r's version.
func DecodeStored(r *resource.Resource, rec *memstore.Record) (runtime.Object, error) {
	if r.Custom != nil {
		return decodeCustomRecord(r, rec)
	}
	return decodeStored(r, rec, rec.Data)
}

// decodeStored decodes data, the JSON of the record of a built-in type or a part of it, into an
// object of r's StorageVersion, with kind and apiVersion set.
func decodeStored(r *resource.Resource, rec *memstore.Record, data []byte) (runtime.Object, error) {
	obj := r.NewStored()
	if !r.JSON(obj).Decode(data, obj) {
		obj = r.NewStored()
		if err := kjson.UnmarshalCaseSensitivePreserveInts(data, obj); err != nil {
			return nil, fmt.Errorf("stored %s %s does not decode: %w", r.Kind, rec.Key, err)
		}
	}
	obj.GetObjectKind().SetGroupVersionKind(r.StorageVersion.WithKind(r.Kind))
	return obj, nil
}

// metadataType is the description of the JSON of metadata.
var metadataType = sync.OnceValue(func() *typedjson.Type {
	return new(typedjson.Types).NewType(reflect.TypeFor[metav1.ObjectMeta]())
})

// DecodeMetadata decodes the metadata that the controllers read, which is all but labels,
// annotations and managedFields. It does not parse what follows the metadata.
func DecodeMetadata(rec *memstore.Record) (*metav1.ObjectMeta, error) {
	data, ok := metadataJSON(rec.Data)
	if !ok {
		return nil, fmt.Errorf("stored %s has no metadata", rec.Key)
	}
	data, _ = appendWithout(make([]byte, 0, 512), data, FieldSet{"managedFields": nil, "labels": nil, "annotations": nil})
	m := new(metav1.ObjectMeta)
	if !metadataType().Decode(data, m) {
		m = new(metav1.ObjectMeta)
		if err := kjson.UnmarshalCaseSensitivePreserveInts(data, m); err != nil {
			return nil, fmt.Errorf("the metadata of stored %s does not decode: %w", rec.Key, err)
		}
	}
	return m, nil
}

// metadataKey precedes the metadata in the JSON of every object.
var metadataKey = []byte(`"metadata":`)

// metadataJSON returns the metadata in the JSON of an object as it is stored. It is first in
// built-in types, and in alphabetical order in custom resources.
func metadataJSON(data []byte) (metadata []byte, found bool) {
	for rest := data[len("{"):]; rest[0] == '"'; rest = bytes.TrimPrefix(rest, []byte(",")) {
		if value, ok := bytes.CutPrefix(rest, metadataKey); ok {
			return value[:valueEnd(value)], true
		}
		rest = rest[stringEnd(rest)+len(":"):]
		rest = rest[valueEnd(rest):]
	}
	return nil, false
}

// HasOwnersOrDeletion reports whether an object has owner references or a deletionTimestamp,
// without decoding it. The controllers call it for every write.
func HasOwnersOrDeletion(rec *memstore.Record) bool {
	return len(rec.Fields) > 0 && rec.Fields[0].Key == ownersOrDeletionField
}

// ownersOrDeletionField is a field of records for which HasOwnersOrDeletion is true. No field
// selector can have this label, and it is before all others in the order of labels.
const ownersOrDeletionField = ""

// indexedFields returns the fields of an object's record. form is "" for a built-in type.
func indexedFields(r *resource.Resource, obj runtime.Object, m metav1.Object, form versions.StoredForm) memstore.Pairs {
	var pairs memstore.Pairs
	if len(m.GetOwnerReferences()) > 0 || m.GetDeletionTimestamp() != nil {
		pairs = append(pairs, memstore.Pair{Key: ownersOrDeletionField})
	}
	if form != "" {
		pairs = append(pairs, memstore.Pair{Key: storedFormField, Value: string(form)})
	}
	selectable := r.StoredFields()
	pairs = slices.Grow(pairs, len(selectable))
	for _, f := range selectable {
		pairs = append(pairs, memstore.Pair{Key: f.Label, Value: f.Value(obj)})
	}
	return pairs
}

// DecodeServed decodes a record into an object of r's version, with kind and apiVersion set.
func DecodeServed(r *resource.Resource, rec *memstore.Record) (runtime.Object, error) {
	obj, err := DecodeStored(r, rec)
	if err != nil {
		return nil, err
	}
	return r.Convert(obj, r.GroupVersion())
}
