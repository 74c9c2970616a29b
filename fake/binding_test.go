package fakeapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fakeapi "example.com/fakeapi/fake"
)

func newPod(name string, change ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Labels: map[string]string{"app": name}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i:1"}}},
	}
	for _, c := range change {
		c(pod)
	}
	return pod
}

func newBinding(name, node string) *corev1.Binding {
	return &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Annotations: map[string]string{"by": "me"}},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node},
	}
}

// A binding assigns a pod to a node, once (SU-13).
func TestBinding(t *testing.T) {
	_, client := startClient(t)
	ctx := t.Context()
	pods := client.CoreV1().Pods("default")
	created, err := pods.Create(ctx, newPod("p"), metav1.CreateOptions{})
	require.NoError(t, err)

	require.NoError(t, pods.Bind(ctx, newBinding("p", "n"), metav1.CreateOptions{DryRun: []string{"All"}}))
	binding := newBinding("p", "n")
	binding.Annotations["pod.beta.kubernetes.io/init-containers"] = "[]" // pods cannot have it any more
	require.NoError(t, pods.Bind(ctx, binding, metav1.CreateOptions{}))
	pod, err := pods.Get(ctx, "p", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "n", pod.Spec.NodeName)
	require.Equal(t, map[string]string{"by": "me"}, pod.Annotations)
	require.Equal(t, created.Labels, pod.Labels)
	require.Equal(t, created.ManagedFields, pod.ManagedFields, "a binding has no managed fields")
	require.Len(t, pod.Status.Conditions, 1)
	require.Equal(t, corev1.PodScheduled, pod.Status.Conditions[0].Type)
	require.Equal(t, corev1.ConditionTrue, pod.Status.Conditions[0].Status)
	require.False(t, pod.Status.Conditions[0].LastTransitionTime.IsZero())
	require.Zero(t, pod.Status.Conditions[0].ObservedGeneration)
	byNode, err := pods.List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=n"})
	require.NoError(t, err)
	require.Len(t, byNode.Items, 1)

	err = pods.Bind(ctx, newBinding("p", "m"), metav1.CreateOptions{})
	require.True(t, apierrors.IsConflict(err))
	require.EqualError(t, err, `Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n"`)
}

// A binding ends that a pod is unschedulable and nominated for a node.
func TestBindingChangesStatus(t *testing.T) {
	_, client := startClient(t, fakeapi.WithObjects(newPod("p", func(p *corev1.Pod) {
		p.Status = corev1.PodStatus{NominatedNodeName: "other", Conditions: []corev1.PodCondition{
			{Type: "example.com/other", Status: corev1.ConditionFalse},
			{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, LastTransitionTime: metav1.Unix(1, 0)},
		}}
	})))
	pods := client.CoreV1().Pods("default")
	require.NoError(t, pods.Bind(t.Context(), newBinding("p", "n"), metav1.CreateOptions{}))
	pod, err := pods.Get(t.Context(), "p", metav1.GetOptions{})
	require.NoError(t, err)
	require.Empty(t, pod.Status.NominatedNodeName)
	require.Len(t, pod.Status.Conditions, 2)
	require.Equal(t, corev1.ConditionFalse, pod.Status.Conditions[0].Status)
	scheduled := pod.Status.Conditions[1]
	require.Greater(t, scheduled.LastTransitionTime.Unix(), int64(1))
	scheduled.LastTransitionTime = metav1.Time{}
	require.Equal(t, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}, scheduled)
}

func TestBindingErrors(t *testing.T) {
	srv, client := startClient(t, fakeapi.WithObjects(
		newPod("free"),
		newPod("gated", func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "wait"}} }),
		newPod("ending", func(p *corev1.Pod) { p.Finalizers = []string{"example.com/hold"} }),
	))
	ctx := t.Context()
	pods := client.CoreV1().Pods("default")
	require.NoError(t, pods.Delete(ctx, "ending", metav1.DeleteOptions{}))
	before := srv.ResourceVersion()

	for name, tc := range map[string]struct {
		binding *corev1.Binding
		want    string
	}{
		"gates":        {newBinding("gated", "n"), `Operation cannot be fulfilled on pods/binding "gated": pod gated has non-empty .spec.schedulingGates`},
		"deleting":     {newBinding("ending", "n"), `Operation cannot be fulfilled on pods/binding "ending": pod ending is being deleted, cannot be assigned to a host`},
		"no pod":       {newBinding("none", "n"), `pods "none" not found`},
		"no node":      {newBinding("free", ""), `target.name: Required value`},
		"no such name": {newBinding("free", "N"), `target.name: Invalid value: "N": a lowercase RFC 1123 subdomain must consist of`},
		"no such target": {func() *corev1.Binding { b := newBinding("free", "n"); b.Target.Kind = "Rack"; return b }(),
			`target.kind: Unsupported value: "Rack": supported values: "Node", "<empty>"`},
		"uid": {func() *corev1.Binding { b := newBinding("free", "n"); b.UID = "other"; return b }(),
			`Precondition failed: UID in precondition: other, UID in object meta: `},
		"resourceVersion": {func() *corev1.Binding { b := newBinding("free", "n"); b.ResourceVersion = "1"; return b }(),
			`Precondition failed: ResourceVersion in precondition: 1, ResourceVersion in object meta: `},
	} {
		require.ErrorContains(t, pods.Bind(ctx, tc.binding, metav1.CreateOptions{}), tc.want, name)
	}
	const path = "/api/v1/namespaces/default/pods/free/binding"
	code, status := sendForStatus(t, srv, "POST", path, "application/json", `{"metadata":{"name":"other"},"target":{"name":"n"}}`)
	require.Equal(t, 400, code)
	require.Equal(t, "name in URL does not match name in Binding object", status.Message)
	code, _ = sendForStatus(t, srv, "GET", path, "", "")
	require.Equal(t, 405, code)
	code, status = sendForStatus(t, srv, "POST", "/api/v1/namespaces/nowhere/pods/free/binding", "application/json", `{"metadata":{"name":"free"},"target":{"name":"n"}}`)
	require.Equal(t, 404, code)
	require.Equal(t, `namespaces "nowhere" not found`, status.Message)
	require.Equal(t, before, srv.ResourceVersion(), "the resourceVersion after the failed requests")
}

// Bindings can be created in the collection bindings, which supports nothing else. There a uid is
// not a precondition, as it is cleared.
func TestBindingsCollection(t *testing.T) {
	srv, client := startClient(t, fakeapi.WithObjects(newPod("p")))
	const path = "/api/v1/namespaces/default/bindings"
	code, status := sendForStatus(t, srv, "POST", path, "application/json", `{"metadata":{"name":"p","uid":"other"},"target":{"name":"n"}}`)
	require.Equal(t, 201, code)
	require.Equal(t, metav1.StatusSuccess, status.Status)
	require.EqualValues(t, 201, status.Code)
	pod, err := client.CoreV1().Pods("default").Get(t.Context(), "p", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "n", pod.Spec.NodeName)

	code, _ = sendForStatus(t, srv, "GET", path, "", "")
	require.Equal(t, 405, code)
	for _, absent := range []string{path + "/p", "/api/v1/bindings"} {
		code, _ = sendForStatus(t, srv, "GET", absent, "", "")
		require.Equal(t, 404, code, absent)
	}
	for body, want := range map[string]string{
		`{"target": {"name": "n"}}`:                              "Name parameter required.",
		`{"target": {"name": "n"}, "metadata": {"name": "a/b"}}`: `Name parameter invalid: "a/b": may not contain '/'`,
	} {
		code, status = sendForStatus(t, srv, "POST", path, "application/json", body)
		require.Equal(t, 400, code)
		require.Equal(t, want, status.Message)
	}
	code, status = sendForStatus(t, srv, "POST", path, "application/json", `{}`)
	require.Equal(t, 500, code, "of a binding without a target, even if it has no name")
	require.Equal(t, "target.name: Required value", status.Message)
	require.ErrorContains(t, srv.Load(newBinding("p", "n")), "is not served")
}
