package networking

import (
	networkingv1 "k8s.io/api/networking/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"example.com/fakeapi/fake/internal/resource/validate"
)

const maxIngressClassController = 250

// validateIngressClass validates a class. Tags of its type require the kind and name of parameters.
func validateIngressClass(c *networkingv1.IngressClass) (errs field.ErrorList) {
	var root *validate.Path
	p := root.Child("spec")
	controller := p.Child("controller")
	if len(c.Spec.Controller) > maxIngressClassController {
		errs = append(errs, controller.TooLong(maxIngressClassController))
	}
	errs = append(errs, validation.IsDomainPrefixedPath(controller.Field(), c.Spec.Controller)...)
	if c.Spec.Parameters != nil {
		errs = append(errs, validateIngressClassParameters(c.Spec.Parameters, p.Child("parameters"))...)
	}
	return errs
}

// validateIngressClassUpdate validates a class that replaces old.
func validateIngressClassUpdate(c, old *networkingv1.IngressClass) field.ErrorList {
	var root *validate.Path
	errs := validate.Immutable(c.Spec.Controller, old.Spec.Controller, root.Child("spec").Child("controller"))
	return append(errs, validateIngressClass(c)...)
}

// validateIngressClassParameters validates a reference to an object, in a namespace or not.
func validateIngressClassParameters(ref *networkingv1.IngressClassParametersReference, p *validate.Path) (errs field.ErrorList) {
	if ref.APIGroup != nil {
		errs = append(errs, validate.DNSSubdomain(*ref.APIGroup, p.Child("apiGroup"))...)
	}
	errs = append(errs, validatePathSegmentName(ref.Kind, p.Child("kind"))...)
	errs = append(errs, validatePathSegmentName(ref.Name, p.Child("name"))...)
	namespace := p.Child("namespace")
	switch scope := ptr.Deref(ref.Scope, ""); scope {
	case networkingv1.IngressClassParametersReferenceScopeNamespace:
		if ref.Namespace == nil {
			return append(errs, namespace.Required("`parameters.scope` is set to 'Namespace'"))
		}
		errs = append(errs, validate.Messages(*ref.Namespace, apivalidation.ValidateNamespaceName(*ref.Namespace, false), namespace)...)
	case networkingv1.IngressClassParametersReferenceScopeCluster:
		if ref.Namespace != nil {
			errs = append(errs, namespace.Forbidden("`parameters.scope` is set to 'Cluster'"))
		}
	default:
		errs = append(errs, validate.NotSupported(p.Child("scope"), scope,
			networkingv1.IngressClassParametersReferenceScopeCluster, networkingv1.IngressClassParametersReferenceScopeNamespace))
	}
	return errs
}
