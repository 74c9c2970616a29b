package managedfields

import (
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// Apply merges an apply patch, YAML or JSON, into live and returns the resulting object. live is
// the stored object in the storage version, or nil if the object does not exist (SA-02). It is not
// changed. The result is of the storage version too. Its managedFields have the fields that manager
// now owns (SA-03 to SA-10). Its name, namespace, uid and resourceVersion are those of the patch or
// else those of live. The caller checks them.
//
// With force, manager takes over the fields of other managers that are conflicts otherwise (SA-07).
// validation is the parameter fieldValidation. The default "" is Warn. Duplicate keys of the patch
// are an error with Strict and returned as warnings with Warn.
//
// Errors are those of kube-apiserver: Status errors for invalid patches (400, SA-12 to SA-15) and
// conflicts (409, SA-05, SA-06), other errors, which become a 500 without a reason, for objects
// that do not conform to the schema (SA-16, SA-17).
func (m *FieldManager) Apply(live runtime.Object, patch []byte, manager string, force bool, validation string) (runtime.Object, []error, error) {
	config := &unstructured.Unstructured{Object: map[string]any{}}
	if err := decodePatch(patch, config); err != nil {
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	if live == nil {
		live = m.emptyObject
	}
	live = m.withKind(live, false)
	if m.versionByType == nil {
		// The result shares its unchanged fields with live, and the library sets defaults in it.
		live = live.DeepCopyObject()
	}
	obj, err := m.library.Apply(live, config, manager, force)
	if err != nil {
		return nil, nil, err
	}
	if obj, err = m.converter.ConvertToVersion(obj, m.storageVersion); err != nil {
		return nil, nil, err
	}
	obj = m.withKind(obj, true)
	if validation == metav1.FieldValidationIgnore {
		return obj, nil, nil
	}
	duplicate := checkDuplicateKeys(patch)
	switch {
	case duplicate == nil:
		return obj, nil, nil
	case validation == metav1.FieldValidationStrict:
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("error strict decoding patch: %v", duplicate))
	}
	return obj, []error{duplicate}, nil
}

// decodePatch decodes a patch. JSON is YAML too, but is decoded much faster as JSON.
func decodePatch(patch []byte, config *unstructured.Unstructured) error {
	if kjson.UnmarshalCaseSensitivePreserveInts(patch, &config.Object) == nil && config.Object != nil {
		return nil
	}
	config.Object = map[string]any{}
	if err := yaml.Unmarshal(patch, &config.Object); err != nil {
		return err
	}
	body, err := json.Marshal(config.Object) // to decode integers as int64
	if err != nil {
		return err
	}
	return kjson.UnmarshalCaseSensitivePreserveInts(body, &config.Object)
}

// checkDuplicateKeys returns the error of the YAML library for duplicate keys in a patch. JSON
// without duplicates is not parsed as YAML, which is slow.
func checkDuplicateKeys(patch []byte) error {
	if strict, err := kjson.UnmarshalStrict(patch, &map[string]any{}); err == nil && len(strict) == 0 {
		return nil
	}
	return yaml.UnmarshalStrict(patch, &map[string]any{})
}
