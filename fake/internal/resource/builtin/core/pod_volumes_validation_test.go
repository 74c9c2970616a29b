package core

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

const podWithVolumes = `{metadata: {name: p}, spec: {containers: [{name: a, image: i}], volumes: [%s]}}`

func TestValidatePodVolumes(t *testing.T) {
	const at = "spec.volumes[0]"
	requireErrors(t, podWithVolumes, []validationCase{
		{`{name: a}, {name: b, emptyDir: {sizeLimit: 0}}, {name: c, image: {reference: any, pullPolicy: Never}}`, nil},
		{`{emptyDir: {sizeLimit: -1}}, {name: A}, {name: a.b}`, []string{
			at + ".emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity",
			at + ".name: Required value",
			`spec.volumes[1].name: Invalid value: "A": ` + validatetest.BadLabel,
			`spec.volumes[2].name: Invalid value: "a.b": must not contain dots`,
		}},
		{`{name: a}, {name: a}, {name: b, secret: {}}, {name: b}, {name: b}`, []string{
			`spec.volumes[1].name: Duplicate value: "a"`,
			"spec.volumes[2].secret.secretName: Required value",
			`spec.volumes[4].name: Duplicate value: "b"`,
		}},
		{`{name: a, gitRepo: {repository: "", directory: ../a}}`, []string{
			at + ".gitRepo.repository: Required value",
			at + `.gitRepo.directory: Invalid value: "../a": must not contain '..'`,
		}},
		{`{name: a, secret: {secretName: s, defaultMode: 512, items: [{}, {key: k, path: ../a, mode: -1}, {key: k, path: ..a}, {key: k, path: /a}]}}`, []string{
			at + ".secret.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive",
			at + ".secret.items[0].key: Required value",
			at + ".secret.items[0].path: Required value",
			at + `.secret.items[1].path: Invalid value: "../a": must not contain '..'`,
			at + ".secret.items[1].mode: Invalid value: -1: must be a number between 0 and 0777 (octal), both inclusive",
			at + `.secret.items[2].path: Invalid value: "..a": must not start with '..'`,
			at + `.secret.items[3].path: Invalid value: "/a": must be a relative path`,
		}},
		{`{name: a, configMap: {defaultMode: -1, items: [{key: k}]}}`, []string{
			at + ".configMap.name: Required value",
			at + ".configMap.defaultMode: Invalid value: -1: must be a number between 0 and 0777 (octal), both inclusive",
			at + ".configMap.items[0].path: Required value",
		}},
		{`{name: a, downwardAPI: {defaultMode: 512, items: [{path: "", mode: 512}, {path: a, fieldRef: {fieldPath: spec.host}, resourceFieldRef: {resource: x}}, {path: b, resourceFieldRef: {resource: limits.cpu}}]}}`, []string{
			at + ".downwardAPI.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive",
			at + ".downwardAPI.path: Required value",
			at + ".downwardAPI: Required value: one of fieldRef and resourceFieldRef is required",
			at + ".downwardAPI.mode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive",
			at + `.downwardAPI.fieldRef.fieldPath: Unsupported value: "spec.nodeName": supported values: "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"`,
			at + `.downwardAPI: Invalid value: "resource": fieldRef and resourceFieldRef can not be specified simultaneously`,
			at + ".downwardAPI.resourceFieldRef.containerName: Required value",
		}},
		{`{name: a, persistentVolumeClaim: {}}, {name: b, image: {pullPolicy: x}}`, []string{
			at + ".persistentVolumeClaim.claimName: Required value",
			"spec.volumes[1].image.reference: Required value",
			`spec.volumes[1].image.pullPolicy: Unsupported value: "x": supported values: "Always", "IfNotPresent", "Never"`,
		}},
		{`{name: a, csi: {driver: A.b_, nodePublishSecretRef: {name: A}}}, {name: b, csi: {driver: ABC.d, nodePublishSecretRef: {}}}`, []string{
			at + `.csi.driver: Invalid value: "A.b_": ` + validatetest.BadSubdomain,
			at + `.csi.name: Invalid value: "A": ` + validatetest.BadSubdomain,
			"spec.volumes[1].csi.nodePublishSecretRef.name: Required value",
		}},
		{`{name: a, iscsi: {targetPortal: ` + strings.Repeat("a", 62) + `, iqn: iqn.2020-01.a:b, initiatorName: iqn.2020-01.a:b}}`, nil},
		{`{name: ab, iscsi: {targetPortal: ` + strings.Repeat("a", 62) + `, iqn: iqn.2020-01.a:b, initiatorName: iqn.2020-01.a:b}}`, []string{
			at + `.name: Invalid value: "ab": Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.`,
		}},
	})
	t.Run("no source", func(t *testing.T) {
		pod := &corev1.Pod{}
		pod.Spec.Volumes = []corev1.Volume{{Name: "a"}}
		_, errs := validatePodVolumes(&pod.Spec, nil, PodValidationOptions{}, nil)
		require.Equal(t, []string{"volumes[0]: Required value: must specify a volume type"}, validatetest.Texts(errs))
	})
}

// Of several sources the first one is validated, in an order of the server's own, and some paths of
// the errors are not those of the fields.
func TestVolumesHaveOneSource(t *testing.T) {
	pod := validatetest.Parse[corev1.Pod](t, `spec: {volumes: [{name: a, image: {}, ephemeral: {}, csi: {}, scaleIO: {}, projected: {}, storageos: {}, azureDisk: {},
		portworxVolume: {}, photonPersistentDisk: {}, vsphereVolume: {}, azureFile: {}, configMap: {}, flexVolume: {}, fc: {}, downwardAPI: {}, quobyte: {},
		cephfs: {}, cinder: {}, rbd: {}, persistentVolumeClaim: {}, flocker: {}, glusterfs: {}, iscsi: {}, nfs: {}, secret: {}, awsElasticBlockStore: {},
		gcePersistentDisk: {}, gitRepo: {}, hostPath: {}}]}`)
	sources := []string{"hostPath", "gitRepo", "gcePersistentDisk", "awsElasticBlockStore", "secret", "nfs", "iscsi", "glusterfs", "flocker", "persistentVolumeClaim",
		"rbd", "cinder", "cephFS", "quobyte", "downwarAPI", "fc", "flexVolume", "configMap", "azureFile", "vsphereVolume", "photonPersistentDisk",
		"portworxVolume", "azureDisk", "storageos", "projected", "scaleIO", "csi", "ephemeral", "image"}
	want := []string{"volumes[0].hostPath.path: Required value"}
	for _, name := range sources[1:] {
		want = append(want, "volumes[0]."+name+": Forbidden: may not specify more than 1 volume type")
	}
	_, errs := validatePodVolumes(&pod.Spec, nil, PodValidationOptions{}, nil)
	require.Equal(t, want, validatetest.Texts(errs))
}

func TestSourcesOfPersistentVolumes(t *testing.T) {
	for source, want := range map[string]string{
		"hostPath":             "hostPath.path: Required value",
		"gcePersistentDisk":    "persistentDisk.pdName: Required value",
		"awsElasticBlockStore": "awsElasticBlockStore.volumeID: Required value",
		"nfs":                  "nfs.server: Required value",
		"iscsi":                "iscsi.targetPortal: Required value",
		"glusterfs":            "glusterfs.endpoints: Required value",
		"flocker":              "flocker: Required value: one of datasetName and datasetUUID is required",
		"rbd":                  "rbd.monitors: Required value",
		"cinder":               "cinder.volumeID: Required value",
		"cephfs":               "cephfs.monitors: Required value",
		"quobyte":              "quobyte.registry: Required value: must be a host:port pair or multiple pairs separated by commas",
		"fc":                   "fc.targetWWNs: Required value: must specify either targetWWNs or wwids, but not both",
		"flexVolume":           "flexVolume.driver: Required value",
		"azureFile":            "azureFile.secretName: Required value",
		"vsphereVolume":        "vsphereVolume.volumePath: Required value",
		"photonPersistentDisk": "photonPersistentDisk.pdID: Required value",
		"portworxVolume":       "portworxVolume.volumeID: Required value",
		"azureDisk":            "azureDisk.diskName: Required value",
		"storageos":            "storageos.volumeName: Required value",
		"scaleIO":              "scaleIO.gateway: Required value",
	} {
		pod := validatetest.Parse[corev1.Pod](t, "spec: {volumes: [{name: a, "+source+": {}}]}")
		setPodDefaults(pod)
		_, errs := validatePodVolumes(&pod.Spec, nil, PodValidationOptions{}, nil)
		require.NotEmpty(t, errs, source)
		require.Equal(t, "volumes[0]."+want, errs[0].Error())
	}
}

func TestValidateEphemeralVolumes(t *testing.T) {
	const claim = "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1}}}"
	requireErrors(t, podWithVolumes, []validationCase{
		{`{name: a, ephemeral: {volumeClaimTemplate: {metadata: {labels: {a: b}, annotations: {a: b}}, ` + claim + `}}}, {name: b, persistentVolumeClaim: {claimName: p-b}}`, nil},
		{`{name: a, ephemeral: {}}, {name: b, persistentVolumeClaim: {claimName: p-a}}`, []string{
			"spec.volumes[0].ephemeral.volumeClaimTemplate: Required value",
			`spec.volumes[1].persistentVolumeClaim.claimName: Invalid value: "p-a": must not reference a PVC that gets created for an ephemeral volume`,
		}},
		{`{name: a, ephemeral: {volumeClaimTemplate: {metadata: {labels: {a: " "}, name: m, uid: u, namespace: m, generateName: g, finalizers: [], ownerReferences: [], resourceVersion: "1", generation: 1,
			creationTimestamp: "2020-01-01T00:00:00Z"}, spec: {}}}}`, []string{
			`spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.labels: Invalid value: " ": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
			"spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set",
			"spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.generateName: Forbidden: cannot be set",
			"spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.namespace: Forbidden: cannot be set",
			"spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.uID: Forbidden: cannot be set",
			"spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.resourceVersion: Forbidden: cannot be set",
			"spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.generation: Forbidden: cannot be set",
			"spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.creationTimestamp: Forbidden: cannot be set",
			"spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.ownerReferences: Forbidden: cannot be set",
			"spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.finalizers: Forbidden: cannot be set",
			"spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes: Required value: at least 1 access mode is required",
			"spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value",
		}},
	})
	requireErrors(t, `{metadata: {name: `+strings.Repeat("p", 250)+`}, spec: {containers: [{name: a, image: i}], volumes: [{name: %s, ephemeral: {volumeClaimTemplate: {`+claim+`}}}]}}`, []validationCase{
		{"ab", nil},
		{"abc", []string{`spec.volumes[0].name: Invalid value: "abc": PVC name "` + strings.Repeat("p", 250) + `-abc": must be no more than 253 characters`}},
	})
}

func TestValidateVolumeMounts(t *testing.T) {
	const at = "spec.containers[0].volumeMounts"
	requireErrors(t, `spec: {containers: [{name: a, image: i, %s}], volumes: [{name: v}, {name: w, persistentVolumeClaim: {claimName: w}}, {name: bad, secret: {}}]}`, []validationCase{
		{`volumeMounts: [{name: v, mountPath: a}, {name: v, mountPath: /b, subPath: ..a, readOnly: true, recursiveReadOnly: Enabled, mountPropagation: None}, {name: w, mountPath: c, mountPropagation: HostToContainer}]`,
			[]string{"spec.volumes[2].secret.secretName: Required value"}},
		{`volumeMounts: [{}, {name: x, mountPath: /a}, {name: bad, mountPath: /a}, {name: v, mountPath: ""}]`, []string{
			"spec.volumes[2].secret.secretName: Required value",
			at + "[0].name: Required value",
			at + `[0].name: Not found: ""`,
			at + "[0].mountPath: Required value",
			at + `[1].name: Not found: "x"`,
			at + `[2].name: Not found: "bad"`,
			at + `[2].mountPath: Invalid value: "/a": must be unique`,
			at + "[3].mountPath: Required value",
			at + `[3].mountPath: Invalid value: "": must be unique`,
		}},
		{`volumeMounts: [{name: v, mountPath: /a, subPath: /a, subPathExpr: ../a}]`, []string{
			"spec.volumes[2].secret.secretName: Required value",
			at + `.subPath: Invalid value: "/a": must be a relative path`,
			at + `[0].subPathExpr: Invalid value: "../a": subPathExpr and subPath are mutually exclusive`,
			at + `.subPathExpr: Invalid value: "../a": must not contain '..'`,
		}},
		{`volumeMounts: [{name: v, mountPath: /a, mountPropagation: Bidirectional, recursiveReadOnly: IfPossible}, {name: v, mountPath: /b, mountPropagation: x, recursiveReadOnly: x}]`, []string{
			"spec.volumes[2].secret.secretName: Required value",
			at + ".mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers",
			at + ".recursiveReadOnly: Forbidden: may only be specified when readOnly is true",
			at + ".recursiveReadOnly: Forbidden: may only be specified when mountPropagation is None or not specified",
			at + `.mountPropagation: Unsupported value: "x": supported values: "Bidirectional", "HostToContainer", "None"`,
			at + `.recursiveReadOnly: Unsupported value: "x": supported values: "Disabled", "Enabled", "IfPossible"`,
		}},
		{`securityContext: {privileged: true}, volumeMounts: [{name: v, mountPath: /a, mountPropagation: Bidirectional, recursiveReadOnly: Disabled}]`, []string{
			"spec.volumes[2].secret.secretName: Required value",
		}},
		{`volumeMounts: [{name: w, mountPath: /b}], volumeDevices: [{name: w, devicePath: /a}, {name: w, devicePath: /b}]`, []string{
			"spec.volumes[2].secret.secretName: Required value",
			at + `[0].name: Invalid value: "w": must not already exist in volumeDevices`,
			at + `[0].mountPath: Invalid value: "/b": must not already exist as a path in volumeDevices`,
			`spec.containers[0].volumeDevices[0].name: Invalid value: "w": must not already exist in volumeMounts`,
			`spec.containers[0].volumeDevices[1].name: Invalid value: "w": must be unique`,
			`spec.containers[0].volumeDevices[1].name: Invalid value: "w": must not already exist in volumeMounts`,
			`spec.containers[0].volumeDevices[1].devicePath: Invalid value: "/b": must not already exist as a path in volumeMounts`,
		}},
		{`volumeDevices: [{}, {name: v, devicePath: /a}, {name: w, devicePath: /a/../b}, {name: x, devicePath: /a}]`, []string{
			"spec.volumes[2].secret.secretName: Required value",
			"spec.containers[0].volumeDevices[0].name: Required value",
			`spec.containers[0].volumeDevices[0].name: Not found: ""`,
			"spec.containers[0].volumeDevices[0].devicePath: Required value",
			`spec.containers[0].volumeDevices[1].name: Invalid value: "v": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode`,
			`spec.containers[0].volumeDevices[2].devicePath: Invalid value: "/a/../b": can not contain backsteps ('..')`,
			`spec.containers[0].volumeDevices[3].name: Not found: "x"`,
			`spec.containers[0].volumeDevices[3].devicePath: Invalid value: "/a": must be unique`,
		}},
	})
}
