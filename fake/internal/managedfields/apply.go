package managedfields

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Apply merges an apply patch into live and returns the resulting object. live is the stored object
// in the storage version, or nil if the object does not exist (SA-02). It is not changed. The
// result is of the storage version too. Its managedFields have the fields that manager now owns
// (SA-03 to SA-10). Its name, namespace, uid and resourceVersion are those of the patch or else
// those of live. The caller checks them.
//
// With force, manager takes over the fields of other managers that are conflicts otherwise (SA-07).
// validation is the parameter fieldValidation. The default "" is Warn. Duplicate keys of the patch
// are an error with Strict and returned as warnings with Warn.
//
// Errors are those of kube-apiserver: Status errors for invalid patches (400, SA-12 to SA-15) and
// conflicts (409, SA-05, SA-06), other errors, which become a 500 without a reason, for objects
// that do not conform to the schema (SA-16, SA-17).
func (m *FieldManager) Apply(live runtime.Object, patch *Patch, manager string, force bool, validation string) (runtime.Object, []error, error) {
	config, err := patch.decode()
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	obj, isFast, err := m.applyConfig(live, config, manager, force)
	if err != nil {
		return nil, nil, err
	}
	if isFast {
		patch.config = config // it has not been changed, and shares nothing with the object
	}
	if validation == metav1.FieldValidationIgnore {
		return obj, nil, nil
	}
	duplicate := patch.checkDuplicateKeys()
	switch {
	case duplicate == nil:
		return obj, nil, nil
	case validation == metav1.FieldValidationStrict:
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("error strict decoding patch: %v", duplicate))
	}
	return obj, []error{duplicate}, nil
}

// ApplyConfig is Apply for a decoded patch, which it may change.
func (m *FieldManager) ApplyConfig(live runtime.Object, config map[string]any, manager string, force bool) (runtime.Object, error) {
	obj, _, err := m.applyConfig(live, config, manager, force)
	return obj, err
}

// IsApplied reports whether an apply of the patch by manager to obj changes nothing, because obj
// has all its values and manager owns their fields. obj is of the storage version. It is false for
// some patches for which this holds, among them those in YAML.
func (m *FieldManager) IsApplied(obj runtime.Object, patch *Patch, manager string) bool {
	if !useFastPath || !patch.IsPlain() {
		return false
	}
	config, err := patch.decode()
	if err != nil {
		return false
	}
	metadata, _ := config["metadata"].(map[string]any)
	_, hasVersion := metadata["resourceVersion"] // it would be another one
	return !hasVersion && m.fast.IsApplied(m.withKind(obj, false), config, manager)
}

// applyConfig is ApplyConfig. isFast reports whether the fast path supports the apply.
func (m *FieldManager) applyConfig(live runtime.Object, config map[string]any, manager string, force bool) (obj runtime.Object, isFast bool, err error) {
	if err := checkFields(config); err != nil {
		return nil, false, err
	}
	obj, isFast = m.applyFast(live, config, manager, force)
	if !isFast {
		if obj, err = m.applyWithLibrary(live, config, manager, force); err != nil {
			return nil, false, err
		}
	}
	if m.conversionError != nil {
		if err := m.conversionError(obj); err != nil {
			u := unstructured.Unstructured{Object: config}
			return nil, false, fmt.Errorf("failed to convert to unversioned (%s/%s; %v): %w", u.GetNamespace(), u.GetName(), m.kind, err)
		}
	}
	if obj, err = m.converter.ConvertToVersion(obj, m.storageVersion); err != nil {
		return nil, false, err
	}
	return m.withKind(obj, true), isFast, nil
}

// applyFast is ApplyConfig with the fast path. ok is false if it does not support the apply.
func (m *FieldManager) applyFast(live runtime.Object, config map[string]any, manager string, force bool) (obj runtime.Object, ok bool) {
	if !useFastPath {
		return nil, false
	}
	if live != nil {
		live = m.withKind(live, false)
	}
	return m.fast.Apply(live, config, manager, force)
}

// applyWithLibrary is ApplyConfig with the library. The result may be of another version.
func (m *FieldManager) applyWithLibrary(live runtime.Object, config map[string]any, manager string, force bool) (runtime.Object, error) {
	if live == nil {
		live = m.emptyObject
	}
	live = m.withKind(live, false)
	if m.versionByType == nil {
		// The result shares its unchanged fields with live, and the library sets defaults in it.
		live = live.DeepCopyObject()
	}
	return m.library.Apply(live, &unstructured.Unstructured{Object: config}, manager, force)
}
