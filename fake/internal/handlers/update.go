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
func (a *API) update(q *request) error { return a.change(q, (*request).updating) }

// change reads a request that changes an object and does what it says.
func (a *API) change(q *request, read func(*request) (*rewrite, error)) error {
	if rec := a.echoing(q); rec != nil {
		return q.reply(http.StatusOK, rec)
	}
	w, err := read(q)
	if err != nil {
		return err
	}
	return a.replace(q, w)
}

// updating reads the options and the body of a PUT and gives what it does.
func (q *request) updating() (*rewrite, error) {
	if _, err := q.readBody(); err != nil { // its size comes before the options (CR-14)
		return nil, err
	}
	var opts metav1.UpdateOptions
	if err := q.options(&opts); err != nil {
		return nil, err
	}
	if err := invalidOptions("UpdateOptions", metavalidation.ValidateUpdateOptions(&opts)); err != nil {
		return nil, err
	}
	sent, err := q.object(opts.FieldValidation)
	if err != nil {
		return nil, err
	}
	tracker, err := q.tracker()
	if err != nil {
		return nil, err
	}
	uid := accessor(sent).GetUID()
	return &rewrite{
		options:   writeOptions{opts.DryRun, opts.FieldManager, opts.FieldValidation},
		mayCreate: q.res.AllowCreateOnUpdate && q.target.Subresource == "",
		tracker:   tracker,
		next: func(old runtime.Object) (runtime.Object, error) {
			if err := q.sameUID(uid, old); err != nil {
				return nil, err
			}
			if obj := sent; obj != nil {
				sent = nil
				return obj, nil
			}
			return q.object(opts.FieldValidation) // the first one has been worked on
		},
	}, nil
}

// rewrite is a write to an object that may be there: update, patch and apply differ
// in what stands here.
type rewrite struct {
	options   writeOptions
	mayCreate bool
	// next makes of the stored object, of the StoreVersion and nil where there is
	// none, what the client wants there.
	next change
	// tracker keeps the managedFields of what next gives; nil if next has done so.
	tracker *managedfields.FieldManager
	// untracked tells that the object is stored without managedFields.
	untracked bool
	// admitted tells that next asks the admission plugins itself.
	admitted bool
}

// replace commits a rewrite, and answers.
func (a *API) replace(q *request, w *rewrite) error {
	code, out, err := a.rewrite(q, w)
	if errors.Is(err, errTooLarge) && w.tracker != nil { // CR-18
		w.untracked = true
		code, out, err = a.rewrite(q, w)
	}
	if err != nil {
		return err
	}
	if out.event != nil && !out.event.Changed() {
		a.noteEcho(q, out.event.Record)
	}
	return q.answer(code, out)
}

func (a *API) rewrite(q *request, w *rewrite) (code int, out outcome, err error) {
	if err := q.named(); err != nil {
		return 0, outcome{}, err
	}
	var last runtime.Object // the object as this request leaves it, also if that ends it
	var admit *station
	if !w.admitted {
		admit = a.station(q, w.options)
	}
	out, err = a.commit(q.res, q.key(), isDryRun(w.options.dryRun), func(old runtime.Object) (runtime.Object, error) {
		code = http.StatusOK
		if old == nil && !w.mayCreate {
			return nil, apierrors.NewNotFound(q.res.GroupResource(), q.target.Name)
		}
		obj, err := w.object(q, admit, old)
		if err != nil {
			return nil, err
		}
		if old == nil {
			code = http.StatusCreated
			return obj, a.createByUpdate(q, admit, obj)
		}
		if err := prepare(q, obj, old); err != nil {
			return nil, err
		}
		q.warnOf(obj, old)
		if err := admit.validate(obj, old); err != nil {
			return nil, err
		}
		managedfields.RestoreTimestamps(old, obj)
		last = obj
		if ended(obj, old) {
			accessor(obj).SetResourceVersion(accessor(old).GetResourceVersion())
			return nil, nil
		}
		return obj, nil
	})
	if err == nil && (out.event != nil && out.event.Record == nil || out.event == nil && out.obj == nil) {
		out = outcome{obj: last} // with the resourceVersion from before (DL-05)
	}
	return code, out, err
}

// object gives what shall be stored, before the server's own part of it.
func (w *rewrite) object(q *request, admit *station, old runtime.Object) (runtime.Object, error) {
	obj, err := w.next(old)
	switch {
	case err != nil:
		return nil, err
	case w.untracked:
		accessor(obj).SetManagedFields(nil)
	case w.tracker != nil:
		obj = q.clock.track(w.tracker, old, obj, q.manager(w.options.fieldManager))
	}
	return admit.mutate(obj, old)
}

// prepare checks what the client knew of the stored object and keeps what it
// cannot change.
func prepare(q *request, obj, old runtime.Object) error {
	if err := q.upToDate(accessor(obj), accessor(old)); err != nil {
		return err
	}
	if q.sub != nil && q.sub.WritesObject() {
		prepareSubresource(q.res, q.sub, obj, old)
	} else {
		prepareUpdate(q.res, obj, old)
	}
	return validateUpdate(warning.WithWarningRecorder(q.r.Context(), q), q.res, q.sub, obj, old)
}

// createByUpdate prepares the object that a PUT names and that is not there,
// for the types that allow it (OC-05).
func (a *API) createByUpdate(q *request, admit *station, obj runtime.Object) error {
	if _, err := revisionOf(accessor(obj)); err != nil { // it does not count, but is read
		return err
	}
	if err := a.admitNamespace(q.res, q.namespace(), accessor(obj)); err != nil {
		return err
	}
	a.prepareCreate(q.res, obj)
	if err := validateCreate(q.res, obj); err != nil {
		return err
	}
	q.warnOf(obj, nil)
	return admit.validate(obj, nil)
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
	return q.storageConflict(fmt.Sprintf("Precondition failed: UID in precondition: %v, UID in object meta: %v", sent, have))
}

// etcdName is under which name a real server keeps the objects of a resource: some
// are still called as when they were new.
func etcdName(res *resource.Resource) string {
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

// upToDate refuses a write made from another state of the object than the
// stored one (OC-02, OC-07, OC-09). None at all overwrites where the type
// allows it (OC-04); then sent gets the stored one.
func (q *request) upToDate(sent, old metav1.Object) error {
	rev, err := revisionOf(sent)
	switch {
	case err != nil:
		return err
	case rev == 0 && q.res.AllowUnconditionalUpdate:
		sent.SetResourceVersion(old.GetResourceVersion())
		return nil
	case rev == 0:
		resource := schema.GroupKind{Group: q.res.Group, Kind: q.res.Plural} // the one 422 that names it in the place of the kind (OC-04)
		return apierrors.NewInvalid(resource, q.target.Name, field.ErrorList{field.Invalid(
			field.NewPath("metadata", "resourceVersion"), rev, "must be specified for an update")})
	case strconv.FormatUint(rev, 10) != old.GetResourceVersion():
		return status.Conflict(q.res.GroupResource(), q.target.Name)
	}
	return nil
}

// revisionOf reads the resourceVersion of an object, 0 if it has none. The error is
// a plain one, which makes a 500.
func revisionOf(m metav1.Object) (uint64, error) {
	if m.GetResourceVersion() == "" {
		return 0, nil
	}
	return strconv.ParseUint(m.GetResourceVersion(), 10, 64)
}

// ended reports whether an update is the end of an object that was being
// deleted: its last finalizer is gone and its grace is over.
func ended(obj, old runtime.Object) bool {
	if ns, ok := obj.(*corev1.Namespace); ok {
		return namespaceEnded(ns)
	}
	m := accessor(old)
	grace := m.GetDeletionGracePeriodSeconds()
	return len(accessor(obj).GetFinalizers()) == 0 && m.GetDeletionTimestamp() != nil && (grace == nil || *grace == 0)
}
