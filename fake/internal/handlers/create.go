package handlers

import (
	"context"
	"errors"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/rest"
	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/fake/internal/storage"
)

// maxNameAttempts is how many names are generated for an object (NM-08).
const maxNameAttempts = 8

// createAtName is a create at the path of a custom object, whose name is ignored (PV-15). Only
// admission sees it.
func (a *API) createAtName(q *request) error {
	name := q.info.Name
	q.info.Name = ""
	return a.createAs(q, name)
}

// create stores a new object (CR and NM rules). It checks the media type of the body before its
// size, and that before the options. An update checks the media type last (CR-14).
func (a *API) create(q *request) error { return a.createAs(q, "") }

// createAs is create with a name that admission sees instead of that of the object, unless it is
// "".
func (a *API) createAs(q *request, name string) error {
	if _, err := negotiate.RequestMediaType(q.r); err != nil {
		return err
	}
	if _, err := q.readBody(); err != nil {
		return err
	}
	opts, err := q.decodeCreateOptions()
	if err != nil {
		return err
	}
	obj, err := q.decodeObject(opts.FieldValidation)
	if err != nil {
		return err
	}
	if err := a.checkServed(q.res, resource.Accessor(obj)); err != nil {
		return err
	}
	manager, err := q.fieldManager()
	if err != nil {
		return err
	}
	rest.WipeSystemFields(resource.Accessor(obj)) // so that the client does not become their manager
	obj = a.clock.UpdateManagedFields(manager, nil, obj, q.managerName(opts.FieldManager))
	if err := q.checkContext(); err != nil {
		return err
	}
	admission := a.newAdmissionRunner(q, writeOptions{opts.DryRun, opts.FieldManager, opts.FieldValidation})
	admission.name = name
	if obj, err = admission.mutate(obj, nil); err != nil {
		return err
	}
	if err := a.checkEscalation(q, obj, nil); err != nil {
		return err
	}
	dryRun := isDryRun(opts.DryRun)
	result, err := a.createWithGeneratedName(q, admission, obj, dryRun)
	if errors.Is(err, storage.ErrRequestTooLarge) { // CR-18
		resource.Accessor(obj).SetManagedFields(nil)
		result, err = a.createWithGeneratedName(q, admission, obj, dryRun)
	}
	if err != nil {
		return err
	}
	return q.replyResult(http.StatusCreated, result)
}

// createWithGeneratedName stores a new object of the storage version. If its name is generated and
// in use, it tries other names.
func (a *API) createWithGeneratedName(q *request, admission *admissionRunner, obj runtime.Object, dryRun bool) (storage.Result, error) {
	m := resource.Accessor(obj)
	insert := func(old runtime.Object) (runtime.Object, error) {
		if err := admission.charge(); err != nil {
			return nil, err
		}
		if old == nil {
			return obj, nil
		}
		if !dryRun { // which does not encode it
			if err := a.store.CheckNew(q.res, obj); err != nil {
				return nil, err
			}
		}
		isTerminating := resource.Accessor(old).GetDeletionTimestamp() != nil
		return nil, status.AlreadyExists(q.res.GroupResource(), m.GetName(), m.GetGenerateName() != "", isTerminating)
	}
	isGenerated := m.GetName() == "" && m.GetGenerateName() != ""
	for attempt := 1; ; attempt++ {
		result, err := a.tryCreate(q, admission, obj, dryRun, insert)
		if !isGenerated || !apierrors.IsAlreadyExists(err) || attempt == maxNameAttempts {
			return result, err
		}
		m.SetName("")
	}
}

// tryCreate prepares, validates and stores a new object, which insert returns.
func (a *API) tryCreate(q *request, admission *admissionRunner, obj runtime.Object, dryRun bool, insert storage.UpdateFunc) (result storage.Result, err error) {
	var allocation allocation
	defer allocation.revert()
	if err := a.prepareCreate(q, obj, dryRun, &allocation); err != nil {
		return result, err
	}
	if err := admission.validate(obj, nil); err != nil {
		return result, err
	}
	m := resource.Accessor(obj)
	if !dryRun { // the storage of a real server checks this, which a dry run does not reach
		if err := clearResourceVersion(m); err != nil {
			return result, err
		}
	}
	key := codec.Key(q.res, q.namespace(), m.GetName())
	result, err = a.store.GuaranteedUpdateUnconverted(q.r.Context(), q.res, key, dryRun, &admission.reads, insert)
	if err == nil {
		allocation.commit()
	}
	return result, err
}

// clearResourceVersion clears the resourceVersion of a new object, which is an error unless it is 0
// or not a number (MD-12, MD-13).
func clearResourceVersion(m metav1.Object) error {
	if rev, err := parseRevision(m.GetResourceVersion()); err == nil && rev != 0 {
		return errors.New("resourceVersion should not be set on objects to be created")
	}
	m.SetResourceVersion("")
	return nil
}

// prepareCreate prepares and validates a new object. What it allocates is in allocation.
func (a *API) prepareCreate(q *request, obj runtime.Object, dryRun bool, allocation *allocation) error {
	rest.PrepareForCreate(q.withWarnings(), q.res, obj, a.ids, a.clock.Timestamp())
	if resource.Accessor(obj).GetUID() == "" { // admission has set the metadata of a custom resource to null
		return apierrors.NewInternalError(errors.New("system metadata was not initialized"))
	}
	if err := a.checkService(q.r.Context(), q.res, obj, nil, dryRun); err != nil {
		return err
	}
	if err := allocation.beginCreate(a, obj, dryRun); err != nil {
		return err
	}
	err := rest.ValidateCreate(a.withNamespace(q.r.Context(), q), q.res, obj)
	if gone := q.checkContext(); gone != nil { // err is incomplete
		return gone
	}
	if err == nil {
		err = a.checkParamsAccess(q, obj, nil)
	}
	if err != nil {
		return err
	}
	q.addTypeWarnings(obj, nil)
	return nil
}

// withNamespace returns ctx with the namespace of the request if the validation reads it.
func (a *API) withNamespace(ctx context.Context, q *request) context.Context {
	if !q.res.ReadsNamespace {
		return ctx
	}
	return resource.WithNamespace(ctx, func() (*corev1.Namespace, error) {
		obj, err := a.getCore("namespaces", "", q.namespace())
		if err != nil {
			return nil, err
		}
		return obj.(*corev1.Namespace), nil
	})
}
