package core

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func parseNode(t *testing.T, text string) *corev1.Node {
	t.Helper()
	node := validatetest.Parse[corev1.Node](t, braced(text))
	setNodeDefaults(node)
	return node
}

func TestValidateNode(t *testing.T) {
	const qualifiedName = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
		"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
	const labelValue = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
		"(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
	const feature = `must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), ` +
		`and contain only alphanumeric characters and slashes`
	long := "A" + strings.Repeat("a", 253)
	for text, want := range map[string][]string{
		`spec: {}`: nil,
		`spec: {taints: [{key: k, effect: NoSchedule}, {key: k, effect: NoExecute, value: v}, {key: l, effect: PreferNoSchedule}]}`: nil,
		`spec: {taints: [{key: a b, value: c d, effect: ''}, {key: k, effect: Any}, {key: k, effect: Any}]}`: {
			`metadata.taints[0].key: Invalid value: "a b": ` + qualifiedName,
			`metadata.taints[0].value: Invalid value: "c d": ` + labelValue,
			`metadata.taints[0].effect: Required value`,
			`metadata.taints[1].effect: Unsupported value: "Any": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`,
			`metadata.taints[2].effect: Unsupported value: "Any": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`,
			`metadata.taints[2]: Duplicate value: {"Key":"k","Value":"","Effect":"Any","TimeAdded":null}: taints must be unique by key and effect pair`},
		`metadata: {annotations: {scheduler.alpha.kubernetes.io/taints: '[{"key": "k"}]', scheduler.alpha.kubernetes.io/preferAvoidPods: '{"preferAvoidPods": [` +
			`{}, {"podSignature": {"podController": {}}}, {"podSignature": {"podController": {"controller": true}}}]}'}}`: {
			`metadata.annotations.scheduler.alpha.kubernetes.io/taints[0].effect: Required value`,
			`metadata.annotations.scheduler.alpha.kubernetes.io/preferAvoidPods[0].PodSignature: Required value`,
			`metadata.annotations.scheduler.alpha.kubernetes.io/preferAvoidPods[1].PodSignature.PodController.Controller: Invalid value: false: must point to a controller`},
		`metadata: {annotations: {scheduler.alpha.kubernetes.io/taints: '[', scheduler.alpha.kubernetes.io/preferAvoidPods: '{'}}`: {
			`metadata.annotations: Invalid value: "scheduler.alpha.kubernetes.io/taints": unexpected end of JSON input`,
			`metadata.annotations.AvoidPods: Invalid value: "scheduler.alpha.kubernetes.io/preferAvoidPods": unexpected end of JSON input`},
		`metadata: {annotations: {scheduler.alpha.kubernetes.io/taints: '{}'}}`: {
			`metadata.annotations: Invalid value: "scheduler.alpha.kubernetes.io/taints": json: cannot unmarshal object into Go value of type []core.Taint`},
		`status: {capacity: {cpu: -1, pods: 1500m, example.com/gpu: 1}, allocatable: {memory: -1}}`: {
			`status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0`,
			`status.capacity.pods: Invalid value: "1500m": must be an integer`,
			`status.allocatable.memory: Invalid value: "-1": must be greater than or equal to 0`},
		`status: {nodeInfo: {swap: {capacity: 1}}}`:   nil,
		`status: {nodeInfo: {swap: {capacity: 0}}}`:   {`metadata.nodeSwapStatus.capacity: Invalid value: 0: must be greater than zero`},
		`status: {declaredFeatures: [A, A/b, B0/c1]}`: nil,
		`status: {declaredFeatures: [B, A, A, a, A/, A/1, '', ` + long + `]}`: {
			`status.declaredFeatures[1]: Invalid value: "A": list must be sorted alphabetically`,
			`status.declaredFeatures[2]: Duplicate value: "A"`,
			`status.declaredFeatures[3]: Invalid value: "a": invalid feature name "a": ` + feature,
			`status.declaredFeatures[4]: Invalid value: "A/": list must be sorted alphabetically`,
			`status.declaredFeatures[4]: Invalid value: "A/": invalid feature name "A/": ` + feature,
			`status.declaredFeatures[5]: Invalid value: "A/1": invalid feature name "A/1": ` + feature,
			`status.declaredFeatures[6]: Invalid value: "": list must be sorted alphabetically`,
			`status.declaredFeatures[6]: Invalid value: "": invalid feature name "": ` + feature,
			`status.declaredFeatures[7]: Invalid value: "` + long + `": invalid feature name "` + long + `": must be no more than 253 characters`},
		`spec: {podCIDRs: [10.0.0.0/24, 'fd00::/64']}`: nil,
		`spec: {podCIDRs: [10.0.0.0/24, 10.0.1.0/24]}`: {
			`spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one CIDR for each IP family`},
		`spec: {podCIDRs: [10.0.0.0/24, 'fd00::/64', 'fd01::/64']}`: {
			`spec.podCIDRs: Invalid value: ["10.0.0.0/24","fd00::/64","fd01::/64"]: may specify no more than one CIDR for each IP family`},
		`spec: {podCIDRs: [10.0.0.0]}`: {
			`spec.podCIDRs[0]: Invalid value: "10.0.0.0": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`},
		`spec: {podCIDRs: [10.0.0.0/24, nope]}`: {
			`spec.podCIDRs[1]: Invalid value: "nope": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`,
			`spec.podCIDRs: Internal error: invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[1]: <nil> (invalid CIDR address: nope)`,
			`spec.podCIDRs: Invalid value: ["10.0.0.0/24","nope"]: may specify no more than one CIDR for each IP family`},
	} {
		t.Run(text, func(t *testing.T) { validatetest.RequireErrors(t, validateNode(parseNode(t, text)), want...) })
	}
}

func TestValidateNodeUpdate(t *testing.T) {
	const assigned = `spec: {podCIDRs: [10.0.0.1/24], providerID: a, externalID: x}`
	for _, test := range []struct {
		old, text string
		want      []string
	}{
		{assigned, assigned, nil}, // an old form is kept
		{`spec: {}`, `spec: {podCIDRs: [10.0.0.0/24], providerID: a, unschedulable: true}`, nil},
		{assigned, `spec: {}`, []string{
			`spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid`,
			`spec.providerID: Invalid value: null: field cannot be cleared once set`,
			`spec.externalID: Forbidden: may not be updated`}},
		{assigned, `spec: {podCIDRs: [10.0.0.1/24], providerID: b, externalID: x}`, []string{
			`spec.providerID: Invalid value: null: field cannot be modified once set`}},
		{assigned, `spec: {podCIDRs: [10.0.1.0/24], providerID: a, externalID: x}`, []string{
			`spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid`}},
		{`spec: {}`, `spec: {taints: [{key: k, effect: ''}]}`, []string{
			`metadata.taints[0].effect: Required value`,
			`metadata.taints[0].effect: Required value`}},
	} {
		validatetest.RequireErrors(t, validateNodeUpdate(parseNode(t, test.text), parseNode(t, test.old)), test.want...)
	}
}

func TestValidateNodeStatus(t *testing.T) {
	old := parseNode(t, `spec: {}`)
	validatetest.RequireErrors(t, validateNodeChange(parseNode(t, `status: {addresses: [{type: InternalIP, address: a}, {type: ExternalIP, address: a}]}`), old))
	validatetest.RequireErrors(t, validateNodeChange(parseNode(t, `status: {capacity: {cpu: -1}, allocatable: {}, declaredFeatures: [a],
			addresses: [{type: InternalIP, address: a}, {type: InternalIP, address: a}]}`), old)[2:],
		`status.addresses[1]: Duplicate value: {"Type":"InternalIP","Address":"a"}`)
}

func TestNodeWarnings(t *testing.T) {
	require.Empty(t, nodeWarnings(parseNode(t, `spec: {podCIDRs: [10.0.0.0/24]}`)))
	require.Equal(t, []string{
		"spec.configSource: the feature is removed",
		"spec.externalID: this field is deprecated, and is unused by Kubernetes",
		`spec.podCIDRs[0]: IPv6 CIDR value "FD00::/64" should be in RFC 5952 canonical format ("fd00::/64")`,
	}, nodeWarnings(parseNode(t, `spec: {configSource: {}, externalID: x, podCIDRs: ['FD00::/64']}`)))
}
