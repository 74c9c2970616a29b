//lint:file-ignore SA1019 Endpoints are served, and nodes of old clients have spec.configSource

package core

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestSetNamespaceDefaults(t *testing.T) {
	ns := validatetest.Parse[corev1.Namespace](t, `metadata: {name: a}`)
	setNamespaceDefaults(ns)
	requireYAML(t, `{metadata: {name: a, labels: {kubernetes.io/metadata.name: a}}, status: {phase: Active}}`, ns)
	unnamed := validatetest.Parse[corev1.Namespace](t, `metadata: {generateName: a}`)
	setNamespaceDefaults(unnamed)
	require.Empty(t, unnamed.Labels)
	unnamed.Name = "a1"
	prepareNamespaceForCreate(t.Context(), unnamed)
	requireYAML(t, `{metadata: {name: a1, generateName: a, labels: {kubernetes.io/metadata.name: a1}},
		spec: {finalizers: [kubernetes]}, status: {phase: Active}}`, unnamed)
}

func TestSetReplicationControllerDefaults(t *testing.T) {
	rc := validatetest.Parse[corev1.ReplicationController](t, `{spec: {template: {metadata: {labels: {a: b}}, spec: {containers: []}}}}`)
	setReplicationControllerDefaults(rc)
	require.Equal(t, map[string]string{"a": "b"}, rc.Labels)
	require.Equal(t, map[string]string{"a": "b"}, rc.Spec.Selector)
	require.EqualValues(t, 1, *rc.Spec.Replicas)
	require.Equal(t, corev1.RestartPolicyAlways, rc.Spec.Template.Spec.RestartPolicy)
	rc = validatetest.Parse[corev1.ReplicationController](t, `{metadata: {labels: {c: d}}, spec: {replicas: 0, selector: {e: f}, template: {metadata: {labels: {a: b}}}}}`)
	setReplicationControllerDefaults(rc)
	require.Equal(t, map[string]string{"c": "d"}, rc.Labels)
	require.Equal(t, map[string]string{"e": "f"}, rc.Spec.Selector)
	require.Zero(t, *rc.Spec.Replicas)
}

func TestSetLimitRangeDefaults(t *testing.T) {
	r := validatetest.Parse[corev1.LimitRange](t, `
spec:
  limits:
  - {type: Container, max: {cpu: 2}, min: {cpu: 1, memory: 1Mi}, default: {memory: 2Mi}}
  - {type: Pod, max: {cpu: 2}}
`)
	setLimitRangeDefaults(r)
	requireYAML(t, `
spec:
  limits:
  - {type: Container, max: {cpu: 2}, min: {cpu: 1, memory: 1Mi}, default: {cpu: 2, memory: 2Mi}, defaultRequest: {cpu: 2, memory: 2Mi}}
  - {type: Pod, max: {cpu: 2}}
`, r)
}

func TestSetNodeDefaults(t *testing.T) {
	for _, test := range []struct{ node, want string }{
		{`{spec: {podCIDR: a}, status: {capacity: {cpu: 4}}}`, `{spec: {podCIDR: a, podCIDRs: [a]}, status: {capacity: {cpu: 4}, allocatable: {cpu: 4}}}`},
		{`{spec: {podCIDRs: [a, b]}}`, `{spec: {podCIDR: a, podCIDRs: [a, b]}}`},
		{`{spec: {podCIDR: c, podCIDRs: [a, b]}}`, `{spec: {podCIDR: c, podCIDRs: [c]}}`},
		{`{status: {capacity: {cpu: 4}, allocatable: {cpu: 3}}}`, `{status: {capacity: {cpu: 4}, allocatable: {cpu: 3}}}`},
	} {
		node := validatetest.Parse[corev1.Node](t, test.node)
		setNodeDefaults(node)
		requireYAML(t, test.want, node)
	}
}

// A source of configuration stays only on nodes that have one.
func TestPrepareNode(t *testing.T) {
	const spec = `{spec: {configSource: {}, podPreemptionPolicy: {}}, status: {config: {}}}`
	node := validatetest.Parse[corev1.Node](t, spec)
	prepareNodeForCreate(t.Context(), node)
	require.Zero(t, node.Spec)
	sent := validatetest.Parse[corev1.Node](t, spec)
	prepareNodeForUpdate(t.Context(), sent, node)
	require.Zero(t, sent.Spec)
	sent = validatetest.Parse[corev1.Node](t, spec)
	prepareNodeForUpdate(t.Context(), sent, validatetest.Parse[corev1.Node](t, spec))
	require.Equal(t, validatetest.Parse[corev1.Node](t, spec), sent)

	sub := nodeStatusSubresource()
	sent = validatetest.Parse[corev1.Node](t, spec)
	sub.PrepareForUpdate(t.Context(), sent, &corev1.Node{})
	require.Nil(t, sent.Status.Config)
	sent = validatetest.Parse[corev1.Node](t, spec)
	sub.PrepareForUpdate(t.Context(), sent, validatetest.Parse[corev1.Node](t, spec))
	require.NotNil(t, sent.Status.Config)
}

func TestSetPersistentVolumeDefaults(t *testing.T) {
	pv := validatetest.Parse[corev1.PersistentVolume](t, `{spec: {capacity: {storage: 1024Mi}, azureDisk: {diskName: d, diskURI: u, kind: Managed}}}`)
	setPersistentVolumeDefaults(pv)
	requireYAML(t, `
spec:
  capacity: {storage: 1Gi}
  persistentVolumeReclaimPolicy: Retain
  volumeMode: Filesystem
  azureDisk: {diskName: d, diskURI: u, kind: Managed, cachingMode: ReadWrite, fsType: ext4, readOnly: false}
status: {phase: Pending}
`, pv)
	for _, test := range []struct{ source, want string }{
		{`{hostPath: {path: /p}}`, `{hostPath: {path: /p, type: ''}}`},
		{`{iscsi: {iqn: i, lun: 1, targetPortal: p}}`, `{iscsi: {iqn: i, lun: 1, targetPortal: p, iscsiInterface: default}}`},
		{`{rbd: {image: i, monitors: [m]}}`, `{rbd: {image: i, monitors: [m], pool: rbd, user: admin, keyring: /etc/ceph/keyring}}`},
		{`{scaleIO: {gateway: g, system: s, secretRef: {name: r}}}`,
			`{scaleIO: {gateway: g, system: s, secretRef: {name: r}, storageMode: ThinProvisioned, fsType: xfs}}`},
	} {
		spec := validatetest.Parse[corev1.PersistentVolumeSpec](t, test.source)
		SetDefaultsPersistentVolumeSpec(spec)
		requireYAML(t, test.want, spec)
	}
}

// The time of the last phase follows the phase, unless the client sets it.
func TestPersistentVolumeStatus(t *testing.T) {
	pv := &corev1.PersistentVolume{}
	preparePersistentVolumeForCreate(t.Context(), pv)
	require.Equal(t, corev1.VolumePending, pv.Status.Phase)
	require.NotNil(t, pv.Status.LastPhaseTransitionTime)

	update := persistentVolumeStatusSubresource().PrepareForUpdate
	const old = `{status: {phase: Pending, lastPhaseTransitionTime: '2024-01-01T00:00:00Z'}}`
	for _, test := range []struct {
		status  string
		changes bool
		year    int
	}{
		{`{status: {phase: Pending}}`, false, 2024},
		{`{status: {phase: Bound}}`, true, 0},
		{old, false, 2024},
		{`{status: {phase: Bound, lastPhaseTransitionTime: '2024-01-01T00:00:00Z'}}`, true, 0},
		{`{status: {phase: Bound, lastPhaseTransitionTime: '2025-01-01T00:00:00Z'}}`, false, 2025},
	} {
		sent := validatetest.Parse[corev1.PersistentVolume](t, test.status)
		update(t.Context(), sent, validatetest.Parse[corev1.PersistentVolume](t, old))
		year := sent.Status.LastPhaseTransitionTime.UTC().Year()
		if test.changes {
			require.NotContains(t, []int{2024, 2025}, year, test.status)
		} else {
			require.Equal(t, test.year, year, test.status)
		}
	}
}

func TestPersistentVolumeClaimDataSources(t *testing.T) {
	for _, test := range []struct{ name, spec, old, want string }{
		{"claim", `{dataSource: {kind: PersistentVolumeClaim, name: x}}`, ``,
			`{dataSource: {kind: PersistentVolumeClaim, name: x}, dataSourceRef: {kind: PersistentVolumeClaim, name: x}}`},
		{"snapshot", `{dataSource: {apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: x}}`, ``,
			`{dataSource: {apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: x},
			dataSourceRef: {apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: x}}`},
		{"other", `{dataSource: {apiGroup: g, kind: K, name: x}}`, ``, `{}`},
		{"other reference", `{dataSourceRef: {apiGroup: g, kind: K, name: x}}`, ``,
			`{dataSource: {apiGroup: g, kind: K, name: x}, dataSourceRef: {apiGroup: g, kind: K, name: x}}`},
		{"other namespace", `{dataSourceRef: {kind: K, name: x, namespace: o}}`, ``, `{}`},
		{"two that differ", `{dataSource: {kind: PersistentVolumeClaim, name: x}, dataSourceRef: {apiGroup: g, kind: K, name: z}}`, ``,
			`{dataSource: {kind: PersistentVolumeClaim, name: x}, dataSourceRef: {apiGroup: g, kind: K, name: z}}`},
		{"update of an old client", `{dataSource: {apiGroup: g, kind: K, name: x}}`,
			`{dataSource: {apiGroup: g, kind: K, name: x}, dataSourceRef: {apiGroup: g, kind: K, name: x}}`,
			`{dataSource: {apiGroup: g, kind: K, name: x}, dataSourceRef: {apiGroup: g, kind: K, name: x}}`},
		{"other namespace that was there", `{dataSourceRef: {kind: K, name: x, namespace: o}}`, `{dataSourceRef: {kind: K, name: x, namespace: o}}`,
			`{dataSourceRef: {kind: K, name: x, namespace: o}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			pvc := &corev1.PersistentVolumeClaim{Spec: *validatetest.Parse[corev1.PersistentVolumeClaimSpec](t, test.spec)}
			if test.old == "" {
				preparePersistentVolumeClaimForCreate(t.Context(), pvc)
				require.Equal(t, corev1.ClaimPending, pvc.Status.Phase)
			} else {
				old := &corev1.PersistentVolumeClaim{Spec: *validatetest.Parse[corev1.PersistentVolumeClaimSpec](t, test.old)}
				preparePersistentVolumeClaimForUpdate(t.Context(), pvc, old)
			}
			requireYAML(t, test.want, &pvc.Spec)
		})
	}
}

func TestSmallDefaults(t *testing.T) {
	secret := &corev1.Secret{StringData: map[string]string{"a": "b"}}
	setSecretDefaults(secret)
	canonicalizeSecret(secret)
	requireYAML(t, `{type: Opaque, data: {a: Yg==}}`, secret)

	endpoints := validatetest.Parse[corev1.Endpoints](t, `subsets: [{ports: [{port: 1}, {port: 2, protocol: UDP}]}]`)
	setEndpointsDefaults(endpoints)
	requireYAML(t, `subsets: [{ports: [{port: 1, protocol: TCP}, {port: 2, protocol: UDP}]}]`, endpoints)

	quota := validatetest.Parse[corev1.ResourceQuota](t, `{spec: {hard: {cpu: 1u}}, status: {hard: {cpu: 2u}, used: {cpu: 3n}}}`)
	setResourceQuotaDefaults(quota)
	requireYAML(t, `{spec: {hard: {cpu: 1m}}, status: {hard: {cpu: 1m}, used: {cpu: 1m}}}`, quota)

	claim := validatetest.Parse[corev1.PersistentVolumeClaim](t, `{spec: {resources: {limits: {storage: 1m}, requests: {storage: 1u}}}, status: {capacity: {storage: 2u}, allocatedResources: {storage: 3u}}}`)
	SetDefaultsPersistentVolumeClaim(claim)
	requireYAML(t, `{spec: {volumeMode: Filesystem, resources: {limits: {storage: 1m}, requests: {storage: 1m}}}, status: {phase: Pending, capacity: {storage: 1m}, allocatedResources: {storage: 1m}}}`, claim)

	sa := validatetest.Parse[corev1.ServiceAccount](t, `secrets: [{name: a, kind: Secret, namespace: x}]`)
	prepareServiceAccountForCreate(t.Context(), sa)
	requireYAML(t, `secrets: [{name: a}]`, sa)
}
