package verbs

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// apply merges a configuration into an object, or makes one of it (SA rules). It
// is merged again if somebody else wrote in between.
func (a *API) apply(q *request, config []byte, opts *metav1.PatchOptions) error {
	tracker, err := q.tracker()
	if err != nil {
		return err
	}
	force := opts.Force != nil && *opts.Force
	mayCreate := q.target.Subresource == "" // SA-02
	return a.replace(q, isDryRun(opts.DryRun), mayCreate, func(old runtime.Object) (runtime.Object, error) {
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
		if err := q.matchNamespace(m); err != nil {
			return nil, err
		}
		if err := q.matchName(m); err != nil {
			return nil, err
		}
		return q.res.Normal(obj), nil
	})
}
