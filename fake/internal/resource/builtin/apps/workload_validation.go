package apps

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/builtin/core"
	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateSelector validates the selector of a Deployment, a ReplicaSet or a StatefulSet. valid
// reports whether it is well-formed; the template is compared with it only then. kind is the name
// of the type in the error for an empty selector.
func validateSelector(selector *metav1.LabelSelector, kind string, p *validate.Path) (errs field.ErrorList, valid bool) {
	if selector == nil {
		return field.ErrorList{p.Required("")}, true
	}
	errs = validate.LabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, p)
	valid = len(errs) == 0
	if len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
		errs = append(errs, p.Invalid(selector, "empty selector is invalid for "+kind))
	}
	return errs, valid
}

// validateTemplateLabels validates that the selector matches the labels of the template.
func validateTemplateLabels(template *corev1.PodTemplateSpec, selector *metav1.LabelSelector, p *validate.Path) field.ErrorList {
	if validate.SelectorMatches(selector, template.Labels) {
		return nil
	}
	return field.ErrorList{p.Child("metadata").Child("labels").Invalid(template.Labels, "`selector` does not match template `labels`")}
}

// validateRunsForever validates that the pods of a template are restarted and have no deadline.
// kind is the name of the type in the error.
func validateRunsForever(template *corev1.PodTemplateSpec, kind string, p *validate.Path) (errs field.ErrorList) {
	p = p.Child("spec")
	if policy := template.Spec.RestartPolicy; policy != corev1.RestartPolicyAlways {
		errs = append(errs, validate.NotSupported(p.Child("restartPolicy"), policy, corev1.RestartPolicyAlways))
	}
	if template.Spec.ActiveDeadlineSeconds != nil {
		errs = append(errs, p.Child("activeDeadlineSeconds").Forbidden("activeDeadlineSeconds in "+kind+" is not Supported"))
	}
	return errs
}

// validateReplicaSetTemplate validates the template of a ReplicaSet, or of a Deployment.
func validateReplicaSetTemplate(template *corev1.PodTemplateSpec, selector *metav1.LabelSelector, opts core.PodValidationOptions, p *validate.Path) field.ErrorList {
	errs := validateTemplateLabels(template, selector, p)
	errs = append(errs, core.ValidatePodTemplateSpec(template, opts, p)...)
	return append(errs, validateRunsForever(template, "ReplicaSet", p)...)
}

// validateNotAbove validates that a number of the status is not greater than another one.
func validateNotAbove(value, limit int32, detail string, p *validate.Path) field.ErrorList {
	if value <= limit {
		return nil
	}
	return field.ErrorList{p.Invalid(value, detail)}
}

// validateCollisionCountUpdate validates that the number of hash collisions does not decrease.
func validateCollisionCountUpdate(count, old *int32, p *validate.Path) field.ErrorList {
	if old == nil || count != nil && *count >= *old {
		return nil
	}
	var value int32
	if count != nil {
		value = *count
	}
	return field.ErrorList{p.Invalid(value, "cannot be decremented")}
}
