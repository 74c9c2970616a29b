package fakeapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// ownersOf returns the managers that own a field, such as f:replicas.
func ownersOf(m metav1.Object, field string) (owners []string) {
	for _, e := range m.GetManagedFields() {
		if strings.Contains(e.FieldsV1.GetRawString(), `"`+field+`"`) {
			owners = append(owners, e.Manager)
		}
	}
	return owners
}

// A default is owned by the manager of the create or update that sets it, and by no manager after
// an apply.
func TestManagersOfDefaults(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	deployments := kubernetes.NewForConfigOrDie(srv.RESTConfig()).AppsV1().Deployments("default")
	deployment := func(name string) *appsv1.Deployment {
		labels := map[string]string{"app": name}
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}}}
		d.Spec.Template.Labels = labels
		d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
		return d
	}
	defaults := []string{"f:replicas", "f:revisionHistoryLimit", "f:progressDeadlineSeconds", "f:strategy", "f:imagePullPolicy", "f:dnsPolicy"}

	created, err := deployments.Create(t.Context(), deployment("created"), metav1.CreateOptions{FieldManager: "creator"})
	require.NoError(t, err)
	require.EqualValues(t, 1, *created.Spec.Replicas)
	for _, field := range defaults {
		require.Equal(t, []string{"creator"}, ownersOf(created, field), field)
	}
	created.Spec.Replicas = nil
	updated, err := deployments.Update(t.Context(), created, metav1.UpdateOptions{FieldManager: "updater"})
	require.NoError(t, err)
	require.Equal(t, created.ResourceVersion, updated.ResourceVersion, "the default is what is stored")

	body := []byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"applied"},"spec":{"selector":{"matchLabels":{"app":"a"}},` +
		`"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
	applied, err := deployments.Patch(t.Context(), "applied", types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: "applier"})
	require.NoError(t, err)
	require.EqualValues(t, 1, *applied.Spec.Replicas)
	for _, field := range defaults {
		require.Empty(t, ownersOf(applied, field), field)
	}
	require.Equal(t, []string{"applier"}, ownersOf(applied, "f:image"))
	again, err := deployments.Patch(t.Context(), "applied", types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: "applier"})
	require.NoError(t, err)
	require.Equal(t, applied.ResourceVersion, again.ResourceVersion)

	scaled, err := deployments.Patch(t.Context(), "applied", types.MergePatchType, []byte(`{"spec":{"replicas":3}}`), metav1.PatchOptions{FieldManager: "scaler"})
	require.NoError(t, err)
	require.Equal(t, []string{"scaler"}, ownersOf(scaled, "f:replicas"))
	again, err = deployments.Patch(t.Context(), "applied", types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: "applier"})
	require.NoError(t, err)
	require.EqualValues(t, 3, *again.Spec.Replicas, "an apply does not reset what it does not have")
}

// The annotation with the generation of the template of a DaemonSet is owned by who creates or
// updates it without sending one, and by no manager after an apply.
func TestManagersOfTemplateGeneration(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	daemonSets := kubernetes.NewForConfigOrDie(srv.RESTConfig()).AppsV1().DaemonSets("default")
	labels := map[string]string{"app": "a"}
	daemonSet := &appsv1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"},
		ObjectMeta: metav1.ObjectMeta{Name: "created"}, Spec: appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}},
	}
	daemonSet.Spec.Template.Labels = labels
	daemonSet.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
	const annotation = "f:deprecated.daemonset.template.generation"

	created, err := daemonSets.Create(t.Context(), daemonSet, metav1.CreateOptions{FieldManager: "creator"})
	require.NoError(t, err)
	require.Equal(t, []string{"creator"}, ownersOf(created, annotation))
	require.Contains(t, created.ManagedFields[0].FieldsV1.GetRawString(), `"f:annotations":{".":{},"`+annotation+`":{}}`)
	created.Spec.MinReadySeconds = 1
	updated, err := daemonSets.Update(t.Context(), created, metav1.UpdateOptions{FieldManager: "reader"})
	require.NoError(t, err)
	require.Equal(t, []string{"creator"}, ownersOf(updated, annotation), "it was sent as it was read")
	updated, err = daemonSets.Update(t.Context(), daemonSet, metav1.UpdateOptions{FieldManager: "updater"})
	require.NoError(t, err)
	require.Equal(t, []string{"updater"}, ownersOf(updated, annotation))
	require.Equal(t, "1", updated.Annotations["deprecated.daemonset.template.generation"])

	daemonSet.Name = "applied"
	body, err := json.Marshal(daemonSet)
	require.NoError(t, err)
	applied, err := daemonSets.Patch(t.Context(), "applied", types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: "applier"})
	require.NoError(t, err)
	require.Empty(t, ownersOf(applied, annotation))
}
