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

// Apply merges an apply patch, YAML or JSON, into live, the stored object of the
// StoreVersion (nil: there is none, SA-02), and gives the object that results,
// of the StoreVersion too, its managedFields telling what manager owns now (SA-03
// to SA-10). live is not changed. Name, namespace, uid and resourceVersion are as
// the patch has them, or else as in live: to check them is the caller's.
//
// force takes fields from other managers that are otherwise conflicts (SA-07).
// validation is the fieldValidation parameter, "" meaning Warn: keys that the
// patch has twice are refused with Strict and returned as warnings with Warn.
//
// Errors are those of a real server: Status errors for bad patches (400, SA-12 to
// SA-15) and conflicts (409, SA-05, SA-06), plain errors, which make a 500
// without a reason, for what the schema refuses (SA-16, SA-17).
func (t *FieldManager) Apply(live runtime.Object, patch []byte, manager string, force bool, validation string) (runtime.Object, []error, error) {
	config := &unstructured.Unstructured{Object: map[string]any{}}
	if err := readConfig(patch, config); err != nil {
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	if live == nil {
		live = t.empty
	}
	live = t.named(live, false)
	if t.gvOf == nil {
		// The result shares what did not change with live, and is given defaults.
		live = live.DeepCopyObject()
	}
	obj, err := t.library.Apply(live, config, manager, force)
	if err != nil {
		return nil, nil, err
	}
	if obj, err = t.convert.ConvertToVersion(obj, t.store); err != nil {
		return nil, nil, err
	}
	obj = t.named(obj, true)
	if validation == metav1.FieldValidationIgnore {
		return obj, nil, nil
	}
	twice := doubles(patch)
	switch {
	case twice == nil:
		return obj, nil, nil
	case validation == metav1.FieldValidationStrict:
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("error strict decoding patch: %v", twice))
	}
	return obj, []error{twice}, nil
}

// readConfig reads a patch. JSON is YAML too, and is read much faster as what it is.
func readConfig(patch []byte, config *unstructured.Unstructured) error {
	if kjson.UnmarshalCaseSensitivePreserveInts(patch, &config.Object) == nil && config.Object != nil {
		return nil
	}
	config.Object = map[string]any{}
	if err := yaml.Unmarshal(patch, &config.Object); err != nil {
		return err
	}
	body, err := json.Marshal(config.Object) // again, for its numbers
	if err != nil {
		return err
	}
	return kjson.UnmarshalCaseSensitivePreserveInts(body, &config.Object)
}

// doubles tells of keys that a patch has twice, in the words of the YAML library.
// A patch in JSON is read as such first: if nothing is there twice, that is all
// there is to know, and it is known much faster.
func doubles(patch []byte) error {
	if strict, err := kjson.UnmarshalStrict(patch, &map[string]any{}); err == nil && len(strict) == 0 {
		return nil
	}
	return yaml.UnmarshalStrict(patch, &map[string]any{})
}
