package admissionregistration

import (
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

// newWebhooks returns a configuration with one webhook, with defaults.
func newWebhooks(change func(*admissionv1.MutatingWebhook)) *admissionv1.MutatingWebhookConfiguration {
	c := &admissionv1.MutatingWebhookConfiguration{Webhooks: []admissionv1.MutatingWebhook{{
		Name: "a.b.c", SideEffects: new(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
		ClientConfig: admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: "n", Name: "s"}},
	}}}
	change(&c.Webhooks[0])
	setMutatingWebhookConfigurationDefaults(c)
	return c
}

func TestValidateWebhook(t *testing.T) {
	type webhook = admissionv1.MutatingWebhook
	for name, c := range map[string]struct {
		change func(*webhook)
		want   []string
	}{
		"valid":   {func(w *webhook) { w.TimeoutSeconds = new(int32(30)) }, nil},
		"no name": {func(w *webhook) { w.Name = "" }, []string{"webhooks[0].name: Required value"}},
		"a name of two parts": {func(w *webhook) { w.Name = "a.b" },
			[]string{`webhooks[0].name: Invalid value: "a.b": should be a domain with at least three segments separated by dots`}},
		"policies": {func(w *webhook) {
			w.FailurePolicy, w.MatchPolicy, w.ReinvocationPolicy = new(admissionv1.FailurePolicyType("a")), new(admissionv1.MatchPolicyType("b")), new(admissionv1.ReinvocationPolicyType("c"))
		}, []string{
			`webhooks[0].failurePolicy: Unsupported value: "a": supported values: "Fail", "Ignore"`,
			`webhooks[0].matchPolicy: Unsupported value: "b": supported values: "Equivalent", "Exact"`,
			`webhooks[0].reinvocationPolicy: Unsupported value: "c": supported values: "IfNeeded", "Never"`,
		}},
		"side effects": {func(w *webhook) { *w.SideEffects = admissionv1.SideEffectClassSome },
			[]string{`webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"`}},
		"unknown side effects": {func(w *webhook) { w.SideEffects = nil }, []string{"webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun"}},
		"31 seconds": {func(w *webhook) { w.TimeoutSeconds = new(int32(31)) },
			[]string{"webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds"}},
		"selectors": {func(w *webhook) {
			bad := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Has"}}}
			w.NamespaceSelector, w.ObjectSelector = bad, bad
		}, []string{
			`webhooks[0].namespaceSelector.matchExpressions[0].operator: Invalid value: "Has": not a valid selector operator`,
			`webhooks[0].objectSelector.matchExpressions[0].operator: Invalid value: "Has": not a valid selector operator`,
		}},
		"a URL and a service": {func(w *webhook) { w.ClientConfig.URL = new("https://x") }, []string{"webhooks[0].clientConfig: Required value: exactly one of url or service is required"}},
		"a URL without a host": {func(w *webhook) { w.ClientConfig = admissionv1.WebhookClientConfig{URL: new("https:///x")} },
			[]string{`webhooks[0].clientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path]`}},
		"a service without a name": {func(w *webhook) { w.ClientConfig.Service.Name = "" }, []string{"webhooks[0].clientConfig.service.namespace: Required value"}},
		"a port": {func(w *webhook) { w.ClientConfig.Service.Port = new(int32(0)) },
			[]string{"webhooks[0].clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive"}},
		"no review versions": {func(w *webhook) { w.AdmissionReviewVersions = nil }, []string{"webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1"}},
		"review versions": {func(w *webhook) { w.AdmissionReviewVersions = []string{"v2", "v2"} }, []string{
			`webhooks[0].admissionReviewVersions[1]: Invalid value: "v2": duplicate version`,
			`webhooks[0].admissionReviewVersions: Invalid value: ["v2","v2"]: must include at least one of v1, v1beta1`,
		}},
		"conditions": {func(w *webhook) {
			w.MatchConditions = []admissionv1.MatchCondition{
				{Name: "a", Expression: "request.name == 'x' && authorizer.group('').resource('pods').check('get').allowed()"}, {Name: "a", Expression: " "}, {Expression: "'a'"},
				{Name: "b", Expression: "params.x"},
			}
		}, []string{
			"webhooks[0].matchConditions[1].expression: Required value",
			`webhooks[0].matchConditions[1].name: Duplicate value: "a"`,
			`webhooks[0].matchConditions[2].expression: Invalid value: "'a'": must evaluate to bool but got string`,
			"webhooks[0].matchConditions[2].name: Required value",
			`webhooks[0].matchConditions[3].expression: Invalid value: "params.x": compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')` + "\n | params.x\n | ^",
		}},
		"65 conditions": {func(w *webhook) { w.MatchConditions = make([]admissionv1.MatchCondition, 65) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			errs := validateMutatingWebhookConfiguration(newWebhooks(c.change))
			if name == "65 conditions" {
				require.Equal(t, "webhooks[0].matchConditions: Too many: 65: must have at most 64 items", errs[0].Error())
				return
			}
			require.Equal(t, c.want, validatetest.Texts(errs))
		})
	}
}

func TestValidateWebhookConfigurations(t *testing.T) {
	c := newWebhooks(func(*admissionv1.MutatingWebhook) {})
	c.Name = "x.static.k8s.io"
	c.Webhooks = append(c.Webhooks, c.Webhooks[0])
	require.Equal(t, []string{
		`webhooks[1].name: Duplicate value: "a.b.c"`,
		`metadata.name: Invalid value: "x.static.k8s.io": names ending with ".static.k8s.io" are reserved for static manifest-based configurations and cannot be managed via the API`,
	}, validatetest.Texts(validateMutatingWebhookConfiguration(c)))

	v := &admissionv1.ValidatingWebhookConfiguration{Webhooks: []admissionv1.ValidatingWebhook{{Name: "a.b.c"}}}
	require.Equal(t, []string{
		"webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun",
		"webhooks[0].clientConfig: Required value: exactly one of url or service is required",
		"webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1",
	}, validatetest.Texts(validateValidatingWebhookConfiguration(v)))
	require.Len(t, validateValidatingWebhookConfigurationUpdate(v, &admissionv1.ValidatingWebhookConfiguration{}), 3)
}

// An update accepts a name of a configuration of a file, which a create refuses, with a warning.
func TestStaticNameWarnings(t *testing.T) {
	c := newWebhooks(func(w *admissionv1.MutatingWebhook) {
		w.Rules = []admissionv1.RuleWithOperations{{Rule: admissionv1.Rule{
			APIGroups: []string{"authentication.k8s.io"}, APIVersions: []string{"v1"}, Resources: []string{"tokenreviews"},
		}}}
	})
	const review = "webhooks[0].rules[0]: tokenreviews.authentication.k8s.io is excluded from admission webhooks; this rule will have no effect"
	require.Equal(t, []string{review}, mutatingWebhookUpdateWarnings(c, c))
	c.Name = "x.static.k8s.io"
	const static = `metadata.name: names ending with ".static.k8s.io" are reserved for static manifest-based configurations and cannot be managed via the API`
	require.Equal(t, []string{static, review}, mutatingWebhookUpdateWarnings(c, c))
	require.Equal(t, []string{review}, mutatingWebhookWarnings(c))
	v := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: c.ObjectMeta}
	require.Equal(t, []string{static}, validatingWebhookUpdateWarnings(v, v))

	named := map[string]runtime.Object{
		"mutatingadmissionpolicies":         &admissionv1.MutatingAdmissionPolicy{ObjectMeta: c.ObjectMeta},
		"mutatingadmissionpolicybindings":   &admissionv1.MutatingAdmissionPolicyBinding{ObjectMeta: c.ObjectMeta},
		"mutatingwebhookconfigurations":     c,
		"validatingadmissionpolicies":       &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: c.ObjectMeta},
		"validatingadmissionpolicybindings": &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: c.ObjectMeta},
		"validatingwebhookconfigurations":   v,
	}
	for _, r := range Resources() {
		obj := named[r.Plural]
		require.Contains(t, r.WarningsOnUpdate(obj, obj), static, r.Plural)
		for _, s := range r.Subresources {
			require.Equal(t, []string{static}, s.WarningsOnUpdate(obj, obj), r.Plural)
		}
	}
}

// An update accepts what the stored webhooks violate already.
func TestValidateWebhookUpdate(t *testing.T) {
	old := newWebhooks(func(w *admissionv1.MutatingWebhook) {
		*w.SideEffects, w.AdmissionReviewVersions = admissionv1.SideEffectClassSome, []string{"v2"}
		w.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "In", Values: []string{"b c"}}}}
		w.MatchConditions = []admissionv1.MatchCondition{{Name: "a", Expression: "?"}}
	})
	old.Webhooks = append(old.Webhooks, old.Webhooks[0])
	require.Len(t, validateMutatingWebhookConfiguration(old), 9)
	require.Empty(t, validateMutatingWebhookConfigurationUpdate(old.DeepCopy(), old))
	changed := old.DeepCopy()
	changed.Webhooks[1].SideEffects = nil
	changed.Webhooks[1].MatchConditions = nil
	errs := validateMutatingWebhookConfigurationUpdate(changed, old)
	require.Len(t, errs, 2)
	require.Contains(t, errs[0].Error(), "webhooks[0].matchConditions[0].expression")
	require.Equal(t, "webhooks[1].sideEffects: Required value: must specify one of None, NoneOnDryRun, Some, Unknown", errs[1].Error())
}

func TestWebhookWarnings(t *testing.T) {
	rule := func(groups, resources []string) admissionv1.RuleWithOperations {
		return admissionv1.RuleWithOperations{Rule: admissionv1.Rule{APIGroups: groups, APIVersions: []string{"*"}, Resources: resources}}
	}
	c := newWebhooks(func(w *admissionv1.MutatingWebhook) {
		w.Rules = []admissionv1.RuleWithOperations{
			rule([]string{""}, []string{"tokenreviews"}), rule([]string{"*", "authentication.k8s.io"}, []string{"tokenreviews"}),
			rule([]string{"authorization.k8s.io"}, []string{"subjectaccessreviews", "subjectaccessreviews", "tokenreviews"}),
			rule([]string{"authorization.k8s.io", "authentication.k8s.io"}, []string{"tokenreviews", "subjectaccessreviews"}),
		}
	})
	want := []string{
		"webhooks[0].rules[2]: subjectaccessreviews.authorization.k8s.io is excluded from admission webhooks; this rule will have no effect",
		"webhooks[0].rules[3]: subjectaccessreviews.authorization.k8s.io is excluded from admission webhooks; this rule will have no effect",
		"webhooks[0].rules[3]: tokenreviews.authentication.k8s.io is excluded from admission webhooks; this rule will have no effect",
	}
	require.Equal(t, want, mutatingWebhookWarnings(c))
	require.Equal(t, want, mutatingWebhookUpdateWarnings(c, nil))
	v := &admissionv1.ValidatingWebhookConfiguration{Webhooks: []admissionv1.ValidatingWebhook{{Rules: c.Webhooks[0].Rules}}}
	require.Equal(t, want, validatingWebhookWarnings(v))
	require.Equal(t, want, validatingWebhookUpdateWarnings(v, nil))
}

func TestValidateRule(t *testing.T) {
	valid := func() admissionv1.RuleWithOperations {
		return admissionv1.RuleWithOperations{Operations: []admissionv1.OperationType{"CREATE"}, Rule: admissionv1.Rule{
			APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods", "pods/status", "*/scale"},
		}}
	}
	for name, c := range map[string]struct {
		change func(*admissionv1.RuleWithOperations)
		want   []string
	}{
		"valid": {func(*admissionv1.RuleWithOperations) {}, nil},
		"empty": {func(r *admissionv1.RuleWithOperations) { *r = admissionv1.RuleWithOperations{} },
			[]string{"operations: Required value", "apiGroups: Required value", "apiVersions: Required value", "resources: Required value"}},
		"stars and more": {func(r *admissionv1.RuleWithOperations) {
			r.Operations, r.APIGroups, r.APIVersions = []admissionv1.OperationType{"*", "READ"}, []string{"*", "a"}, []string{"*", ""}
		}, []string{
			`operations: Invalid value: ["*","READ"]: if '*' is present, must not specify other operations`,
			`operations[1]: Unsupported value: "READ": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"`,
			`apiGroups: Invalid value: ["*","a"]: if '*' is present, must not specify other API groups`,
			`apiVersions: Invalid value: ["*",""]: if '*' is present, must not specify other API versions`,
			"apiVersions[1]: Required value",
		}},
		"scope": {func(r *admissionv1.RuleWithOperations) { r.Scope = new(admissionv1.ScopeType("All")) },
			[]string{`scope: Unsupported value: "All": supported values: "*", "Cluster", "Namespaced"`}},
		"covered": {func(r *admissionv1.RuleWithOperations) { r.Resources = []string{"a/*", "a/b", "*/c", "d/c", ""} }, []string{
			`resources[1]: Invalid value: "a/b": if 'a/*' is present, must not specify a/b`,
			`resources[3]: Invalid value: "d/c": if '*/c' is present, must not specify d/c`,
			"resources[4]: Required value",
		}},
		"everything and more": {func(r *admissionv1.RuleWithOperations) { r.Resources = []string{"*", "*/*", "a"} }, []string{
			`resources: Invalid value: ["*","*/*","a"]: if '*/*' is present, must not specify other resources`,
			`resources: Invalid value: ["*","*/*","a"]: if '*' is present, must not specify other resources without subresources`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := valid()
			c.change(&r)
			require.Equal(t, c.want, validatetest.Texts(validateRule(&r, nil)))
		})
	}
}
