package handlers

import (
	"cmp"
	"context"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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

// admissionRunner runs the admission plugins on the write of a request.
type admissionRunner struct {
	api  *API
	q    *request
	opts writeOptions
	// name is that of the path or, without one, that of the object before mutating admission.
	name string
	// scaleOf returns the Scale of an object, for a write of the Scale: validate is then called with
	// the objects, and the plugins see their Scales. nil for other writes.
	scaleOf func(runtime.Object) (runtime.Object, error)
	// isChanged reports whether mutating webhooks or policies may have changed the object.
	isChanged bool
	// attributes has the objects of the last call of mutate or validate.
	attributes admission.Attributes
	// reads are what the last charge depends on.
	reads storage.Reads
}

// newAdmissionRunner returns the admissionRunner of a request.
func (a *API) newAdmissionRunner(q *request, opts writeOptions) *admissionRunner {
	return &admissionRunner{api: a, q: q, opts: opts, name: q.info.Name, attributes: admission.Attributes{
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
	if r.name == "" {
		r.name = resource.Accessor(obj).GetName()
	}
	attributes, before := r.attributesOf(obj, old), managedFieldsOf(obj)
	err := r.api.admission.Admit(r.q.withWarnings(), attributes)
	if gone := r.q.checkContext(); gone != nil {
		return nil, gone
	}
	if err != nil {
		return nil, err
	}
	r.isChanged = attributes.IsReviewed()
	before.restoreIfInvalid(attributes.Object, r.q)
	r.q.dedupOwnerReferences(attributes.Object, true)
	return attributes.Object, r.q.ensureNamespace(resource.Accessor(attributes.Object))
}

// validate runs the validating plugins, and prunes the object that is stored afterwards. An object
// whose Scale is written is not pruned: webhooks and policies have changed no more than its Scale.
func (r *admissionRunner) validate(obj, old runtime.Object) (err error) {
	if r.scaleOf != nil {
		if obj, err = r.scaleOf(obj); err != nil {
			return err
		}
		if old, err = r.scaleOf(old); err != nil {
			return err
		}
	}
	err = r.api.admission.Validate(r.q.withWarnings(), r.attributesOf(obj, old))
	if err := cmp.Or(r.q.checkContext(), err); err != nil || !r.isChanged {
		return err
	}
	return pruneChanged(r.q.res, obj)
}

// pruneChanged prunes a custom resource that webhooks or policies have changed. A real server does
// it when it encodes the object for the storage: the validation and the validating plugins see
// unknown fields. res is the resource of the body: with a Scale, they have changed no more than
// that.
func pruneChanged(res *resource.Resource, obj runtime.Object) error {
	if res.Custom == nil {
		return nil
	}
	return res.Custom.PruneConverted(obj.(*unstructured.Unstructured).Object)
}

// charge runs the plugins that are called in the transaction of the write, on the object that
// validate was called with. It sets reads.
func (r *admissionRunner) charge() (err error) {
	r.reads, err = r.api.admission.Charge(&r.attributes)
	return err
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
	if attributes.Name = r.name; r.name == "" { // it is generated after mutating admission
		attributes.Name = resource.Accessor(obj).GetName()
	}
	if rest.IsNamespaces(r.q.res) {
		attributes.Namespace = r.name
	}
	return attributes
}

// deleteReview reviews the delete of an object with options and returns why it is refused. A nil
// one allows all: that of a delete by the server itself.
type deleteReview func(old runtime.Object, opts *metav1.DeleteOptions) error

// of calls the review, if there is one.
func (review deleteReview) of(old runtime.Object, opts *metav1.DeleteOptions) error {
	if review == nil {
		return nil
	}
	return review(old, opts)
}

// newDeleteReview returns the review of the deletes of a request. Those of a deletecollection have
// no name, as on a real server.
func (a *API) newDeleteReview(q *request) deleteReview {
	attributes := admission.Attributes{
		User: authn.UserFrom(q.r.Context()), Resource: q.res, Namespace: q.info.Namespace, Name: q.info.Name,
	}
	return func(old runtime.Object, opts *metav1.DeleteOptions) error {
		err := a.reviewDelete(q.withWarnings(), a.admission, attributes, old, opts)
		return cmp.Or(q.checkContext(), err)
	}
}

// reviewDelete runs the plugins of a chain on the delete of an object. attributes has who deletes
// what.
func (a *API) reviewDelete(ctx context.Context, chain admission.Chain, attributes admission.Attributes, old runtime.Object, opts *metav1.DeleteOptions) error {
	options := *opts // plugins only read what it shares
	options.TypeMeta = optionsTypeMeta("DeleteOptions")
	attributes.Operation, attributes.NewUID = admissionv1.Delete, a.newUID
	attributes.Options, attributes.DryRun, attributes.OldObject = &options, isDryRun(opts.DryRun), old
	if err := chain.Admit(ctx, &attributes); err != nil {
		return err
	}
	return chain.Validate(ctx, &attributes)
}
