package fakeapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
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
	templates := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().PodTemplates("default")
	crowd := newPod("crowd").Spec
	for i := range 9_000 { // each is smaller than its managed fields
		crowd.Containers = append(crowd.Containers, corev1.Container{Name: fmt.Sprintf("c%d", i), Image: "i"})
	}
	template := func(name string, spec corev1.PodSpec) *corev1.PodTemplate {
		return &corev1.PodTemplate{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PodTemplate"},
			ObjectMeta: metav1.ObjectMeta{Name: name}, Template: corev1.PodTemplateSpec{Spec: spec},
		}
	}
	created, err := templates.Create(t.Context(), template("crowd", crowd), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Zero(t, len(created.ManagedFields))
	require.Equal(t, len(crowd.Containers), len(created.Template.Spec.Containers))
	require.NoError(t, templates.Delete(t.Context(), "crowd", metav1.DeleteOptions{}))

	tracked, err := templates.Create(t.Context(), template("crowd", newPod("crowd").Spec), metav1.CreateOptions{})
	require.NoError(t, err)
	require.NotEmpty(t, tracked.ManagedFields)
	body, err := json.Marshal(template("crowd", crowd))
	require.NoError(t, err)
	patched, err := templates.Patch(t.Context(), "crowd", types.MergePatchType, body, metav1.PatchOptions{})
	require.NoError(t, err)
	require.Zero(t, len(patched.ManagedFields))

	body, err = json.Marshal(template("other", crowd))
	require.NoError(t, err)
	_, err = templates.Patch(t.Context(), "other", types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: "m"})
	require.EqualError(t, err, "etcdserver: request is too large")
}

// A dry run of an object that is too large for etcd succeeds, because it does not reach etcd.
func TestDryRunOfTooLargeObject(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	templates := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().PodTemplates("default")
	template := &corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{Name: "large"}, Template: corev1.PodTemplateSpec{Spec: newPod("large").Spec}}
	template.Template.Spec.Containers[0].Args = []string{strings.Repeat("x", 2<<20)}
	_, err := templates.Create(t.Context(), template, metav1.CreateOptions{})
	require.ErrorContains(t, err, "trying to send message larger than max")
	created, err := templates.Create(t.Context(), template, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	require.NoError(t, err)
	require.NotEmpty(t, created.ManagedFields)
}
