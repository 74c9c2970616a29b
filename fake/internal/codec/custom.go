package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kindjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"example.com/fakeapi/fake/internal/crd/versions"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// storedFormField is with the fields of the records of custom resources: it has the form in
// which they are stored. Like ownersOrDeletionField it is none that a selector could name.
const storedFormField = "\x00form"

// customPrefix opens the JSON of a custom resource, up to its resourceVersion.
const customPrefix = `{"metadata":{"resourceVersion":"`

// encodeCustomDraft encodes a custom resource of r's version in the storage version.
func encodeCustomDraft(r *resource.Resource, obj *unstructured.Unstructured) (*memstore.Draft, error) {
	obj.SetGroupVersionKind(r.GroupVersionKind()) // a conversion asks for it
	stored, form, err := r.Custom.ToStorage(obj)
	if err != nil {
		return nil, err
	}
	data, err := encodeCustomStored(stored)
	if err != nil {
		return nil, err
	}
	set := indexedFields(r, stored, stored)
	if set == nil {
		set = make(map[string]string, 1)
	}
	set[storedFormField] = string(form)
	return &memstore.Draft{
		Data:           data,
		RevisionOffset: len(customPrefix),
		UID:            string(obj.GetUID()),
		Labels:         memstore.MakePairs(obj.GetLabels()),
		Fields:         memstore.MakePairs(set),
	}, nil
}

// encodeCustomStored is the stored form: the metadata first, and the resourceVersion first in
// that.
func encodeCustomStored(obj *unstructured.Unstructured) ([]byte, error) {
	metadata, _ := obj.Object["metadata"].(map[string]any)
	inner, err := marshalWithout(metadata, "resourceVersion")
	if err != nil {
		return nil, err
	}
	outer, err := marshalWithout(obj.Object, "apiVersion", "kind", "metadata")
	if err != nil {
		return nil, err
	}
	data := make([]byte, 0, len(customPrefix)+len(inner)+len(outer)+2)
	data = append(data, customPrefix...)
	data = append(data, '"')
	data = appendMembers(data, inner)
	return appendMembers(data, outer), nil
}

// marshalWithout encodes a map without some of its keys.
func marshalWithout(all map[string]any, keys ...string) ([]byte, error) {
	rest := make(map[string]any, len(all))
	for key, value := range all {
		rest[key] = value
	}
	for _, key := range keys {
		delete(rest, key)
	}
	return json.Marshal(rest)
}

// appendMembers appends the members of an encoded map behind others, and ends the map.
func appendMembers(b, encoded []byte) []byte {
	if len(encoded) > len("{}") {
		b = append(b, ',')
	}
	return append(b, encoded[1:]...)
}

// ReuseStoredForm lets a write that changes nothing be one: what is stored keeps the form that it
// was stored in if it would be encoded no differently today. Called for the draft that shall
// replace a record.
func ReuseStoredForm(draft *memstore.Draft, rec *memstore.Record) {
	newForm, _ := draft.Fields.Get(storedFormField)
	oldForm, ok := rec.Fields.Get(storedFormField)
	if !ok || newForm == oldForm || versions.StoredForm(newForm).Version() != versions.StoredForm(oldForm).Version() {
		return
	}
	if bytes.Equal(draft.Data[draft.RevisionOffset:], rec.Data[draft.RevisionOffset+len(rec.Revision.String()):]) {
		draft.Fields = rec.Fields
	}
}

// storedFormOf is the form in which a record is stored.
func storedFormOf(rec *memstore.Record) versions.StoredForm {
	form, _ := rec.Fields.Get(storedFormField)
	return versions.StoredForm(form)
}

// WithoutTypeMeta is an object for encoding/json, without its kind and apiVersion. It shares the rest
// with the object, which may lose them, too.
func WithoutTypeMeta(obj runtime.Object) any {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		return obj
	}
	rest := make(map[string]any, len(u.Object))
	for key, value := range u.Object {
		if key != "kind" && key != "apiVersion" {
			rest[key] = value
		}
	}
	return rest
}

// decodeCustom decodes what a client sent for a custom resource, and brings it into the form
// that its schema asks for. Another kind or version is left to those who know what to say of it.
func decodeCustom(r *resource.Resource, media negotiate.Media, body []byte, strict bool) (runtime.Object, *schema.GroupVersionKind, error) {
	obj := &unstructured.Unstructured{}
	sent, problems, err := parseCustom(media, body, strict, &obj.Object)
	if err != nil {
		return nil, nil, err
	}
	unknown, err := r.Custom.PruneAndDefault(obj.Object, strict)
	if err != nil {
		return nil, sent, err
	}
	for _, path := range unknown {
		problems = append(problems, errors.New(path))
	}
	if len(problems) > 0 {
		return obj, sent, runtime.NewStrictDecodingError(problems)
	}
	return obj, sent, nil
}

// parseCustom parses a body, which must say its kind. What strict reading finds wrong comes as problems.
func parseCustom(media negotiate.Media, body []byte, strict bool, into *map[string]any) (sent *schema.GroupVersionKind, problems []error, err error) {
	switch media {
	case negotiate.Protobuf:
		return nil, nil, errors.New("custom resources have no protobuf encoding")
	case negotiate.CBOR:
		if body, err = CBORToJSON(body); err != nil {
			return nil, nil, err
		}
	case negotiate.YAML:
		if strict {
			if err := yaml.UnmarshalStrict(body, &map[string]any{}); err != nil {
				problems = append(problems, errors.New(strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")))
			}
		}
		if body, err = yaml.YAMLToJSON(body); err != nil {
			return nil, nil, err
		}
	}
	if sent, err = kindOf(body); err != nil {
		return nil, nil, err
	}
	if !strict || media != negotiate.JSON {
		return sent, problems, kjson.UnmarshalCaseSensitivePreserveInts(body, into)
	}
	problems, err = kjson.UnmarshalStrict(body, into)
	return sent, problems, err
}

// kindOf reads the kind of an object in JSON, in the words of the library where it has none.
func kindOf(body []byte) (*schema.GroupVersionKind, error) {
	sent, err := kindjson.DefaultMetaFactory.Interpret(body)
	if err == nil && sent.Kind == "" {
		err = runtime.NewMissingKindErr(string(bytes.TrimSpace(body)))
	}
	return sent, err
}
