package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/unstructuredscheme"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	kindjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"sigs.k8s.io/yaml"

	"example.com/fakeapi/fake/internal/crd/versions"
	"example.com/fakeapi/fake/internal/jsonvalue"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// storedFormField is the field of a custom resource's record that has its versions.StoredForm. No
// field selector can have this label, and only ownersOrDeletionField is before it.
const storedFormField = "\x00form"

// encodeCustomDraft converts a custom resource of r's version to the storage version and encodes
// it.
func encodeCustomDraft(r *resource.Resource, obj *unstructured.Unstructured, buffer []byte) (*memstore.Draft, error) {
	obj.SetGroupVersionKind(r.GroupVersionKind()) // the conversion reads it
	stored, form, err := r.Custom.ToStorage(obj)
	if err != nil {
		return nil, err
	}
	data, revisionOffset, err := appendCustomStored(buffer, stored)
	if err != nil {
		return nil, err
	}
	return &memstore.Draft{
		Data:           data,
		RevisionOffset: revisionOffset,
		UID:            string(obj.GetUID()),
		Labels:         memstore.MakePairs(stored.GetLabels()),
		Fields:         indexedFields(r, stored, stored, form),
	}, nil
}

// appendCustomStored appends to b the JSON of an object with its kind and apiVersion, and the
// offset at which the resourceVersion is inserted. The keys are in alphabetical order, as a real
// server sends them. It clears the resourceVersion of obj.
func appendCustomStored(b []byte, obj *unstructured.Unstructured) (data []byte, revisionOffset int, err error) {
	metadata, ok := obj.Object["metadata"].(map[string]any)
	if !ok {
		return nil, 0, fmt.Errorf("%s has no metadata for the resourceVersion", obj.GetKind())
	}
	gap := &jsonvalue.Gap{}
	metadata["resourceVersion"] = gap
	data, err = jsonvalue.Append(b, obj.Object)
	delete(metadata, "resourceVersion")
	return data, gap.Offset, err
}

// ReuseStoredForm gives draft, which replaces rec, the stored form of rec if their JSON is equal.
// Without it, an update that changes nothing would be stored after the schema of the
// CustomResourceDefinition has changed.
func ReuseStoredForm(draft *memstore.Draft, rec *memstore.Record) {
	newForm, _ := draft.Fields.Get(storedFormField)
	oldForm, ok := rec.Fields.Get(storedFormField)
	if !ok || newForm == oldForm || versions.StoredForm(newForm).Version() != versions.StoredForm(oldForm).Version() {
		return
	}
	rest, sameStart := bytes.CutPrefix(rec.Data, draft.Data[:draft.RevisionOffset])
	rest = bytes.TrimPrefix(rest, []byte(rec.Revision.String()))
	if sameStart && bytes.Equal(rest, draft.Data[draft.RevisionOffset:]) {
		draft.Fields = rec.Fields
	}
}

// storedFormOf returns the form in which a record is stored.
func storedFormOf(rec *memstore.Record) versions.StoredForm {
	form, _ := rec.Fields.Get(storedFormField)
	return versions.StoredForm(form)
}

// WithoutTypeMeta returns an object for encoding/json, without its kind and apiVersion. The result
// shares memory with obj, and obj may lose its kind and apiVersion.
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

// decodeCustom decodes a request body into a custom resource, prunes it and sets defaults. It does
// not check the kind and the version; the callers do.
func decodeCustom(r *resource.Resource, media negotiate.Media, body []byte, strict bool) (runtime.Object, *schema.GroupVersionKind, error) {
	if media == negotiate.CBOR {
		return decodeCustomCBOR(r, body, strict)
	}
	object, sent, problems, err := parseCustom(media, body, strict)
	if runtime.IsMissingKind(err) && !strict { // a real server reports it after it has set the kind of the resource
		if sent.Kind == "" {
			sent.Kind = r.Kind
		}
		if sent.GroupVersion().Empty() {
			sent.Version = r.Version
		}
		return nil, sent, err
	}
	if err != nil {
		return nil, sent, err
	}
	unknown, err := r.Custom.PruneAndDefaultAs(*sent, object, strict)
	if err != nil {
		return nil, sent, err
	}
	for _, path := range unknown {
		problems = append(problems, errors.New(path))
	}
	obj := &unstructured.Unstructured{Object: object}
	if len(problems) > 0 {
		return obj, sent, runtime.NewStrictDecodingError(problems)
	}
	return obj, sent, nil
}

// decodeCustomCBOR is decodeCustom for CBOR, in which a real server does not look for unknown
// fields.
func decodeCustomCBOR(r *resource.Resource, body []byte, strict bool) (runtime.Object, *schema.GroupVersionKind, error) {
	kind := r.GroupVersionKind()
	decoded := new(unstructured.Unstructured)
	serializer := cbor.NewSerializer(unstructuredscheme.NewUnstructuredCreator(), unstructuredscheme.NewUnstructuredObjectTyper(), cbor.Strict(strict))
	_, sent, err := serializer.Decode(body, &kind, decoded)
	if err != nil {
		return nil, sent, err
	}
	text, err := json.Marshal(decoded.Object)
	if err != nil {
		return nil, sent, err
	}
	object, err := jsonvalue.Decode(text) // with whole numbers as integers, as they are stored
	if err != nil {
		return nil, sent, err
	}
	if _, err := r.Custom.PruneAndDefaultAs(*sent, object, false); err != nil {
		return nil, sent, err
	}
	return &unstructured.Unstructured{Object: object}, sent, nil
}

// TryPatched returns the custom resource that DecodePatched decodes from the JSON of object, which
// is the result of a patch. It reports false if that has warnings or errors, or if decoding may
// change the object.
func TryPatched(r *resource.Resource, object map[string]any) (runtime.Object, bool) {
	kind, ok := decodedKind(object)
	if !ok || *kind != r.GroupVersionKind() || !r.Custom.IsPruned(object) {
		return nil, false
	}
	return &unstructured.Unstructured{Object: object}, true
}

// parseCustom parses a body, which must have a kind. problems are the strict decoding errors.
func parseCustom(media negotiate.Media, body []byte, strict bool) (object map[string]any, sent *schema.GroupVersionKind, problems []error, err error) {
	original := body
	switch media {
	case negotiate.Protobuf:
		return nil, nil, nil, errors.New("custom resources have no protobuf encoding")
	case negotiate.YAML:
		if strict {
			if err := yaml.UnmarshalStrict(body, &map[string]any{}); err != nil {
				problems = append(problems, errors.New(strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")))
			}
		}
		if body, err = yaml.YAMLToJSON(body); err != nil {
			return nil, nil, nil, err
		}
	}
	var decodingErr error
	if strict && media == negotiate.JSON {
		object, problems, decodingErr = jsonvalue.DecodeStrict(body)
	} else {
		object, decodingErr = jsonvalue.Decode(body)
	}
	sent, err = kindOf(object, body)
	switch {
	case runtime.IsMissingKind(err) && strict:
		sent.Kind = ""
		return nil, sent, nil, runtime.NewMissingKindErr(string(original))
	case err != nil:
		return nil, sent, nil, err
	}
	return object, sent, problems, decodingErr
}

// kindOf returns the kind of an object in JSON, or the library's error if it has none. The library
// decodes the body again, and ignores the case of names. What it finds is only for the errors.
func kindOf(object map[string]any, body []byte) (*schema.GroupVersionKind, error) {
	if sent, ok := decodedKind(object); ok {
		return sent, nil
	}
	found, err := kindjson.DefaultMetaFactory.Interpret(body)
	if err != nil {
		return found, err
	}
	sent := (&unstructured.Unstructured{Object: object}).GroupVersionKind()
	if sent.Kind == "" {
		return found, runtime.NewMissingKindErr(string(bytes.TrimSpace(body)))
	}
	return &sent, nil
}

// decodedKind returns the kind of a decoded object, if it has one in the usual form.
func decodedKind(object map[string]any) (*schema.GroupVersionKind, bool) {
	for name := range object {
		if name != "kind" && name != "apiVersion" && (strings.EqualFold(name, "kind") || strings.EqualFold(name, "apiVersion")) {
			return nil, false
		}
	}
	kind, _ := object["kind"].(string)
	apiVersion, _ := object["apiVersion"].(string)
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil || kind == "" || apiVersion == "" {
		return nil, false
	}
	sent := gv.WithKind(kind)
	return &sent, true
}
