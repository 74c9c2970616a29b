package apps

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestValidateReplicaSet(t *testing.T) {
	for _, test := range []validationCase{
		{`{}`, nil},
		{`spec: {replicas: 0}`, nil},
		{`spec: {replicas: -1, minReadySeconds: -1, selector: {matchLabels: null, matchExpressions: null}}`, []string{
			"spec.replicas: Invalid value: -1: " + negative,
			"spec.minReadySeconds: Invalid value: -1: " + negative,
			"spec.selector: Invalid value: {}: empty selector is invalid for deployment"}},
		{`spec: {selector: null}`, []string{
			"spec.selector: Required value",
			"spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: `selector` does not match template `labels`"}},
		{`spec: {selector: {matchExpressions: [{key: app, operator: Is, values: []}]}}`, []string{
			`spec.selector.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator`,
			`spec.selector: Invalid value: {"matchLabels":{"app":"web"},"matchExpressions":[{"key":"app","operator":"Is"}]}: invalid label selector`}},
		{`spec: {template: {spec: {restartPolicy: OnFailure, activeDeadlineSeconds: 1}}}`, []string{
			`spec.template.spec.restartPolicy: Unsupported value: "OnFailure": supported values: "Always"`,
			"spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported"}},
	} {
		t.Run(test.fields, func(t *testing.T) {
			validatetest.RequireErrors(t, validateReplicaSet(workloadWith(t, setReplicaSetDefaults, test.fields)), test.want...)
		})
	}
}

func TestValidateReplicaSetUpdate(t *testing.T) {
	old := workloadWith(t, setReplicaSetDefaults, "{}")
	validatetest.RequireErrors(t, validateReplicaSetUpdate(workloadWith(t, setReplicaSetDefaults, `spec: {replicas: 5, minReadySeconds: 1}`), old))
	rs := workloadWith(t, setReplicaSetDefaults, `spec: {minReadySeconds: -1, selector: {matchExpressions: [{key: app, operator: Exists, values: []}]}}`)
	validatetest.RequireErrors(t, validateReplicaSetUpdate(rs, old),
		"spec.minReadySeconds: Invalid value: -1: "+negative,
		`spec.selector: Invalid value: {"matchLabels":{"app":"web"},"matchExpressions":[{"key":"app","operator":"Exists"}]}: `+immutable)
}

func TestValidateReplicaSetStatus(t *testing.T) {
	const above = "cannot be greater than status.replicas"
	for _, test := range []validationCase{
		{`{replicas: 2, fullyLabeledReplicas: 2, readyReplicas: 2, availableReplicas: 2, terminatingReplicas: 9}`, nil},
		{`{replicas: 1, fullyLabeledReplicas: 2, readyReplicas: 2, availableReplicas: 3}`, []string{
			"status.fullyLabeledReplicas: Invalid value: 2: " + above,
			"status.readyReplicas: Invalid value: 2: " + above,
			"status.availableReplicas: Invalid value: 3: " + above,
			"status.availableReplicas: Invalid value: 3: cannot be greater than readyReplicas"}},
		{`{observedGeneration: -1, replicas: -1, fullyLabeledReplicas: -1, readyReplicas: -1, availableReplicas: -1, terminatingReplicas: -1}`, []string{
			"status.replicas: Invalid value: -1: " + negative,
			"status.fullyLabeledReplicas: Invalid value: -1: " + negative,
			"status.readyReplicas: Invalid value: -1: " + negative,
			"status.availableReplicas: Invalid value: -1: " + negative,
			"status.observedGeneration: Invalid value: -1: " + negative,
			"status.terminatingReplicas: Invalid value: -1: " + negative}},
	} {
		t.Run(test.fields, func(t *testing.T) {
			validatetest.RequireErrors(t, validateReplicaSetStatusUpdate(validatetest.Parse[appsv1.ReplicaSet](t, "status: "+test.fields), nil), test.want...)
		})
	}
}
