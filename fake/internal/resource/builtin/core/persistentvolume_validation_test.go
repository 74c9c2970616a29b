package core

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource/validate"
	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

// parsePersistentVolume returns a volume with defaults. The fields of text replace those of a small
// volume.
func parsePersistentVolume(t *testing.T, text string) *corev1.PersistentVolume {
	t.Helper()
	pv := validatetest.Parse[corev1.PersistentVolume](t, text)
	if pv.Spec.AccessModes == nil {
		pv.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	}
	if pv.Spec.Capacity == nil {
		pv.Spec.Capacity = validatetest.Parse[corev1.PersistentVolumeSpec](t, "capacity: {storage: 1Gi}").Capacity
	}
	if pv.Spec.PersistentVolumeSource == (corev1.PersistentVolumeSource{}) {
		pv.Spec.NFS = &corev1.NFSVolumeSource{Server: "s", Path: "/"}
	}
	setPersistentVolumeDefaults(pv)
	return pv
}

func TestValidatePersistentVolume(t *testing.T) {
	const modes = `"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"`
	const csi = `csi: {driver: d, volumeHandle: h}`
	for text, want := range map[string][]string{
		`spec: {}`: nil,
		`spec: {accessModes: [ReadWriteOncePod, ReadWriteOncePod], volumeMode: Block, storageClassName: a.b}`: nil,
		`spec: {accessModes: []}`: {"spec.accessModes: Required value"},
		`spec: {accessModes: [ReadWriteOncePod, RWO, ReadOnlyMany]}`: {
			`spec.accessModes: Unsupported value: "RWO": supported values: ` + modes,
			"spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes",
		},
		`spec: {capacity: {}}`: {"spec.capacity: Required value", `spec.capacity: Unsupported value: {}: supported values: "storage"`},
		`spec: {capacity: {storage: -1, a: 1m}}`: {
			`spec.capacity: Unsupported value: {"a":"1m","storage":"-1"}: supported values: "storage"`,
			"spec.capacity[storage]: Invalid value: -1: must be a valid resource quantity",
			`spec.capacity[storage]: Invalid value: "-1": must be greater than zero`,
		},
		`spec: {capacity: {storage: "9223372036854775808"}}`: {
			"spec.capacity[storage]: Invalid value: -9223372036854775808: must be a valid resource quantity",
		},
		`spec: {persistentVolumeReclaimPolicy: Keep}`: {`spec.persistentVolumeReclaimPolicy: Unsupported value: "Keep": supported values: "Delete", "Recycle", "Retain"`},
		`spec: {nodeAffinity: {}}`:                    {"spec.nodeAffinity.required: Required value: must specify required node constraints"},
		`spec: {nodeAffinity: {required: {nodeSelectorTerms: []}}}`: {
			"spec.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node selector term"},
		`spec: {local: {path: /a}, nodeAffinity: {required: {nodeSelectorTerms: [{}]}}}`: nil,
		`spec: {hostPath: {path: /a}, persistentVolumeReclaimPolicy: Recycle}`:           nil,
		`spec: {hostPath: {path: /a/../}, persistentVolumeReclaimPolicy: Recycle}`: {
			`spec.hostPath.path: Invalid value: "/a/../": must not contain '..'`,
			"spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'",
		},
		`spec: {storageClassName: A, volumeMode: Raw}`: {
			`spec.storageClassName: Invalid value: "A": ` + validatetest.BadSubdomain,
			`spec.volumeMode: Unsupported value: "Raw": supported values: "Block", "Filesystem"`,
		},
		`spec: {volumeAttributesClassName: a, ` + csi + `}`: nil,
		`spec: {volumeAttributesClassName: ""}`: {
			"spec.volumeAttributesClassName: Required value: an empty string is disallowed",
			"spec.csi: Required value: has to be specified when using volumeAttributesClassName",
		},
		`spec: {volumeAttributesClassName: A, ` + csi + `}`:                      {`spec.volumeAttributesClassName: Invalid value: "A": ` + validatetest.BadSubdomain},
		`metadata: {annotations: {volume.beta.kubernetes.io/mount-options: ro}}`: nil,
		`{metadata: {annotations: {volume.beta.kubernetes.io/mount-options: ro}}, spec: {` + csi + `}}`: {
			"metadata.annotations.volume.beta.kubernetes.io/mount-options: Forbidden: may not specify mount options for this volume type"},
		`{metadata: {annotations: {volume.beta.kubernetes.io/mount-options: ro}}, spec: {cephfs: {monitors: [a]}}}`:                  nil,
		`{metadata: {annotations: {volume.beta.kubernetes.io/mount-options: ro}}, spec: {azureFile: {secretName: a, shareName: a}}}`: nil,
		`{metadata: {annotations: {volume.beta.kubernetes.io/mount-options: ro}}, spec: {awsElasticBlockStore: {volumeID: a}}}`:      nil,
		`{metadata: {annotations: {volume.beta.kubernetes.io/mount-options: ro}}, spec: {gcePersistentDisk: {pdName: a}}}`:           nil,
		`{metadata: {annotations: {volume.beta.kubernetes.io/mount-options: ro}}, spec: {glusterfs: {endpoints: a, path: a}}}`:       nil,
		`{metadata: {annotations: {volume.beta.kubernetes.io/mount-options: ro}}, spec: {vsphereVolume: {volumePath: a}}}`:           nil,
		`{metadata: {annotations: {volume.beta.kubernetes.io/mount-options: ro}}, spec: {hostPath: {path: /a}}}`: {
			"metadata.annotations.volume.beta.kubernetes.io/mount-options: Forbidden: may not specify mount options for this volume type"},
		`spec: {nfs: {server: s, path: /}, hostPath: {path: /a}, iscsi: {}, azureFile: {}}`: {
			"spec.nfs: Forbidden: may not specify more than 1 volume type", "spec.iscsi: Forbidden: may not specify more than 1 volume type",
			"spec.azureFile: Forbidden: may not specify more than 1 volume type"},
	} {
		t.Run(text, func(t *testing.T) {
			require.Equal(t, want, validatetest.Texts(validatePersistentVolume(parsePersistentVolume(t, text))))
		})
	}
}

func TestValidatePersistentVolumeUpdate(t *testing.T) {
	const betaZone = `nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: failure-domain.beta.kubernetes.io/zone, operator: In, values: [a]}]}]}}`
	zone := strings.Replace(betaZone, "failure-domain.beta", "topology", 1)
	for name, c := range map[string]struct {
		old, pv string
		want    []string
	}{
		"what can be changed": {
			`spec: {capacity: {storage: 2Gi}}`,
			`spec: {capacity: {storage: 1Gi}, persistentVolumeReclaimPolicy: Delete, storageClassName: a, claimRef: {name: c}, mountOptions: [a], ` + zone + `}`, nil,
		},
		"the secret for expanding, once": {
			`spec: {csi: {driver: d, volumeHandle: h}}`,
			`spec: {csi: {driver: d, volumeHandle: h, controllerExpandSecretRef: {name: a, namespace: b}}}`, nil,
		},
		"a deprecated label": {`spec: {` + betaZone + `}`, `spec: {` + zone + `}`, nil},
		"a label":            {`spec: {` + zone + `}`, `spec: {` + betaZone + `}`, []string{"nodeAffinity: Invalid value: "}},
		"no affinity":        {`spec: {` + zone + `}`, `spec: {}`, []string{"nodeAffinity: Invalid value: null: field is immutable, except for updating from beta label to GA"}},
		"another mode":       {`spec: {}`, `spec: {volumeMode: Block}`, []string{`volumeMode: Invalid value: "Block": field is immutable`}},
		"another class":      {`spec: {volumeAttributesClassName: a, csi: {driver: d, volumeHandle: h}}`, `spec: {volumeAttributesClassName: b, csi: {driver: d, volumeHandle: h}}`, nil},
		"no class": {
			`spec: {volumeAttributesClassName: a, csi: {driver: d, volumeHandle: h}}`, `spec: {csi: {driver: d, volumeHandle: h}}`,
			[]string{"spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden"},
		},
		"another source": {
			`spec: {nfs: {server: s, path: /a}}`, `spec: {nfs: {server: s, path: /b}}`,
			[]string{"spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\n@@ "},
		},
		"a malformed value that was there": {
			`spec: {` + strings.Replace(zone, "[a]", "[a:b]", 1) + `}`, `spec: {storageClassName: a, ` + strings.Replace(zone, "[a]", "[a:b]", 1) + `}`, nil,
		},
		"an error is reported twice": {`spec: {}`, `spec: {storageClassName: A}`, []string{`spec.storageClassName: Invalid value: "A"`, `spec.storageClassName: Invalid value: "A"`}},
	} {
		t.Run(name, func(t *testing.T) {
			errs := validatetest.Texts(validatePersistentVolumeUpdate(parsePersistentVolume(t, c.pv), parsePersistentVolume(t, c.old)))
			require.Len(t, errs, len(c.want), "%s", errs)
			for i := range c.want {
				require.Contains(t, errs[i], c.want[i])
			}
		})
	}
}

func TestChangesOfLongValues(t *testing.T) {
	require.NotEmpty(t, changes("a", "b"))
	require.Empty(t, changes("a", strings.Repeat("b", maxChanges)))
}

func TestValidateInlineVolumeSpec(t *testing.T) {
	const csi = `csi: {driver: d, volumeHandle: h}, accessModes: [ReadWriteOnce]`
	for text, want := range map[string][]string{
		`{` + csi + `, persistentVolumeReclaimPolicy: Retain, volumeMode: Filesystem, volumeAttributesClassName: A}`: nil,
		`{}`: {"csi: Required value: has to be specified in the context of inline volumes", "accessModes: Required value", "<nil>: Required value: must specify a volume type"},
		`{` + csi + `, claimRef: {}, capacity: {storage: 1}, persistentVolumeReclaimPolicy: Delete, nodeAffinity: {}, storageClassName: a, volumeMode: Block}`: {
			"claimRef: Forbidden: may not be specified in the context of inline volumes",
			"capacity: Forbidden: may not be specified in the context of inline volumes",
			"persistentVolumeReclaimPolicy: Forbidden: may only be Retain in the context of inline volumes",
			"nodeAffinity: Forbidden: may not be specified in the context of inline volumes",
			"storageClassName: Forbidden: may not be specified in the context of inline volumes",
			"volumeMode: Forbidden: may not specify volumeMode other than Filesystem in the context of inline volumes",
		},
	} {
		require.Equal(t, want, validatetest.Texts(ValidateInlineVolumeSpec(validatetest.Parse[corev1.PersistentVolumeSpec](t, text), nil)), text)
	}
}

func TestValidateNodeSelector(t *testing.T) {
	for text, want := range map[string][]string{
		`matchExpressions: [{key: a.b/c, operator: In, values: [d, ""]}, {key: e, operator: Exists}, {key: f, operator: Gt, values: ["1"]}]`: nil,
		`matchFields: [{key: metadata.name, operator: NotIn, values: [n.1]}]`:                                                                nil,
		`matchExpressions: [{key: "", operator: NotIn}]`: {
			"s.nodeSelectorTerms[0].matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
			`s.nodeSelectorTerms[0].matchExpressions[0].key: Invalid value: "": name part must be non-empty`,
			`s.nodeSelectorTerms[0].matchExpressions[0].key: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
		},
		`matchExpressions: [{key: a, operator: DoesNotExist, values: [b]}]`: {
			"s.nodeSelectorTerms[0].matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"},
		`matchExpressions: [{key: a, operator: Lt, values: ["1", "2"]}]`: {
			"s.nodeSelectorTerms[0].matchExpressions[0].values: Required value: must be specified single value when `operator` is 'Lt' or 'Gt'"},
		`matchExpressions: [{key: a, operator: Is}]`: {`s.nodeSelectorTerms[0].matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator`},
		`matchExpressions: [{key: a, operator: In, values: ["b:"]}]`: {
			`s.nodeSelectorTerms[0].matchExpressions[0].values[0]: Invalid value: "b:": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`},
		`matchFields: [{key: spec.a, operator: In, values: [a, b]}, {key: metadata.name, operator: Gt, values: [B]}]`: {
			"s.nodeSelectorTerms[0].matchFields[0].values: Required value: must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
			`s.nodeSelectorTerms[0].matchFields[0].key: Invalid value: "spec.a": not a valid field selector key`,
			`s.nodeSelectorTerms[0].matchFields[1].operator: Invalid value: "Gt": not a valid selector operator`,
			`s.nodeSelectorTerms[0].matchFields[1].values[0]: Invalid value: "B": ` + validatetest.BadSubdomain,
		},
	} {
		t.Run(text, func(t *testing.T) {
			var root *validate.Path
			selector := &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{*validatetest.Parse[corev1.NodeSelectorTerm](t, text)}}
			require.Equal(t, want, validatetest.Texts(ValidateNodeSelector(selector, false, root.Child("s"))))
			if want == nil {
				require.Zero(t, validatetest.AllocsPerRun(10, func() { ValidateNodeSelector(selector, false, root.Child("s")) }))
			}
		})
	}
	malformed := validatetest.Parse[corev1.NodeSelector](t, `nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In, values: ["b:"]}]}]`)
	require.Empty(t, ValidateNodeSelector(malformed, true, nil))
}

func TestPersistentVolumeWarnings(t *testing.T) {
	require.Empty(t, persistentVolumeWarnings(parsePersistentVolume(t, `spec: {}`)))
	require.Equal(t, []string{
		`metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead`,
		`metadata.annotations[volume.beta.kubernetes.io/mount-options]: deprecated since v1.31; use "mountOptions" attribute instead`,
		"spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.",
		`spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[1].key: beta.kubernetes.io/os is deprecated since v1.14; use "kubernetes.io/os" instead`,
		"spec.cephfs: deprecated in v1.28, non-functional in v1.31+",
		"spec.glusterfs: deprecated in v1.25, non-functional in v1.26+",
	}, persistentVolumeUpdateWarnings(parsePersistentVolume(t, `
metadata: {annotations: {volume.beta.kubernetes.io/storage-class: a, volume.beta.kubernetes.io/mount-options: ro}}
spec:
  persistentVolumeReclaimPolicy: Recycle
  cephfs: {monitors: [a]}
  glusterfs: {endpoints: a, path: b}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: a}, {key: beta.kubernetes.io/os}]}]}}
`), nil))
	for _, label := range []string{"beta.kubernetes.io/arch", "failure-domain.beta.kubernetes.io/region", "failure-domain.beta.kubernetes.io/zone", "beta.kubernetes.io/instance-type"} {
		require.Contains(t, NodeLabelDeprecation(label), "deprecated since v1.1")
	}
}
