package handlers

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/warning"

	"example.com/fakeapi/fake/internal/managedfields"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/status"
)

// update replaces an object, or its status (OC and SU rules).
func (a *API) update(q *request) error { return a.runUpdate(q, (*request).parseUpdate) }

// runUpdate reads a request that changes an object and does what it says.
func (a *API) runUpdate(q *request, parse func(*request) (*updatedObjectInfo, error)) error {
	if rec := a.findNoop(q); rec != nil {
		return q.replyRecord(http.StatusOK, rec)
	}
	w, err := parse(q)
	if err != nil {
		return err
	}
	return a.applyUpdate(q, w)
}

// parseUpdate reads the options and the body of a PUT and gives what it does.
func (q *request) parseUpdate() (*updatedObjectInfo, error) {
	if _, err := q.readBody(); err != nil { // its size comes before the options (CR-14)
		return nil, err
	}
	var opts metav1.UpdateOptions
	if err := q.decodeOptions(&opts); err != nil {
		return nil, err
	}
	if err := invalidOptions("UpdateOptions", metavalidation.ValidateUpdateOptions(&opts)); err != nil {
		return nil, err
	}
	sent, err := q.decodeObject(opts.FieldValidation)
	if err != nil {
		return nil, err
	}
	tracker, err := q.fieldManager()
	if err != nil {
		return nil, err
	}
	uid := accessor(sent).GetUID()
	return &updatedObjectInfo{
		options:      writeOptions{opts.DryRun, opts.FieldManager, opts.FieldValidation},
		mayCreate:    q.res.AllowCreateOnUpdate && q.info.Subresource == "",
		fieldManager: tracker,
		updatedObject: func(old runtime.Object) (runtime.Object, error) {
			if err := q.checkUID(uid, old); err != nil {
				return nil, err
			}
			if obj := sent; obj != nil {
				sent = nil
				return obj, nil
			}
			return q.decodeObject(opts.FieldValidation) // the first one has been worked on
		},
	}, nil
}

// updatedObjectInfo is a write to an object that may be there: update, patch and apply differ
// in what stands here.
type updatedObjectInfo struct {
	options   writeOptions
	mayCreate bool
	// updatedObject makes of the stored object, of the StoreVersion and nil where there is
	// none, what the client wants there.
	updatedObject updateFunc
	// fieldManager keeps the managedFields of what next gives; nil if next has done so.
	fieldManager *managedfields.FieldManager
	// dropManagedFields tells that the object is stored without managedFields.
	dropManagedFields bool
	// skipAdmission tells that next asks the admission plugins itself.
	skipAdmission bool
}

// applyUpdate commits a rewrite, and answers.
func (a *API) applyUpdate(q *request, w *updatedObjectInfo) error {
	code, out, err := a.tryUpdate(q, w)
	if errors.Is(err, errRequestTooLarge) && w.fieldManager != nil { // CR-18
		w.dropManagedFields = true
		code, out, err = a.tryUpdate(q, w)
	}
	if err != nil {
		return err
	}
	if out.event != nil && !out.event.Changed() {
		a.rememberNoop(q, out.event.Record)
	}
	return q.replyResult(code, out)
}

func (a *API) tryUpdate(q *request, w *updatedObjectInfo) (code int, out writeResult, err error) {
	if err := q.checkName(); err != nil {
		return 0, writeResult{}, err
	}
	var last runtime.Object // the object as this request leaves it, also if that ends it
	var admit *admissionRunner
	if !w.skipAdmission {
		admit = a.newAdmissionRunner(q, w.options)
	}
	out, err = a.updateStore(q.res, q.key(), isDryRun(w.options.dryRun), func(old runtime.Object) (runtime.Object, error) {
		code = http.StatusOK
		if old == nil && !w.mayCreate {
			return nil, apierrors.NewNotFound(q.res.GroupResource(), q.info.Name)
		}
		obj, err := w.objectToStore(q, admit, old)
		if err != nil {
			return nil, err
		}
		if old == nil {
			code = http.StatusCreated
			return obj, a.createOnUpdate(q, admit, obj)
		}
		if err := beforeUpdate(q, obj, old); err != nil {
			return nil, err
		}
		q.addTypeWarnings(obj, old)
		if err := admit.validate(obj, old); err != nil {
			return nil, err
		}
		managedfields.RestoreTimestamps(old, obj)
		last = obj
		if shouldDeleteDuringUpdate(obj, old) {
			accessor(obj).SetResourceVersion(accessor(old).GetResourceVersion())
			return nil, nil
		}
		return obj, nil
	})
	if err == nil && (out.event != nil && out.event.Record == nil || out.event == nil && out.obj == nil) {
		out = writeResult{obj: last} // with the resourceVersion from before (DL-05)
	}
	return code, out, err
}

// objectToStore gives what shall be stored, before the server's own part of it.
func (w *updatedObjectInfo) objectToStore(q *request, admit *admissionRunner, old runtime.Object) (runtime.Object, error) {
	obj, err := w.updatedObject(old)
	switch {
	case err != nil:
		return nil, err
	case w.dropManagedFields:
		accessor(obj).SetManagedFields(nil)
	case w.fieldManager != nil:
		obj = q.clock.updateManagedFields(w.fieldManager, old, obj, q.managerName(w.options.fieldManager))
	}
	return admit.mutate(obj, old)
}

// beforeUpdate checks what the client knew of the stored object and keeps what it
// cannot change.
func beforeUpdate(q *request, obj, old runtime.Object) error {
	if err := q.checkResourceVersion(accessor(obj), accessor(old)); err != nil {
		return err
	}
	if q.sub != nil && q.sub.WritesObject() {
		prepareForSubresourceUpdate(q.res, q.sub, obj, old)
	} else {
		prepareForUpdate(q.res, obj, old)
	}
	return validateUpdate(warning.WithWarningRecorder(q.r.Context(), q), q.res, q.sub, obj, old)
}

// createOnUpdate prepares the object that a PUT names and that is not there,
// for the types that allow it (OC-05).
func (a *API) createOnUpdate(q *request, admit *admissionRunner, obj runtime.Object) error {
	if _, err := resourceVersionOf(accessor(obj)); err != nil { // it does not count, but is read
		return err
	}
	if err := a.checkNamespaceActive(q.res, q.namespace(), accessor(obj)); err != nil {
		return err
	}
	a.prepareForCreate(q.res, obj)
	if err := validateCreate(q.res, obj); err != nil {
		return err
	}
	q.addTypeWarnings(obj, nil)
	return admit.validate(obj, nil)
}

// checkUID refuses a PUT whose body carries the uid of another object (OC-06).
func (q *request) checkUID(sent types.UID, old runtime.Object) error {
	var have types.UID
	if old != nil {
		have = accessor(old).GetUID()
	}
	if sent == "" || sent == have {
		return nil
	}
	return q.invalidObjectError(fmt.Sprintf("Precondition failed: UID in precondition: %v, UID in object meta: %v", sent, have))
}

// storagePrefix is under which name a real server keeps the objects of a resource: some
// are still called as when they were new.
func storagePrefix(res *resource.Resource) string {
	if res.Custom != nil {
		return res.Group + "/" + res.Plural
	}
	switch res.GroupResource().String() {
	case "nodes":
		return "minions"
	case "replicationcontrollers":
		return "controllers"
	case "services":
		return "services/specs"
	case "endpoints":
		return "services/endpoints"
	case "ingresses.networking.k8s.io":
		return "ingress"
	}
	return res.Plural
}

// checkResourceVersion refuses a write made from another state of the object than the
// stored one (OC-02, OC-07, OC-09). None at all overwrites where the type
// allows it (OC-04); then sent gets the stored one.
func (q *request) checkResourceVersion(sent, old metav1.Object) error {
	rev, err := resourceVersionOf(sent)
	switch {
	case err != nil:
		return err
	case rev == 0 && q.res.AllowUnconditionalUpdate:
		sent.SetResourceVersion(old.GetResourceVersion())
		return nil
	case rev == 0:
		resource := schema.GroupKind{Group: q.res.Group, Kind: q.res.Plural} // the one 422 that names it in the place of the kind (OC-04)
		return apierrors.NewInvalid(resource, q.info.Name, field.ErrorList{field.Invalid(
			field.NewPath("metadata", "resourceVersion"), rev, "must be specified for an update")})
	case strconv.FormatUint(rev, 10) != old.GetResourceVersion():
		return status.Conflict(q.res.GroupResource(), q.info.Name)
	}
	return nil
}

// resourceVersionOf reads the resourceVersion of an object, 0 if it has none. The error is
// a plain one, which makes a 500.
func resourceVersionOf(m metav1.Object) (uint64, error) {
	if m.GetResourceVersion() == "" {
		return 0, nil
	}
	return strconv.ParseUint(m.GetResourceVersion(), 10, 64)
}

// shouldDeleteDuringUpdate reports whether an update is the end of an object that was being
// deleted: its last finalizer is gone and its grace is over.
func shouldDeleteDuringUpdate(obj, old runtime.Object) bool {
	if ns, ok := obj.(*corev1.Namespace); ok {
		return isNamespaceDeletable(ns)
	}
	m := accessor(old)
	grace := m.GetDeletionGracePeriodSeconds()
	return len(accessor(obj).GetFinalizers()) == 0 && m.GetDeletionTimestamp() != nil && (grace == nil || *grace == 0)
}
