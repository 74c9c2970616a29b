package handlers

import (
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/resource"
)

// admissionRunner is where the admission plugins look at the writes of one request. Nil
// stands for a server without plugins.
type admissionRunner struct {
	api  *API
	q    *request
	opts writeOptions
}

// writeOptions are what the options of create, update and patch have in common.
type writeOptions struct {
	dryRun                   []string
	fieldManager, validation string
}

// createOptions and update are the options as a plugin sees them, which knows no patches.
func (o *writeOptions) createOptions() runtime.Object {
	return &metav1.CreateOptions{
		TypeMeta: optionsTypeMeta("CreateOptions"), DryRun: o.dryRun, FieldManager: o.fieldManager, FieldValidation: o.validation,
	}
}

func (o *writeOptions) updateOptions() runtime.Object {
	return &metav1.UpdateOptions{
		TypeMeta: optionsTypeMeta("UpdateOptions"), DryRun: o.dryRun, FieldManager: o.fieldManager, FieldValidation: o.validation,
	}
}

func optionsTypeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: schema.GroupVersion{Group: "meta.k8s.io", Version: "v1"}.String(), Kind: kind}
}

// newAdmissionRunner gives the station of a request.
func (a *API) newAdmissionRunner(q *request, opts writeOptions) *admissionRunner {
	if len(a.settings.Admission) == 0 {
		return nil
	}
	return &admissionRunner{api: a, q: q, opts: opts}
}

// mutate lets the plugins change what shall be stored in the place of old, which is
// nil for a new object. obj is not to be used any more.
func (s *admissionRunner) mutate(obj, old runtime.Object) (runtime.Object, error) {
	if s == nil {
		return obj, nil
	}
	obj, warnings, err := s.api.settings.Admission.Mutate(s.q.r.Context(), s.attributes(obj, old))
	s.q.addWarnings(warnings...)
	if err != nil {
		return nil, err
	}
	s.q.dedupOwnerReferences(obj, true)
	return obj, s.q.ensureNamespace(accessor(obj))
}

// validate lets the plugins refuse what shall be stored.
func (s *admissionRunner) validate(obj, old runtime.Object) error {
	if s == nil {
		return nil
	}
	warnings, err := s.api.settings.Admission.Validate(s.q.r.Context(), s.attributes(obj, old))
	s.q.addWarnings(warnings...)
	return err
}

func (s *admissionRunner) attributes(obj, old runtime.Object) admission.Attributes {
	c := admission.Attributes{
		Operation:   admissionv1.Update,
		UID:         s.api.ids.UID(),
		User:        authn.UserFrom(s.q.r.Context()),
		Resource:    s.q.res,
		Parent:      s.q.parent,
		Subresource: s.q.info.Subresource,
		Namespace:   s.q.info.Namespace,
		Name:        accessor(obj).GetName(),
		DryRun:      isDryRun(s.opts.dryRun),
		Object:      obj,
		OldObject:   old,
	}
	if old == nil {
		c.Operation, c.Options = admissionv1.Create, s.opts.createOptions()
	} else {
		c.Options = s.opts.updateOptions()
	}
	if isNamespaces(s.q.res) {
		c.Namespace = c.Name
	}
	return c
}

// runDeleteAdmission lets the plugins refuse that an object is deleted by a request, which is
// nil for what the server does by itself.
func (a *API) runDeleteAdmission(q *request, res *resource.Resource, old runtime.Object, opts *metav1.DeleteOptions) error {
	if q == nil || len(a.settings.Admission) == 0 {
		return nil
	}
	m := accessor(old)
	options := opts.DeepCopy()
	options.TypeMeta = optionsTypeMeta("DeleteOptions")
	c := admission.Attributes{
		Operation: admissionv1.Delete,
		UID:       a.ids.UID(),
		User:      authn.UserFrom(q.r.Context()),
		Resource:  res,
		Namespace: m.GetNamespace(),
		Name:      m.GetName(),
		Options:   options,
		DryRun:    isDryRun(opts.DryRun),
		OldObject: old,
	}
	if isNamespaces(res) {
		c.Namespace = c.Name
	}
	_, warnings, err := a.settings.Admission.Mutate(q.r.Context(), c)
	if err == nil {
		var more []error
		more, err = a.settings.Admission.Validate(q.r.Context(), c)
		warnings = append(warnings, more...)
	}
	q.addWarnings(warnings...)
	return err
}
