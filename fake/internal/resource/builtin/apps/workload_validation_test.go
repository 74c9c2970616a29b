package apps

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

// workload is the spec of a valid workload of any type.
const workload = `
metadata: {name: web, generation: 1}
spec:
  selector: {matchLabels: {app: web}, matchExpressions: [{key: app, operator: In, values: [web, site]}]}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: nginx, ports: [{containerPort: 80}], volumeMounts: [{name: data, mountPath: /data}]}
      volumes: [{name: data, emptyDir: {}}]
`

// workloadWith returns a valid workload, with defaults, whose fields are replaced by those of text.
func workloadWith[T any](t testing.TB, setDefaults func(*T), text string) *T {
	t.Helper()
	obj := validatetest.Parse[T](t, workload)
	setDefaults(obj)
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), obj))
	return obj
}

// validationCase has fields of an object and the errors for them.
type validationCase struct {
	fields string
	want   []string
}

const (
	negative  = "must be greater than or equal to 0"
	immutable = "field is immutable"
	malformed = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
)

func TestWorkloadWarnings(t *testing.T) {
	const inSpec = `{metadata: {name: a.b}, spec: {template: {spec: {nodeSelector: {beta.kubernetes.io/os: linux}}}}}`
	name := "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: " +
		"[must not contain dots]"
	template := `spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead`

	d := workloadWith(t, setDeploymentDefaults, inSpec)
	require.Equal(t, []string{name, template}, deploymentWarnings(d))
	rs := workloadWith(t, setReplicaSetDefaults, inSpec)
	require.Equal(t, []string{name, template}, replicaSetWarnings(rs))
	ds := workloadWith(t, setDaemonSetDefaults, inSpec)
	require.Equal(t, []string{template}, daemonSetWarnings(ds))
	s := workloadWith(t, setStatefulSetDefaults, inSpec)
	s.Spec.RevisionHistoryLimit = new(int32(-1))
	s.Spec.VolumeClaimTemplates = validatetest.Parse[appsv1.StatefulSet](t, `spec: {volumeClaimTemplates: [{spec: {resources: {requests: {storage: 100m}}}}]}`).Spec.VolumeClaimTemplates
	const fraction = `.resources.requests[storage]: fractional byte value "100m" is invalid, must be an integer`
	const limit = "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"
	require.Equal(t, []string{template, "spec.volumeClaimTemplates[0]" + fraction, limit}, statefulSetWarnings(s))
	require.Empty(t, statefulSetWarnings(workloadWith(t, setStatefulSetDefaults, `spec: {revisionHistoryLimit: 0}`)))

	// Updates of the metadata only have no warnings for the template.
	for generation, want := range map[int64][]string{1: nil, 2: {template}} {
		d.Generation, rs.Generation, s.Generation = generation, generation, generation
		require.Equal(t, want, deploymentUpdateWarnings(d, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Generation: 1}}))
		require.Equal(t, want, replicaSetUpdateWarnings(rs, &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Generation: 1}}))
		require.Equal(t, append(want, "spec.volumeClaimTemplates[0].Spec"+fraction, limit),
			statefulSetUpdateWarnings(s, &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Generation: 1}}))
	}

	// A DaemonSet has them only for updates of its template.
	for _, changesTemplate := range []bool{false, true} {
		old := ds.DeepCopy()
		setTemplateGeneration(old, 1)
		updated := old.DeepCopy()
		updated.Generation++
		updated.Spec.MinReadySeconds++
		var want []string
		if changesTemplate {
			updated.Spec.Template.Labels["a"] = "b"
			want = []string{template}
		}
		prepareDaemonSetForUpdate(t.Context(), updated, old)
		require.Equal(t, want, daemonSetUpdateWarnings(updated, old))
	}
}

// The validation of a valid workload allocates nothing.
func TestValidationAllocatesNothing(t *testing.T) {
	d, rs := workloadWith(t, setDeploymentDefaults, "{}"), workloadWith(t, setReplicaSetDefaults, "{}")
	ds, s := workloadWith(t, setDaemonSetDefaults, "{}"), workloadWith(t, setStatefulSetDefaults, "{}")
	scaled, scaledRS, scaledS := d.DeepCopy(), rs.DeepCopy(), s.DeepCopy()
	scaled.Spec.Replicas, scaled.Generation = new(int32(3)), 2
	scaledRS.Spec.Replicas, scaledRS.Generation = new(int32(3)), 2
	scaledS.Spec.Replicas, scaledS.Generation = new(int32(3)), 2
	changed, changedDS, changedS := d.DeepCopy(), ds.DeepCopy(), s.DeepCopy()
	for _, template := range []*corev1.PodTemplateSpec{&changed.Spec.Template, &changedDS.Spec.Template, &changedS.Spec.Template} {
		template.Spec.Containers[0].Image = "nginx:2"
	}
	changed.Generation, changedDS.Generation, changedS.Generation = 2, 2, 2
	for name, validation := range map[string]func() field.ErrorList{
		"Deployment":              func() field.ErrorList { return validateDeployment(d) },
		"update of a Deployment":  func() field.ErrorList { return validateDeploymentUpdate(changed, d) },
		"scale of a Deployment":   func() field.ErrorList { return validateDeploymentUpdate(scaled, d) },
		"status of a Deployment":  func() field.ErrorList { return validateDeploymentStatusUpdate(scaled, d) },
		"ReplicaSet":              func() field.ErrorList { return validateReplicaSet(rs) },
		"scale of a ReplicaSet":   func() field.ErrorList { return validateReplicaSetUpdate(scaledRS, rs) },
		"status of a ReplicaSet":  func() field.ErrorList { return validateReplicaSetStatusUpdate(scaledRS, rs) },
		"DaemonSet":               func() field.ErrorList { return validateDaemonSet(ds) },
		"update of a DaemonSet":   func() field.ErrorList { return validateDaemonSetUpdate(changedDS, ds) },
		"status of a DaemonSet":   func() field.ErrorList { return validateDaemonSetStatusUpdate(changedDS, ds) },
		"StatefulSet":             func() field.ErrorList { return validateStatefulSet(s) },
		"update of a StatefulSet": func() field.ErrorList { return validateStatefulSetUpdate(changedS, s) },
		"scale of a StatefulSet":  func() field.ErrorList { return validateStatefulSetUpdate(scaledS, s) },
		"status of a StatefulSet": func() field.ErrorList { return validateStatefulSetStatusUpdate(scaledS, s) },
	} {
		require.Empty(t, validation(), name)
		assert.Zero(t, validatetest.AllocsPerRun(100, func() { validation() }), name)
	}
	require.Zero(t, validatetest.AllocsPerRun(100, func() {
		deploymentWarnings(d)
		deploymentUpdateWarnings(changed, d)
		replicaSetWarnings(rs)
		daemonSetWarnings(ds)
		statefulSetWarnings(s)
	}), "warnings")
}
