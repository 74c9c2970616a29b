package verbs

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/managed"
	"example.com/fakeapi/fake/internal/status"
)

// update replaces an object, or its status (OC and SU rules).
func (a *API) update(q *request) error {
	var opts metav1.UpdateOptions
	if err := q.options(&opts); err != nil {
		return err
	}
	if err := invalidOptions("UpdateOptions", metavalidation.ValidateUpdateOptions(&opts)); err != nil {
		return err
	}
	served, err := q.body(opts.FieldValidation)
	if err != nil {
		return err
	}
	if err := q.matchNamespace(accessor(served)); err != nil {
		return err
	}
	if err := q.matchName(accessor(served)); err != nil {
		return err
	}
	obj, err := q.stored(served)
	if err != nil {
		return err
	}
	tracker, err := q.tracker()
	if err != nil {
		return err
	}
	q.mergeOwners(obj, false)
	mayCreate := q.res.CreateOnUpdate && q.target.Subresource == ""
	return a.replace(q, isDryRun(opts.DryRun), mayCreate, func(old runtime.Object) (runtime.Object, error) {
		if err := q.sameUID(accessor(obj).GetUID(), old); err != nil {
			return nil, err
		}
		return tracker.Update(old, obj.DeepCopyObject(), q.manager(opts.FieldManager)), nil
	})
}

// replace commits what next makes of the stored object, and answers. Update,
// patch and apply differ in next only. Next gets an object of the StoreVersion, or
// nil where the write may create.
func (a *API) replace(q *request, dryRun, mayCreate bool, next change) error {
	var code int
	var last runtime.Object // the object as this request leaves it, also if that ends it
	out, err := a.commit(q.res, q.key(), dryRun, func(old runtime.Object) (runtime.Object, error) {
		code = http.StatusOK
		if old == nil && !mayCreate {
			return nil, apierrors.NewNotFound(q.res.GroupResource(), q.target.Name)
		}
		obj, err := next(old)
		if err != nil {
			return nil, err
		}
		if old == nil {
			code = http.StatusCreated
			return obj, a.createByUpdate(q, obj)
		}
		if err := prepare(q, obj, old); err != nil {
			return nil, err
		}
		managed.KeepTimes(old, obj)
		last = obj
		if ended(accessor(obj), accessor(old)) {
			accessor(obj).SetResourceVersion(accessor(old).GetResourceVersion())
			return nil, nil
		}
		return obj, nil
	})
	switch {
	case err != nil:
		return err
	case out.event != nil && out.event.Record == nil, out.event == nil && out.obj == nil:
		out = outcome{obj: last} // with the resourceVersion from before (DL-05)
		a.settle(q.namespace(), &metav1.DeleteOptions{})
	}
	return q.answer(code, out)
}

// prepare checks what the client knew of the stored object and keeps what it
// cannot change.
func prepare(q *request, obj, old runtime.Object) error {
	if err := q.upToDate(accessor(obj), accessor(old)); err != nil {
		return err
	}
	if q.target.Subresource == "status" {
		prepareStatus(obj, old)
	} else {
		prepareUpdate(q.res, obj, old)
	}
	return validateUpdate(q.res, obj, old)
}

// createByUpdate prepares the object that a PUT names and that is not there,
// for the types that allow it (OC-05).
func (a *API) createByUpdate(q *request, obj runtime.Object) error {
	if err := a.admitNamespace(q.res, q.namespace(), accessor(obj)); err != nil {
		return err
	}
	a.prepareCreate(q.res, obj)
	return validateCreate(q.res, obj)
}

// sameUID refuses a PUT whose body carries the uid of another object (OC-06).
func (q *request) sameUID(sent types.UID, old runtime.Object) error {
	var have types.UID
	if old != nil {
		have = accessor(old).GetUID()
	}
	if sent == "" || sent == have {
		return nil
	}
	path := strings.Trim(strings.Join([]string{"registry", q.res.Plural, q.namespace()}, "/"), "/") + "/" + q.target.Name
	return apierrors.NewConflict(q.res.GroupResource(), q.target.Name, fmt.Errorf(
		"StorageError: invalid object, Code: 4, Key: /%s, ResourceVersion: 0, AdditionalErrorMsg: "+
			"Precondition failed: UID in precondition: %v, UID in object meta: %v", path, sent, have))
}

// upToDate refuses a write made from another state of the object than the
// stored one (OC-02, OC-07, OC-09). None at all overwrites where the type
// allows it (OC-04); then sent gets the stored one.
func (q *request) upToDate(sent, old metav1.Object) error {
	var rev uint64
	if s := sent.GetResourceVersion(); s != "" {
		var err error
		if rev, err = strconv.ParseUint(s, 10, 64); err != nil {
			return err
		}
	}
	switch {
	case rev == 0 && q.res.UnconditionalUpdate:
		sent.SetResourceVersion(old.GetResourceVersion())
		return nil
	case rev == 0:
		return invalid(q.res, q.target.Name, field.ErrorList{field.Invalid(
			field.NewPath("metadata", "resourceVersion"), rev, "must be specified for an update")})
	case strconv.FormatUint(rev, 10) != old.GetResourceVersion():
		return status.Conflict(q.res.GroupResource(), q.target.Name)
	}
	return nil
}

// ended reports whether an update is the end of an object that was being
// deleted: its last finalizer is gone and its grace is over.
func ended(m, old metav1.Object) bool {
	grace := old.GetDeletionGracePeriodSeconds()
	return len(m.GetFinalizers()) == 0 && old.GetDeletionTimestamp() != nil && (grace == nil || *grace == 0)
}
