package fakeapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	fakeapi "example.com/fakeapi/fake"
)

func newDebugger(name string) corev1.EphemeralContainer {
	return corev1.EphemeralContainer{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: name, Image: "d:1"}}
}

// The subresource ephemeralcontainers adds ephemeral containers and changes nothing else.
func TestEphemeralContainers(t *testing.T) {
	_, client := startClient(t)
	ctx := t.Context()
	pods := client.CoreV1().Pods("default")
	created, err := pods.Create(ctx, newPod("p"), metav1.CreateOptions{})
	require.NoError(t, err)

	sent := created.DeepCopy()
	sent.Labels = map[string]string{"other": "label"}
	sent.Spec.NodeName, sent.Status.Message = "n", "m"
	sent.Spec.EphemeralContainers = []corev1.EphemeralContainer{newDebugger("d")}
	pod, err := pods.UpdateEphemeralContainers(ctx, "p", sent, metav1.UpdateOptions{FieldManager: "debug"})
	require.NoError(t, err)
	require.Equal(t, created.Labels, pod.Labels)
	require.Equal(t, created.Status, pod.Status)
	require.Empty(t, pod.Spec.NodeName)
	require.Len(t, pod.Spec.EphemeralContainers, 1)
	require.Equal(t, created.Generation+1, pod.Generation)
	last := managedFieldsOf(t, pod, "debug")
	require.Equal(t, "ephemeralcontainers", last.Subresource)
	require.Equal(t, `{"f:spec":{"f:ephemeralContainers":{".":{},"k:{\"name\":\"d\"}":{".":{},"f:image":{},"f:imagePullPolicy":{},`+
		`"f:name":{},"f:resources":{},"f:terminationMessagePath":{},"f:terminationMessagePolicy":{}}}}}`, last.FieldsV1.GetRawString())

	// The patch of kubectl debug.
	pod, err = pods.Patch(ctx, "p", types.StrategicMergePatchType,
		[]byte(`{"spec":{"ephemeralContainers":[{"name":"e","image":"e:1","targetContainerName":"c"}]}}`), metav1.PatchOptions{}, "ephemeralcontainers")
	require.NoError(t, err)
	require.Len(t, pod.Spec.EphemeralContainers, 2)

	for want, change := range map[string]func(*corev1.Pod){
		`spec.ephemeralContainers: Forbidden: existing ephemeral containers "d" may not be removed`: func(p *corev1.Pod) { p.Spec.EphemeralContainers = nil },
		`spec.ephemeralContainers: Forbidden: existing ephemeral containers "e" may not be changed`: func(p *corev1.Pod) { p.Spec.EphemeralContainers[0].Image = "x" },
		`spec.ephemeralContainers[2].name: Duplicate value: "c"`:                                    addEphemeralContainer(newDebugger("c")),
		`spec.ephemeralContainers[2].name: Required value`:                                          addEphemeralContainer(newDebugger("")),
		`spec.ephemeralContainers[2].image: Required value`:                                         addEphemeralContainer(corev1.EphemeralContainer{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "f"}}),
		`spec.ephemeralContainers[2].targetContainerName: Not found: "none"`:                        addEphemeralContainer(func() corev1.EphemeralContainer { c := newDebugger("f"); c.TargetContainerName = "none"; return c }()),
		`spec.ephemeralContainers[2].ports: Forbidden: cannot be set for an Ephemeral Container`: addEphemeralContainer(func() corev1.EphemeralContainer {
			c := newDebugger("f")
			c.Ports = []corev1.ContainerPort{{ContainerPort: 1}}
			return c
		}()),
		`spec.ephemeralContainers[2].name: Invalid value: "F": a lowercase RFC 1123 label must consist of lower case alphanumeric`: addEphemeralContainer(newDebugger("F")),
	} {
		bad := pod.DeepCopy()
		change(bad)
		_, err := pods.UpdateEphemeralContainers(ctx, "p", bad, metav1.UpdateOptions{})
		require.True(t, apierrors.IsInvalid(err), "%s: %v", want, err)
		require.ErrorContains(t, err, want)
	}
}

func addEphemeralContainer(c corev1.EphemeralContainer) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.EphemeralContainers = append(p.Spec.EphemeralContainers, c) }
}

func quantities(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

func makeBurstable(p *corev1.Pod) {
	p.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: quantities("1", "1Gi"), Limits: quantities("2", "2Gi")}
}

// The subresource resize changes CPU and memory of containers and nothing else.
func TestResize(t *testing.T) {
	_, client := startClient(t)
	ctx := t.Context()
	pods := client.CoreV1().Pods("default")
	created, err := pods.Create(ctx, newPod("p", makeBurstable), metav1.CreateOptions{})
	require.NoError(t, err)

	sent := created.DeepCopy()
	sent.Labels, sent.Spec.NodeName, sent.Spec.Containers[0].Image = nil, "n", "other"
	sent.Spec.Containers[0].Resources.Requests = quantities("1500m", "1Gi")
	pod, err := pods.UpdateResize(ctx, "p", sent, metav1.UpdateOptions{FieldManager: "sizer"})
	require.NoError(t, err)
	require.Equal(t, created.Labels, pod.Labels)
	require.Equal(t, "i:1", pod.Spec.Containers[0].Image)
	require.Empty(t, pod.Spec.NodeName)
	require.Equal(t, "1500m", pod.Spec.Containers[0].Resources.Requests.Cpu().String())
	require.Equal(t, created.Generation+1, pod.Generation)
	last := managedFieldsOf(t, pod, "sizer")
	require.Equal(t, "resize", last.Subresource)
	require.Equal(t, `{"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{"f:resources":{"f:requests":{"f:cpu":{}}}}}}}`, last.FieldsV1.GetRawString())

	pod, err = pods.Patch(ctx, "p", types.StrategicMergePatchType,
		[]byte(`{"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"3"}}}]}}`), metav1.PatchOptions{}, "resize")
	require.NoError(t, err)
	require.Equal(t, "3", pod.Spec.Containers[0].Resources.Limits.Cpu().String())

	for want, change := range map[string]func(*corev1.Container){
		`spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing`: func(c *corev1.Container) { c.Resources.Requests = c.Resources.Limits },
		`spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed`:      func(c *corev1.Container) { delete(c.Resources.Limits, corev1.ResourceMemory) },
		`spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed`: func(c *corev1.Container) {
			delete(c.Resources.Requests, corev1.ResourceMemory)
			delete(c.Resources.Limits, corev1.ResourceMemory) // it would be the default of the request
		},
		`spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize`: func(c *corev1.Container) { c.Name = "d" },
		`spec: Forbidden: only cpu and memory resources are mutable`: func(c *corev1.Container) {
			c.Resources.Requests[corev1.ResourceEphemeralStorage] = resource.MustParse("1Gi")
		},
	} {
		bad := pod.DeepCopy()
		change(&bad.Spec.Containers[0])
		_, err := pods.UpdateResize(ctx, "p", bad, metav1.UpdateOptions{})
		require.True(t, apierrors.IsInvalid(err), "%s: %v", want, err)
		require.ErrorContains(t, err, want)
	}
	bad := pod.DeepCopy()
	bad.Spec.Containers = append(bad.Spec.Containers, corev1.Container{Name: "d", Image: "d"})
	_, err = pods.UpdateResize(ctx, "p", bad, metav1.UpdateOptions{})
	require.ErrorContains(t, err, "spec.containers: Forbidden: containers may not be added or removed on resize")
}

// Static pods cannot have ephemeral containers and cannot be resized.
func TestStaticPods(t *testing.T) {
	_, client := startClient(t, fakeapi.WithObjects(newPod("p", func(p *corev1.Pod) {
		p.Annotations, p.Spec.NodeName = map[string]string{corev1.MirrorPodAnnotationKey: "x"}, "n"
	})))
	ctx := t.Context()
	pods := client.CoreV1().Pods("default")
	pod, err := pods.Get(ctx, "p", metav1.GetOptions{})
	require.NoError(t, err)
	_, err = pods.UpdateResize(ctx, "p", pod, metav1.UpdateOptions{})
	require.ErrorContains(t, err, "static pods cannot be resized")
	_, err = pods.UpdateEphemeralContainers(ctx, "p", pod, metav1.UpdateOptions{})
	require.ErrorContains(t, err, "static pods do not support ephemeral containers")
}

// An apply to a subresource owns the fields of the subresource.
func TestApplyToPodSubresources(t *testing.T) {
	_, client := startClient(t)
	ctx := t.Context()
	pods := client.CoreV1().Pods("default")
	_, err := pods.Create(ctx, newPod("p", makeBurstable), metav1.CreateOptions{FieldManager: "creator"})
	require.NoError(t, err)
	apply := func(subresource, config string, force bool) (*corev1.Pod, error) {
		return pods.Patch(ctx, "p", types.ApplyYAMLPatchType, []byte(config), metav1.PatchOptions{FieldManager: subresource + "r", Force: &force}, subresource)
	}
	const resized = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"l":"v"}},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1200m"}}}]}}`
	_, err = apply("resize", resized, false)
	require.True(t, apierrors.IsConflict(err), err)
	pod, err := apply("resize", resized, true)
	require.NoError(t, err)
	require.Equal(t, "1200m", pod.Spec.Containers[0].Resources.Requests.Cpu().String())
	require.NotContains(t, pod.Labels, "l")
	entry := managedFieldsOf(t, pod, "resizer")
	require.Equal(t, metav1.ManagedFieldsOperationApply, entry.Operation)
	require.Equal(t, "resize", entry.Subresource)
	require.Equal(t, `{"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:resources":{"f:requests":{"f:cpu":{}}}}}}}`, entry.FieldsV1.GetRawString())

	pod, err = apply("ephemeralcontainers", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"ephemeralContainers":[{"name":"d","image":"d:1"}]}}`, false)
	require.NoError(t, err)
	require.Len(t, pod.Spec.EphemeralContainers, 1)
	require.Equal(t, "ephemeralcontainers", managedFieldsOf(t, pod, "ephemeralcontainersr").Subresource)
}

// The resources of the pod and of sidecar containers can be resized.
func TestResizeOfPodsAndSidecars(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	_, client := startClient(t)
	ctx := t.Context()
	pods := client.CoreV1().Pods("default")
	restarts := []corev1.ContainerResizePolicy{{ResourceName: corev1.ResourceCPU, RestartPolicy: corev1.RestartContainer}}
	pod, err := pods.Create(ctx, newPod("p", makeBurstable, func(p *corev1.Pod) {
		p.Spec.Resources = &corev1.ResourceRequirements{Requests: quantities("1", "1Gi")}
		p.Spec.InitContainers = []corev1.Container{
			{Name: "once", Image: "i:1"},
			{Name: "sidecar", Image: "i:1", ResizePolicy: restarts, RestartPolicy: &always},
		}
	}), metav1.CreateOptions{})
	require.NoError(t, err)

	pod.Spec.Resources.Requests = quantities("2", "2Gi")
	pod.Spec.InitContainers[1].Resources.Requests = quantities("1", "1Gi")
	pod, err = pods.UpdateResize(ctx, "p", pod, metav1.UpdateOptions{FieldManager: "sizer"})
	require.NoError(t, err)
	require.Equal(t, "2", pod.Spec.Resources.Requests.Cpu().String())
	require.Equal(t, `{"f:spec":{"f:initContainers":{"k:{\"name\":\"sidecar\"}":{"f:resources":{"f:requests":{".":{},"f:cpu":{},"f:memory":{}}}}}}}`,
		managedFieldsOf(t, pod, "sizer").FieldsV1.GetRawString(), "a resize does not own the resources of the pod as a whole")
	require.Equal(t, "1", pod.Spec.InitContainers[1].Resources.Requests.Cpu().String())

	without := pod.DeepCopy()
	without.Spec.Resources = nil
	kept, err := pods.UpdateResize(ctx, "p", without, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.Equal(t, pod.Spec.Resources, kept.Spec.Resources, "a body without the field keeps it")
	pod = kept

	for want, change := range map[string]func(*corev1.PodSpec){
		"spec: Forbidden: only cpu and memory resources are mutable at pod-level": func(s *corev1.PodSpec) {
			s.Resources.Limits = corev1.ResourceList{"hugepages-2Mi": resource.MustParse("2Mi")}
		},
		"spec.initContainers[0]: Forbidden: non-sidecar init containers with a resize policy of RestartContainer cannot be resized": func(s *corev1.PodSpec) {
			s.InitContainers[0].Resources.Requests, s.InitContainers[0].ResizePolicy = quantities("1", "1Gi"), restarts
		},
		"spec.initContainers[1]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable": func(s *corev1.PodSpec) {
			s.InitContainers[1].ResizePolicy = nil
		},
	} {
		bad := pod.DeepCopy()
		change(&bad.Spec)
		_, err := pods.UpdateResize(ctx, "p", bad, metav1.UpdateOptions{})
		require.True(t, apierrors.IsInvalid(err), "%s: %v", want, err)
		require.ErrorContains(t, err, want)
	}
}

// A resize on a node must fit into it, and the node must declare the feature for what is resized.
func TestResizeOnNode(t *testing.T) {
	node := func(name, system string, features ...string) *corev1.Node {
		return &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelOSStable: system}},
			Status:     corev1.NodeStatus{Allocatable: quantities("2", "4Gi"), DeclaredFeatures: features},
		}
	}
	features := []string{"InPlacePodLevelResourcesVerticalScaling", "InPlacePodVerticalScalingInitContainers"}
	_, client := startClient(t, fakeapi.WithObjects(node("linux", "linux"), node("new", "linux", features...), node("other", "windows", features...),
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "unlabeled"}, Status: corev1.NodeStatus{Allocatable: quantities("2", "4Gi")}}))
	pods := client.CoreV1().Pods("default")
	resize := func(node string, change func(*corev1.PodSpec)) error {
		pod, err := pods.Create(t.Context(), newPod("", makeBurstable, func(p *corev1.Pod) {
			p.GenerateName, p.Spec.NodeName = "p-", node
			p.Spec.InitContainers = []corev1.Container{{Name: "once", Image: "i:1", Resources: p.Spec.Containers[0].Resources}}
			p.Spec.Resources = &corev1.ResourceRequirements{Requests: quantities("1", "1Gi")}
		}), metav1.CreateOptions{})
		require.NoError(t, err)
		change(&pod.Spec)
		_, err = pods.UpdateResize(t.Context(), pod.Name, pod, metav1.UpdateOptions{})
		return err
	}
	request := func(cpu, memory string) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) { s.Containers[0].Resources.Requests = quantities(cpu, memory) }
	}
	ofPod := func(cpu, memory string) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) {
			s.Resources.Requests, s.Resources.Limits = quantities(cpu, memory), quantities("8", "8Gi")
		}
	}
	ofInitContainer := func(s *corev1.PodSpec) { s.InitContainers[0].Resources.Requests = quantities("800m", "1Gi") }
	for _, c := range []struct {
		node, want, cause string
		change            func(*corev1.PodSpec)
	}{
		{"linux", "", "", request("1", "512Mi")},
		{"linux", "", "", request("1000m", "1024Mi")},
		{"unlabeled", "", "", request("1", "512Mi")},
		{"missing", "", "", func(*corev1.PodSpec) {}},
		{"missing", `node "missing" not found`, "", request("1", "512Mi")},
		{"other", `pod resize is only supported on linux nodes, node "other" is "windows"`, "UnsupportedPlatform", request("1", "512Mi")},
		{"other", `pod resize is only supported on linux nodes, node "other" is "windows"`, "UnsupportedPlatform", ofPod("3", "5Gi")},
		{"new", `node didn't have enough allocatable resources: cpu, requested: 3000, allocatable: 2000; memory, requested: 5368709120, allocatable: 4294967296`,
			"NodeCapacity", ofPod("3", "5Gi")},
		{"linux", `pod update requires features InPlacePodLevelResourcesVerticalScaling which are not available on node "linux"`, "", ofPod("2", "1Gi")},
		{"new", "", "", ofPod("2", "1Gi")},
		{"linux", `pod update requires features InPlacePodVerticalScalingInitContainers which are not available on node "linux"`, "", ofInitContainer},
		{"new", "", "", ofInitContainer},
	} {
		err := resize(c.node, c.change)
		if c.want == "" {
			require.NoError(t, err, c.node)
			continue
		}
		require.True(t, apierrors.IsForbidden(err), "%s: %v", c.want, err)
		require.ErrorContains(t, err, " is forbidden: "+c.want)
		var refusal *apierrors.StatusError
		require.ErrorAs(t, err, &refusal)
		if c.cause == "" {
			require.Empty(t, refusal.ErrStatus.Details.Causes)
			continue
		}
		require.Equal(t, []metav1.StatusCause{{Type: metav1.CauseType(c.cause)}}, refusal.ErrStatus.Details.Causes)
	}
}
