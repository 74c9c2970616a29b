package core

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

// The errors of each source of a PersistentVolume, and its required fields.
func TestValidatePersistentVolumeSources(t *testing.T) {
	const pairs = "must be a host:port pair or multiple pairs separated by commas"
	hex32 := strings.Repeat("0a", 16)
	for text, want := range map[string][]string{
		`{}`:                                 {"spec: Required value: must specify a volume type"},
		`hostPath: {}`:                       {"spec.hostPath.path: Required value"},
		`hostPath: {path: /a/..b, type: ""}`: nil,
		`hostPath: {path: /a/../b, type: Symlink}`: {`spec.hostPath.path: Invalid value: "/a/../b": must not contain '..'`, `spec.hostPath.type: Unsupported value: "Symlink": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"`},
		`{hostPath: {path: /a}, gcePersistentDisk: {}, cephfs: {monitors: []}, csi: {driver: "", volumeHandle: ""}}`: {
			"spec.gcePersistentDisk: Forbidden: may not specify more than 1 volume type",
			"spec.cephFS: Forbidden: may not specify more than 1 volume type",
			"spec.csi: Forbidden: may not specify more than 1 volume type",
		},
		`{hostPath: {path: /a}, awsElasticBlockStore: {}, glusterfs: {}, flocker: {}, nfs: {}, rbd: {}, quobyte: {}, cephfs: {}, iscsi: {}, cinder: {}, fc: {}, azureFile: {}, vsphereVolume: {}, photonPersistentDisk: {}, portworxVolume: {}, azureDisk: {}, scaleIO: {}, local: {}, storageos: {}}`: {
			"spec.awsElasticBlockStore: Forbidden: may not specify more than 1 volume type",
			"spec.glusterfs: Forbidden: may not specify more than 1 volume type",
			"spec.flocker: Forbidden: may not specify more than 1 volume type",
			"spec.nfs: Forbidden: may not specify more than 1 volume type",
			"spec.rbd: Forbidden: may not specify more than 1 volume type",
			"spec.quobyte: Forbidden: may not specify more than 1 volume type",
			"spec.cephFS: Forbidden: may not specify more than 1 volume type",
			"spec.iscsi: Forbidden: may not specify more than 1 volume type",
			"spec.cinder: Forbidden: may not specify more than 1 volume type",
			"spec.fc: Forbidden: may not specify more than 1 volume type",
			"spec.azureFile: Forbidden: may not specify more than 1 volume type",
			"spec.vsphereVolume: Forbidden: may not specify more than 1 volume type",
			"spec.photonPersistentDisk: Forbidden: may not specify more than 1 volume type",
			"spec.portworxVolume: Forbidden: may not specify more than 1 volume type",
			"spec.azureDisk: Forbidden: may not specify more than 1 volume type",
			"spec.scaleIO: Forbidden: may not specify more than 1 volume type",
			"spec.local: Forbidden: may not specify more than 1 volume type",
			"spec.storageos: Forbidden: may not specify more than 1 volume type",
		},
		`{hostPath: {path: /a}, flexVolume: {driver: a/b}}`:           nil,
		`gcePersistentDisk: {pdName: a, partition: 255}`:              nil,
		`gcePersistentDisk: {partition: 256}`:                         {"spec.persistentDisk.pdName: Required value", "spec.persistentDisk.partition: Invalid value: 256: must be between 1 and 255, inclusive"},
		`awsElasticBlockStore: {partition: -1}`:                       {"spec.awsElasticBlockStore.volumeID: Required value", "spec.awsElasticBlockStore.partition: Invalid value: -1: must be between 1 and 255, inclusive"},
		`glusterfs: {endpoints: a, path: b, endpointsNamespace: "n"}`: nil,
		`glusterfs: {endpointsNamespace: ""}`: {
			"spec.glusterfs.endpoints: Required value", "spec.glusterfs.path: Required value",
			`spec.glusterfs.endpointsNamespace: Invalid value: "": if the endpointnamespace is set, it must be a valid namespace name`,
		},
		`glusterfs: {endpoints: a, path: b, endpointsNamespace: "N"}`: {`spec.glusterfs.endpointsNamespace: Invalid value: "N": ` + validatetest.BadLabel},
		`flocker: {}`: {"spec.flocker: Required value: one of datasetName and datasetUUID is required"},
		`flocker: {datasetName: a/b, datasetUUID: c}`: {
			`spec.flocker: Invalid value: "resource": datasetName and datasetUUID can not be specified simultaneously`,
			`spec.flocker.datasetName: Invalid value: "a/b": must not contain '/'`,
		},
		`nfs: {server: "", path: ""}`:                                                                        {"spec.nfs.server: Required value", "spec.nfs.path: Required value", `spec.nfs.path: Invalid value: "": must be an absolute path`},
		`nfs: {server: s, path: a}`:                                                                          {`spec.nfs.path: Invalid value: "a": must be an absolute path`},
		`rbd: {monitors: [], image: ""}`:                                                                     {"spec.rbd.monitors: Required value", "spec.rbd.image: Required value"},
		`quobyte: {registry: "", volume: ""}`:                                                                {"spec.quobyte.registry: Required value: " + pairs, "spec.quobyte.volume: Required value"},
		`quobyte: {registry: "a:1,b:2,[::1]:3", volume: v}`:                                                  nil,
		`quobyte: {registry: "a:1,b,c", volume: v}`:                                                          {`spec.quobyte.registry: Invalid value: "a:1,b,c": ` + pairs, `spec.quobyte.registry: Invalid value: "a:1,b,c": ` + pairs},
		`quobyte: {registry: a, volume: v, tenant: ` + strings.Repeat("t", 65) + `}`:                         {"spec.quobyte.tenant: Required value: must be a UUID and may not exceed a length of 64 characters"},
		`cephfs: {monitors: []}`:                                                                             {"spec.cephfs.monitors: Required value"},
		`iscsi: {targetPortal: a, iqn: "iqn.2001-04.com.example:a", lun: 255}`:                               nil,
		`iscsi: {targetPortal: a, iqn: eui.0123456789abcdef, lun: 0}`:                                        nil,
		`iscsi: {targetPortal: a, iqn: naa.` + hex32 + `, lun: 0}`:                                           nil,
		`iscsi: {targetPortal: a, iqn: naa.` + hex32 + `0, lun: 0, initiatorName: eui.0}`:                    {`spec.iscsi.iqn: Invalid value: "naa.` + hex32 + `0": must be valid format`, `spec.iscsi.initiatorname: Invalid value: "eui.0": must be valid format`},
		`iscsi: {targetPortal: "", iqn: "", lun: 256, chapAuthDiscovery: true}`:                              {"spec.iscsi.targetPortal: Required value", "spec.iscsi.iqn: Required value", "spec.iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive", "spec.iscsi.secretRef: Required value"},
		`iscsi: {targetPortal: a, iqn: "iqn.2001-04.com.example", lun: 0, secretRef: {}, initiatorName: iq}`: {`spec.iscsi.iqn: Invalid value: "iqn.2001-04.com.example": must be valid format`, "spec.iscsi.secretRef.name: Required value", `spec.iscsi.initiatorname: Invalid value: "iq": must be valid format`},
		`iscsi: {targetPortal: ` + strings.Repeat("p", 61) + `, iqn: eui.0123456789abcdef, lun: 0, initiatorName: eui.0123456789abcdef}`: nil,
		`iscsi: {targetPortal: ` + strings.Repeat("p", 62) + `, iqn: eui.0123456789abcdef, lun: 0, initiatorName: eui.0123456789abcdef}`: {
			`spec.iscsi.targetportal: Invalid value: "` + strings.Repeat("p", 62) + `": Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.`,
		},
		`cinder: {volumeID: "", secretRef: {}}`: {"spec.cinder.volumeID: Required value", "spec.cinder.secretRef.name: Required value", "spec.cinder.secretRef.namespace: Required value"},
		`fc: {wwids: [a]}`:                      nil,
		`fc: {targetWWNs: [a], lun: 255}`:       nil,
		`fc: {}`:                                {"spec.fc.targetWWNs: Required value: must specify either targetWWNs or wwids, but not both"},
		`fc: {targetWWNs: [a], wwids: [b]}`: {
			`spec.fc.targetWWNs: Invalid value: ["a"]: targetWWNs and wwids can not be specified simultaneously`,
			"spec.fc.lun: Required value: lun is required if targetWWNs is specified",
		},
		`fc: {targetWWNs: [a], lun: 256}`: {"spec.fc.lun: Invalid value: 256: must be between 0 and 255, inclusive"},
		`flexVolume: {driver: "", options: {kubernetes.io/b: x, A.K8S.io: c, notk8s.io: z}}`: {
			"spec.flexVolume.driver: Required value",
			`spec.flexVolume.options[A.K8S.io]: Invalid value: "A.K8S.io": kubernetes.io and k8s.io namespaces are reserved`,
			`spec.flexVolume.options[kubernetes.io/b]: Invalid value: "kubernetes.io/b": kubernetes.io and k8s.io namespaces are reserved`,
		},
		`azureFile: {secretName: "", shareName: "", secretNamespace: ""}`:    {"spec.azureFile.secretName: Required value", "spec.azureFile.shareName: Required value", "spec.azureFile.secretNamespace: Required value"},
		`vsphereVolume: {volumePath: ""}`:                                    {"spec.vsphereVolume.volumePath: Required value"},
		`photonPersistentDisk: {pdID: ""}`:                                   {"spec.photonPersistentDisk.pdID: Required value"},
		`portworxVolume: {volumeID: ""}`:                                     {"spec.portworxVolume.volumeID: Required value"},
		`azureDisk: {diskName: d, diskURI: /subscriptions/a, kind: Managed}`: nil,
		`azureDisk: {diskName: d, diskURI: anything}`:                        nil,
		`azureDisk: {diskName: "", diskURI: "", cachingMode: Some, kind: Any}`: {
			"spec.azureDisk.diskName: Required value", "spec.azureDisk.diskURI: Required value",
			`spec.azureDisk.cachingMode: Unsupported value: "Some": supported values: "None", "ReadOnly", "ReadWrite"`,
			`spec.azureDisk.kind: Unsupported value: "Any": supported values: "Dedicated", "Managed", "Shared"`,
			`spec.azureDisk.diskURI: Unsupported value: "": supported values: "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"`,
		},
		`azureDisk: {diskName: d, diskURI: "https://a", kind: Managed}`: {
			`spec.azureDisk.diskURI: Unsupported value: "https://a": supported values: "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"`,
		},
		`scaleIO: {gateway: "", system: ""}`: {"spec.scaleIO.gateway: Required value", "spec.scaleIO.system: Required value", "spec.scaleIO.volumeName: Required value"},
		`local: {path: /a/..}`:               {`spec.local.path: Invalid value: "/a/..": must not contain '..'`, "spec.nodeAffinity: Required value: Local volume requires node affinity"},
		`local: {path: ""}`:                  {"spec.local.path: Required value", "spec.nodeAffinity: Required value: Local volume requires node affinity"},
		`storageos: {}`:                      {"spec.storageos.volumeName: Required value"},
		`storageos: {volumeName: A, volumeNamespace: B, secretRef: {}}`: {
			`spec.storageos.volumeName: Invalid value: "A": ` + validatetest.BadLabel, `spec.storageos.volumeNamespace: Invalid value: "B": ` + validatetest.BadLabel,
			"spec.storageos.secretRef.name: Required value", "spec.storageos.secretRef.namespace: Required value",
		},
		`csi: {driver: A.Driver, volumeHandle: h, nodeStageSecretRef: {name: A}}`: nil,
		`csi: {driver: "", volumeHandle: "", controllerPublishSecretRef: {}}`: {
			"spec.csi.driver: Required value", "spec.csi.volumeHandle: Required value",
			"spec.csi.controllerPublishSecretRef.name: Required value", "spec.csi.controllerPublishSecretRef.namespace: Required value",
		},
		`csi: {driver: ` + strings.Repeat("d", 64) + `, volumeHandle: h, nodeExpandSecretRef: {name: A, namespace: B}}`: {
			"spec.csi.driver: Too long: may not be more than 63 bytes",
			`spec.csi.nodeExpandSecretRef.name: Invalid value: "A": ` + validatetest.BadSubdomain, `spec.csi.nodeExpandSecretRef.namespace: Invalid value: "B": ` + validatetest.BadLabel,
		},
	} {
		t.Run(text, func(t *testing.T) {
			var root *validate.Path
			spec := validatetest.Parse[corev1.PersistentVolumeSpec](t, text)
			require.Equal(t, want, validatetest.Texts(validatePersistentVolumeSource(spec, "pv", root.Child("spec"))))
		})
	}

	long := &corev1.QuobyteVolumeSource{Registry: strings.Repeat(",", 100_000), Volume: "v"}
	require.Len(t, validateQuobyteVolumeSource(long, nil), maxMalformedPairs)
}

// The functions for pods differ from those for PersistentVolumes in few rules.
func TestValidateVolumeSourcesOfPods(t *testing.T) {
	var root *validate.Path
	p := root.Child("v")
	iscsi := &corev1.ISCSIVolumeSource{IQN: "a", Lun: -1, SessionCHAPAuth: true, InitiatorName: new("b")}
	require.Equal(t, []string{
		"v.targetPortal: Required value", `v.iqn: Invalid value: "a": must be valid format starting with iqn, eui, or naa`,
		"v.lun: Invalid value: -1: must be between 0 and 255, inclusive", "v.secretRef: Required value",
		`v.initiatorname: Invalid value: "b": must be valid format starting with iqn, eui, or naa`,
	}, validatetest.Texts(validateISCSIVolumeSource(iscsi, p)))
	for name, c := range map[string]struct {
		errs field.ErrorList
		want []string
	}{
		"glusterfs": {validateGlusterfsVolumeSource(&corev1.GlusterfsVolumeSource{}, p), []string{"v.endpoints: Required value", "v.path: Required value"}},
		"rbd":       {validateRBDVolumeSource(&corev1.RBDVolumeSource{}, p), []string{"v.monitors: Required value", "v.image: Required value"}},
		"cephfs":    {validateCephFSVolumeSource(&corev1.CephFSVolumeSource{}, p), []string{"v.monitors: Required value"}},
		"cinder": {validateCinderVolumeSource(&corev1.CinderVolumeSource{SecretRef: &corev1.LocalObjectReference{}}, p),
			[]string{"v.volumeID: Required value", "v.secretRef.name: Required value"}},
		"flexVolume": {validateFlexVolumeSource(&corev1.FlexVolumeSource{}, p), []string{"v.driver: Required value"}},
		"azureFile":  {validateAzureFileVolumeSource(&corev1.AzureFileVolumeSource{}, p), []string{"v.secretName: Required value", "v.shareName: Required value"}},
		"scaleIO": {validateScaleIOVolumeSource(&corev1.ScaleIOVolumeSource{}, p),
			[]string{"v.gateway: Required value", "v.system: Required value", "v.volumeName: Required value"}},
		"storageos": {validateStorageOSVolumeSource(&corev1.StorageOSVolumeSource{SecretRef: &corev1.LocalObjectReference{}}, p),
			[]string{"v.volumeName: Required value", "v.secretRef.name: Required value"}},
	} {
		require.Equal(t, c.want, validatetest.Texts(c.errs), name)
	}
}

func TestValidatePathsInVolumes(t *testing.T) {
	for path, want := range map[string][]string{
		"":        nil,
		"a/b..":   nil,
		"a/..b":   nil,
		"..b":     {`p: Invalid value: "..b": must not start with '..'`},
		"..":      {`p: Invalid value: "..": must not contain '..'`, `p: Invalid value: "..": must not start with '..'`},
		"../b":    {`p: Invalid value: "../b": must not contain '..'`},
		"/a/../b": {`p: Invalid value: "/a/../b": must be a relative path`, `p: Invalid value: "/a/../b": must not contain '..'`},
	} {
		var root *validate.Path
		require.Equal(t, want, validatetest.Texts(validateLocalNonReservedPath(path, root.Child("p"))), path)
	}
}

// The sources are validated with every write of a pod.
func TestValidVolumeSourcesAreNotAllocated(t *testing.T) {
	var root *validate.Path
	hostPath := &corev1.HostPathVolumeSource{Path: "/a/b", Type: new(corev1.HostPathFile)}
	nfs := &corev1.NFSVolumeSource{Server: "a", Path: "/b"}
	iscsi := &corev1.ISCSIVolumeSource{TargetPortal: "a", IQN: "eui.0123456789abcdef"}
	flex := &corev1.FlexVolumeSource{Driver: "a/b", Options: map[string]string{"example.com/a": "b", "c": "d"}}
	allocations := validatetest.AllocsPerRun(100, func() {
		p := root.Child("spec").Child("volumes").Index(1)
		if len(validateHostPathVolumeSource(hostPath, p))+len(validateNFSVolumeSource(nfs, p))+
			len(validateISCSIVolumeSource(iscsi, p))+len(validateFlexVolumeSource(flex, p))+
			len(ValidateCSIDriverName("csi.example.com", p))+len(validateLocalNonReservedPath("a/b", p)) > 0 {
			t.Fail()
		}
	})
	require.Zero(t, allocations)
}
