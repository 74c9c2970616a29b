package apps

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

// requireYAML compares an object with a YAML document.
func requireYAML[T any](t testing.TB, want string, obj *T) {
	t.Helper()
	expected, err := yaml.Marshal(validatetest.Parse[T](t, want))
	require.NoError(t, err)
	actual, err := yaml.Marshal(obj)
	require.NoError(t, err)
	require.Equal(t, string(expected), string(actual))
}

// templateDefaults are the defaults of a template without containers.
const templateDefaults = `template: {spec: {restartPolicy: Always, dnsPolicy: ClusterFirst, schedulerName: default-scheduler,
    terminationGracePeriodSeconds: 30, securityContext: {}}}`

func TestSetDeploymentDefaults(t *testing.T) {
	for _, test := range []struct{ spec, want string }{
		{`{}`, `
  replicas: 1
  revisionHistoryLimit: 10
  progressDeadlineSeconds: 600
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 25%}}`},
		{`{replicas: 0, revisionHistoryLimit: 0, progressDeadlineSeconds: 1, strategy: {type: Recreate}}`, `
  replicas: 0
  revisionHistoryLimit: 0
  progressDeadlineSeconds: 1
  strategy: {type: Recreate}`},
		{`{strategy: {rollingUpdate: {maxSurge: 2}}}`, `
  replicas: 1
  revisionHistoryLimit: 10
  progressDeadlineSeconds: 600
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 2, maxUnavailable: 25%}}`},
	} {
		d := validatetest.Parse[appsv1.Deployment](t, "spec: "+test.spec)
		setDeploymentDefaults(d)
		requireYAML(t, "spec:\n  "+templateDefaults+test.want, d)
		again := d.DeepCopy()
		setDeploymentDefaults(again)
		require.Equal(t, d, again)
	}
}

func TestSetReplicaSetDefaults(t *testing.T) {
	rs := &appsv1.ReplicaSet{}
	setReplicaSetDefaults(rs)
	requireYAML(t, "spec:\n  replicas: 1\n  "+templateDefaults, rs)
}

func TestSetDaemonSetDefaults(t *testing.T) {
	for _, test := range []struct{ strategy, want string }{
		{`{}`, `{type: RollingUpdate, rollingUpdate: {maxUnavailable: 1, maxSurge: 0}}`},
		{`{rollingUpdate: {maxSurge: 10%, maxUnavailable: 0}}`, `{type: RollingUpdate, rollingUpdate: {maxUnavailable: 0, maxSurge: 10%}}`},
		{`{type: OnDelete}`, `{type: OnDelete}`},
		{`{type: OnDelete, rollingUpdate: {}}`, `{type: OnDelete, rollingUpdate: {maxUnavailable: 0, maxSurge: 0}}`},
	} {
		ds := validatetest.Parse[appsv1.DaemonSet](t, `{spec: {updateStrategy: `+test.strategy+`}}`)
		setDaemonSetDefaults(ds)
		requireYAML(t, "spec:\n  revisionHistoryLimit: 10\n  updateStrategy: "+test.want+"\n  "+templateDefaults, ds)
	}
}

// The generation of the template counts its changes, whatever clients send.
func TestDaemonSetTemplateGeneration(t *testing.T) {
	generation := func(ds *appsv1.DaemonSet) string { return ds.Annotations["deprecated.daemonset.template.generation"] }
	created := &appsv1.DaemonSet{}
	prepareDaemonSetForCreate(t.Context(), created)
	require.Equal(t, "1", generation(created))
	adopted := validatetest.Parse[appsv1.DaemonSet](t, `{metadata: {annotations: {deprecated.daemonset.template.generation: '7'}}}`)
	prepareDaemonSetForCreate(t.Context(), adopted)
	require.Equal(t, "7", generation(adopted))

	same := adopted.DeepCopy()
	same.Annotations = nil
	same.Spec.MinReadySeconds = 3
	prepareDaemonSetForUpdate(t.Context(), same, adopted)
	require.Equal(t, "7", generation(same))
	changed := created.DeepCopy()
	changed.Spec.Template.Labels = map[string]string{"a": "b"}
	prepareDaemonSetForUpdate(t.Context(), changed, adopted)
	require.Equal(t, "8", generation(changed))

	status := created.DeepCopy()
	daemonSetStatusSubresource().PrepareForUpdate(t.Context(), status, adopted)
	require.Equal(t, "7", generation(status))
}

// The revision to roll back to is stored as a number. The status subresource cannot change it.
func TestDeploymentRollbackTo(t *testing.T) {
	const annotation = "deprecated.deployment.rollback.to"
	for text, want := range map[string]string{"2": "2", "+2": "2", "007": "7", "-1": "-1"} {
		d := &appsv1.Deployment{}
		d.Annotations = map[string]string{annotation: text, "a": "b"}
		canonicalizeDeployment(d)
		require.Equal(t, map[string]string{annotation: want, "a": "b"}, d.Annotations)
	}
	none := &appsv1.Deployment{}
	none.Annotations = map[string]string{annotation: "", "a": "b"}
	canonicalizeDeployment(none)
	require.Equal(t, map[string]string{"a": "b"}, none.Annotations)

	prepareStatus := deploymentStatusSubresource().PrepareForUpdate
	old := validatetest.Parse[appsv1.Deployment](t, `{metadata: {labels: {a: b}, annotations: {`+annotation+`: '3'}}, spec: {replicas: 1}}`)
	status := validatetest.Parse[appsv1.Deployment](t, `{metadata: {annotations: {c: d}}, status: {replicas: 1}}`)
	prepareStatus(t.Context(), status, old)
	requireYAML(t, `{metadata: {labels: {a: b}, annotations: {c: d, `+annotation+`: '3'}}, spec: {replicas: 1}, status: {replicas: 1}}`, status)
	status.Annotations[annotation] = "4"
	prepareStatus(t.Context(), status, none)
	require.Equal(t, map[string]string{"c": "d"}, status.Annotations)
}

// Annotations that were fields of the spec have to be numbers.
func TestConversionErrors(t *testing.T) {
	for _, test := range []struct{ kind, annotations, want string }{
		{"deployments", `{}`, ""},
		{"deployments", `{deprecated.deployment.rollback.to: ''}`, ""},
		{"deployments", `{deprecated.deployment.rollback.to: x}`, `failed to parse annotation[deprecated.deployment.rollback.to]=x as int64: strconv.ParseInt: parsing "x": invalid syntax`},
		{"daemonsets", `{}`, ""},
		{"daemonsets", `{deprecated.daemonset.template.generation: '-1'}`, ""},
		{"daemonsets", `{deprecated.daemonset.template.generation: ''}`, `strconv.ParseInt: parsing "": invalid syntax`},
		{"daemonsets", `{deprecated.daemonset.template.generation: '2.5'}`, `strconv.ParseInt: parsing "2.5": invalid syntax`},
	} {
		var err error
		switch text := "metadata: {annotations: " + test.annotations + "}"; test.kind {
		case "deployments":
			err = checkDeployment(validatetest.Parse[appsv1.Deployment](t, text))
		case "daemonsets":
			err = checkDaemonSet(validatetest.Parse[appsv1.DaemonSet](t, text))
		}
		if test.want == "" {
			require.NoError(t, err, test.annotations)
		} else {
			require.EqualError(t, err, test.want)
		}
	}
}

func TestSetStatefulSetDefaults(t *testing.T) {
	for _, test := range []struct{ strategy, want string }{
		{`{}`, `{type: RollingUpdate, rollingUpdate: {partition: 0, maxUnavailable: 1}}`},
		{`{type: RollingUpdate}`, `{type: RollingUpdate}`},
		{`{type: RollingUpdate, rollingUpdate: {partition: 2, maxUnavailable: 3}}`, `{type: RollingUpdate, rollingUpdate: {partition: 2, maxUnavailable: 3}}`},
		{`{type: OnDelete}`, `{type: OnDelete}`},
	} {
		s := validatetest.Parse[appsv1.StatefulSet](t, `{spec: {updateStrategy: `+test.strategy+`, volumeClaimTemplates: [{metadata: {name: data}}]}}`)
		setStatefulSetDefaults(s)
		requireYAML(t, `
spec:
  replicas: 1
  revisionHistoryLimit: 10
  podManagementPolicy: OrderedReady
  persistentVolumeClaimRetentionPolicy: {whenDeleted: Retain, whenScaled: Retain}
  updateStrategy: `+test.want+`
  volumeClaimTemplates:
  - {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {volumeMode: Filesystem}, status: {phase: Pending}}
  `+templateDefaults, s)
	}
	s := validatetest.Parse[appsv1.StatefulSet](t, `{spec: {replicas: 0, revisionHistoryLimit: 0}}`)
	setStatefulSetDefaults(s)
	require.Zero(t, *s.Spec.Replicas)
	require.Zero(t, *s.Spec.RevisionHistoryLimit)
}

func BenchmarkSetDeploymentDefaults(b *testing.B) {
	plain := validatetest.Parse[appsv1.Deployment](b, `
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: c, image: 'registry.example.com/web:1.2', ports: [{containerPort: 80}], readinessProbe: {httpGet: {port: 80}},
         resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 128Mi}}}
`)
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		all := make([]*appsv1.Deployment, b.N)
		for i := range all {
			all[i] = plain.DeepCopy()
		}
		b.ResetTimer()
		for _, d := range all {
			setDeploymentDefaults(d)
		}
	})
	b.Run("stored", func(b *testing.B) {
		b.ReportAllocs()
		stored := plain.DeepCopy()
		for b.Loop() {
			setDeploymentDefaults(stored)
		}
	})
}
