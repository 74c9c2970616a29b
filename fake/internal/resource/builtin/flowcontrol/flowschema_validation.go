package flowcontrol

import (
	"fmt"
	"slices"
	"strings"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"

	"example.com/fakeapi/fake/internal/resource/validate"
)

func validateFlowSchema(f *flowcontrolv1.FlowSchema) field.ErrorList {
	var root *validate.Path
	p := root.Child("spec")
	errs := validateFlowSchemaSpec(f.Name, &f.Spec, p)
	for _, fixed := range bootstrap.MandatoryFlowSchemas {
		if fixed.Name == f.Name && !equality.Semantic.DeepEqual(f.Spec, fixed.Spec) {
			errs = append(errs, p.Invalid(f.Spec, fmt.Sprintf("spec of '%s' must equal the fixed value", f.Name)))
		}
	}
	return errs
}

func validateFlowSchemaUpdate(f, _ *flowcontrolv1.FlowSchema) field.ErrorList {
	return validateFlowSchema(f)
}

func validateFlowSchemaStatusUpdate(f, _ *flowcontrolv1.FlowSchema) field.ErrorList {
	return validateConditionTypes(f.Status.Conditions, func(c flowcontrolv1.FlowSchemaCondition) string { return string(c.Type) })
}

// validateConditionTypes requires conditions with different types.
func validateConditionTypes[T any](conditions []T, typeOf func(T) string) (errs field.ErrorList) {
	var root *validate.Path
	path := root.Child("status").Child("conditions")
	seen := make(map[string]bool)
	for i, c := range conditions {
		p := path.Index(i).Child("type")
		if seen[typeOf(c)] {
			errs = append(errs, p.Duplicate(typeOf(c)))
		}
		seen[typeOf(c)] = true
		if typeOf(c) == "" {
			errs = append(errs, p.Required("must not be empty"))
		}
	}
	return errs
}

func validateFlowSchemaSpec(name string, s *flowcontrolv1.FlowSchemaSpec, p *validate.Path) (errs field.ErrorList) {
	precedence := p.Child("matchingPrecedence")
	if s.MatchingPrecedence <= 0 {
		errs = append(errs, precedence.Invalid(s.MatchingPrecedence, "must be a positive value"))
	}
	if s.MatchingPrecedence > flowcontrolv1.FlowSchemaMaxMatchingPrecedence {
		errs = append(errs, precedence.Invalid(s.MatchingPrecedence, fmt.Sprintf("must not be greater than %d", flowcontrolv1.FlowSchemaMaxMatchingPrecedence)))
	}
	if s.MatchingPrecedence == 1 && name != flowcontrolv1.FlowSchemaNameExempt {
		errs = append(errs, precedence.Invalid(s.MatchingPrecedence, "only the schema named 'exempt' may have matchingPrecedence 1"))
	}
	if m := s.DistinguisherMethod; m != nil && m.Type != flowcontrolv1.FlowDistinguisherMethodByNamespaceType && m.Type != flowcontrolv1.FlowDistinguisherMethodByUserType {
		errs = append(errs, validate.NotSupported(p.Child("distinguisherMethod").Child("type"), m,
			flowcontrolv1.FlowDistinguisherMethodByNamespaceType, flowcontrolv1.FlowDistinguisherMethodByUserType))
	}
	level := p.Child("priorityLevelConfiguration").Child("name")
	if s.PriorityLevelConfiguration.Name == "" {
		errs = append(errs, level.Required("must reference a priority level"))
	} else {
		errs = append(errs, validate.DNSSubdomain(s.PriorityLevelConfiguration.Name, level)...)
	}
	for i := range s.Rules {
		errs = append(errs, validateRules(&s.Rules[i], p.Child("rules").Index(i))...)
	}
	return errs
}

func validateRules(r *flowcontrolv1.PolicyRulesWithSubjects, p *validate.Path) (errs field.ErrorList) {
	if len(r.Subjects) == 0 {
		errs = append(errs, p.Child("subjects").Required("subjects must contain at least one value"))
	}
	for i := range r.Subjects {
		errs = append(errs, validateSubject(&r.Subjects[i], p.Child("subjects").Index(i))...)
	}
	if len(r.ResourceRules) == 0 && len(r.NonResourceRules) == 0 {
		errs = append(errs, p.Required("at least one of resourceRules and nonResourceRules has to be non-empty"))
	}
	for i := range r.ResourceRules {
		errs = append(errs, validateResourceRule(&r.ResourceRules[i], p.Child("resourceRules").Index(i))...)
	}
	for i := range r.NonResourceRules {
		errs = append(errs, validateNonResourceRule(&r.NonResourceRules[i], p.Child("nonResourceRules").Index(i))...)
	}
	return errs
}

// validateSubject requires the field of the kind of a subject, and no other.
func validateSubject(s *flowcontrolv1.Subject, p *validate.Path) (errs field.ErrorList) {
	account, user, group := p.Child("serviceAccount"), p.Child("user"), p.Child("group")
	switch s.Kind {
	case flowcontrolv1.SubjectKindServiceAccount:
		errs = validateServiceAccount(s.ServiceAccount, account)
	case flowcontrolv1.SubjectKindUser:
		if s.User == nil {
			errs = append(errs, user.Required("user is required when subject kind is 'User'"))
		} else if s.User.Name == "" {
			errs = append(errs, user.Child("name").Required(""))
		}
	case flowcontrolv1.SubjectKindGroup:
		if s.Group == nil {
			errs = append(errs, group.Required("group is required when subject kind is 'Group'"))
		} else if s.Group.Name == "" {
			errs = append(errs, group.Child("name").Required(""))
		}
	default:
		return field.ErrorList{validate.NotSupported(p.Child("kind"), s.Kind,
			flowcontrolv1.SubjectKindGroup, flowcontrolv1.SubjectKindServiceAccount, flowcontrolv1.SubjectKindUser)}
	}
	if s.Kind != flowcontrolv1.SubjectKindServiceAccount && s.ServiceAccount != nil {
		errs = append(errs, account.Forbidden("serviceAccount is forbidden when subject kind is not 'ServiceAccount'"))
	}
	if s.Kind != flowcontrolv1.SubjectKindUser && s.User != nil {
		errs = append(errs, user.Forbidden("user is forbidden when subject kind is not 'User'"))
	}
	if s.Kind != flowcontrolv1.SubjectKindGroup && s.Group != nil {
		errs = append(errs, group.Forbidden("group is forbidden when subject kind is not 'Group'"))
	}
	return errs
}

func validateServiceAccount(s *flowcontrolv1.ServiceAccountSubject, p *validate.Path) (errs field.ErrorList) {
	if s == nil {
		return field.ErrorList{p.Required("serviceAccount is required when subject kind is 'ServiceAccount'")}
	}
	if s.Name == "" {
		errs = append(errs, p.Child("name").Required(""))
	} else if s.Name != flowcontrolv1.NameAll {
		errs = append(errs, validate.Messages(s.Name, apivalidation.ValidateServiceAccountName(s.Name, false), p.Child("name"))...)
	}
	if s.Namespace == "" {
		return append(errs, p.Child("namespace").Required("must specify namespace for service account"))
	}
	return append(errs, validate.Messages(s.Namespace, apivalidation.ValidateNamespaceName(s.Namespace, false), p.Child("namespace"))...)
}

func validateResourceRule(r *flowcontrolv1.ResourcePolicyRule, p *validate.Path) field.ErrorList {
	errs := validateVerbs(r.Verbs, p.Child("verbs"))
	errs = append(errs, validateWildcard(r.APIGroups, "resource rules must supply at least one api group", "api groups", p.Child("apiGroups"))...)
	errs = append(errs, validateWildcard(r.Resources, "resource rules must supply at least one resource", "resources", p.Child("resources"))...)
	namespaces := p.Child("namespaces")
	if len(r.Namespaces) == 0 && r.ClusterScope {
		return errs
	}
	errs = append(errs, validateWildcard(r.Namespaces, "resource rules that are not cluster scoped must supply at least one namespace", "namespaces", namespaces)...)
	if slices.Contains(r.Namespaces, flowcontrolv1.NamespaceEvery) {
		return errs
	}
	for i, namespace := range r.Namespaces {
		for _, message := range apivalidation.ValidateNamespaceName(namespace, false) {
			errs = append(errs, namespaces.Index(i).Invalid(namespace, "each member of this list must be '*' or a DNS-1123 label; "+message))
		}
	}
	return errs
}

func validateNonResourceRule(r *flowcontrolv1.NonResourcePolicyRule, p *validate.Path) field.ErrorList {
	errs := validateVerbs(r.Verbs, p.Child("verbs"))
	path := p.Child("nonResourceURLs")
	errs = append(errs, validateWildcard(r.NonResourceURLs, "nonResourceURLs must contain at least one value", "non-resource URLs", path)...)
	if slices.Contains(r.NonResourceURLs, flowcontrolv1.NonResourceAll) {
		return errs
	}
	for i, url := range r.NonResourceURLs {
		if problem := checkNonResourceURL(url); problem != "" {
			errs = append(errs, path.Index(i).Invalid(url, problem))
		}
	}
	return errs
}

// checkNonResourceURL returns what is wrong with a path, which may end in "/*".
func checkNonResourceURL(url string) string {
	stars := strings.Count(url, "*")
	switch {
	case url == "":
		return "must not be empty"
	case !strings.HasPrefix(url, "/"):
		return "must start with slash"
	case strings.Contains(url, " "):
		return "must not contain white-space"
	case strings.Contains(url, "//"):
		return "must not contain double slash"
	case stars > 1 || stars == 1 && !strings.HasSuffix(url, "/*"):
		return "wildcard can only do suffix matching"
	}
	return ""
}

func validateVerbs(verbs []string, p *validate.Path) field.ErrorList {
	if len(verbs) == 0 || slices.Contains(verbs, flowcontrolv1.VerbAll) {
		return validateWildcard(verbs, "verbs must contain at least one value", "verbs", p)
	}
	known := []string{"create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"}
	if slices.ContainsFunc(verbs, func(verb string) bool { return !slices.Contains(known, verb) }) {
		return field.ErrorList{validate.NotSupported(p, verbs, known...)}
	}
	return nil
}

// validateWildcard requires values, and "*" to be alone. required is the detail of the error for no
// values, others names the values.
func validateWildcard(values []string, required, others string, p *validate.Path) field.ErrorList {
	if len(values) == 0 {
		return field.ErrorList{p.Required(required)}
	}
	if len(values) > 1 && slices.Contains(values, "*") {
		return field.ErrorList{p.Invalid(values, "if '*' is present, must not specify other "+others)}
	}
	return nil
}
