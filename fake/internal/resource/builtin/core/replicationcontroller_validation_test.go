package core

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

// replicationControllerWith returns a valid ReplicationController, with defaults, whose fields are
// replaced by those of text.
func replicationControllerWith(t *testing.T, text string) *corev1.ReplicationController {
	t.Helper()
	rc := validatetest.Parse[corev1.ReplicationController](t, `
metadata: {name: web, generation: 1}
spec: {selector: {app: web}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: nginx}]}}}`)
	setReplicationControllerDefaults(rc)
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), rc))
	return rc
}

func TestValidateReplicationController(t *testing.T) {
	const negative = "must be greater than or equal to 0"
	tooLong := strings.Repeat("x", 254)
	const noMatch = "spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: `selector` does not match template `labels`"
	for _, test := range []struct {
		fields string
		want   []string
	}{
		{`{}`, nil},
		{`spec: {replicas: 0, minReadySeconds: 1}`, nil},
		{`spec: {replicas: -1, minReadySeconds: -1, selector: null}`, []string{
			"spec.selector: Required value",
			"spec.replicas: Invalid value: -1: " + negative,
			"spec.minReadySeconds: Invalid value: -1: " + negative}},
		{`{metadata: {name: A_}, spec: {replicas: -1, selector: null}}`, []string{
			"spec.selector: Required value",
			`metadata.name: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', ` +
				`and must start and end with an alphanumeric character (e.g. 'example.com', ` +
				`regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
			"spec.replicas: Invalid value: -1: " + negative}},
		{`metadata: {name: ` + tooLong + `}`, []string{`metadata.name: Invalid value: "` + tooLong + `": must be no more than 253 bytes`}},
		{`metadata: {name: a.b, generateName: A_}`, nil},
		{`spec: {selector: {app: site}}`, []string{noMatch}},
		{`spec: {selector: {a: "", b: ""}}`, []string{noMatch}},
		{`spec: {template: null}`, []string{"spec.template: Required value"}},
		{`spec: {template: {spec: {restartPolicy: Never, activeDeadlineSeconds: 1, containers: []}}}`, []string{
			"spec.template.spec.containers: Required value",
			`spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`,
			"spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicationController is not Supported"}},
	} {
		t.Run(test.fields, func(t *testing.T) {
			validatetest.RequireErrors(t, validateReplicationController(replicationControllerWith(t, test.fields)), test.want...)
		})
	}
}

func TestValidateReplicationControllerUpdate(t *testing.T) {
	old := replicationControllerWith(t, "{}")
	validatetest.RequireErrors(t, validateReplicationControllerUpdate(replicationControllerWith(t, `spec: {replicas: 2, selector: {}, template: {metadata: {labels: {a: b}}}}`), old))
	rc := replicationControllerWith(t, `spec: {replicas: -1, minReadySeconds: -1, selector: null}`)
	const noSelector = "spec.selector: Required value" // a real server reports it twice
	validatetest.RequireErrors(t, validateReplicationControllerUpdate(rc, old), noSelector, noSelector,
		"spec.replicas: Invalid value: -1: must be greater than or equal to 0",
		"spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0")
	validatetest.RequireErrors(t, validateReplicationControllerUpdate(rc, rc), noSelector, noSelector) // the numbers have not changed
	rc.Spec.Template = nil
	validatetest.RequireErrors(t, validateReplicationControllerUpdate(old, rc))
}

func TestValidateNonConvertibleFields(t *testing.T) {
	const prefix = corev1.NonConvertibleAnnotationPrefix
	old := replicationControllerWith(t, `metadata: {annotations: {`+prefix+`/selector: a, selector: b}}`)
	validatetest.RequireErrors(t, validateReplicationControllerUpdate(replicationControllerWith(t, "spec: {replicas: 2}"), old))
	rc := replicationControllerWith(t, `spec: {selector: {c: d}, template: {metadata: {labels: {c: d}}}}`)
	validatetest.RequireErrors(t, validateReplicationControllerUpdate(rc, old),
		`spec.selector: Invalid value: {"app":"web","c":"d"}: cannot update non-convertible selector`)
	// The annotations of the new object have no say.
	validatetest.RequireErrors(t, validateReplicationControllerUpdate(old, rc))
	old = replicationControllerWith(t, `metadata: {annotations: {`+prefix+`/other: a}}`)
	validatetest.RequireErrors(t, validateReplicationControllerUpdate(rc, old), `other: Not found: "a": unknown non-convertible field`)
}

func TestValidateReplicationControllerStatus(t *testing.T) {
	const negative, above = "must be greater than or equal to 0", "cannot be greater than status.replicas"
	for status, want := range map[string][]string{
		`{replicas: 2, fullyLabeledReplicas: 2, readyReplicas: 2, availableReplicas: 2}`: nil,
		`{replicas: 1, fullyLabeledReplicas: 2, readyReplicas: 2, availableReplicas: 3}`: {
			"status.fullyLabeledReplicas: Invalid value: 2: " + above,
			"status.readyReplicas: Invalid value: 2: " + above,
			"status.availableReplicas: Invalid value: 3: " + above,
			"status.availableReplicas: Invalid value: 3: cannot be greater than readyReplicas"},
		`{observedGeneration: -1, replicas: -1, fullyLabeledReplicas: -1, readyReplicas: -1, availableReplicas: -1}`: {
			"status.replicas: Invalid value: -1: " + negative,
			"status.fullyLabeledReplicas: Invalid value: -1: " + negative,
			"status.readyReplicas: Invalid value: -1: " + negative,
			"status.availableReplicas: Invalid value: -1: " + negative,
			"status.observedGeneration: Invalid value: -1: " + negative},
	} {
		rc := validatetest.Parse[corev1.ReplicationController](t, "status: "+status)
		validatetest.RequireErrors(t, validateReplicationControllerStatusUpdate(rc, nil), want...)
	}
}

func TestReplicationControllerWarnings(t *testing.T) {
	const template = `spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead`
	rc := replicationControllerWith(t, `{metadata: {name: a.b}, spec: {template: {spec: {nodeSelector: {beta.kubernetes.io/os: linux}}}}}`)
	require.Equal(t, []string{"metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; " +
		"a DNS label is recommended: [must not contain dots]", template}, replicationControllerWarnings(rc))
	// An update has the warnings for the old template.
	other := replicationControllerWith(t, `metadata: {generation: 2}`)
	require.Equal(t, []string{template}, replicationControllerUpdateWarnings(other, rc))
	require.Empty(t, replicationControllerUpdateWarnings(rc, other))
	require.Empty(t, replicationControllerUpdateWarnings(rc, rc))
}

func TestReplicationControllerValidationAllocatesNothing(t *testing.T) {
	old := replicationControllerWith(t, "{}")
	rc := replicationControllerWith(t, `{metadata: {generation: 2}, spec: {replicas: 3}}`)
	require.Zero(t, validatetest.AllocsPerRun(100, func() { validateReplicationController(rc) }), "create")
	require.Zero(t, validatetest.AllocsPerRun(100, func() { validateReplicationControllerUpdate(rc, old) }), "update")
}
