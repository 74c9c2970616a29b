package verbs

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// application merges a configuration into an object, or makes one of it (SA rules).
// It is merged again if somebody else wrote in between.
func (q *request) application(config []byte, opts *metav1.PatchOptions) (*rewrite, error) {
	tracker, err := q.tracker()
	if err != nil {
		return nil, err
	}
	force := opts.Force != nil && *opts.Force
	return &rewrite{
		options:   writeOptions{opts.DryRun, opts.FieldManager, opts.FieldValidation},
		mayCreate: q.target.Subresource == "", // SA-02
		next: func(old runtime.Object) (runtime.Object, error) {
			obj, warnings, err := tracker.Apply(old, config, opts.FieldManager, force, opts.FieldValidation)
			if err != nil {
				return nil, err
			}
			q.warn(warnings...)
			m := accessor(obj)
			if old == nil && m.GetUID() != "" { // OC-12
				return nil, apierrors.NewConflict(q.res.GroupResource(), q.target.Name, fmt.Errorf(
					"uid mismatch: the provided object specified uid %s, and no existing object was found", m.GetUID()))
			}
			return q.res.Normal(obj), q.addressed(m)
		},
	}, nil
}
