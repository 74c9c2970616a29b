package apps

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

// claimTemplate is the template of a claim that the container of the workload mounts.
const claimTemplate = `{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`

func TestValidateStatefulSet(t *testing.T) {
	for _, test := range []validationCase{
		{`{}`, nil},
		{`spec: {serviceName: web, replicas: 0, minReadySeconds: 1, revisionHistoryLimit: -1, ordinals: {start: 1}, podManagementPolicy: Parallel, updateStrategy: {type: OnDelete, rollingUpdate: null}}`, nil},
		{`spec: {podManagementPolicy: "", replicas: -1, minReadySeconds: -1, ordinals: {start: -1}, serviceName: A.b}`, []string{
			"spec.podManagementPolicy: Required value",
			"spec.replicas: Invalid value: -1: " + negative,
			"spec.minReadySeconds: Invalid value: -1: " + negative,
			"spec.ordinals.start: Invalid value: -1: " + negative,
			`spec.serviceName: Invalid value: "A.b": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', ` +
				`and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`}},
		{`spec: {podManagementPolicy: Any}`, []string{`spec.podManagementPolicy: Invalid value: "Any": must be 'OrderedReady' or 'Parallel'`}},
		{`spec: {updateStrategy: {type: "", rollingUpdate: null}}`, []string{"spec.updateStrategy: Required value"}},
		{`spec: {updateStrategy: {type: Any, rollingUpdate: null}}`, []string{
			`spec.updateStrategy: Invalid value: {"Type":"Any","RollingUpdate":null}: must be 'RollingUpdate' or 'OnDelete'`}},
		{`spec: {updateStrategy: {type: OnDelete, rollingUpdate: {partition: 1}}}`, []string{
			`spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":1,"MaxUnavailable":1}: only allowed for updateStrategy 'RollingUpdate'`}},
		{`spec: {updateStrategy: {rollingUpdate: {partition: -1, maxUnavailable: 0}}}`, []string{
			"spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: " + negative,
			"spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: 0: cannot be 0"}},
		{`spec: {updateStrategy: {rollingUpdate: {maxUnavailable: 101%}}}`, []string{
			`spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%`}},
		{`spec: {persistentVolumeClaimRetentionPolicy: {whenDeleted: Any, whenScaled: ""}}`, []string{
			`spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "Any": supported values: "Retain", "Delete"`,
			`spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "": supported values: "Retain", "Delete"`}},
		{`spec: {selector: null}`, []string{
			"spec.selector: Required value",
			"spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: `selector` does not match template `labels`"}},
		{`spec: {selector: {matchLabels: null, matchExpressions: null}}`, []string{"spec.selector: Invalid value: {}: empty selector is invalid for statefulset"}},
		{`spec: {selector: {matchLabels: null, matchExpressions: [{key: app, operator: Is, values: []}]}}`, []string{
			`spec.selector.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator`,
			`spec.selector: Invalid value: {"matchExpressions":[{"key":"app","operator":"Is"}]}`}},
		{`spec: {template: {spec: {restartPolicy: Never, activeDeadlineSeconds: 1}}}`, []string{
			`spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`,
			"spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in StatefulSet is not Supported"}},
		{`spec: {template: {spec: {volumes: []}}}`, []string{`spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"`}},
		{`spec: {template: {spec: {volumes: []}}, volumeClaimTemplates: [` + claimTemplate + `, ` + claimTemplate + `]}`, nil},
		{`spec: {volumeClaimTemplates: [` + claimTemplate + `]}`, nil}, // it replaces the volume
		{`spec: {volumeClaimTemplates: [{metadata: {name: data}}]}`, []string{
			"spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is required",
			"spec.volumeClaimTemplates[0].spec.resources[storage]: Required value"}},
		{`spec: {template: {spec: {hostname: A_B, subdomain: A_B}}}`, nil}, // the controller sets them
		{`spec: {template: {spec: {hostname: A_B}}}`, nil},
		{`spec: {template: {spec: {subdomain: A_B}}}`, nil},
		{`spec: {template: {metadata: {annotations: {seccomp.security.alpha.kubernetes.io/pod: x}}}}`, []string{
			`spec.template.annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: "x": must be a valid seccomp profile`,
			`spec.template.annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: "x": must be a valid seccomp profile`}},
	} {
		t.Run(test.fields, func(t *testing.T) {
			validatetest.RequireErrors(t, validateStatefulSet(workloadWith(t, setStatefulSetDefaults, test.fields)), test.want...)
		})
	}
}

func TestValidateStatefulSetUpdate(t *testing.T) {
	for _, test := range []validationCase{
		{`{metadata: {generation: 2}, spec: {replicas: 5, ordinals: {start: 1}, template: {metadata: {labels: {a: b}}}, updateStrategy: {type: OnDelete, rollingUpdate: null}, revisionHistoryLimit: 1, minReadySeconds: 1, persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}}}`, nil},
		{`{metadata: {generation: 2}, spec: {replicas: -1, serviceName: a}}`, []string{"spec.replicas: Invalid value: -1: " + negative, `spec.serviceName: Invalid value: "a": ` + immutable}},
		{`{metadata: {generation: 2}, spec: {podManagementPolicy: Parallel}}`, []string{`spec.podManagementPolicy: Invalid value: "Parallel": ` + immutable}},
		{`{metadata: {generation: 2}, spec: {selector: {matchExpressions: null}}}`, []string{`spec.selector: Invalid value: {"matchLabels":{"app":"web"}}: ` + immutable}},
		{`{metadata: {generation: 2}, spec: {volumeClaimTemplates: [{metadata: {name: other}}]}}`, []string{
			`spec.volumeClaimTemplates: Invalid value: [{"name":"other","Spec":{"AccessModes":null,"Selector":null,"Resources":{"Limits":null,"Requests":null},` +
				`"VolumeName":"","StorageClassName":null,"VolumeMode":null,"DataSource":null,"DataSourceRef":null,"VolumeAttributesClassName":null},` +
				`"Status":{"Phase":"","AccessModes":null,"Capacity":null,"Conditions":null,"AllocatedResources":null,"AllocatedResourceStatuses":null,` +
				`"CurrentVolumeAttributesClassName":null,"ModifyVolumeStatus":null,"HealthStatus":null}}]: ` + immutable}},
	} {
		t.Run(test.fields, func(t *testing.T) {
			old := workloadWith(t, setStatefulSetDefaults, "{}")
			validatetest.RequireErrors(t, validateStatefulSetUpdate(workloadWith(t, setStatefulSetDefaults, test.fields), old), test.want...)
		})
	}
	// A StatefulSet whose pods are invalid already may be scaled.
	const broken = `template: {spec: {volumes: []}}`
	old := workloadWith(t, setStatefulSetDefaults, `spec: {`+broken+`}`)
	scaled := workloadWith(t, setStatefulSetDefaults, `{metadata: {generation: 2}, spec: {replicas: 5, `+broken+`}}`)
	validatetest.RequireErrors(t, validateStatefulSetUpdate(scaled, old))
	old = workloadWith(t, setStatefulSetDefaults, "{}")
	validatetest.RequireErrors(t, validateStatefulSetUpdate(scaled, old), `spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"`)
}

// An update of a StatefulSet that mounts claims is valid, and takes time in proportion to their
// number.
func TestValidateStatefulSetWithClaims(t *testing.T) {
	old := workloadWith(t, setStatefulSetDefaults, `spec: {volumeClaimTemplates: [`+claimTemplate+`]}`)
	s := old.DeepCopy()
	s.Generation, s.Spec.Replicas = 2, new(int32(3))
	require.Empty(t, validateStatefulSetUpdate(s, old))
	claim := old.Spec.VolumeClaimTemplates[0]
	for i := range 50_000 {
		claim.Name = fmt.Sprint("data-", i)
		s.Spec.VolumeClaimTemplates = append(s.Spec.VolumeClaimTemplates, claim)
		s.Spec.Template.Spec.Volumes = append(s.Spec.Template.Spec.Volumes, corev1.Volume{Name: claim.Name})
	}
	require.Empty(t, validateStatefulSet(s))
}

func TestValidateStatefulSetStatus(t *testing.T) {
	old := validatetest.Parse[appsv1.StatefulSet](t, `status: {collisionCount: 2}`)
	const above = "cannot be greater than status.replicas"
	for _, test := range []validationCase{
		{`{replicas: 3, readyReplicas: 3, currentReplicas: 3, updatedReplicas: 3, availableReplicas: 3, collisionCount: 2}`, nil},
		{`{replicas: 1, readyReplicas: 2, currentReplicas: 2, updatedReplicas: 2, availableReplicas: 3, collisionCount: 1}`, []string{
			"status.readyReplicas: Invalid value: 2: " + above,
			"status.currentReplicas: Invalid value: 2: " + above,
			"status.updatedReplicas: Invalid value: 2: " + above,
			"status.availableReplicas: Invalid value: 3: " + above,
			"status.availableReplicas: Invalid value: 3: cannot be greater than status.readyReplicas",
			"status.collisionCount: Invalid value: 1: cannot be decremented"}},
		{`{replicas: -1, readyReplicas: -1, currentReplicas: -1, updatedReplicas: -1, availableReplicas: -1, observedGeneration: -1, collisionCount: -1}`, []string{
			"status.replicas: Invalid value: -1: " + negative,
			"status.readyReplicas: Invalid value: -1: " + negative,
			"status.currentReplicas: Invalid value: -1: " + negative,
			"status.updatedReplicas: Invalid value: -1: " + negative,
			"status.availableReplicas: Invalid value: -1: " + negative,
			"status.observedGeneration: Invalid value: -1: " + negative,
			"status.collisionCount: Invalid value: -1: " + negative,
			"status.collisionCount: Invalid value: -1: cannot be decremented"}},
	} {
		t.Run(strings.ReplaceAll(test.fields, ": ", "="), func(t *testing.T) {
			validatetest.RequireErrors(t, validateStatefulSetStatusUpdate(validatetest.Parse[appsv1.StatefulSet](t, "status: "+test.fields), old), test.want...)
		})
	}
}

func TestValidateControllerRevision(t *testing.T) {
	for _, test := range []validationCase{
		{`{revision: 0, data: {a: 1}}`, nil},
		{`{revision: -1, data: {}}`, []string{"revision: Invalid value: -1: " + negative}},
		{`{revision: 1}`, []string{"data: Required value: data is mandatory"}},
		{`{revision: 1, data: null}`, []string{"data: Required value: data is mandatory"}},
		{`{revision: 1, data: [1]}`, []string{"data: Required value: data must be a valid JSON object"}},
	} {
		t.Run(test.fields, func(t *testing.T) {
			validatetest.RequireErrors(t, validateControllerRevision(validatetest.Parse[appsv1.ControllerRevision](t, test.fields)), test.want...)
		})
	}
	r := &appsv1.ControllerRevision{}
	r.Data.Raw = []byte("{")
	validatetest.RequireErrors(t, validateControllerRevision(r), `data: Invalid value: "<value omitted>": error parsing data: unexpected end of JSON input`)

	old := validatetest.Parse[appsv1.ControllerRevision](t, `{revision: 1, data: {a: 1, b: 2}}`)
	validatetest.RequireErrors(t, validateControllerRevisionUpdate(validatetest.Parse[appsv1.ControllerRevision](t, `{revision: 2, data: {b: 2, a: 1}}`), old))
	validatetest.RequireErrors(t, validateControllerRevisionUpdate(validatetest.Parse[appsv1.ControllerRevision](t, `{revision: -1, data: {a: 1}}`), old),
		"revision: Invalid value: -1: "+negative, `data: Invalid value: {"a":1}: `+immutable)
}
