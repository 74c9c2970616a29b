package core

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource/validate"
	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestContainerWarnings(t *testing.T) {
	const again = "which may be dropped when using apply"
	for _, test := range []validationCase{
		{`containers: [{name: a, ports: [{containerPort: 1}, {containerPort: 1, protocol: UDP}, {containerPort: 2}], env: [{name: A, value: x}, {name: A, value: "$(A)y"}]}]`, nil},
		{`containers: [{name: a, env: [{name: A}, {name: A}, {name: A, value: $(A)}, {name: A, value: "$(A)x", valueFrom: {}}]}]`, []string{
			`spec.containers[0].env[1]: hides previous definition of "A", ` + again,
			`spec.containers[0].env[2]: hides previous definition of "A", ` + again,
			`spec.containers[0].env[3]: hides previous definition of "A", ` + again,
		}},
		{`containers: [{name: a}], initContainers: [{name: b, resources: {limits: {memory: 1m, cpu: 1m}, requests: {memory: "1.5", ephemeral-storage: 1k}}}], ephemeralContainers: [{name: c, resources: {limits: {ephemeral-storage: 1m}}}]`, []string{
			`spec.initContainers[0].resources.limits[memory]: fractional byte value "1m" is invalid, must be an integer`,
			`spec.initContainers[0].resources.requests[memory]: fractional byte value "1500m" is invalid, must be an integer`,
			`spec.ephemeralContainers[0].resources.limits[ephemeral-storage]: fractional byte value "1m" is invalid, must be an integer`,
		}},
		{`containers: [{name: a, ports: [{containerPort: 1, hostIP: 10.0.0.1}, {containerPort: 1, hostPort: 2}, {containerPort: 1, hostPort: 2, hostIP: 10.0.0.1}]}], initContainers: [{name: b, ports: [{containerPort: 1, name: x}]}]`, []string{
			"spec.containers[0].ports[0]: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:1 Protocol:TCP HostIP:10.0.0.1}",
			"spec.containers[0].ports[0]: overlapping port definition with spec.initContainers[0].ports[0]",
			"spec.containers[0].ports[1]: overlapping port definition with spec.initContainers[0].ports[0]",
			"spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]",
			"spec.containers[0].ports[2]: overlapping port definition with spec.initContainers[0].ports[0]",
			"spec.containers[0].ports[2]: overlapping port definition with spec.containers[0].ports[0]",
			"spec.containers[0].ports[2]: dangerously ambiguous port definition with spec.containers[0].ports[1]",
		}},
		{`containers: [{name: a, ports: [{containerPort: 1, name: x}]}, {name: b, ports: [{containerPort: 1}, {containerPort: 2, name: x}]}]`, []string{
			"spec.containers[1].ports[0]: duplicate port definition with spec.containers[0].ports[0]",
			`spec.containers[1].ports[1]: duplicate port name "x" with spec.containers[0].ports[0], services and probes that select ports by name will use spec.containers[0].ports[0]`,
		}},
	} {
		pod := validatetest.Parse[corev1.Pod](t, "spec: {"+test.part+"}")
		setPodSpecDefaults(&pod.Spec)
		var root *validate.Path
		require.Equal(t, test.want, containerWarnings(&pod.Spec, nil, root), test.part)
	}
}

func TestVolumeWarnings(t *testing.T) {
	for _, test := range []validationCase{
		{`{name: a, configMap: {name: c, items: [{key: a, path: a/b}, {key: b, path: a/bc}, {key: c, path: ""}]}}, {name: b, projected: {sources: [{secret: {name: s}}, {serviceAccountToken: {path: t}}]}}`, nil},
		{`{name: a, gitRepo: {}}, {name: b, photonPersistentDisk: {}}, {name: c, scaleIO: {}}, {name: d, flocker: {}}, {name: e, storageos: {}}, {name: f, quobyte: {}}, {name: g, glusterfs: {}}, {name: h, cephfs: {}}, {name: i, rbd: {}}`, []string{
			"spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+",
			"spec.volumes[1].photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+",
			"spec.volumes[2].scaleIO: deprecated in v1.16, non-functional in v1.22+",
			"spec.volumes[3].flocker: deprecated in v1.22, non-functional in v1.25+",
			"spec.volumes[4].storageOS: deprecated in v1.22, non-functional in v1.25+",
			"spec.volumes[5].quobyte: deprecated in v1.22, non-functional in v1.25+",
			"spec.volumes[6].glusterfs: deprecated in v1.25, non-functional in v1.26+",
			"spec.volumes[7].cephfs: deprecated in v1.28, non-functional in v1.31+",
			"spec.volumes[8].rbd: deprecated in v1.28, non-functional in v1.31+",
		}},
		{`{name: a, ephemeral: {volumeClaimTemplate: {spec: {resources: {requests: {storage: 1m}}}}}}`, []string{
			`spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources.requests[storage]: fractional byte value "1m" is invalid, must be an integer`,
		}},
		{`{name: a, configMap: {name: c, items: [{key: a, path: a/}, {key: b, path: a}, {key: c, path: a/b}]}}, {name: b, secret: {secretName: s, items: [{key: a, path: a/b}, {key: b, path: a}]}},
			{name: c, downwardAPI: {items: [{path: a}, {path: a}]}}`, []string{
			`volume "a" (ConfigMap "c"): overlapping paths: "a" with "a"`,
			`volume "a" (ConfigMap "c"): overlapping paths: "a/b" with "a"`,
			`volume "a" (ConfigMap "c"): overlapping paths: "a/b" with "a"`,
			`volume "b" (Secret "s"): overlapping paths: "a" with "a/b"`,
			`volume "c" (DownwardAPI): overlapping paths: "a" with "a"`,
		}},
		{`{name: a, projected: {sources: [{configMap: {name: c, items: [{key: a, path: a}]}}, {secret: {name: s, items: [{key: a, path: a/b}]}}, {}, {downwardAPI: {items: [{path: a}]}}, {serviceAccountToken: {path: a/b/c}},
			{clusterTrustBundle: {name: m, path: a/d}}, {clusterTrustBundle: {path: a}}]}}`, []string{
			`volume "a" (Projected) has no sources provided`,
			`volume "a" (Projected): overlapping paths: "a/b" (Secret "s") with "a" (ConfigMap "c")`,
			`volume "a" (Projected): overlapping paths: "a" (DownwardAPI) with "a" (ConfigMap "c")`,
			`volume "a" (Projected): overlapping paths: "a" (DownwardAPI) with "a/b" (Secret "s")`,
			`volume "a" (Projected): overlapping paths: "a/b/c" (ServiceAccountToken) with "a" (ConfigMap "c")`,
			`volume "a" (Projected): overlapping paths: "a/b/c" (ServiceAccountToken) with "a/b" (Secret "s")`,
			`volume "a" (Projected): overlapping paths: "a/b/c" (ServiceAccountToken) with "a" (DownwardAPI)`,
			`volume "a" (Projected): overlapping paths: "a/d" (ClusterTrustBundle "m") with "a" (ConfigMap "c")`,
			`volume "a" (Projected): overlapping paths: "a/d" (ClusterTrustBundle "m") with "a" (DownwardAPI)`,
		}},
		{`{name: a, projected: {sources: [{podCertificate: {certificateChainPath: c, keyPath: k}}, {podCertificate: {credentialBundlePath: k/b}}, {serviceAccountToken: {path: c}}]}}`, []string{
			`volume "a" (Projected): overlapping paths: "k/b" (PodCertificate credential bundle) with "k" (PodCertificate key)`,
			`volume "a" (Projected): overlapping paths: "c" (ServiceAccountToken) with "c" (PodCertificate chain)`,
		}},
	} {
		pod := validatetest.Parse[corev1.Pod](t, "spec: {volumes: ["+test.part+"]}")
		var root *validate.Path
		require.Equal(t, test.want, volumeWarnings(&pod.Spec, root.Child("spec")), test.part)
	}
}
