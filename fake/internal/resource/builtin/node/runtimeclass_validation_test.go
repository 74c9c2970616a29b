package node

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/operation"
	"sigs.k8s.io/yaml"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func parse(t *testing.T, text string) *nodev1.RuntimeClass {
	t.Helper()
	c := &nodev1.RuntimeClass{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), c))
	return c
}

func TestValidateRuntimeClass(t *testing.T) {
	for _, test := range []struct {
		fields string
		want   []string
	}{
		{`{handler: runc}`, nil},
		{`{overhead: {podFixed: {cpu: 100m, memory: 64Mi}}, scheduling: {nodeSelector: {a: b}, tolerations: [{key: a, operator: Exists}, {key: a, operator: Exists, effect: NoSchedule}]}}`, nil},
		{`{overhead: {}, scheduling: {}}`, nil},
		{`{overhead: {podFixed: {cpu: -1, storage: 1}}}`, []string{
			`overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0`,
			`overhead.limits[storage]: Invalid value: "storage": must be a standard resource for containers`}},
		{`{scheduling: {nodeSelector: {a: "-"}}}`, []string{
			`scheduling.nodeSelector: Invalid value: "-": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', ` +
				`and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`}},
		{`{scheduling: {tolerations: [{key: a, operator: Exists, value: b}]}}`, []string{
			"scheduling.tolerations[0].operator: Invalid value: \"b\": value must be empty when `operator` is 'Exists'"}},
		{`{scheduling: {tolerations: [{key: a, operator: Exists, effect: NoExecute}, {key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 1}]}}`, []string{
			`scheduling.tolerations[1]: Duplicate value: {"Key":"a","Operator":"Exists","Value":"","Effect":"NoExecute","TolerationSeconds":1}`}},
	} {
		t.Run(test.fields, func(t *testing.T) {
			validatetest.RequireErrors(t, validateRuntimeClass(parse(t, test.fields)), test.want...)
		})
	}
	many := &nodev1.RuntimeClass{Scheduling: &nodev1.Scheduling{Tolerations: make([]corev1.Toleration, 100_000)}}
	require.NotEmpty(t, validateRuntimeClass(many))
}

// The handler has validation tags.
func TestValidateHandlerDeclaratively(t *testing.T) {
	res := Resources()[0]
	create, update := operation.Operation{Type: operation.Create}, operation.Operation{Type: operation.Update}
	require.Empty(t, res.ValidateDeclaratively(t.Context(), create, parse(t, `{handler: runc}`), nil))
	validatetest.RequireErrors(t, res.ValidateDeclaratively(t.Context(), create, parse(t, `{}`), nil), "handler: Required value")
	errs := res.ValidateDeclaratively(t.Context(), create, parse(t, `{handler: A_b}`), nil)
	require.Len(t, errs, 1)
	validatetest.RequireErrors(t, res.ValidateDeclaratively(t.Context(), update, parse(t, `{handler: runsc}`), parse(t, `{handler: runc}`)),
		`handler: Invalid value: null: field is immutable`)
}

func TestRuntimeClassWarnings(t *testing.T) {
	c := parse(t, `{scheduling: {nodeSelector: {beta.kubernetes.io/os: linux, beta.kubernetes.io/arch: arm64, kubernetes.io/os: linux}}}`)
	want := []string{
		`scheduling.nodeSelector: deprecated since v1.14; use "kubernetes.io/arch" instead`,
		`scheduling.nodeSelector: deprecated since v1.14; use "kubernetes.io/os" instead`,
	}
	require.Equal(t, want, runtimeClassWarnings(c))
	require.Equal(t, want, runtimeClassUpdateWarnings(c, c))
	require.Empty(t, runtimeClassWarnings(parse(t, `{handler: runc}`)))
}
