package handlers

import (
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/negotiate"
)

// maxNameAttempts is how often a generated name that is taken is made anew (NM-08).
const maxNameAttempts = 8

// createAtName is a create at the path of a custom object. The name there says nothing (PV-15).
func (a *API) createAtName(q *request) error {
	q.info.Name = ""
	return a.create(q)
}

// create stores a new object (CR and NM rules). The media type of the body comes
// before its size, and that before the options; an update asks for the media type
// last (CR-14).
func (a *API) create(q *request) error {
	if _, err := negotiate.RequestMediaType(q.r); err != nil {
		return err
	}
	if _, err := q.readBody(); err != nil {
		return err
	}
	var opts metav1.CreateOptions
	if err := q.decodeOptions(&opts); err != nil {
		return err
	}
	if err := invalidOptions("CreateOptions", metavalidation.ValidateCreateOptions(&opts)); err != nil {
		return err
	}
	obj, err := q.decodeObject(opts.FieldValidation)
	if err != nil {
		return err
	}
	if err := a.checkNamespaceActive(q.res, q.namespace(), accessor(obj)); err != nil {
		return err
	}
	tracker, err := q.fieldManager()
	if err != nil {
		return err
	}
	wipeSystemFields(accessor(obj)) // before anybody is said to manage it
	obj = a.clock.updateManagedFields(tracker, nil, obj, q.managerName(opts.FieldManager))
	admit := a.newAdmissionRunner(q, writeOptions{opts.DryRun, opts.FieldManager, opts.FieldValidation})
	if obj, err = admit.mutate(obj, nil); err != nil {
		return err
	}
	dryRun := isDryRun(opts.DryRun)
	out, err := a.createWithGeneratedName(q, admit, obj, dryRun)
	if errors.Is(err, errRequestTooLarge) { // CR-18
		accessor(obj).SetManagedFields(nil)
		out, err = a.createWithGeneratedName(q, admit, obj, dryRun)
	}
	if err != nil {
		return err
	}
	return q.replyResult(http.StatusCreated, out)
}

// createWithGeneratedName inserts an object, under a generated name if it has none of its own.
func (a *API) createWithGeneratedName(q *request, admit *admissionRunner, obj runtime.Object, dryRun bool) (writeResult, error) {
	m := accessor(obj)
	generated := m.GetName() == "" && m.GetGenerateName() != ""
	for attempt := 1; ; attempt++ {
		out, err := a.createObject(q, admit, obj, dryRun)
		if !generated || !apierrors.IsAlreadyExists(err) || attempt == maxNameAttempts {
			return out, err
		}
		m.SetName("")
	}
}

// createObject prepares, checks and stores a new object of the StoreVersion.
func (a *API) createObject(q *request, admit *admissionRunner, obj runtime.Object, dryRun bool) (writeResult, error) {
	m := accessor(obj)
	if !dryRun { // which never gets to the storage that would mind, and answers what was sent
		if rev, err := parseRevision(m.GetResourceVersion()); err == nil && rev != 0 { // MD-12
			return writeResult{}, errors.New("resourceVersion should not be set on objects to be created")
		}
		m.SetResourceVersion("") // MD-13
	}
	a.prepareForCreate(q.res, obj)
	if err := validateCreate(q.res, obj); err != nil {
		return writeResult{}, err
	}
	q.addTypeWarnings(obj, nil)
	if err := admit.validate(obj, nil); err != nil {
		return writeResult{}, err
	}
	key := codec.Key(q.res, q.namespace(), m.GetName())
	return a.updateStore(q.res, key, dryRun, func(old runtime.Object) (runtime.Object, error) {
		if old == nil {
			return obj, nil
		}
		return nil, q.alreadyExistsError(m, accessor(old))
	})
}

// alreadyExistsError is the 409 for a name that is in use (NM-02), by an object that may
// be on its way out (NM-03). With a generateName, whether or not the name came
// from it, the client is told to try again (NM-09).
func (q *request) alreadyExistsError(m, old metav1.Object) error {
	err := apierrors.NewAlreadyExists(q.res.GroupResource(), m.GetName())
	if m.GetGenerateName() != "" {
		err = apierrors.NewGenerateNameConflict(q.res.GroupResource(), m.GetName(), 1)
	}
	if old.GetDeletionTimestamp() != nil {
		err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
	}
	return err
}
