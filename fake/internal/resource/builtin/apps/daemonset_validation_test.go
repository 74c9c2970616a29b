package apps

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestValidateDaemonSet(t *testing.T) {
	for _, test := range []validationCase{
		{`{}`, nil},
		{`spec: {selector: null}`, []string{"spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: `selector` does not match template `labels`"}},
		{`spec: {selector: {matchLabels: null, matchExpressions: null}}`, []string{"spec.selector: Invalid value: {}: empty selector is invalid for daemonset"}},
		{`spec: {selector: {matchLabels: {a: "-"}}}`, []string{
			`spec.selector.matchLabels: Invalid value: "-": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', ` +
				`and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`}},
		{`spec: {minReadySeconds: -1, revisionHistoryLimit: -1, template: {spec: {restartPolicy: Never, activeDeadlineSeconds: 1}}}`, []string{
			`spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`,
			"spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in DaemonSet is not Supported",
			"spec.minReadySeconds: Invalid value: -1: " + negative,
			"spec.revisionHistoryLimit: Invalid value: -1: " + negative}},
		{`spec: {updateStrategy: {type: OnDelete}}`, nil},
		{`spec: {updateStrategy: {type: Any, rollingUpdate: null}}`, []string{
			`spec.updateStrategy: Unsupported value: {"Type":"Any","RollingUpdate":null}: supported values: "RollingUpdate", "OnDelete"`}},
		{`spec: {updateStrategy: {rollingUpdate: null}}`, []string{"spec.updateStrategy.rollingUpdate: Required value"}},
		{`spec: {updateStrategy: {rollingUpdate: {maxSurge: 100%, maxUnavailable: 0}}}`, nil},
		{`spec: {updateStrategy: {rollingUpdate: {maxSurge: 1}}}`, []string{
			"spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero"}},
		{`spec: {updateStrategy: {rollingUpdate: {maxUnavailable: 0%}}}`, []string{
			"spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0"}},
		{`spec: {updateStrategy: {rollingUpdate: {maxUnavailable: 101%, maxSurge: 102%}}}`, []string{
			`spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%`,
			`spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "102%": must not be greater than 100%`,
			`spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "102%": may not be set when maxUnavailable is non-zero`}},
		{`spec: {updateStrategy: {rollingUpdate: {maxUnavailable: -1, maxSurge: x}}}`, []string{
			"spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: -1: " + negative,
			`spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "x": ` + malformed}},
	} {
		t.Run(test.fields, func(t *testing.T) {
			validatetest.RequireErrors(t, validateDaemonSet(workloadWith(t, setDaemonSetDefaults, test.fields)), test.want...)
		})
	}
}

func TestValidateDaemonSetUpdate(t *testing.T) {
	old := workloadWith(t, setDaemonSetDefaults, "{}")
	validatetest.RequireErrors(t, validateDaemonSetUpdate(workloadWith(t, setDaemonSetDefaults, `spec: {minReadySeconds: 1}`), old))
	ds := workloadWith(t, setDaemonSetDefaults, `spec: {minReadySeconds: -1, selector: {matchExpressions: null}}`)
	validatetest.RequireErrors(t, validateDaemonSetUpdate(ds, old),
		`spec.selector: Invalid value: {"matchLabels":{"app":"web"}}: `+immutable,
		"spec.minReadySeconds: Invalid value: -1: "+negative)
	// A selector that is invalid already may stay.
	stale := workloadWith(t, setDaemonSetDefaults, `spec: {selector: {matchExpressions: [{key: app, operator: NotIn, values: ["-"]}]}}`)
	validatetest.RequireErrors(t, validateDaemonSetUpdate(stale.DeepCopy(), stale))
}

func TestValidateDaemonSetStatus(t *testing.T) {
	old := validatetest.Parse[appsv1.DaemonSet](t, `status: {collisionCount: 2}`)
	for _, test := range []validationCase{
		{`{collisionCount: 3, numberReady: 5}`, nil},
		{`{collisionCount: 1}`, []string{"status.collisionCount: Invalid value: 1: cannot be decremented"}},
		{`{currentNumberScheduled: -1, numberMisscheduled: -1, desiredNumberScheduled: -1, numberReady: -1, observedGeneration: -1, updatedNumberScheduled: -1, numberAvailable: -1, numberUnavailable: -1, collisionCount: -1}`, []string{
			"status.currentNumberScheduled: Invalid value: -1: " + negative,
			"status.numberMisscheduled: Invalid value: -1: " + negative,
			"status.desiredNumberScheduled: Invalid value: -1: " + negative,
			"status.numberReady: Invalid value: -1: " + negative,
			"status.observedGeneration: Invalid value: -1: " + negative,
			"status.updatedNumberScheduled: Invalid value: -1: " + negative,
			"status.numberAvailable: Invalid value: -1: " + negative,
			"status.numberUnavailable: Invalid value: -1: " + negative,
			"status.collisionCount: Invalid value: -1: " + negative,
			"status.collisionCount: Invalid value: -1: cannot be decremented"}},
	} {
		t.Run(test.fields, func(t *testing.T) {
			validatetest.RequireErrors(t, validateDaemonSetStatusUpdate(validatetest.Parse[appsv1.DaemonSet](t, "status: "+test.fields), old), test.want...)
		})
	}
}
