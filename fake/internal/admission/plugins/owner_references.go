package plugins

import (
	"context"
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/authz"
	"example.com/fakeapi/fake/internal/resource"
)

// ownerReferencesPermission refuses changes of ownerReferences by users who may not delete the
// object, and new references that block the deletion of an owner by users who may not update its
// finalizers.
type ownerReferencesPermission struct {
	objects    Objects
	authorizer authz.Authorizer
}

func newOwnerReferencesPermission(d Dependencies) admission.Interface {
	return &ownerReferencesPermission{d.Objects, d.Authorizer}
}

func (p *ownerReferencesPermission) Name() string { return "OwnerReferencesPermissionEnforcement" }

func (p *ownerReferencesPermission) Handles(attrs *admission.Attributes) bool {
	return (attrs.Operation == admissionv1.Create || attrs.Operation == admissionv1.Update) && !isUpdateOf(attrs, pods, "status")
}

func (p *ownerReferencesPermission) Validate(ctx context.Context, attrs *admission.Attributes) error {
	if p.authorizer == nil {
		return nil
	}
	now, old := ownersOf(attrs.Object), ownersOf(attrs.OldObject)
	if len(now)+len(old) == 0 || equality.Semantic.DeepEqual(now, old) {
		return nil
	}
	action := authorizer.AttributesRecord{
		User: authn.NewInfo(attrs.User), Verb: "delete", ResourceRequest: true, Namespace: attrs.Namespace, Name: attrs.Name,
		APIGroup: attrs.RequestResource().Group, APIVersion: attrs.RequestResource().Version,
		Resource: attrs.RequestResource().Plural, Subresource: attrs.Subresource,
	}
	if attrs.Operation == admissionv1.Update {
		if decision, reason, err := p.authorizer.Authorize(ctx, action); decision != authorizer.DecisionAllow {
			return forbidden(attrs, fmt.Errorf("cannot set an ownerRef on a resource you can't delete: %v, %w", reason, orNil(err)))
		}
	}
	blocked := map[types.UID]bool{}
	for _, ref := range old {
		blocked[ref.UID] = isBlocking(ref)
	}
	for _, ref := range now {
		if !isBlocking(ref) || blocked[ref.UID] {
			continue
		}
		ownerCtx, held := authz.HoldDecisions(ctx)
		err := p.checkFinalizers(ownerCtx, attrs, action, ref)
		if err != nil && p.mayFinalizeAnything(ctx, action.User) {
			return nil
		}
		held.ObserveAll()
		if err != nil {
			return err
		}
	}
	return nil
}

// mayFinalizeAnything reports whether a user may update the finalizers of all objects, also of
// those whose kind is not known.
func (p *ownerReferencesPermission) mayFinalizeAnything(ctx context.Context, u user.Info) bool {
	ctx, held := authz.HoldDecisions(ctx)
	decision, _, _ := p.authorizer.Authorize(ctx, authorizer.AttributesRecord{
		User: u, Verb: "update", ResourceRequest: true,
		APIGroup: "*", APIVersion: "*", Resource: "*", Subresource: "finalizers", Name: "*",
	})
	held.ObserveAllowed()
	return decision == authorizer.DecisionAllow
}

// checkFinalizers returns the error of a user who may not update the finalizers of an owner. action
// has the user.
func (p *ownerReferencesPermission) checkFinalizers(ctx context.Context, attrs *admission.Attributes, action authorizer.AttributesRecord, ref metav1.OwnerReference) error {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	var res *resource.Resource
	if err == nil {
		res, err = p.objects.ResourceOf(gv.WithKind(ref.Kind))
	}
	if err != nil {
		return forbidden(attrs, fmt.Errorf("cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion %v Kind %v: %w", ref.APIVersion, ref.Kind, err))
	}
	action.Verb, action.APIGroup, action.APIVersion = "update", gv.Group, gv.Version
	action.Resource, action.Subresource, action.Name = res.Plural, "finalizers", ref.Name
	if !res.Namespaced {
		action.Namespace = ""
	}
	if decision, reason, err := p.authorizer.Authorize(ctx, action); decision != authorizer.DecisionAllow {
		return forbidden(attrs, fmt.Errorf("cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: %v, %w", reason, orNil(err)))
	}
	return nil
}

// orNil returns err, or an error with the text that kube-apiserver prints without one.
func orNil(err error) error {
	if err == nil {
		return errors.New("<nil>")
	}
	return err
}

// ownersOf returns the ownerReferences of an object, nil without metadata.
func ownersOf(obj any) []metav1.OwnerReference {
	if m, ok := obj.(metav1.ObjectMetaAccessor); ok {
		return m.GetObjectMeta().GetOwnerReferences()
	}
	if m, ok := obj.(metav1.Object); ok {
		return m.GetOwnerReferences()
	}
	return nil
}

func isBlocking(ref metav1.OwnerReference) bool {
	return ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion
}
