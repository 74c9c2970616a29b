package handlers

import (
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/managedfields"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/status"
)

// applyFunc merges an apply patch into old and returns the result and warnings.
type applyFunc func(old runtime.Object) (runtime.Object, []error, error)

// parseApply parses an apply patch, whose body is a configuration (SA rules).
func (q *request) parseApply(config []byte, opts *metav1.PatchOptions) (*updatedObjectInfo, error) {
	patch := managedfields.NewPatch(config)
	// A real server converts it to JSON for the audit log before it reads the object (SA-15).
	if !patch.IsPlain() && !json.Valid(config) {
		if _, err := yaml.ToJSON(config); err != nil {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("error encoding patch: %v", err))
		}
	}
	if err := q.auditPatch(func() ([]byte, error) { return yaml.ToJSON(config) }); err != nil {
		return nil, err
	}
	manager, err := q.fieldManager()
	if err != nil {
		return nil, err
	}
	info := q.newApply(opts, func(old runtime.Object) (runtime.Object, []error, error) {
		return manager.Apply(old, patch, opts.FieldManager, isForced(opts), opts.FieldValidation)
	})
	info.isApplied = func(obj runtime.Object) bool { return manager.IsApplied(obj, patch, opts.FieldManager) }
	return info, nil
}

// parseApplyCBOR is parseApply for CBOR, which has no duplicate keys to warn of.
func (q *request) parseApplyCBOR(config []byte, opts *metav1.PatchOptions) (*updatedObjectInfo, error) {
	decoded, err := codec.UnmarshalCBORMap(config)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	if err := q.auditPatch(func() ([]byte, error) { return json.Marshal(decoded) }); err != nil {
		return nil, err
	}
	manager, err := q.fieldManager()
	if err != nil {
		return nil, err
	}
	return q.newApply(opts, func(old runtime.Object) (runtime.Object, []error, error) {
		decoded, err := codec.UnmarshalCBORMap(config) // ApplyConfig may change it
		if err != nil {
			return nil, nil, err
		}
		obj, err := manager.ApplyConfig(old, decoded, opts.FieldManager, isForced(opts))
		return obj, nil, err
	}), nil
}

func isForced(opts *metav1.PatchOptions) bool { return opts.Force != nil && *opts.Force }

// newApply returns the write of an apply patch. The patch is merged again if the object is changed
// by another request at the same time.
func (q *request) newApply(opts *metav1.PatchOptions, apply applyFunc) *updatedObjectInfo {
	return &updatedObjectInfo{
		options:   writeOptions{opts.DryRun, opts.FieldManager, opts.FieldValidation},
		mayCreate: q.info.Subresource == "", // SA-02
		updatedObject: func(old runtime.Object) (runtime.Object, error) {
			obj, warnings, err := apply(old)
			if err != nil {
				return nil, err
			}
			q.clock.AdjustApplied(old, obj)
			q.addWarnings(warnings...)
			m := resource.Accessor(obj)
			if old == nil && m.GetUID() != "" { // OC-12
				return nil, status.UIDMismatch(q.res.GroupResource(), q.info.Name, m.GetUID())
			}
			return q.res.Canonical(obj), q.checkMatchesPath(m)
		},
	}
}
