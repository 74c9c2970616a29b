package core

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

const resizablePod = `
metadata: {name: p}
spec:
  initContainers:
  - {name: init, image: i, resources: {requests: {cpu: 1}}}
  - {name: proxy, image: i, restartPolicy: Always, resources: {requests: {cpu: 1}}}
  containers:
  - {name: a, image: i, resources: {requests: {cpu: 1, memory: 1Gi, ephemeral-storage: 1Gi}, limits: {cpu: 2}}}
  - {name: b, image: i}
status: {qosClass: Burstable}
`

func TestValidatePodResize(t *testing.T) {
	for _, test := range []struct {
		name, old, spec string
		want            []string
	}{
		{"nothing", resizablePod, "{}", nil},
		{"values", resizablePod, `{initContainers: [{name: init, resources: {requests: {cpu: 2}}}, {name: proxy, resources: {requests: {cpu: 2}, limits: {memory: 1Gi}}}],
			containers: [{name: a, resources: {requests: {cpu: 2, memory: 2Gi, ephemeral-storage: 1Gi}, limits: {cpu: 4}}}, {name: b, resources: {requests: {memory: 1Gi}}}]}`, nil},
		{"removed", resizablePod, `{initContainers: [{name: init}, {name: proxy, resources: {}}],
			containers: [{name: a, resources: {requests: {cpu: 2}, limits: {memory: 1Gi}}}, {name: b}]}`, []string{
			"spec.initContainers[0].resources.requests: Forbidden: resource requests cannot be removed",
			"spec.initContainers[1].resources.requests: Forbidden: resource requests cannot be removed",
			"spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed",
			"spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed",
			"spec: Forbidden: only cpu and memory resources are mutable",
		}},
		{"other resources", resizablePod, `{initContainers: [{name: init, resources: {requests: {cpu: 1, ephemeral-storage: 1}}}, {name: proxy, resources: {requests: {cpu: 1}, limits: {ephemeral-storage: 1}}}],
			containers: [{name: a, resources: {requests: {cpu: 1, memory: 1Gi, ephemeral-storage: 2Gi}, limits: {cpu: 2}}}, {name: b}]}`, []string{
			"spec: Forbidden: only cpu and memory resources are mutable",
			"spec.initContainers[0]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable",
			"spec.initContainers[1]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable",
		}},
		{"invalid", resizablePod, `{containers: [{name: a, resources: {requests: {cpu: 3, memory: 1Gi, ephemeral-storage: 1Gi}, limits: {cpu: 2}}}, {name: b}]}`, []string{
			`spec.containers[0].resources.requests: Invalid value: "3": must be less than or equal to cpu limit of 2`,
		}},
		{"restart of an init container", resizablePod, `{initContainers: [{name: init, resources: {requests: {cpu: 2}}, resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}]},
			{name: proxy, resources: {requests: {cpu: 2}}}]}`, []string{
			`spec.initContainers[0].resizePolicy[0].restartPolicy: Invalid value: "RestartContainer": must not be set to 'RestartContainer' for non-sidecar initContainers`,
			"spec.initContainers[0]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable",
			"spec.initContainers[0]: Forbidden: non-sidecar init containers with a resize policy of RestartContainer cannot be resized",
		}},
		{"added", resizablePod, `{containers: [{name: a, image: i}, {name: b, image: i}, {name: c, image: i}]}`, []string{
			"spec.containers: Forbidden: containers may not be added or removed on resize"}},
		{"renamed", resizablePod, `{containers: [{name: b, image: i}, {name: c, image: i}], initContainers: [{name: proxy, image: i}, {name: init, image: i}]}`, []string{
			"spec: Invalid value: \"Burstable\": Pod QOS Class may not change as a result of resizing",
			"spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize",
			"spec.containers[1].name: Forbidden: containers may not be renamed or reordered on resize",
			"spec.initContainers[0].name: Forbidden: initContainers may not be renamed or reordered on resize",
			"spec.initContainers[1].name: Forbidden: initContainers may not be renamed or reordered on resize",
		}},
		{"class", `{spec: {containers: [{name: a, image: i}]}}`, `{containers: [{name: a, resources: {requests: {cpu: 1}}}]}`, []string{
			`spec: Invalid value: "": Pod QOS Class may not change as a result of resizing`}},
		{"running without support", `{spec: {containers: [{name: a, image: i, resources: {requests: {cpu: 1}}}]}, status: {containerStatuses: [{name: a, state: {running: {}}}]}}`,
			`{containers: [{name: a, resources: {requests: {cpu: 2}}}]}`, []string{"spec: Forbidden: Pod running on node without support for resize"}},
		{"running", `{spec: {containers: [{name: a, image: i, resources: {requests: {cpu: 1}}}]}, status: {containerStatuses: [{name: a, state: {running: {}}, resources: {}}]}}`,
			`{containers: [{name: a, resources: {requests: {cpu: 2}}}]}`, nil},
		{"mirror pod", `{metadata: {annotations: {kubernetes.io/config.mirror: a}}, spec: {nodeName: node, containers: [{name: a, image: i}]}}`, "{}", []string{
			"[]: Forbidden: static pods cannot be resized"}},
		{"Windows", `{spec: {os: {name: windows}, containers: [{name: a, image: i}]}}`, "{}", []string{"[]: Forbidden: windows pods cannot be resized"}},
		{"of the pod", `{spec: {resources: {requests: {cpu: 1}}, containers: [{name: a, image: i}]}}`, `{resources: {requests: {cpu: 2}, limits: {memory: 1Gi}}}`, nil},
		{"new for the pod", `{spec: {containers: [{name: a, image: i, resources: {requests: {cpu: 1}}}]}}`, `{resources: {requests: {cpu: 2}}}`, nil},
		{"empty for the pod", `{spec: {containers: [{name: a, image: i, resources: {requests: {cpu: 1}}}]}}`, `{resources: {requests: {}}}`, []string{
			"spec: Forbidden: only cpu and memory resources are mutable"}},
		{"empty for the pod and other errors", `{spec: {containers: [{name: a, image: i, resources: {requests: {cpu: 1, memory: 1}}}]}}`,
			`{resources: {}, containers: [{name: a, image: i, resources: {requests: {cpu: 1}}}]}`, []string{
				"spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed"}},
		{"removed from the pod", `{spec: {resources: {requests: {cpu: 1}}, containers: [{name: a, image: i, resources: {requests: {cpu: 1}}}]}}`, `{resources: null}`, nil},
		{"other for the pod", `{spec: {resources: {requests: {cpu: 1}}, containers: [{name: a, image: i}]}}`, `{resources: {requests: {memory: 1Gi, hugepages-2Mi: 2Mi}, limits: {hugepages-2Mi: 2Mi}}}`, []string{
			"spec.resources.requests: Forbidden: pod-level resource requests cannot be removed",
			"spec: Forbidden: only cpu and memory resources are mutable at pod-level"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			old := defaultedPod(t, test.old)
			old.Status = validatetest.Parse[corev1.Pod](t, test.old).Status
			pod := old.DeepCopy()
			sent := validatetest.Parse[corev1.PodSpec](t, test.spec)
			if sent.Containers != nil {
				pod.Spec.Containers = sent.Containers
			}
			if sent.InitContainers != nil {
				pod.Spec.InitContainers = sent.InitContainers
			}
			if sent.Resources != nil || test.spec == "{resources: null}" {
				pod.Spec.Resources = sent.Resources
			}
			for i := range pod.Spec.InitContainers {
				pod.Spec.InitContainers[i].RestartPolicy = old.Spec.InitContainers[i].RestartPolicy
			}
			setPodDefaults(pod)
			preparePodResizeForUpdate(t.Context(), pod, old)
			require.Equal(t, test.want, validatetest.Texts(validatePodResizeUpdate(pod, old)))
		})
	}
}

func TestValidatePodEphemeralContainersUpdate(t *testing.T) {
	old := simplePod(t, "")
	for _, test := range []struct {
		old, updated string
		want         []string
	}{
		{"[]", "[{name: a, image: i}]", nil},
		{"[{name: a, image: i}]", "[{name: b, image: i}, {name: a, image: i}]", nil},
		{"[{name: a, image: i}, {name: b, image: i}]", "[{name: b, image: i}]", []string{
			"spec.ephemeralContainers: Forbidden: existing ephemeral containers \"a\" may not be removed\n"}},
		{"[{name: a, image: i}]", "[{name: a, image: j}]", []string{
			"spec.ephemeralContainers: Forbidden: existing ephemeral containers \"a\" may not be changed\n"}},
		{"[]", "[{name: c, image: i, livenessProbe: {tcpSocket: {port: 1}}}, {}]", []string{
			`spec.ephemeralContainers[0].name: Duplicate value: "c"`,
			"spec.ephemeralContainers[0].livenessProbe: Forbidden: cannot be set for an Ephemeral Container",
			"spec.ephemeralContainers[1].name: Required value",
			"spec.ephemeralContainers[1].image: Required value"}},
	} {
		t.Run(fmt.Sprint(test.old, test.updated), func(t *testing.T) {
			before := old.DeepCopy()
			before.Spec.EphemeralContainers = *validatetest.Parse[[]corev1.EphemeralContainer](t, test.old)
			setPodDefaults(before)
			pod := before.DeepCopy()
			pod.Spec.EphemeralContainers = *validatetest.Parse[[]corev1.EphemeralContainer](t, test.updated)
			pod.Spec.HostPID = true
			setPodDefaults(pod)
			preparePodEphemeralContainersForUpdate(t.Context(), pod, before)
			got := validatetest.Texts(validatePodEphemeralContainersUpdate(pod, before))
			require.Len(t, got, len(test.want), "%q", got)
			for i := range got {
				require.Contains(t, got[i], test.want[i])
			}
		})
	}
	old.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "a"}
	require.Equal(t, []string{"[]: Forbidden: static pods do not support ephemeral containers"}, validatetest.Texts(validatePodEphemeralContainersUpdate(old.DeepCopy(), old)))
}
