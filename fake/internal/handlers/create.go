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

// generateTries is how often a generated name that is taken is made anew (NM-08).
const generateTries = 8

// createBelow is a create at the path of a custom object. The name there says nothing (PV-15).
func (a *API) createBelow(q *request) error {
	q.target.Name = ""
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
	if err := q.options(&opts); err != nil {
		return err
	}
	if err := invalidOptions("CreateOptions", metavalidation.ValidateCreateOptions(&opts)); err != nil {
		return err
	}
	obj, err := q.object(opts.FieldValidation)
	if err != nil {
		return err
	}
	if err := a.admitNamespace(q.res, q.namespace(), accessor(obj)); err != nil {
		return err
	}
	tracker, err := q.tracker()
	if err != nil {
		return err
	}
	wipe(accessor(obj)) // before anybody is said to manage it
	obj = a.clock.track(tracker, nil, obj, q.manager(opts.FieldManager))
	admit := a.station(q, writeOptions{opts.DryRun, opts.FieldManager, opts.FieldValidation})
	if obj, err = admit.mutate(obj, nil); err != nil {
		return err
	}
	dryRun := isDryRun(opts.DryRun)
	out, err := a.insertNamed(q, admit, obj, dryRun)
	if errors.Is(err, errTooLarge) { // CR-18
		accessor(obj).SetManagedFields(nil)
		out, err = a.insertNamed(q, admit, obj, dryRun)
	}
	if err != nil {
		return err
	}
	return q.answer(http.StatusCreated, out)
}

// insertNamed inserts an object, under a generated name if it has none of its own.
func (a *API) insertNamed(q *request, admit *station, obj runtime.Object, dryRun bool) (outcome, error) {
	m := accessor(obj)
	generated := m.GetName() == "" && m.GetGenerateName() != ""
	for try := 1; ; try++ {
		out, err := a.insert(q, admit, obj, dryRun)
		if !generated || !apierrors.IsAlreadyExists(err) || try == generateTries {
			return out, err
		}
		m.SetName("")
	}
}

// insert prepares, checks and stores a new object of the StoreVersion.
func (a *API) insert(q *request, admit *station, obj runtime.Object, dryRun bool) (outcome, error) {
	m := accessor(obj)
	if !dryRun { // which never gets to the storage that would mind, and answers what was sent
		if rev, err := parseRevision(m.GetResourceVersion()); err == nil && rev != 0 { // MD-12
			return outcome{}, errors.New("resourceVersion should not be set on objects to be created")
		}
		m.SetResourceVersion("") // MD-13
	}
	a.prepareCreate(q.res, obj)
	if err := validateCreate(q.res, obj); err != nil {
		return outcome{}, err
	}
	q.warnOf(obj, nil)
	if err := admit.validate(obj, nil); err != nil {
		return outcome{}, err
	}
	key := codec.Key(q.res, q.namespace(), m.GetName())
	return a.commit(q.res, key, dryRun, func(old runtime.Object) (runtime.Object, error) {
		if old == nil {
			return obj, nil
		}
		return nil, q.exists(m, accessor(old))
	})
}

// exists is the 409 for a name that is in use (NM-02), by an object that may
// be on its way out (NM-03). With a generateName, whether or not the name came
// from it, the client is told to try again (NM-09).
func (q *request) exists(m, old metav1.Object) error {
	err := apierrors.NewAlreadyExists(q.res.GroupResource(), m.GetName())
	if m.GetGenerateName() != "" {
		err = apierrors.NewGenerateNameConflict(q.res.GroupResource(), m.GetName(), 1)
	}
	if old.GetDeletionTimestamp() != nil {
		err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
	}
	return err
}
