package plugins

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/fake/internal/admission"
)

func toleration(key string, effect corev1.TaintEffect) corev1.Toleration {
	return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect}
}

func TestDefaultTolerationSeconds(t *testing.T) {
	for name, c := range map[string]struct {
		has   []corev1.Toleration
		added []string
	}{
		"none":         {nil, []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable}},
		"one":          {[]corev1.Toleration{toleration(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute)}, []string{corev1.TaintNodeUnreachable}},
		"other effect": {[]corev1.Toleration{toleration(corev1.TaintNodeNotReady, corev1.TaintEffectNoSchedule)}, []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable}},
		"all":          {[]corev1.Toleration{toleration("", "")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			pod := newPod(nil, nil)
			pod.Spec.Tolerations = c.has
			require.NoError(t, call(t, newDefaultTolerationSeconds(Dependencies{}), writeOf(pods, pod, nil)))
			var added []string
			for _, one := range pod.Spec.Tolerations[len(c.has):] {
				require.Equal(t, int64(300), *one.TolerationSeconds)
				added = append(added, one.Key)
			}
			require.Equal(t, c.added, added)
		})
	}
}

func TestPriority(t *testing.T) {
	never := corev1.PreemptNever
	p := newPriority(Dependencies{Objects: storedObjects{priorityClasses: {
		&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "gold"}, Value: 9, PreemptionPolicy: &never},
	}}})
	pod := newPod(nil, nil)
	require.NoError(t, call(t, p, writeOf(pods, pod, nil)))
	require.Equal(t, int32(0), *pod.Spec.Priority)
	require.Equal(t, corev1.PreemptLowerPriority, *pod.Spec.PreemptionPolicy)

	pod = newPod(nil, nil)
	pod.Spec.PriorityClassName = "gold"
	require.NoError(t, call(t, p, writeOf(pods, pod, nil)))
	require.Equal(t, int32(9), *pod.Spec.Priority)
	require.Equal(t, never, *pod.Spec.PreemptionPolicy)

	updated := newPod(nil, nil)
	require.NoError(t, call(t, p, writeOf(pods, updated, pod)))
	require.Equal(t, int32(9), *updated.Spec.Priority)
	require.Equal(t, never, *updated.Spec.PreemptionPolicy)

	require.NoError(t, call(t, p, writeOf(pods, pod, nil)), "what the plugin would set")

	value, lower := int32(3), corev1.PreemptLowerPriority
	pod.Spec.Priority = &value
	requireRefusal(t, `pods "p" is forbidden: the integer value of priority (3) must not be provided in pod spec; `+
		`priority admission controller computed 9 from the given PriorityClass name`, call(t, p, writeOf(pods, pod, nil)))
	pod.Spec.Priority, pod.Spec.PreemptionPolicy = nil, &lower
	requireRefusal(t, `pods "p" is forbidden: the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; `+
		`priority admission controller computed Never from the given PriorityClass name`, call(t, p, writeOf(pods, pod, nil)))
}

func TestPriorityDefault(t *testing.T) {
	class := func(name string, value int32, isDefault bool) *schedulingv1.PriorityClass {
		return &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value, GlobalDefault: isDefault}
	}
	p := newPriority(Dependencies{Objects: storedObjects{priorityClasses: {class("a", 1, false), class("b", 5, true), class("c", 2, true)}}})
	pod := newPod(nil, nil)
	require.NoError(t, call(t, p, writeOf(pods, pod, nil)))
	require.Equal(t, "c", pod.Spec.PriorityClassName, "the default with the lowest value")
	other := newPriority(Dependencies{Objects: storedObjects{priorityClasses: {class("b", 1, true), class("c", 2, true)}}})
	pod = newPod(nil, nil)
	require.NoError(t, call(t, other, writeOf(pods, pod, nil)))
	require.Equal(t, "b", pod.Spec.PriorityClassName, "the default with the lowest value")

	want := `priorityclasses.scheduling.k8s.io "d" is forbidden: PriorityClass c is already marked as default. Only one default can exist`
	requireRefusal(t, want, call(t, p, writeOf(priorityClasses, class("d", 0, true), nil)))
	requireRefusal(t, want, call(t, p, writeOf(priorityClasses, class("d", 0, true), class("d", 0, false))))
	require.NoError(t, call(t, p, writeOf(priorityClasses, class("c", 2, true), class("c", 2, true))))
	require.NoError(t, call(t, p, writeOf(priorityClasses, class("d", 0, false), nil)))
}

func TestRuntimeClass(t *testing.T) {
	tolerations := []corev1.Toleration{toleration("a", ""), toleration("b", corev1.TaintEffectNoSchedule)}
	p := newRuntimeClass(Dependencies{Objects: storedObjects{runtimeClasses: {
		&nodev1.RuntimeClass{
			ObjectMeta: metav1.ObjectMeta{Name: "box"}, Overhead: &nodev1.Overhead{PodFixed: quantities("cpu", "1")},
			Scheduling: &nodev1.Scheduling{NodeSelector: map[string]string{"box": "yes"}, Tolerations: tolerations},
		},
		&nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "plain"}},
	}}})
	with := func(class string, change func(*corev1.PodSpec)) *corev1.Pod {
		pod := newPod(nil, nil)
		pod.Spec.RuntimeClassName = &class
		change(&pod.Spec)
		return pod
	}
	pod := with("box", func(s *corev1.PodSpec) {
		s.NodeSelector = map[string]string{"disk": "ssd"}
		s.Tolerations = []corev1.Toleration{toleration("a", corev1.TaintEffectNoExecute), toleration("b", corev1.TaintEffectNoSchedule)}
	})
	require.NoError(t, call(t, p, writeOf(pods, pod, nil)))
	require.Equal(t, quantities("cpu", "1"), pod.Spec.Overhead)
	require.Equal(t, map[string]string{"disk": "ssd", "box": "yes"}, pod.Spec.NodeSelector)
	require.Equal(t, []corev1.Toleration{toleration("b", corev1.TaintEffectNoSchedule), toleration("a", "")}, pod.Spec.Tolerations)
	pod = with("box", func(s *corev1.PodSpec) { s.Overhead = quantities("cpu", "1000m") })
	require.NoError(t, call(t, p, writeOf(pods, pod, nil)))
	require.Equal(t, map[string]string{"box": "yes"}, pod.Spec.NodeSelector)
	pod.Spec.Overhead = nil // by a webhook
	requireRefusal(t, `pods "p" is forbidden: pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead`, admission.Chain{p}.Validate(t.Context(), writeOf(pods, pod, nil)))

	for want, pod := range map[string]*corev1.Pod{
		`RuntimeClass "none" not found`:                                        with("none", func(*corev1.PodSpec) {}),
		"Pod's Overhead doesn't match RuntimeClass's defined Overhead":         with("box", func(s *corev1.PodSpec) { s.Overhead = quantities("cpu", "2") }),
		"Pod Overhead set without corresponding RuntimeClass defined Overhead": with("plain", func(s *corev1.PodSpec) { s.Overhead = quantities("cpu", "2") }),
	} {
		requireRefusal(t, `pods "p" is forbidden: pod rejected: `+want, call(t, p, writeOf(pods, pod, nil)))
	}
	require.EqualError(t, call(t, p, writeOf(pods, with("", func(*corev1.PodSpec) {}), nil)), "resource name may not be empty")
	pod = with("box", func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"box": "no"} })
	requireRefusal(t, `pods "p" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[box] = yes; pod.spec.nodeSelector[box] = no`,
		call(t, p, writeOf(pods, pod, nil)))
}

// Of several conflicts, that of the first label is the error.
func TestRuntimeClassConflicts(t *testing.T) {
	selector := map[string]string{"a": "1", "b": "1", "c": "1", "d": "1"}
	for range 20 {
		pod := newPod(nil, nil)
		pod.Spec.NodeSelector = map[string]string{"a": "1", "b": "2", "c": "2", "d": "2"}
		requireRefusal(t, `pods "p" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[b] = 1; pod.spec.nodeSelector[b] = 2`,
			mergeNodeSelector(writeOf(pods, pod, nil), pod, selector))
	}
}

// Of two tolerations that include each other, one stays.
func TestMergeTolerations(t *testing.T) {
	short, long := int64(1), int64(9)
	first := corev1.Toleration{Key: "k", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &short}
	second := first
	second.TolerationSeconds = &long
	require.Equal(t, []corev1.Toleration{second}, mergeTolerations([]corev1.Toleration{first}, []corev1.Toleration{second}))
	require.Equal(t, []corev1.Toleration{second}, mergeTolerations([]corev1.Toleration{second}, []corev1.Toleration{first}))
	require.Equal(t, []corev1.Toleration{first}, mergeTolerations([]corev1.Toleration{first}, []corev1.Toleration{first}))
	equal := corev1.Toleration{Key: "k", Operator: corev1.TolerationOpEqual, Value: "v"}
	require.Equal(t, []corev1.Toleration{toleration("k", "")}, mergeTolerations([]corev1.Toleration{equal}, []corev1.Toleration{toleration("k", "")}))
	require.Len(t, mergeTolerations([]corev1.Toleration{equal}, []corev1.Toleration{toleration("other", "")}), 2)

	with := func(operator corev1.TolerationOperator, value string, effect corev1.TaintEffect, seconds *int64) corev1.Toleration {
		return corev1.Toleration{Key: "k", Operator: operator, Value: value, Effect: effect, TolerationSeconds: seconds}
	}
	const exec = corev1.TaintEffectNoExecute
	for _, c := range []struct {
		all, t corev1.Toleration
		want   bool
	}{
		{toleration("", ""), with(corev1.TolerationOpEqual, "v", exec, nil), true},
		{corev1.Toleration{Operator: corev1.TolerationOpEqual}, equal, false},
		{with(corev1.TolerationOpEqual, "v", "", nil), with(corev1.TolerationOpEqual, "v", exec, nil), true},
		{with("", "v", "", nil), with(corev1.TolerationOpEqual, "v", exec, nil), true},
		{with("", "v", "", nil), with("", "v", exec, nil), false},
		{with(corev1.TolerationOpEqual, "v", "", nil), with(corev1.TolerationOpEqual, "w", "", nil), false},
		{with(corev1.TolerationOpExists, "", exec, nil), with(corev1.TolerationOpExists, "", "", nil), false},
		{with(corev1.TolerationOpExists, "", exec, nil), with(corev1.TolerationOpExists, "", exec, &short), true},
		{with(corev1.TolerationOpExists, "", exec, &long), with(corev1.TolerationOpExists, "", exec, nil), false},
	} {
		require.Equal(t, c.want, includesToleration(c.all, c.t), c)
	}
}

func TestPodTopologyLabels(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{
		corev1.LabelTopologyZone: "z", corev1.LabelTopologyRegion: "r", "other": "x",
	}}}
	p := newPodTopologyLabels(Dependencies{Objects: storedObjects{nodes: {node}}})
	pod := newPod(nil, nil)
	pod.Spec.NodeName, pod.Labels = "n", map[string]string{corev1.LabelTopologyZone: "mine"}
	require.NoError(t, call(t, p, writeOf(pods, pod, nil)))
	require.Equal(t, map[string]string{corev1.LabelTopologyZone: "z", corev1.LabelTopologyRegion: "r"}, pod.Labels)

	for target, labels := range map[corev1.ObjectReference]int{{Kind: "Node", Name: "n"}: 2, {Kind: "Node", Name: "none"}: 0, {Name: "n"}: 0} {
		binding := &corev1.Binding{ObjectMeta: inNamespace("p"), Target: target}
		attrs := writeOf(pods, binding, nil)
		attrs.Subresource = "binding"
		require.NoError(t, call(t, p, attrs))
		require.Len(t, binding.Labels, labels)
	}
}

func TestTaintNodesByCondition(t *testing.T) {
	p := newTaintNodesByCondition(Dependencies{})
	taint := corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}
	for range 2 {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
		require.NoError(t, call(t, p, writeOf(nodes, node, nil)))
		require.Equal(t, []corev1.Taint{taint}, node.Spec.Taints)
		require.NoError(t, call(t, p, writeOf(nodes, node, nil)))
		require.Equal(t, []corev1.Taint{taint}, node.Spec.Taints, "not twice")
	}
}
