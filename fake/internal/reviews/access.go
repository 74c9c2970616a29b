package reviews

import (
	"context"
	"errors"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/fake/internal/authz"
	"example.com/fakeapi/fake/internal/resource/validate"
	"example.com/fakeapi/fake/internal/status"
)

// invalid returns the 422 of an access review (VR-04), or nil without errs. A real server leaves
// out the kind.
func invalid(errs field.ErrorList) error {
	return status.Invalid(schema.GroupKind{Group: authorizationv1.GroupName}, "", errs)
}

// authorizer returns the authorizer of access reviews.
func (r *Reviewer) authorizer() authz.Authorizer {
	if r.Authorizer == nil {
		return authz.AlwaysAllow()
	}
	return r.Authorizer
}

// authorize returns the status of an access review.
func (r *Reviewer) authorize(ctx context.Context, attributes authorizer.AttributesRecord) authorizationv1.SubjectAccessReviewStatus {
	decision, reason, err := r.authorizer().Authorize(ctx, attributes)
	return authorizationv1.SubjectAccessReviewStatus{
		Allowed: decision == authorizer.DecisionAllow, Denied: decision == authorizer.DecisionDeny, Reason: reason,
		EvaluationError: evaluationError(err, attributes),
	}
}

// validateSubject validates the user and the attributes of a review.
func validateSubject(spec *authorizationv1.SubjectAccessReviewSpec) field.ErrorList {
	errs := validateOneOf(spec.ResourceAttributes, spec.NonResourceAttributes)
	if spec.User == "" && len(spec.Groups) == 0 {
		errs = append(errs, field.Invalid(field.NewPath("spec", "user"), spec.User, "at least one of user or group must be specified"))
	}
	return append(errs, validateSelectors(spec.ResourceAttributes)...)
}

// validateAttributes validates the attributes of a review.
func validateAttributes(resource *authorizationv1.ResourceAttributes, path *authorizationv1.NonResourceAttributes) field.ErrorList {
	return append(validateOneOf(resource, path), validateSelectors(resource)...)
}

func validateOneOf(resource *authorizationv1.ResourceAttributes, path *authorizationv1.NonResourceAttributes) field.ErrorList {
	if (resource == nil) != (path == nil) {
		return nil
	}
	var root *validate.Path
	return field.ErrorList{root.Child("spec").Invalid(path, "exactly one of nonResourceAttributes or resourceAttributes must be specified")}
}

func validateLocalSubject(r *authorizationv1.LocalSubjectAccessReview) field.ErrorList {
	errs := validateSubject(&r.Spec)
	meta := r.ObjectMeta
	meta.Namespace = ""
	if len(validateEmptyMetadata(&meta, "")) > 0 {
		errs = append(errs, field.Invalid(field.NewPath("metadata"), r.ObjectMeta, "must be empty except for namespace"))
	}
	var root *validate.Path
	path := root.Child("spec")
	if a := r.Spec.ResourceAttributes; a != nil && a.Namespace != r.Namespace {
		errs = append(errs, path.Child("resourceAttributes").Child("namespace").Invalid(a.Namespace, "must match metadata.namespace"))
	}
	if a := r.Spec.NonResourceAttributes; a != nil {
		errs = append(errs, path.Child("nonResourceAttributes").Invalid(a, "disallowed on this kind of request"))
	}
	return errs
}

// validateEmptyMetadata requires empty metadata, except for managedFields, which the server adds.
func validateEmptyMetadata(m *metav1.ObjectMeta, message string) field.ErrorList {
	meta := *m
	meta.ManagedFields = nil
	if equality.Semantic.DeepEqual(meta, metav1.ObjectMeta{}) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata"), *m, message)}
}

// validateSelectors validates the selectors of the attributes. Unknown operators are allowed,
// because newer clients may have more of them.
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

// validateSelectorForm requires exactly one of the two forms of a selector.
func validateSelectorForm(raw string, requirements int, at *field.Path) field.ErrorList {
	switch {
	case raw != "" && requirements > 0:
		return field.ErrorList{field.Invalid(at.Child("rawSelector"), raw, "may not specified at the same time as requirements")}
	case raw == "" && requirements == 0:
		return field.ErrorList{field.Required(at.Child("requirements"), fmt.Sprintf("when %s is specified, requirements or rawSelector is required", at))}
	}
	return nil
}

// subjectAttributes returns the authorizer's attributes for a review of any user.
func subjectAttributes(spec *authorizationv1.SubjectAccessReviewSpec) authorizer.AttributesRecord {
	u := &user.DefaultInfo{Name: spec.User, UID: spec.UID, Groups: spec.Groups}
	for key, value := range spec.Extra {
		if u.Extra == nil {
			u.Extra = map[string][]string{}
		}
		u.Extra[key] = value
	}
	return attributes(u, spec.ResourceAttributes, spec.NonResourceAttributes)
}

// attributes returns the authorizer's attributes for a user.
func attributes(u user.Info, resource *authorizationv1.ResourceAttributes, path *authorizationv1.NonResourceAttributes) authorizer.AttributesRecord {
	if resource == nil {
		return authorizer.AttributesRecord{User: u, Verb: path.Verb, Path: path.Path}
	}
	a := authorizer.AttributesRecord{
		User: u, Verb: resource.Verb, Namespace: resource.Namespace, ResourceRequest: true,
		APIGroup: resource.Group, APIVersion: resource.Version, Resource: resource.Resource, Subresource: resource.Subresource,
		Name: resource.Name,
	}
	if a.APIVersion == "" {
		a.APIVersion = "*"
	}
	a.FieldSelectorRequirements, a.FieldSelectorParsingErr = fieldRequirements(resource.FieldSelector)
	a.LabelSelectorRequirements, a.LabelSelectorParsingErr = labelRequirements(resource.LabelSelector)
	return a
}

// fieldRequirements parses a field selector. With an error it returns the requirements that parse.
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
		default: // not expressible as a field selector
			errs = append(errs, fmt.Errorf("unsupported requirement on %q: %s of %d values", one.Key, one.Operator, len(one.Values)))
			continue
		}
		requirements = append(requirements, r)
	}
	return requirements, errors.Join(errs...)
}

// labelRequirements parses a label selector. With an error it returns the requirements that parse.
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

// evaluationError returns the text for err, the error of the authorizer, and for selectors that do
// not parse.
func evaluationError(err error, a authorizer.AttributesRecord) string {
	var messages []string
	if err != nil {
		messages = append(messages, err.Error())
	}
	for _, s := range []struct {
		name string
		err  error
		some bool
	}{
		{"fieldSelector", a.FieldSelectorParsingErr, len(a.FieldSelectorRequirements) > 0},
		{"labelSelector", a.LabelSelectorParsingErr, len(a.LabelSelectorRequirements) > 0},
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
