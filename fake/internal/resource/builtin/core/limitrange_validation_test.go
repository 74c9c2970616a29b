package core

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestValidateLimitRange(t *testing.T) {
	for limits, want := range map[string][]string{
		`[]`: nil,
		`[{type: Container, min: {cpu: 1}, defaultRequest: {cpu: 2}, default: {cpu: 3}, max: {cpu: 4}, maxLimitRequestRatio: {cpu: 4}}]`:        nil,
		`[{type: Pod, max: {example.com/gpu: 4}}, {type: PersistentVolumeClaim, max: {storage: 1Gi}}, {type: example.com/box, max: {pods: 1}}]`: nil,
		`[{type: Box}, {type: Pod}, {type: Pod}, {type: a b}]`: {
			`spec.limits[0].type: Invalid value: "Box": must be a standard limit type or fully qualified`,
			`spec.limits[2].type: Duplicate value: "Pod"`,
			`spec.limits[3].type: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric ` +
				`character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`},
		`[{type: Pod, max: {pods: 1, gpu: 1, requests.example.com/gpu: 1, 'kubernetes.io/x': 1}}]`: {
			`spec.limits[0].max[gpu]: Invalid value: "gpu": must be a standard resource type or fully qualified`,
			`spec.limits[0].max[gpu]: Invalid value: "gpu": must be a standard resource for containers`,
			`spec.limits[0].max[pods]: Invalid value: "pods": must be a standard resource for containers`,
			`spec.limits[0].max[requests.example.com/gpu]: Invalid value: "requests.example.com/gpu": doesn't follow extended resource name standard`},
		`[{type: PersistentVolumeClaim, max: {gpu: 1}}]`: {
			`spec.limits[0].max[gpu]: Invalid value: "gpu": must be a standard resource type or fully qualified`,
			`spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided`},
		`[{type: Pod, default: {gpu: 1}, defaultRequest: {gpu: 1}}]`: {
			"spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'",
			"spec.limits[0].defaultRequest: Forbidden: may not be specified when `type` is 'Pod'"},
		`[{type: Container, min: {cpu: 2}, max: {cpu: 1}, default: {cpu: 3}, defaultRequest: {cpu: 4}}]`: {
			`spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1`,
			`spec.limits[0].defaultRequest[cpu]: Invalid value: "4": default request value 4 is greater than max value 1`,
			`spec.limits[0].defaultRequest[cpu]: Invalid value: "4": default request value 4 is greater than default limit value 3`,
			`spec.limits[0].default[cpu]: Invalid value: "1": default value 3 is greater than max value 1`},
		`[{type: Container, min: {cpu: 3}, default: {cpu: 2}, defaultRequest: {cpu: 1}}]`: {
			`spec.limits[0].defaultRequest[cpu]: Invalid value: "1": min value 3 is greater than default request value 1`,
			`spec.limits[0].default[cpu]: Invalid value: "3": min value 3 is greater than default value 2`},
		`[{type: Pod, min: {cpu: 200m}, max: {cpu: 500m}, maxLimitRequestRatio: {cpu: 2600m, memory: 500m}}]`: {
			`spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "2600m": ratio 2600m is greater than max/min = 2.500000`,
			`spec.limits[0].maxLimitRequestRatio[memory]: Invalid value: "500m": ratio 500m is less than 1`},
		`[{type: Container, min: {a: 1}, default: {b: 1}, defaultRequest: {c: 1}, maxLimitRequestRatio: {d: 1}}]`: {
			`spec.limits[0].min[a]: Invalid value: "a": must be a standard resource type or fully qualified`,
			`spec.limits[0].min[a]: Invalid value: "a": must be a standard resource for containers`,
			`spec.limits[0].default[b]: Invalid value: "b": must be a standard resource type or fully qualified`,
			`spec.limits[0].default[b]: Invalid value: "b": must be a standard resource for containers`,
			`spec.limits[0].defaultRequest[c]: Invalid value: "c": must be a standard resource type or fully qualified`,
			`spec.limits[0].defaultRequest[c]: Invalid value: "c": must be a standard resource for containers`,
			`spec.limits[0].maxLimitRequestRatio[d]: Invalid value: "d": must be a standard resource type or fully qualified`,
			`spec.limits[0].maxLimitRequestRatio[d]: Invalid value: "d": must be a standard resource for containers`,
		},
		`[{type: Container, default: {hugepages-2Mi: 4Mi}}]`: nil,
		`[{type: Container, default: {hugepages-2Mi: 4Mi}, defaultRequest: {hugepages-2Mi: 2Mi}}]`: {
			`spec.limits[0].defaultRequest[hugepages-2Mi]: Invalid value: "2Mi": default value 4Mi must equal to defaultRequest value 2Mi in hugepages-2Mi`},
	} {
		t.Run(limits, func(t *testing.T) {
			validatetest.RequireErrors(t, validateLimitRange(validatetest.Parse[corev1.LimitRange](t, "spec: {limits: "+limits+"}")), want...)
		})
	}
}
