package handlers

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/status"
)

// checkParamsAccess returns the 422 of a user who writes an admission policy with a paramKind, or a
// binding with a paramRef, and may not read the parameters. obj is valid, and old the stored
// object, nil for a new one.
func (a *API) checkParamsAccess(q *request, obj, old runtime.Object) error {
	if q.res.Group != admissionv1.GroupName || q.sub != nil {
		return nil
	}
	kind, ref, policyName := paramsOf(obj)
	var err error
	name := "paramRef"
	switch {
	case ref != nil:
		err = a.authorizeParamRef(q, ref, policyName)
	case kind != nil:
		if before, _, _ := paramsOf(old); before != nil && *before == *kind {
			return nil
		}
		name, err = "paramKind", a.authorizeParamKind(q, kind)
	}
	if err == nil {
		return nil
	}
	return status.Invalid(q.res.GroupKind(), resource.Accessor(obj).GetName(), field.ErrorList{field.Forbidden(field.NewPath("spec", name), err.Error())})
}

// paramsOf returns the paramKind of a policy, or the paramRef of a binding and the policy that it
// names. They are nil if there is none.
func paramsOf(obj runtime.Object) (kind *admissionv1.ParamKind, ref *admissionv1.ParamRef, policyName string) {
	switch obj := obj.(type) {
	case *admissionv1.ValidatingAdmissionPolicy:
		return obj.Spec.ParamKind, nil, ""
	case *admissionv1.MutatingAdmissionPolicy:
		return obj.Spec.ParamKind, nil, ""
	case *admissionv1.ValidatingAdmissionPolicyBinding:
		return nil, obj.Spec.ParamRef, obj.Spec.PolicyName
	case *admissionv1.MutatingAdmissionPolicyBinding:
		return nil, obj.Spec.ParamRef, obj.Spec.PolicyName
	}
	return nil, nil, ""
}

// authorizeParamKind requires that the user may get all objects of a kind.
func (a *API) authorizeParamKind(q *request, kind *admissionv1.ParamKind) error {
	attributes := authorizer.AttributesRecord{Verb: "get", Namespace: "*", Name: "*"}
	a.setParamResource(&attributes, kind)
	u, isAllowed, err := a.mayRead(q.r.Context(), attributes)
	if err == nil && !isAllowed {
		err = fmt.Errorf(`user %v must have "get" permission on all objects of the referenced paramKind (kind=%s, apiVersion=%s)`, u, kind.Kind, kind.APIVersion)
	}
	return err
}

// authorizeParamRef requires that the user may get the object that a binding to a policy names, or
// list those that it selects. A real server compares references by their pointers, so that it asks
// for each update.
func (a *API) authorizeParamRef(q *request, ref *admissionv1.ParamRef, policyName string) error {
	const everything = `to determine minimum required permissions and user %v does not have "%v" permission for all groups, versions and resources`
	attributes := authorizer.AttributesRecord{Verb: "get", Namespace: ref.Namespace, Name: ref.Name}
	if ref.Name == "" {
		attributes.Verb = "list"
	}
	policies := "validatingadmissionpolicies"
	if q.res.Kind == "MutatingAdmissionPolicyBinding" {
		policies = "mutatingadmissionpolicies"
	}
	policy, policyErr := a.store.GetObject(a.types.Table().Lookup(q.res.Group, q.res.Version, policies), "", policyName)
	kind, _, _ := paramsOf(policy)
	isResolved := a.setParamResource(&attributes, kind)
	u, isAllowed, err := a.mayRead(q.r.Context(), attributes)
	switch {
	case err != nil && policies == "validatingadmissionpolicies":
		return fmt.Errorf("failed to authorize request: %w", err)
	case err != nil || isAllowed:
		return err
	case policyErr != nil:
		return fmt.Errorf("unable to get policy %s "+everything, policyName, u, attributes.Verb)
	case !isResolved:
		return fmt.Errorf("unable to resolve paramKind &{%s %s} "+everything, kind.APIVersion, kind.Kind, u, attributes.Verb)
	}
	return fmt.Errorf(`user %v does not have "%v" permission on the object referenced by paramRef`, u, attributes.Verb)
}

// setParamResource sets the resource of parameters, for which kind may be nil: any one. It reports
// whether the kind is served.
func (a *API) setParamResource(attributes *authorizer.AttributesRecord, kind *admissionv1.ParamKind) bool {
	attributes.ResourceRequest = true
	attributes.APIGroup, attributes.APIVersion, attributes.Resource = "*", "*", "*"
	if kind == nil {
		return true
	}
	gvk := schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind)
	attributes.APIGroup, attributes.APIVersion = gvk.Group, gvk.Version
	res := a.types.Table().LookupKind(gvk)
	if res != nil {
		attributes.Resource = res.Plural
	}
	return res != nil
}

// mayRead returns the user of a request and whether the user may read parameters. The decision is
// observed, also if the user may do everything.
func (a *API) mayRead(ctx context.Context, attributes authorizer.AttributesRecord) (u *user.DefaultInfo, isAllowed bool, err error) {
	u = authn.NewInfo(authn.UserFrom(ctx))
	attributes.User = u
	decision, reason := authorizer.DecisionAllow, ""
	if a.authorizer != nil {
		decision, reason, err = a.authorizer.Authorize(ctx, attributes)
	}
	if observe := a.settings.ObserveAuthorization; observe != nil {
		if attributes.Namespace == "*" { // all objects, in the form of other requests
			attributes.Namespace, attributes.Name = "", ""
		}
		observe(ctx, attributes, decision, reason)
	}
	return u, decision == authorizer.DecisionAllow, err
}
