package scheduling

import (
	"testing"

	"github.com/stretchr/testify/require"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"sigs.k8s.io/yaml"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

// parse returns a PriorityClass with defaults.
func parse(t *testing.T, text string) *schedulingv1.PriorityClass {
	t.Helper()
	c := &schedulingv1.PriorityClass{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), c))
	setPriorityClassDefaults(c)
	return c
}

func TestValidatePriorityClass(t *testing.T) {
	const reserved = "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: "
	for _, test := range []struct {
		fields string
		want   []string
	}{
		{`{metadata: {name: high}, value: 1000000000, globalDefault: true, preemptionPolicy: Never}`, nil},
		{`{metadata: {name: low}, value: -2147483648}`, nil},
		{`{metadata: {name: high}, value: 1000000001}`, []string{"value: Forbidden: maximum allowed value of a user defined priority is 1000000000"}},
		{`{metadata: {name: a}, value: 1, preemptionPolicy: Any}`, []string{
			`preemptionPolicy: Unsupported value: "Any": supported values: "PreemptLowerPriority", "Never"`}},
		{`{metadata: {name: a}, value: 1, preemptionPolicy: ""}`, []string{"preemptionPolicy: Required value"}},
		{`{metadata: {name: system-node-critical}, value: 2000001000}`, nil},
		{`{metadata: {name: system-cluster-critical}, value: 2000000000}`, nil},
		{`{metadata: {name: system-x}, value: 1}`, []string{reserved + "system-x is not a known system priority class"}},
		{`{metadata: {name: system-node-critical}, value: 1}`, []string{reserved + "value of system-node-critical PriorityClass must be 2000001000"}},
		{`{metadata: {name: system-cluster-critical}, value: 2000000000, globalDefault: true}`, []string{
			reserved + "globalDefault of system-cluster-critical PriorityClass must be false"}},
	} {
		t.Run(test.fields, func(t *testing.T) {
			validatetest.RequireErrors(t, validatePriorityClass(parse(t, test.fields)), test.want...)
		})
	}
}

func TestValidatePriorityClassUpdate(t *testing.T) {
	old := parse(t, `{metadata: {name: a}, value: 1}`)
	validatetest.RequireErrors(t, validatePriorityClassUpdate(parse(t, `{metadata: {name: a}, value: 1, globalDefault: true, description: d}`), old))
	validatetest.RequireErrors(t, validatePriorityClassUpdate(parse(t, `{metadata: {name: a}, value: 2, preemptionPolicy: Never}`), old),
		"value: Forbidden: may not be changed in an update.",
		`preemptionPolicy: Invalid value: "Never": field is immutable`)
}
