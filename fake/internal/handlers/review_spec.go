package handlers

import (
	"errors"
	"fmt"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/authz"
)

// invalidReview is the 422 of an access review (VR-04). A real server leaves its kind out.
func invalidReview(errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: authorizationv1.GroupName}, "", errs)
}

// validateSubject checks whom and what a review asks about.
func validateSubject(spec *authorizationv1.SubjectAccessReviewSpec) field.ErrorList {
	errs := validateOneOf(spec.ResourceAttributes, spec.NonResourceAttributes)
	if spec.User == "" && len(spec.Groups) == 0 {
		errs = append(errs, field.Invalid(field.NewPath("spec", "user"), spec.User, "at least one of user or group must be specified"))
	}
	return append(errs, validateSelectors(spec.ResourceAttributes)...)
}

// validateAttributes checks what a review asks about.
func validateAttributes(resource *authorizationv1.ResourceAttributes, path *authorizationv1.NonResourceAttributes) field.ErrorList {
	return append(validateOneOf(resource, path), validateSelectors(resource)...)
}

func validateOneOf(resource *authorizationv1.ResourceAttributes, path *authorizationv1.NonResourceAttributes) field.ErrorList {
	if (resource == nil) != (path == nil) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("spec"), path,
		"exactly one of nonResourceAttributes or resourceAttributes must be specified")}
}

func validateLocalSubject(r *authorizationv1.LocalSubjectAccessReview) field.ErrorList {
	errs := validateSubject(&r.Spec)
	bare := r.ObjectMeta
	bare.Namespace = ""
	if len(validateEmptyMetadata(&bare, "")) > 0 {
		errs = append(errs, field.Invalid(field.NewPath("metadata"), r.ObjectMeta, "must be empty except for namespace"))
	}
	path := field.NewPath("spec")
	if a := r.Spec.ResourceAttributes; a != nil && a.Namespace != r.Namespace {
		errs = append(errs, field.Invalid(path.Child("resourceAttributes", "namespace"), a.Namespace, "must match metadata.namespace"))
	}
	if a := r.Spec.NonResourceAttributes; a != nil {
		errs = append(errs, field.Invalid(path.Child("nonResourceAttributes"), a, "disallowed on this kind of request"))
	}
	return errs
}

// validateEmptyMetadata refuses metadata but for managedFields, which the server adds.
func validateEmptyMetadata(m *metav1.ObjectMeta, message string) field.ErrorList {
	bare := *m
	bare.ManagedFields = nil
	if equality.Semantic.DeepEqual(bare, metav1.ObjectMeta{}) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata"), *m, message)}
}

// validateSelectors checks the selectors that narrow an action. Operators that nobody knows
// are let pass: a newer client may.
func validateSelectors(a *authorizationv1.ResourceAttributes) (errs field.ErrorList) {
	if a == nil {
		return nil
	}
	path := field.NewPath("spec", "resourceAttributes")
	if s := a.FieldSelector; s != nil {
		at := path.Child("fieldSelector")
		errs = append(errs, validateSelectorForm(s.RawSelector, len(s.Requirements), at)...)
		for i, one := range s.Requirements {
			errs = append(errs, metavalidation.ValidateFieldSelectorRequirement(one,
				metavalidation.FieldSelectorValidationOptions{AllowUnknownOperatorInRequirement: true}, at.Child("requirements").Index(i))...)
		}
	}
	if s := a.LabelSelector; s != nil {
		at := path.Child("labelSelector")
		errs = append(errs, validateSelectorForm(s.RawSelector, len(s.Requirements), at)...)
		for i, one := range s.Requirements {
			errs = append(errs, metavalidation.ValidateLabelSelectorRequirement(one,
				metavalidation.LabelSelectorValidationOptions{AllowUnknownOperatorInRequirement: true}, at.Child("requirements").Index(i))...)
		}
	}
	return errs
}

// validateSelectorForm refuses a selector in both of its forms, or in none.
func validateSelectorForm(raw string, requirements int, at *field.Path) field.ErrorList {
	switch {
	case raw != "" && requirements > 0:
		return field.ErrorList{field.Invalid(at.Child("rawSelector"), raw, "may not specified at the same time as requirements")}
	case raw == "" && requirements == 0:
		return field.ErrorList{field.Required(at.Child("requirements"), fmt.Sprintf("when %s is specified, requirements or rawSelector is required", at))}
	}
	return nil
}

// subjectAttributes are what the authorizer is asked.
func subjectAttributes(spec *authorizationv1.SubjectAccessReviewSpec) authz.Attributes {
	user := authenticationv1.UserInfo{Username: spec.User, UID: spec.UID, Groups: spec.Groups}
	for key, value := range spec.Extra {
		if user.Extra == nil {
			user.Extra = map[string]authenticationv1.ExtraValue{}
		}
		user.Extra[key] = authenticationv1.ExtraValue(value)
	}
	return actionAttributes(user, spec.ResourceAttributes, spec.NonResourceAttributes)
}

func actionAttributes(user authenticationv1.UserInfo, resource *authorizationv1.ResourceAttributes, path *authorizationv1.NonResourceAttributes) authz.Attributes {
	if resource == nil {
		return authz.Attributes{User: user, Verb: path.Verb, Path: path.Path, NonResource: true}
	}
	a := authz.Attributes{
		User: user, Verb: resource.Verb, Namespace: resource.Namespace,
		Group: resource.Group, Version: resource.Version, Resource: resource.Resource, Subresource: resource.Subresource,
		Name: resource.Name,
	}
	if a.Version == "" {
		a.Version = "*"
	}
	a.FieldSelector, a.FieldSelectorError = fieldRequirements(resource.FieldSelector)
	a.LabelSelector, a.LabelSelectorError = labelRequirements(resource.LabelSelector)
	return a
}

// fieldRequirements reads a field selector. What only some of it says is given with an error.
func fieldRequirements(s *authorizationv1.FieldSelectorAttributes) (fields.Requirements, error) {
	switch {
	case s == nil:
		return nil, nil
	case s.RawSelector != "":
		selector, err := fields.ParseSelector(s.RawSelector)
		if err != nil {
			return nil, err
		}
		return selector.Requirements(), nil
	}
	var requirements fields.Requirements
	var errs []error
	for _, one := range s.Requirements {
		r := fields.Requirement{Field: one.Key}
		switch {
		case one.Operator == metav1.FieldSelectorOpIn && len(one.Values) == 1:
			r.Operator, r.Value = selection.Equals, one.Values[0]
		case one.Operator == metav1.FieldSelectorOpNotIn && len(one.Values) == 1:
			r.Operator, r.Value = selection.NotEquals, one.Values[0]
		default: // a field selector cannot say it
			errs = append(errs, fmt.Errorf("unsupported requirement on %q: %s of %d values", one.Key, one.Operator, len(one.Values)))
			continue
		}
		requirements = append(requirements, r)
	}
	return requirements, errors.Join(errs...)
}

// labelRequirements reads a label selector. What only some of it says is given with an error.
func labelRequirements(s *authorizationv1.LabelSelectorAttributes) (labels.Requirements, error) {
	switch {
	case s == nil:
		return nil, nil
	case s.RawSelector != "":
		selector, err := labels.Parse(s.RawSelector)
		if err != nil {
			return nil, err
		}
		requirements, _ := selector.Requirements()
		return requirements, nil
	}
	var requirements labels.Requirements
	var errs []error
	for _, one := range s.Requirements {
		selector, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{one}})
		if err != nil {
			errs = append(errs, err)
			continue
		}
		found, _ := selector.Requirements()
		requirements = append(requirements, found...)
	}
	return requirements, errors.Join(errs...)
}

// evaluationError is what a review tells of an authorizer's problem and of selectors that
// could not be read.
func evaluationError(err error, a authz.Attributes) string {
	var messages []string
	if err != nil {
		messages = append(messages, err.Error())
	}
	for _, s := range []struct {
		name string
		err  error
		some bool
	}{
		{"fieldSelector", a.FieldSelectorError, len(a.FieldSelector) > 0},
		{"labelSelector", a.LabelSelectorError, len(a.LabelSelector) > 0},
	} {
		switch {
		case s.err == nil:
		case s.some:
			messages = append(messages, "spec.resourceAttributes."+s.name+" partially ignored due to parse error")
		default:
			messages = append(messages, "spec.resourceAttributes."+s.name+" ignored due to parse error")
		}
	}
	return strings.Join(messages, "; ")
}
