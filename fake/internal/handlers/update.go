package handlers

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"example.com/fakeapi/fake/internal/managedfields"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/rest"
	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/fake/internal/storage"
)

// updatedObjectInfo describes the write of an update, a patch or an apply. It corresponds to
// rest.UpdatedObjectInfo of a real server.
type updatedObjectInfo struct {
	options writeOptions
	// mayCreate reports whether the object is created if it does not exist.
	mayCreate bool
	// authorizeCreate returns the error of a user who may not create the object. It authorizes once,
	// also if the write is repeated.
	authorizeCreate func() error
	// updatedObject returns the object that the client wants in place of the stored one.
	updatedObject storage.UpdateFunc
	// fieldManager sets the managedFields of what updatedObject returns; nil if updatedObject does.
	fieldManager *managedfields.FieldManager
	// isApplied reports whether obj, which is the result, is not changed by the same request; nil if
	// that is not known.
	isApplied func(obj runtime.Object) bool
	// isRepeatable is the result of isApplied for the object that was written.
	isRepeatable bool
	// dropManagedFields stores the object without managedFields.
	dropManagedFields bool
	// admission runs the admission plugins on what updatedObject returns. isAdmitted reports whether
	// updatedObject has run the mutating ones.
	admission  *admissionRunner
	isAdmitted bool
}

// update replaces an object, or its status (OC and SU rules).
func (a *API) update(q *request) error { return a.updateObject(q, (*request).parseUpdate) }

// updateObject serves an update, a patch or an apply, which parse parses.
func (a *API) updateObject(q *request, parse func(*request) (*updatedObjectInfo, error)) error {
	noop := a.newNoopRequest(q)
	if rec := a.findNoop(q, &noop); rec != nil {
		return q.replyRecord(http.StatusOK, rec)
	}
	info, err := parse(q)
	if err != nil {
		return err
	}
	info.admission = a.newAdmissionRunner(q, info.options)
	info.authorizeCreate = sync.OnceValue(func() error { return a.authorizeCreate(q) })
	code, result, err := a.guaranteedUpdate(q, info)
	if errors.Is(err, storage.ErrRequestTooLarge) && info.fieldManager != nil { // CR-18
		info.dropManagedFields = true
		code, result, err = a.guaranteedUpdate(q, info)
	}
	if err != nil {
		return err
	}
	if e := result.Event; e != nil && e.Record != nil && (!e.Changed() || info.isRepeatable) {
		a.rememberNoop(q, &noop, e.Record)
	}
	return q.replyResult(code, result)
}

// guaranteedUpdate writes the object of the path and returns the code of the response. An object
// that the write removes is the result, with the resourceVersion from before (DL-05).
func (a *API) guaranteedUpdate(q *request, info *updatedObjectInfo) (code int, result storage.Result, err error) {
	if err := q.checkName(); err != nil {
		return 0, storage.Result{}, err
	}
	var updated runtime.Object
	var allocation allocation
	defer allocation.revert()
	dryRun := isDryRun(info.options.dryRun)
	result, err = a.store.GuaranteedUpdateWithReads(q.r.Context(), q.res, q.key(), dryRun, &info.admission.reads, func(old runtime.Object) (runtime.Object, error) {
		allocation.revert() // that of an earlier call
		code = http.StatusOK
		if old == nil && !info.mayCreate {
			return nil, apierrors.NewNotFound(q.res.GroupResource(), q.info.Name)
		}
		obj, err := info.admittedObject(q, old)
		if err != nil {
			return nil, err
		}
		if err := a.checkEscalation(q, obj, old); err != nil {
			return nil, err
		}
		if old == nil {
			code = http.StatusCreated
			err := a.createOnUpdate(q, info, obj, &allocation)
			info.isRepeatable = err == nil && a.isApplied(q, info, obj)
			return obj, err
		}
		if err := a.beforeUpdate(q, info.admission, obj, old, dryRun, &allocation); err != nil {
			return nil, err
		}
		info.isRepeatable = a.isApplied(q, info, obj)
		updated = obj
		if rest.ShouldDeleteDuringUpdate(obj, old) {
			resource.Accessor(obj).SetResourceVersion(resource.Accessor(old).GetResourceVersion())
			return nil, nil
		}
		return obj, nil
	})
	switch {
	case err != nil && dryRun: // its read of the object is a get
	case err != nil:
		err = withoutReason(err)
	case result.IsDeleted():
		result = storage.Result{Object: updated}
	default:
		allocation.commit()
	}
	return code, result, err
}

// admittedObject returns the updated object with managedFields, after mutating admission.
func (info *updatedObjectInfo) admittedObject(q *request, old runtime.Object) (runtime.Object, error) {
	obj, err := info.updatedObject(old)
	if err == nil {
		err = q.checkContext()
	}
	switch {
	case err != nil:
		return nil, err
	case info.dropManagedFields:
		resource.Accessor(obj).SetManagedFields(nil)
	case info.fieldManager != nil:
		obj = q.clock.UpdateManagedFields(info.fieldManager, old, obj, q.managerName(info.options.fieldManager))
	}
	if err := q.checkContext(); err != nil || info.isAdmitted {
		return obj, err
	}
	return info.admission.mutate(obj, old)
}

// beforeUpdate prepares and validates an updated object, and runs validating admission. What it
// allocates is in allocation.
func (a *API) beforeUpdate(q *request, admission *admissionRunner, obj, old runtime.Object, dryRun bool, allocation *allocation) error {
	if err := q.checkResourceVersion(resource.Accessor(obj), resource.Accessor(old)); err != nil {
		return err
	}
	if q.sub == nil || !q.sub.WritesObject() {
		if err := a.checkService(q.r.Context(), q.res, obj, old, dryRun); err != nil {
			return err
		}
		if err := allocation.beginUpdate(a, obj, old, dryRun); err != nil {
			return err
		}
	}
	ctx := a.withAccess(a.withNamespace(q.withWarnings(), q), q)
	err := rest.BeforeUpdate(ctx, q.res, q.sub, obj, old)
	if gone := q.checkContext(); gone != nil { // err is incomplete
		return gone
	}
	if err == nil {
		err = a.checkParamsAccess(q, obj, old)
	}
	if err != nil {
		return err
	}
	q.addTypeWarnings(obj, old)
	if err := admission.validate(obj, old); err != nil {
		return err
	}
	if err := admission.charge(); err != nil {
		return err
	}
	managedfields.RestoreTimestamps(old, obj)
	return nil
}

// createOnUpdate prepares the object of a PUT or an apply that does not exist (OC-05, SA-02). The
// permission to create it is needed too; as in kube-apiserver, it is checked before validating
// admission.
func (a *API) createOnUpdate(q *request, info *updatedObjectInfo, obj runtime.Object, allocation *allocation) error {
	m := resource.Accessor(obj)
	if _, err := resourceVersionOf(m); err != nil { // its value is ignored
		return err
	}
	if err := a.checkServed(q.res, m); err != nil {
		return err
	}
	rest.WipeSystemFields(m)
	if err := a.prepareCreate(q, obj, isDryRun(info.options.dryRun), allocation); err != nil {
		return err
	}
	if err := info.authorizeCreate(); err != nil {
		return err
	}
	if err := info.admission.validate(obj, nil); err != nil {
		return err
	}
	return info.admission.charge()
}

// parseUpdate parses the options and the body of a PUT.
func (q *request) parseUpdate() (*updatedObjectInfo, error) {
	if _, err := q.readBody(); err != nil { // its size is checked before the options (CR-14)
		return nil, err
	}
	var opts metav1.UpdateOptions
	if err := q.decodeOptions(&opts); err != nil {
		return nil, err
	}
	if err := status.InvalidOptions("UpdateOptions", metavalidation.ValidateUpdateOptions(&opts)); err != nil {
		return nil, err
	}
	decoded, err := q.decodeObject(opts.FieldValidation)
	if err != nil {
		return nil, err
	}
	manager, err := q.fieldManager()
	if err != nil {
		return nil, err
	}
	uid := resource.Accessor(decoded).GetUID()
	return &updatedObjectInfo{
		options:      writeOptions{opts.DryRun, opts.FieldManager, opts.FieldValidation},
		mayCreate:    q.res.AllowCreateOnUpdate && q.info.Subresource == "",
		fieldManager: manager,
		updatedObject: func(old runtime.Object) (runtime.Object, error) {
			if err := q.checkUID(uid, old, isDryRun(opts.DryRun)); err != nil {
				return nil, err
			}
			if obj := decoded; obj != nil {
				decoded = nil
				return obj, nil
			}
			return q.decodeObject(opts.FieldValidation) // the first one was changed by the first call
		},
	}, nil
}

// checkUID returns a Conflict if sent, the uid in the body of a PUT, is not that of old (OC-06).
func (q *request) checkUID(sent types.UID, old runtime.Object, dryRun bool) error {
	var uid types.UID
	if old != nil {
		uid = resource.Accessor(old).GetUID()
	}
	if sent == "" || sent == uid {
		return nil
	}
	path := q.storagePath()
	if dryRun { // a dry run does not reach the storage, which adds the prefix
		path = strings.TrimPrefix(path, "/registry")
	}
	return status.StoragePreconditionFailed(q.parent.GroupResource(), q.info.Name, path, "UID", sent, uid)
}

// checkResourceVersion returns a Conflict if sent has another resourceVersion than old (OC-02,
// OC-07, OC-09). One without a resourceVersion gets that of old, if the resource allows it (OC-04).
func (q *request) checkResourceVersion(sent, old metav1.Object) error {
	rev, err := resourceVersionOf(sent)
	switch {
	case err != nil:
		return err
	case rev == 0 && q.res.AllowUnconditionalUpdate:
		sent.SetResourceVersion(old.GetResourceVersion())
		return nil
	case rev == 0:
		return status.MissingResourceVersion(q.res.GroupResource(), q.info.Name)
	case strconv.FormatUint(rev, 10) != old.GetResourceVersion():
		return status.Conflict(q.res.GroupResource(), q.info.Name)
	}
	return nil
}

// isDryRun reports whether the dryRun option, which was validated, asks for a dry run.
func isDryRun(dryRun []string) bool { return slices.Contains(dryRun, metav1.DryRunAll) }
