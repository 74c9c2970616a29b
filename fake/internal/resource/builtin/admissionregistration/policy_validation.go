package admissionregistration

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	admissioncel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/client-go/util/jsonpath"

	"example.com/fakeapi/fake/internal/resource/validate"
)

const (
	maxAuditAnnotations          = 20
	maxAuditAnnotationExpression = 5 * 1024
)

func validateValidatingAdmissionPolicy(p *admissionv1.ValidatingAdmissionPolicy) field.ErrorList {
	return append(validateValidatingPolicySpec(p.Name, &p.Spec, true), validateStaticName(p.Name)...)
}

func validateValidatingAdmissionPolicyUpdate(p, old *admissionv1.ValidatingAdmissionPolicy) field.ErrorList {
	changed := !equality.Semantic.DeepEqual(p.Spec.ParamKind, old.Spec.ParamKind) ||
		!equality.Semantic.DeepEqual(p.Spec.MatchConditions, old.Spec.MatchConditions)
	return validateValidatingPolicySpec(p.Name, &p.Spec, changed)
}

func validateMutatingAdmissionPolicy(p *admissionv1.MutatingAdmissionPolicy) field.ErrorList {
	return append(validateMutatingPolicySpec(&p.Spec, true), validateStaticName(p.Name)...)
}

func validateMutatingAdmissionPolicyUpdate(p, old *admissionv1.MutatingAdmissionPolicy) field.ErrorList {
	changed := !equality.Semantic.DeepEqual(p.Spec.ParamKind, old.Spec.ParamKind) ||
		!equality.Semantic.DeepEqual(p.Spec.MatchConditions, old.Spec.MatchConditions)
	return validateMutatingPolicySpec(&p.Spec, changed)
}

// validateValidatingPolicySpec validates the match conditions if withConditions is set.
func validateValidatingPolicySpec(name string, s *admissionv1.ValidatingAdmissionPolicySpec, withConditions bool) field.ErrorList {
	var root *validate.Path
	p := root.Child("spec")
	errs := validatePolicyScope(s.FailurePolicy, s.ParamKind, s.MatchConstraints, p)
	hasParams := s.ParamKind != nil
	if withConditions {
		errs = append(errs, validateMatchConditions(s.MatchConditions, hasParams, p.Child("matchConditions"))...)
	}
	compiler, variableErrs := compileVariables(s.Variables, hasParams, p.Child("variables"))
	errs = append(errs, variableErrs...)
	if len(s.Validations) == 0 && len(s.AuditAnnotations) == 0 {
		const detail = "validations or auditAnnotations must contain at least one item"
		return append(errs, p.Child("validations").Required(detail), p.Child("auditAnnotations").Required(detail))
	}
	for i := range s.Validations {
		errs = append(errs, validateValidation(compiler, &s.Validations[i], hasParams, p.Child("validations").Index(i))...)
	}
	return append(errs, validateAuditAnnotations(compiler, name, s.AuditAnnotations, hasParams, p.Child("auditAnnotations"))...)
}

// validateMutatingPolicySpec validates the match conditions if withConditions is set.
func validateMutatingPolicySpec(s *admissionv1.MutatingAdmissionPolicySpec, withConditions bool) field.ErrorList {
	var root *validate.Path
	p := root.Child("spec")
	errs := validatePolicyScope(s.FailurePolicy, s.ParamKind, s.MatchConstraints, p)
	if s.MatchConstraints != nil {
		errs = append(errs, validateMutableOperations(s.MatchConstraints.ResourceRules, p.Child("matchConstraints"))...)
	}
	hasParams := s.ParamKind != nil
	if withConditions {
		errs = append(errs, validateMatchConditions(s.MatchConditions, hasParams, p.Child("matchConditions"))...)
	}
	compiler, variableErrs := compileVariables(s.Variables, hasParams, p.Child("variables"))
	errs = append(errs, variableErrs...)
	if len(s.Mutations) == 0 {
		errs = append(errs, p.Child("mutations").Required("mutations must contain at least one item"))
	}
	for i := range s.Mutations {
		errs = append(errs, validateMutation(compiler, &s.Mutations[i], hasParams, p.Child("mutations").Index(i))...)
	}
	if s.ReinvocationPolicy == "" {
		return append(errs, p.Child("reinvocationPolicy").Required(""))
	}
	return append(errs, validateReinvocationPolicy(&s.ReinvocationPolicy, p.Child("reinvocationPolicy"))...)
}

// validatePolicyScope validates the fields that both kinds of policies start with.
func validatePolicyScope(failure *admissionv1.FailurePolicyType, kind *admissionv1.ParamKind, constraints *admissionv1.MatchResources, p *validate.Path) (errs field.ErrorList) {
	if failure == nil {
		errs = append(errs, p.Child("failurePolicy").Required(""))
	} else {
		errs = append(errs, validateFailurePolicy(failure, p.Child("failurePolicy"))...)
	}
	if kind != nil {
		errs = append(errs, validateParamKind(kind, p.Child("paramKind"))...)
	}
	if constraints == nil {
		return append(errs, p.Child("matchConstraints").Required(""))
	}
	errs = append(errs, validateMatchResources(constraints, p.Child("matchConstraints"))...)
	if len(constraints.ResourceRules) == 0 {
		errs = append(errs, p.Child("matchConstraints").Child("resourceRules").Required(""))
	}
	return errs
}

func validateParamKind(k *admissionv1.ParamKind, p *validate.Path) (errs field.ErrorList) {
	at := p.Child("apiVersion")
	if k.APIVersion == "" {
		errs = append(errs, at.Required(""))
	} else if gv, err := schema.ParseGroupVersion(k.APIVersion); err != nil {
		errs = append(errs, at.Invalid(k.APIVersion, err.Error()))
	} else {
		if problems := validation.IsDNS1123Subdomain(gv.Group); gv.Group != "" && len(problems) > 0 {
			errs = append(errs, at.Invalid(gv.Group, strings.Join(problems, ",")))
		}
		if gv.Version == "" {
			errs = append(errs, at.Invalid(k.APIVersion, "version must be specified"))
		} else if problems := validation.IsDNS1035Label(gv.Version); len(problems) > 0 {
			errs = append(errs, at.Invalid(gv.Version, strings.Join(problems, ",")))
		}
	}
	if k.Kind == "" {
		errs = append(errs, p.Child("kind").Required(""))
	} else if problems := validation.IsDNS1035Label(strings.ToLower(k.Kind)); len(problems) > 0 {
		errs = append(errs, p.Child("kind").Invalid(k.Kind, "may have mixed case, but should otherwise match: "+strings.Join(problems, ",")))
	}
	return errs
}

// compileVariables validates variables. It returns the compiler of the expressions that refer to
// them.
func compileVariables(variables []admissionv1.Variable, hasParams bool, p *validate.Path) (admissioncel.Compiler, field.ErrorList) {
	if len(variables) == 0 {
		return plainCompiler(), nil
	}
	compiler, err := newCompiler()
	if err != nil {
		return plainCompiler(), field.ErrorList{field.InternalError(p.Field(), err)}
	}
	var errs field.ErrorList
	for i, v := range variables {
		at := p.Index(i)
		if strings.TrimSpace(v.Name) == "" {
			errs = append(errs, at.Child("name").Required("name is not specified"))
		} else if !isIdentifier(v.Name) {
			errs = append(errs, at.Child("name").Invalid(v.Name, "name is not a valid CEL identifier"))
		}
		if strings.TrimSpace(v.Expression) == "" {
			errs = append(errs, at.Child("expression").Required("expression is not specified"))
			continue
		}
		e := &expression{name: v.Name, text: v.Expression, types: []*cel.Type{cel.AnyType, cel.DynType}}
		result := compiler.CompileAndStoreVariable(e, admissioncel.OptionalVariableDeclarations{HasParams: hasParams, HasAuthorizer: true}, environment.NewExpressions)
		errs = append(errs, compilationErrors(result.Error, v.Expression, at.Child("expression"))...)
	}
	return compiler, errs
}

var identifier = regexp.MustCompile(`^[_a-zA-Z][_a-zA-Z0-9]*$`)

// isIdentifier reports whether a name is an identifier of CEL.
func isIdentifier(name string) bool {
	reserved := []string{
		"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let",
		"loop", "package", "namespace", "return", "var", "void", "while",
	}
	return identifier.MatchString(name) && !slices.Contains(reserved, name)
}

func validateValidation(c admissioncel.Compiler, v *admissionv1.Validation, hasParams bool, p *validate.Path) (errs field.ErrorList) {
	if strings.TrimSpace(v.Expression) == "" {
		errs = append(errs, p.Child("expression").Required("expression is not specified"))
	} else {
		e := &expression{text: v.Expression, types: []*cel.Type{cel.BoolType}}
		errs = append(errs, validateExpression(c, e, v.Expression, admissioncel.OptionalVariableDeclarations{HasParams: hasParams, HasAuthorizer: true}, p.Child("expression"))...)
	}
	if strings.TrimSpace(v.MessageExpression) != "" {
		e := &expression{text: v.MessageExpression, types: []*cel.Type{cel.StringType}}
		errs = append(errs, validateExpression(c, e, v.MessageExpression, admissioncel.OptionalVariableDeclarations{HasParams: hasParams}, p.Child("messageExpression"))...)
	} else if v.MessageExpression != "" {
		errs = append(errs, p.Child("messageExpression").Invalid(v.MessageExpression, "must be non-empty if specified"))
	}
	if message := strings.TrimSpace(v.Message); v.Message != "" && message == "" {
		errs = append(errs, p.Child("message").Invalid(v.Message, "message must be non-empty if specified"))
	} else if strings.ContainsAny(message, "\n\r") {
		errs = append(errs, p.Child("message").Invalid(v.Message, "message must not contain line breaks"))
	}
	return append(errs, validateOneOf(v.Reason, p.Child("reason"),
		metav1.StatusReasonForbidden, metav1.StatusReasonInvalid, metav1.StatusReasonRequestEntityTooLarge)...)
}

// validateAuditAnnotations validates the annotations of a policy with a name, which is the prefix
// of their keys.
func validateAuditAnnotations(c admissioncel.Compiler, policy string, annotations []admissionv1.AuditAnnotation, hasParams bool, p *validate.Path) (errs field.ErrorList) {
	if len(annotations) > maxAuditAnnotations {
		errs = append(errs, p.Invalid(annotations, fmt.Sprintf("must not have more than %d auditAnnotations", maxAuditAnnotations)))
	}
	seen := make(map[string]bool)
	for i, a := range annotations {
		key, value := p.Index(i).Child("key"), p.Index(i).Child("valueExpression")
		if policy == "" {
			errs = append(errs, key.Invalid(a.Key, "requires metadata.name be non-empty"))
		} else {
			errs = append(errs, validate.LabelName(policy+"/"+a.Key, key)...)
		}
		switch text := strings.TrimSpace(a.ValueExpression); {
		case text == "":
			errs = append(errs, value.Required("valueExpression is not specified"))
		case len(text) > maxAuditAnnotationExpression:
			errs = append(errs, value.Required(fmt.Sprintf("must not exceed %d bytes in length", maxAuditAnnotationExpression)))
		default:
			e := &expression{text: text, types: []*cel.Type{cel.StringType, cel.NullType}}
			errs = append(errs, validateExpression(c, e, a.ValueExpression, admissioncel.OptionalVariableDeclarations{HasParams: hasParams, HasAuthorizer: true}, value)...)
		}
		if seen[a.Key] {
			errs = append(errs, key.Duplicate(a.Key))
		}
		seen[a.Key] = true
	}
	return errs
}

// validateMutation requires the field of the patch type of a mutation, and not the other one.
func validateMutation(c admissioncel.Compiler, m *admissionv1.Mutation, hasParams bool, p *validate.Path) (errs field.ErrorList) {
	apply, patch := p.Child("applyConfiguration"), p.Child("jsonPatch")
	switch m.PatchType {
	case "":
		return field.ErrorList{p.Child("patchType").Required("")}
	case admissionv1.PatchTypeJSONPatch:
		if m.JSONPatch == nil {
			errs = append(errs, patch.Required("must be specified when patchType is JSONPatch"))
		} else {
			errs = append(errs, validatePatch(c, m.JSONPatch.Expression, cel.ListType(cel.ObjectType("JSONPatch")), hasParams, patch.Child("expression"))...)
		}
		if m.ApplyConfiguration != nil {
			errs = append(errs, apply.Invalid("{applyConfiguration}", "must not be specified when patchType is JSONPatch"))
		}
	case admissionv1.PatchTypeApplyConfiguration:
		if m.ApplyConfiguration == nil {
			errs = append(errs, apply.Required("must be specified when patchType is ApplyConfiguration"))
		} else {
			errs = append(errs, validatePatch(c, m.ApplyConfiguration.Expression, cel.ObjectType("Object"), hasParams, apply.Child("expression"))...)
		}
		if m.JSONPatch != nil {
			errs = append(errs, patch.Invalid("{jsonPatch}", "must not be specified when patchType is ApplyConfiguration"))
		}
	default:
		errs = append(errs, validate.NotSupported(p.Child("patchType"), m.PatchType, admissionv1.PatchTypeApplyConfiguration, admissionv1.PatchTypeJSONPatch))
	}
	return errs
}

// validatePatch validates the expression of a patch with a type.
func validatePatch(c admissioncel.Compiler, value string, t *cel.Type, hasParams bool, p *validate.Path) field.ErrorList {
	text := strings.TrimSpace(value)
	if text == "" {
		return field.ErrorList{p.Required("")}
	}
	return validateExpression(c, &expression{text: text, types: []*cel.Type{t}}, text,
		admissioncel.OptionalVariableDeclarations{HasParams: hasParams, HasAuthorizer: true, HasPatchTypes: true}, p)
}

// validateValidatingAdmissionPolicyStatus validates the status of a policy that a controller has
// checked.
func validateValidatingAdmissionPolicyStatus(policy, _ *admissionv1.ValidatingAdmissionPolicy) (errs field.ErrorList) {
	var root *validate.Path
	p := root.Child("status")
	if t := policy.Status.TypeChecking; t != nil {
		for i, w := range t.ExpressionWarnings {
			at := p.Child("typeChecking").Child("expressionWarnings").Index(i)
			if w.Warning == "" {
				errs = append(errs, at.Child("warning").Required(""))
			}
			errs = append(errs, validateFieldRef(strings.TrimSpace(w.FieldRef), at.Child("fieldRef"))...)
		}
	}
	return append(errs, metav1validation.ValidateConditions(policy.Status.Conditions, p.Child("conditions").Field())...)
}

// validateFieldRef validates the path of an expression in a policy.
func validateFieldRef(ref string, p *validate.Path) field.ErrorList {
	if ref == "" {
		return field.ErrorList{p.Required("")}
	}
	if err := jsonpath.New("spec").Parse("{" + ref + "}"); err != nil {
		return field.ErrorList{p.Invalid(ref, fmt.Sprintf("invalid JSONPath: %v", err))}
	}
	return nil
}
