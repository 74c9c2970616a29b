package apps

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestValidateDeployment(t *testing.T) {
	for _, test := range []validationCase{
		{`{}`, nil},
		{`spec: {replicas: 0, revisionHistoryLimit: 0, minReadySeconds: 1, progressDeadlineSeconds: 2}`, nil},
		{`spec: {replicas: -1, revisionHistoryLimit: -1, minReadySeconds: -1, progressDeadlineSeconds: -1}`, []string{
			"spec.replicas: Invalid value: -1: " + negative,
			"spec.minReadySeconds: Invalid value: -1: " + negative,
			"spec.revisionHistoryLimit: Invalid value: -1: " + negative,
			"spec.progressDeadlineSeconds: Invalid value: -1: " + negative,
			"spec.progressDeadlineSeconds: Invalid value: -1: must be greater than minReadySeconds"}},
		{`{metadata: {annotations: {deprecated.deployment.rollback.to: '-1'}}, spec: {revisionHistoryLimit: -1, progressDeadlineSeconds: 0}}`, []string{
			"spec.revisionHistoryLimit: Invalid value: -1: " + negative,
			"spec.rollback.version: Invalid value: -1: " + negative,
			"spec.progressDeadlineSeconds: Invalid value: 0: must be greater than minReadySeconds"}},
		{`spec: {minReadySeconds: 600}`, []string{"spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds"}},
		{`spec: {selector: null}`, []string{
			"spec.selector: Required value",
			"spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: `selector` does not match template `labels`"}},
		{`spec: {selector: {matchLabels: null, matchExpressions: null}}`, []string{
			"spec.selector: Invalid value: {}: empty selector is invalid for deployment"}},
		{`spec: {selector: {matchLabels: {app: site}, matchExpressions: []}}`, []string{
			"spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: `selector` does not match template `labels`"}},
		{`spec: {selector: {matchExpressions: [{key: app, operator: Exists, values: []}, {key: b, operator: DoesNotExist}, {key: app, operator: NotIn, values: [x]}]}}`, nil},
		{`spec: {selector: {matchLabels: null, matchExpressions: [{key: app, operator: In, values: []}]}}`, []string{
			"spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
			`spec.selector: Invalid value: {"matchExpressions":[{"key":"app","operator":"In"}]}: invalid label selector`}},
		{`spec: {strategy: {type: Recreate, rollingUpdate: null}}`, nil},
		{`spec: {strategy: {type: Recreate}}`, []string{"spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"}},
		{`spec: {strategy: {type: Any, rollingUpdate: null}}`, []string{
			`spec.strategy: Unsupported value: {"Type":"Any","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"`}},
		{`spec: {strategy: {rollingUpdate: null}}`, []string{"spec.strategy.rollingUpdate: Required value: this should be defaulted and never be nil"}},
		{`spec: {strategy: {rollingUpdate: {maxSurge: 200%, maxUnavailable: 100%}}}`, nil},
		{`spec: {strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 101%}}}`, []string{
			`spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%`}},
		{`spec: {strategy: {rollingUpdate: {maxSurge: 0%, maxUnavailable: 0}}}`, []string{
			"spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0"}},
		{`spec: {strategy: {rollingUpdate: {maxSurge: -1, maxUnavailable: "1"}}}`, []string{
			`spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "1": ` + malformed,
			"spec.strategy.rollingUpdate.maxSurge: Invalid value: -1: " + negative}},
		{`spec: {template: {spec: {restartPolicy: Never, activeDeadlineSeconds: 1}}}`, []string{
			`spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`,
			"spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported"}},
		{`spec: {template: {spec: {dnsPolicy: Any, volumes: []}}}`, []string{
			`spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"`,
			`spec.template.spec.dnsPolicy: Unsupported value: "Any": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"`}},
	} {
		t.Run(test.fields, func(t *testing.T) {
			validatetest.RequireErrors(t, validateDeployment(workloadWith(t, setDeploymentDefaults, test.fields)), test.want...)
		})
	}
}

func TestValidateDeploymentUpdate(t *testing.T) {
	old := workloadWith(t, setDeploymentDefaults, "{}")
	validatetest.RequireErrors(t, validateDeploymentUpdate(workloadWith(t, setDeploymentDefaults, `spec: {replicas: 5, paused: true, template: {metadata: {labels: {a: b}}}}`), old))
	d := workloadWith(t, setDeploymentDefaults, `spec: {replicas: -1, selector: {matchExpressions: null}}`)
	validatetest.RequireErrors(t, validateDeploymentUpdate(d, old),
		"spec.replicas: Invalid value: -1: "+negative,
		`spec.selector: Invalid value: {"matchLabels":{"app":"web"}}: `+immutable)
}

func TestValidateDeploymentStatus(t *testing.T) {
	old := validatetest.Parse[appsv1.Deployment](t, `status: {collisionCount: 2}`)
	const above = "cannot be greater than status.replicas"
	for _, test := range []validationCase{
		{`{replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3, unavailableReplicas: 4, terminatingReplicas: 5, collisionCount: 2}`, nil},
		{`{collisionCount: 1}`, []string{"status.collisionCount: Invalid value: 1: cannot be decremented"}},
		{`{}`, []string{"status.collisionCount: Invalid value: 0: cannot be decremented"}},
		{`{replicas: 1, updatedReplicas: 2, readyReplicas: 3, availableReplicas: 4, collisionCount: 3}`, []string{
			"status.updatedReplicas: Invalid value: 2: " + above,
			"status.readyReplicas: Invalid value: 3: " + above,
			"status.availableReplicas: Invalid value: 4: " + above,
			"status.availableReplicas: Invalid value: 4: cannot be greater than readyReplicas"}},
		{`{observedGeneration: -1, replicas: -1, updatedReplicas: -1, readyReplicas: -1, availableReplicas: -1, unavailableReplicas: -1, terminatingReplicas: -1, collisionCount: -1}`, []string{
			"status.observedGeneration: Invalid value: -1: " + negative,
			"status.replicas: Invalid value: -1: " + negative,
			"status.updatedReplicas: Invalid value: -1: " + negative,
			"status.readyReplicas: Invalid value: -1: " + negative,
			"status.availableReplicas: Invalid value: -1: " + negative,
			"status.unavailableReplicas: Invalid value: -1: " + negative,
			"status.terminatingReplicas: Invalid value: -1: " + negative,
			"status.collisionCount: Invalid value: -1: " + negative,
			"status.collisionCount: Invalid value: -1: cannot be decremented"}},
	} {
		t.Run(strings.ReplaceAll(test.fields, ": ", "="), func(t *testing.T) {
			validatetest.RequireErrors(t, validateDeploymentStatusUpdate(validatetest.Parse[appsv1.Deployment](t, "status: "+test.fields), old), test.want...)
		})
	}
}
