package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func parse(t *testing.T, text string) *policyv1.PodDisruptionBudget {
	t.Helper()
	b := &policyv1.PodDisruptionBudget{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), b))
	return b
}

func TestCanonicalizePodDisruptionBudget(t *testing.T) {
	const key = "key: pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"
	for selector, want := range map[string]string{
		`null`: `null`,
		`{}`:   `{}`,
		`{matchExpressions: [{` + key + `, operator: Exists}]}`:                                        `{matchExpressions: [{` + key + `, operator: Exists}]}`,
		`{matchLabels: {}, matchExpressions: [{` + key + `, operator: Exists, values: []}]}`:           `{matchExpressions: [{` + key + `, operator: Exists}]}`,
		`{matchExpressions: [{` + key + `, operator: DoesNotExist}]}`:                                  `{}`,
		`{matchExpressions: [{` + key + `, operator: In, values: [a]}]}`:                               `{}`,
		`{matchLabels: {a: b}, matchExpressions: [{` + key + `, operator: Exists}]}`:                   `{matchLabels: {a: b}}`,
		`{matchExpressions: [{` + key + `, operator: Exists}, {key: a, operator: Exists}]}`:            `{matchExpressions: [{key: a, operator: Exists}]}`,
		`{matchExpressions: [{` + key + `, operator: Exists}, {` + key + `, operator: Exists}]}`:       `{}`,
		`{matchExpressions: [{key: a, operator: Exists}, {` + key + `, operator: In, values: ['-']}]}`: `{matchExpressions: [{key: a, operator: Exists}]}`,
	} {
		b := parse(t, "spec: {selector: "+selector+"}")
		canonicalizePodDisruptionBudget(b)
		got, err := yaml.Marshal(b.Spec.Selector)
		require.NoError(t, err)
		require.YAMLEq(t, want, string(got), selector)
	}
}

func TestValidatePodDisruptionBudget(t *testing.T) {
	for _, test := range []struct {
		spec string
		want []string
	}{
		{`{}`, nil},
		{`{minAvailable: 100%, selector: {}, unhealthyPodEvictionPolicy: AlwaysAllow}`, nil},
		{`{maxUnavailable: 101, selector: {matchLabels: {a: b}}, unhealthyPodEvictionPolicy: IfHealthyBudget}`, nil},
		{`{minAvailable: -1}`, []string{"spec.minAvailable: Invalid value: -1: must be greater than or equal to 0"}},
		{`{maxUnavailable: 101%}`, []string{`spec.maxUnavailable: Invalid value: "101%": must not be greater than 100%`}},
		{`{maxUnavailable: "1"}`, []string{`spec.maxUnavailable: Invalid value: "1": a valid percent string must be a numeric string followed by an ending '%' ` +
			`(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')`}},
		{`{minAvailable: 101%, maxUnavailable: -1}`, []string{
			`spec: Invalid value: {"MinAvailable":"101%","Selector":null,"MaxUnavailable":-1,"UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set`,
			`spec.minAvailable: Invalid value: "101%": must not be greater than 100%`,
			"spec.maxUnavailable: Invalid value: -1: must be greater than or equal to 0"}},
		{`{selector: {matchExpressions: [{key: a, operator: In}]}, unhealthyPodEvictionPolicy: ""}`, []string{
			"spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
			`spec.unhealthyPodEvictionPolicy: Unsupported value: "": supported values: "AlwaysAllow", "IfHealthyBudget"`}},
	} {
		t.Run(test.spec, func(t *testing.T) {
			b := parse(t, "spec: "+test.spec)
			validatetest.RequireErrors(t, validatePodDisruptionBudget(b), test.want...)
			validatetest.RequireErrors(t, validatePodDisruptionBudgetUpdate(b, &policyv1.PodDisruptionBudget{}), test.want...)
		})
	}
	// Values that are invalid already may stay in the selector.
	b := parse(t, `spec: {selector: {matchExpressions: [{key: a, operator: In, values: ["-"]}]}}`)
	require.Len(t, validatePodDisruptionBudget(b), 1)
	require.Empty(t, validatePodDisruptionBudgetUpdate(b, b))
}

func TestValidatePodDisruptionBudgetStatus(t *testing.T) {
	const negative = "must be greater than or equal to 0"
	for status, want := range map[string][]string{
		`{disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2, conditions: [{type: A, status: "True", reason: R, lastTransitionTime: "2026-01-01T00:00:00Z"}]}`: nil,
		`{disruptionsAllowed: -1, currentHealthy: -1, desiredHealthy: -1, expectedPods: -1, conditions: [{type: A, status: "True", reason: "", lastTransitionTime: "2026-01-01T00:00:00Z"}]}`: {
			"status.conditions[0].reason: Required value",
			"status.disruptionsAllowed: Invalid value: -1: " + negative,
			"status.currentHealthy: Invalid value: -1: " + negative,
			"status.desiredHealthy: Invalid value: -1: " + negative,
			"status.expectedPods: Invalid value: -1: " + negative},
	} {
		validatetest.RequireErrors(t, validatePodDisruptionBudgetStatusUpdate(parse(t, "status: "+status), nil), want...)
	}
}
