package fakeapi_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// A create, an update or a patch of an object that is too large only because of its managedFields
// stores it without them (CR-18). An apply, which needs them, fails.
func TestTooLargeByManagedFieldsOnly(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	pods := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Pods("default")
	pod := newPod("crowd")
	for i := range 9_000 { // each is smaller than its managed fields
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: fmt.Sprintf("c%d", i), Image: "i"})
	}
	created, err := pods.Create(t.Context(), pod, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Zero(t, len(created.ManagedFields))
	require.Equal(t, len(pod.Spec.Containers), len(created.Spec.Containers))
	require.NoError(t, pods.Delete(t.Context(), "crowd", metav1.DeleteOptions{}))

	tracked, err := pods.Create(t.Context(), newPod("crowd"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.NotEmpty(t, tracked.ManagedFields)
	body, err := json.Marshal(map[string]any{"spec": pod.Spec})
	require.NoError(t, err)
	patched, err := pods.Patch(t.Context(), "crowd", types.MergePatchType, body, metav1.PatchOptions{})
	require.NoError(t, err)
	require.Zero(t, len(patched.ManagedFields))

	_, err = pods.Patch(t.Context(), "other", types.ApplyPatchType, applyBody(t, pod), metav1.PatchOptions{FieldManager: "m"})
	require.EqualError(t, err, "etcdserver: request is too large")
}

func applyBody(t *testing.T, pod *corev1.Pod) []byte {
	applied := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, Spec: pod.Spec}
	applied.Name = "other"
	body, err := json.Marshal(applied)
	require.NoError(t, err)
	return body
}
