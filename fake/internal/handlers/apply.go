package handlers

import (
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/status"
)

// parseApply parses an apply patch, whose body is a configuration (SA rules). It is merged again if
// the object is changed by another request at the same time.
func (q *request) parseApply(config []byte, opts *metav1.PatchOptions) (*updatedObjectInfo, error) {
	// A real server converts it to JSON for the audit log before it reads the object (SA-15).
	if !json.Valid(config) {
		if _, err := yaml.ToJSON(config); err != nil {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("error encoding patch: %v", err))
		}
	}
	manager, err := q.fieldManager()
	if err != nil {
		return nil, err
	}
	force := opts.Force != nil && *opts.Force
	return &updatedObjectInfo{
		options:   writeOptions{opts.DryRun, opts.FieldManager, opts.FieldValidation},
		mayCreate: q.info.Subresource == "", // SA-02
		updatedObject: func(old runtime.Object) (runtime.Object, error) {
			obj, warnings, err := manager.Apply(old, config, opts.FieldManager, force, opts.FieldValidation)
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
	}, nil
}
