package handlers

import (
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// parseApply merges a configuration into an object, or makes one of it (SA rules).
// It is merged again if somebody else wrote in between.
func (q *request) parseApply(config []byte, opts *metav1.PatchOptions) (*updatedObjectInfo, error) {
	// A real server turns it into JSON for its audit log before it looks at the object (SA-15).
	if !json.Valid(config) {
		if _, err := yaml.ToJSON(config); err != nil {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("error encoding patch: %v", err))
		}
	}
	tracker, err := q.fieldManager()
	if err != nil {
		return nil, err
	}
	force := opts.Force != nil && *opts.Force
	return &updatedObjectInfo{
		options:   writeOptions{opts.DryRun, opts.FieldManager, opts.FieldValidation},
		mayCreate: q.info.Subresource == "", // SA-02
		updatedObject: func(old runtime.Object) (runtime.Object, error) {
			obj, warnings, err := tracker.Apply(old, config, opts.FieldManager, force, opts.FieldValidation)
			if err != nil {
				return nil, err
			}
			if q.clock.skew() != 0 {
				q.clock.adjustTimes(obj, entryTimes(old))
			}
			q.addWarnings(warnings...)
			m := accessor(obj)
			if old == nil && m.GetUID() != "" { // OC-12
				return nil, apierrors.NewConflict(q.res.GroupResource(), q.info.Name, fmt.Errorf(
					"uid mismatch: the provided object specified uid %s, and no existing object was found", m.GetUID()))
			}
			return q.res.Canonical(obj), q.checkMatchesPath(m)
		},
	}, nil
}
