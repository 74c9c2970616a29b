package admissionregistration

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func newConstraints(operations ...admissionv1.OperationType) *admissionv1.MatchResources {
	return &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
		Operations: operations, Rule: admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
	}}}}
}

const badKind = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character " +
	"(e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"

func TestValidateValidatingAdmissionPolicy(t *testing.T) {
	type spec = admissionv1.ValidatingAdmissionPolicySpec
	for name, c := range map[string]struct {
		change func(*spec)
		want   []string
	}{
		"valid": {func(s *spec) {
			s.ParamKind = &admissionv1.ParamKind{APIVersion: "example.com/v1", Kind: "Limit"}
			s.Variables = []admissionv1.Variable{{Name: "limit", Expression: "params.spec.limit"}, {Name: "double", Expression: "variables.limit * 2"}}
			s.Validations = []admissionv1.Validation{{
				Expression: "object.spec.replicas < variables.double", MessageExpression: "'more than ' + string(variables.double)", Message: "no",
				Reason: new(metav1.StatusReasonInvalid),
			}}
			s.AuditAnnotations = []admissionv1.AuditAnnotation{{Key: "a", ValueExpression: "request.operation"}}
		}, nil},
		"nothing to match": {func(s *spec) { s.MatchConstraints, s.FailurePolicy = nil, new(admissionv1.FailurePolicyType("Stop")) }, []string{
			`spec.failurePolicy: Unsupported value: "Stop": supported values: "Fail", "Ignore"`, "spec.matchConstraints: Required value",
		}},
		"no rules": {func(s *spec) { s.MatchConstraints.ResourceRules = nil }, []string{"spec.matchConstraints.resourceRules: Required value"}},
		"names": {func(s *spec) { s.MatchConstraints.ResourceRules[0].ResourceNames = []string{"a", "a", "b/c"} }, []string{
			`spec.matchConstraints.resourceRules[0].resourceNames[1]: Duplicate value: "a"`,
			`spec.matchConstraints.resourceRules[0].resourceNames[2]: Invalid value: "b/c": may not contain '/'`,
		}},
		"parameters": {func(s *spec) { s.ParamKind = &admissionv1.ParamKind{APIVersion: "a/b/c"} },
			[]string{`spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c`, "spec.paramKind.kind: Required value"}},
		"a version of parameters": {func(s *spec) { s.ParamKind = &admissionv1.ParamKind{APIVersion: "a/", Kind: "X"} },
			[]string{`spec.paramKind.apiVersion: Invalid value: "a/": version must be specified`}},
		"names of parameters": {func(s *spec) { s.ParamKind = &admissionv1.ParamKind{APIVersion: "A/1", Kind: "-x"} }, []string{
			`spec.paramKind.apiVersion: Invalid value: "A": ` + validatetest.BadSubdomain, `spec.paramKind.apiVersion: Invalid value: "1": ` + badKind,
			`spec.paramKind.kind: Invalid value: "-x": may have mixed case, but should otherwise match: ` + badKind,
		}},
		"nothing to do": {func(s *spec) { s.Validations = nil }, []string{
			"spec.validations: Required value: validations or auditAnnotations must contain at least one item",
			"spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item",
		}},
		"variables": {func(s *spec) {
			s.Variables = []admissionv1.Variable{{Expression: " "}, {Name: "while", Expression: "1"}, {Name: "x-y", Expression: "'a' + 1"}}
		}, []string{
			"spec.variables[0].name: Required value: name is not specified",
			"spec.variables[0].expression: Required value: expression is not specified",
			`spec.variables[1].name: Invalid value: "while": name is not a valid CEL identifier`,
			`spec.variables[2].name: Invalid value: "x-y": name is not a valid CEL identifier`,
			`spec.variables[2].expression: Invalid value: "'a' + 1": compilation failed: ERROR: <input>:1:5: found no matching overload for '_+_' applied to '(string, int)'` + "\n | 'a' + 1\n | ....^",
		}},
		"validations": {func(s *spec) {
			s.Validations = []admissionv1.Validation{
				{}, {Expression: "1", Message: " ", MessageExpression: " "}, {Expression: "variables.x", Message: "a\nb", Reason: new(metav1.StatusReasonGone)},
				{Expression: "true", MessageExpression: "authorizer"},
			}
		}, []string{
			"spec.validations[0].expression: Required value: expression is not specified",
			`spec.validations[1].expression: Invalid value: "1": must evaluate to bool but got int`,
			`spec.validations[1].messageExpression: Invalid value: " ": must be non-empty if specified`,
			`spec.validations[1].message: Invalid value: " ": message must be non-empty if specified`,
			`spec.validations[2].expression: Invalid value: "variables.x": compilation failed: ERROR: <input>:1:1: undeclared reference to 'variables' (in container '')` + "\n | variables.x\n | ^",
			`spec.validations[2].message: Invalid value: "a\nb": message must not contain line breaks`,
			`spec.validations[2].reason: Unsupported value: "Gone": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"`,
			`spec.validations[3].messageExpression: Invalid value: "authorizer": compilation failed: ERROR: <input>:1:1: undeclared reference to 'authorizer' (in container '')` + "\n | authorizer\n | ^",
		}},
		"annotations": {func(s *spec) {
			s.AuditAnnotations = []admissionv1.AuditAnnotation{
				{Key: "a", ValueExpression: "null"}, {Key: "a", ValueExpression: "1"}, {Key: "b c"},
				{Key: "d", ValueExpression: "'" + strings.Repeat("x", maxAuditAnnotationExpression) + "'"},
			}
		}, []string{
			`spec.auditAnnotations[1].valueExpression: Invalid value: "1": must evaluate to one of [string null_type] but got int`,
			`spec.auditAnnotations[1].key: Duplicate value: "a"`,
			`spec.auditAnnotations[2].key: Invalid value: "p.example.com/b c": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
			"spec.auditAnnotations[2].valueExpression: Required value: valueExpression is not specified",
			"spec.auditAnnotations[3].valueExpression: Required value: must not exceed 5120 bytes in length",
		}},
		"21 annotations": {func(s *spec) {
			for _, key := range strings.Split("abcdefghijklmnopqrstu", "") {
				s.AuditAnnotations = append(s.AuditAnnotations, admissionv1.AuditAnnotation{Key: key, ValueExpression: "'x'"})
			}
		}, []string{"must not have more than 20 auditAnnotations"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &admissionv1.ValidatingAdmissionPolicy{
				ObjectMeta: metav1.ObjectMeta{Name: "p.example.com"},
				Spec:       spec{MatchConstraints: newConstraints("CREATE"), Validations: []admissionv1.Validation{{Expression: "true"}}},
			}
			c.change(&p.Spec)
			setValidatingAdmissionPolicyDefaults(p)
			errs := validateValidatingAdmissionPolicy(p)
			if name == "21 annotations" {
				require.Len(t, errs, 1)
				require.Equal(t, c.want[0], errs[0].Detail)
				return
			}
			require.Equal(t, c.want, validatetest.Texts(errs))
		})
	}
}

func TestValidatePolicyUpdates(t *testing.T) {
	conditions := []admissionv1.MatchCondition{{Name: "a", Expression: "?"}}
	v := &admissionv1.ValidatingAdmissionPolicy{Spec: admissionv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: newConstraints("CREATE"), Validations: []admissionv1.Validation{{Expression: "true"}}, MatchConditions: conditions,
	}}
	setValidatingAdmissionPolicyDefaults(v)
	require.Empty(t, validateValidatingAdmissionPolicyUpdate(v, v))
	require.Len(t, validateValidatingAdmissionPolicyUpdate(v, &admissionv1.ValidatingAdmissionPolicy{}), 1)
	m := &admissionv1.MutatingAdmissionPolicy{Spec: admissionv1.MutatingAdmissionPolicySpec{
		MatchConstraints: newConstraints("CREATE"), MatchConditions: conditions, ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
		Mutations: []admissionv1.Mutation{{PatchType: admissionv1.PatchTypeApplyConfiguration, ApplyConfiguration: &admissionv1.ApplyConfiguration{Expression: "Object{}"}}},
	}}
	setMutatingAdmissionPolicyDefaults(m)
	require.Empty(t, validateMutatingAdmissionPolicyUpdate(m, m))
	otherParams := m.DeepCopy()
	otherParams.Spec.ParamKind = &admissionv1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"}
	require.Len(t, validateMutatingAdmissionPolicyUpdate(otherParams, m), 1, "the conditions may refer to the parameters")
	require.Len(t, validateMutatingAdmissionPolicyUpdate(m, &admissionv1.MutatingAdmissionPolicy{}), 1)
}

func TestValidateMutatingAdmissionPolicy(t *testing.T) {
	type mutation = admissionv1.Mutation
	apply := func(e string) *admissionv1.ApplyConfiguration { return &admissionv1.ApplyConfiguration{Expression: e} }
	patch := func(e string) *admissionv1.JSONPatch { return &admissionv1.JSONPatch{Expression: e} }
	for name, c := range map[string]struct {
		mutations []mutation
		want      []string
	}{
		"valid": {[]mutation{
			{PatchType: "ApplyConfiguration", ApplyConfiguration: apply("Object{metadata: Object.metadata{labels: {'a': variables.x}}}")},
			{PatchType: "JSONPatch", JSONPatch: patch("[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b'), value: variables.x}]")},
		}, nil},
		"none":    {nil, []string{"spec.mutations: Required value: mutations must contain at least one item"}},
		"no type": {[]mutation{{}}, []string{"spec.mutations[0].patchType: Required value"}},
		"another type": {[]mutation{{PatchType: "Merge"}},
			[]string{`spec.mutations[0].patchType: Unsupported value: "Merge": supported values: "ApplyConfiguration", "JSONPatch"`}},
		"the other fields": {[]mutation{{PatchType: "ApplyConfiguration", JSONPatch: patch("[]")}, {PatchType: "JSONPatch", ApplyConfiguration: apply("Object{}")}}, []string{
			"spec.mutations[0].applyConfiguration: Required value: must be specified when patchType is ApplyConfiguration",
			`spec.mutations[0].jsonPatch: Invalid value: "{jsonPatch}": must not be specified when patchType is ApplyConfiguration`,
			"spec.mutations[1].jsonPatch: Required value: must be specified when patchType is JSONPatch",
			`spec.mutations[1].applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch`,
		}},
		"expressions": {[]mutation{{PatchType: "ApplyConfiguration", ApplyConfiguration: apply(" ")}, {PatchType: "ApplyConfiguration", ApplyConfiguration: apply("'a'")}, {PatchType: "JSONPatch", JSONPatch: patch("['a']")}}, []string{
			"spec.mutations[0].applyConfiguration.expression: Required value",
			`spec.mutations[1].applyConfiguration.expression: Invalid value: "'a'": must evaluate to Object but got string`,
			`spec.mutations[2].jsonPatch.expression: Invalid value: "['a']": must evaluate to list(JSONPatch) but got list(string)`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &admissionv1.MutatingAdmissionPolicy{Spec: admissionv1.MutatingAdmissionPolicySpec{
				MatchConstraints: newConstraints("*"), Variables: []admissionv1.Variable{{Name: "x", Expression: "'a'"}}, Mutations: c.mutations, ReinvocationPolicy: "IfNeeded",
			}}
			setMutatingAdmissionPolicyDefaults(p)
			require.Equal(t, c.want, validatetest.Texts(validateMutatingAdmissionPolicy(p)))
		})
	}
	p := &admissionv1.MutatingAdmissionPolicy{Spec: admissionv1.MutatingAdmissionPolicySpec{
		MatchConstraints: newConstraints("DELETE"), Mutations: []mutation{{PatchType: "JSONPatch", JSONPatch: patch("[]")}},
	}}
	require.Equal(t, []string{
		"spec.failurePolicy: Required value", "spec.matchConstraints.matchPolicy: Required value",
		"spec.matchConstraints.namespaceSelector: Required value", "spec.matchConstraints.objectSelector: Required value",
		`spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"`,
		`spec.mutations[0].jsonPatch.expression: Invalid value: "[]": must evaluate to list(JSONPatch) but got list(dyn)`,
		"spec.reinvocationPolicy: Required value",
	}, validatetest.Texts(validateMutatingAdmissionPolicy(p)))
}

func TestValidatePolicyStatus(t *testing.T) {
	p := &admissionv1.ValidatingAdmissionPolicy{Status: admissionv1.ValidatingAdmissionPolicyStatus{TypeChecking: &admissionv1.TypeChecking{
		ExpressionWarnings: []admissionv1.ExpressionWarning{{FieldRef: "spec.validations[0].expression", Warning: "w"}, {}, {FieldRef: "a[", Warning: "w"}},
	}}}
	require.Equal(t, []string{
		"status.typeChecking.expressionWarnings[1].warning: Required value",
		"status.typeChecking.expressionWarnings[1].fieldRef: Required value",
		`status.typeChecking.expressionWarnings[2].fieldRef: Invalid value: "a[": invalid JSONPath: unterminated array`,
	}, validatetest.Texts(validateValidatingAdmissionPolicyStatus(p, nil)))
	p.Status = admissionv1.ValidatingAdmissionPolicyStatus{Conditions: []metav1.Condition{{Type: "Ready"}}}
	require.Len(t, validateValidatingAdmissionPolicyStatus(p, nil), 3)
}

func TestValidateBindings(t *testing.T) {
	deny, allow := admissionv1.DenyAction, admissionv1.ParameterNotFoundActionType("Ask")
	for name, c := range map[string]struct {
		ref     *admissionv1.ParamRef
		actions []admissionv1.ValidationAction
		want    []string
	}{
		"valid":    {&admissionv1.ParamRef{Name: "a", ParameterNotFoundAction: &deny}, []admissionv1.ValidationAction{"Deny", "Audit"}, nil},
		"selector": {&admissionv1.ParamRef{Selector: &metav1.LabelSelector{}, ParameterNotFoundAction: &deny}, []admissionv1.ValidationAction{"Warn"}, nil},
		"both": {&admissionv1.ParamRef{Name: "a/b", Selector: &metav1.LabelSelector{}, ParameterNotFoundAction: &allow}, nil, []string{
			`spec.paramRef.name: Invalid value: "a/b": may not contain '/'`,
			"spec.paramRef.name: Forbidden: name and selector are mutually exclusive",
			"spec.paramRef.selector: Forbidden: name and selector are mutually exclusive",
			`spec.paramRef.parameterNotFoundAction: Unsupported value: "Ask": supported values: "Deny", "Allow"`,
		}},
		"no action": {&admissionv1.ParamRef{Name: "a", ParameterNotFoundAction: new(admissionv1.ParameterNotFoundActionType(""))}, nil, []string{"spec.paramRef.parameterNotFoundAction: Required value"}},
		"neither": {&admissionv1.ParamRef{}, nil, []string{
			"spec.paramRef: Required value: one of name or selector must be specified", "spec.paramRef.parameterNotFoundAction: Required value",
		}},
		"actions": {nil, []admissionv1.ValidationAction{"Deny", "Warn", "Warn", "Log"}, []string{
			`spec.validationActions[2]: Duplicate value: "Warn"`,
			`spec.validationActions[3]: Unsupported value: "Log": supported values: "Audit", "Deny", "Warn"`,
			`spec.validationActions: Invalid value: ["Deny","Warn","Warn","Log"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := &admissionv1.ValidatingAdmissionPolicyBinding{Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "p", ParamRef: c.ref, ValidationActions: c.actions}}
			require.Equal(t, c.want, validatetest.Texts(validateValidatingAdmissionPolicyBinding(b)))
		})
	}
	b := &admissionv1.ValidatingAdmissionPolicyBinding{Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: "p", ValidationActions: []admissionv1.ValidationAction{"Deny"}, MatchResources: newConstraints("CREATE"),
		ParamRef: &admissionv1.ParamRef{ParameterNotFoundAction: &deny, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b c"}}},
	}}
	setValidatingAdmissionPolicyBindingDefaults(b)
	b.Spec.MatchResources.MatchPolicy = new(admissionv1.MatchPolicyType("Any"))
	b.Spec.MatchResources.ExcludeResourceRules = []admissionv1.NamedRuleWithOperations{{}}
	require.Equal(t, []string{
		`spec.paramRef.selector.matchLabels: Invalid value: "b c": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric ` +
			`character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
		`spec.matchResouces.matchPolicy: Unsupported value: "Any": supported values: "Equivalent", "Exact"`,
		"spec.matchResouces.excludeResourceRules[0].operations: Required value", "spec.matchResouces.excludeResourceRules[0].apiGroups: Required value",
		"spec.matchResouces.excludeResourceRules[0].apiVersions: Required value", "spec.matchResouces.excludeResourceRules[0].resources: Required value",
	}, validatetest.Texts(validateValidatingAdmissionPolicyBinding(b)))
	m := &admissionv1.MutatingAdmissionPolicyBinding{Spec: admissionv1.MutatingAdmissionPolicyBindingSpec{MatchResources: newConstraints("DELETE", "CREATE")}}
	setMutatingAdmissionPolicyBindingDefaults(m)
	m.Spec.MatchResources.MatchPolicy = new(admissionv1.MatchPolicyType("Any"))
	require.Equal(t, []string{
		"spec.policyName: Required value",
		`spec.matchResouces.matchPolicy: Unsupported value: "Any": supported values: "Equivalent", "Exact"`,
		`spec.matchResources.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"`,
	}, validatetest.Texts(validateMutatingAdmissionPolicyBinding(m)))
}
