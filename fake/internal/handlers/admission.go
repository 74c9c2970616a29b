package handlers

import (
	"context"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/rest"
	"example.com/fakeapi/fake/internal/storage"
)

// writeOptions are the options that creates, updates and patches have in common.
type writeOptions struct {
	dryRun                   []string
	fieldManager, validation string
}

// forAdmission returns the options of an operation that admission plugins see.
func (o *writeOptions) forAdmission(operation admissionv1.Operation) runtime.Object {
	if operation == admissionv1.Create {
		return &metav1.CreateOptions{
			TypeMeta: optionsTypeMeta("CreateOptions"), DryRun: o.dryRun, FieldManager: o.fieldManager, FieldValidation: o.validation,
		}
	}
	return &metav1.UpdateOptions{
		TypeMeta: optionsTypeMeta("UpdateOptions"), DryRun: o.dryRun, FieldManager: o.fieldManager, FieldValidation: o.validation,
	}
}

func optionsTypeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: schema.GroupVersion{Group: "meta.k8s.io", Version: "v1"}.String(), Kind: kind}
}

// admissionRunner runs the admission plugins on the write of a request. A nil one runs none.
type admissionRunner struct {
	api  *API
	q    *request
	opts writeOptions
	// attributes has the objects of the last call of mutate or validate.
	attributes admission.Attributes
	// reads are what the last charge depends on.
	reads storage.Reads
}

// newAdmissionRunner returns the admissionRunner of a request.
func (a *API) newAdmissionRunner(q *request, opts writeOptions) *admissionRunner {
	return &admissionRunner{api: a, q: q, opts: opts, attributes: admission.Attributes{
		NewUID:      a.newUID,
		User:        authn.UserFrom(q.r.Context()),
		Resource:    q.res,
		Parent:      q.parent,
		Subresource: q.info.Subresource,
		Namespace:   q.info.Namespace,
		DryRun:      isDryRun(opts.dryRun),
	}}
}

// mutate runs the mutating plugins and returns the object to store in place of old, which is nil
// for a new object. The caller must not use obj afterwards.
func (r *admissionRunner) mutate(obj, old runtime.Object) (runtime.Object, error) {
	if r == nil {
		return obj, nil
	}
	attributes := r.attributesOf(obj, old)
	if err := r.api.admission.Admit(r.q.withWarnings(), attributes); err != nil {
		return nil, err
	}
	r.q.dedupOwnerReferences(attributes.Object, true)
	return attributes.Object, r.q.ensureNamespace(resource.Accessor(attributes.Object))
}

// validate runs the validating plugins.
func (r *admissionRunner) validate(obj, old runtime.Object) error {
	if r == nil {
		return nil
	}
	return r.api.admission.Validate(r.q.withWarnings(), r.attributesOf(obj, old))
}

// charge runs the plugins that are called in the transaction of the write, on the object that
// validate was called with. It sets reads.
func (r *admissionRunner) charge() (err error) {
	if r != nil {
		r.reads, err = r.api.admission.Charge(&r.attributes)
	}
	return err
}

// readsOf returns the reads that charge sets, nil for a nil runner.
func readsOf(r *admissionRunner) *storage.Reads {
	if r == nil {
		return nil
	}
	return &r.reads
}

// attributesOf returns the attributes for a write of obj in place of old. A call changes what the
// previous one has returned.
func (r *admissionRunner) attributesOf(obj, old runtime.Object) *admission.Attributes {
	operation := admissionv1.Update
	if old == nil {
		operation = admissionv1.Create
	}
	attributes := &r.attributes
	if attributes.Operation != operation { // the first call, or a concurrent create or delete
		attributes.Operation, attributes.Options = operation, r.opts.forAdmission(operation)
	}
	attributes.Object, attributes.OldObject = obj, old
	attributes.Name = resource.Accessor(obj).GetName()
	if rest.IsNamespaces(r.q.res) {
		attributes.Namespace = attributes.Name
	}
	return attributes
}

// runDeleteAdmission runs the admission plugins on the delete of an object. q is nil for a delete
// by the server itself, which is not reviewed.
func (a *API) runDeleteAdmission(ctx context.Context, q *request, res *resource.Resource, old runtime.Object, opts *metav1.DeleteOptions) error {
	chain := a.ownAdmission
	if q != nil {
		ctx, chain = q.withWarnings(), a.admission
	}
	m := resource.Accessor(old)
	options := *opts // plugins only read what it shares
	options.TypeMeta = optionsTypeMeta("DeleteOptions")
	attributes := &admission.Attributes{
		Operation: admissionv1.Delete,
		NewUID:    a.newUID,
		User:      authn.UserFrom(ctx),
		Resource:  res,
		Namespace: m.GetNamespace(),
		Name:      m.GetName(),
		Options:   &options,
		DryRun:    isDryRun(opts.DryRun),
		OldObject: old,
	}
	if q != nil {
		attributes.Name = q.info.Name // none in a deletecollection (WH-35)
	}
	if rest.IsNamespaces(res) {
		attributes.Namespace = attributes.Name
	}
	if err := chain.Admit(ctx, attributes); err != nil {
		return err
	}
	return chain.Validate(ctx, attributes)
}
