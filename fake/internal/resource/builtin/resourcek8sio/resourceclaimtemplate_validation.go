package resourcek8sio

import (
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/builtin/core"
	"example.com/fakeapi/fake/internal/resource/validate"
)

func validateResourceClaim(c *resourcev1.ResourceClaim) field.ErrorList {
	var root *validate.Path
	return validateClaimSpec(&c.Spec, root.Child("spec"))
}

func validateResourceClaimTemplate(t *resourcev1.ResourceClaimTemplate) field.ErrorList {
	var root *validate.Path
	p := root.Child("spec")
	return append(core.ValidateClaimTemplateMeta(&t.Spec.ObjectMeta, p.Child("metadata")), validateClaimSpec(&t.Spec.Spec, p.Child("spec"))...)
}

func validateResourceClaimTemplateUpdate(t, old *resourcev1.ResourceClaimTemplate) field.ErrorList {
	var root *validate.Path
	return validate.Immutable(t.Spec, old.Spec, root.Child("spec"))
}
