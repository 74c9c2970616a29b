package fakeapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

const ownerRoles = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: writer}
rules:
- {apiGroups: [""], resources: [configmaps], verbs: [create, get, update]}
- {apiGroups: [""], resources: [configmaps], resourceNames: [deletable], verbs: [delete]}
- {apiGroups: [""], resources: [secrets/finalizers], verbs: [update]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: writer}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: writer}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ann}]
`

// The plugin limits ownerReferences to users who may delete the object, and those that block an
// owner to users who may update the finalizers of the owner.
func TestOwnerReferencesPermissionEnforcement(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithRBAC(), fakeapi.WithYAML(ownerRoles), fakeapi.WithoutControllers(),
		fakeapi.WithAdmissionPlugins("OwnerReferencesPermissionEnforcement"))
	config, err := srv.RESTConfigWithCertificate("ann")
	require.NoError(t, err)
	client := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
	owner := func(kind string, blocks bool) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: "v1", Kind: kind, Name: "o", UID: "u", BlockOwnerDeletion: &blocks}}
	}
	const noFinalizers = `configmaps "new" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>`
	create := func(owners []metav1.OwnerReference) error {
		_, err := client.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "new", OwnerReferences: owners}},
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	require.NoError(t, create(owner("Pod", false)))
	require.NoError(t, create(owner("Secret", true)))
	require.EqualError(t, create(owner("Pod", true)), noFinalizers)
	require.ErrorContains(t, create(owner("Unknown", true)),
		`cannot find RESTMapping for APIVersion v1 Kind Unknown: no matches for kind "Unknown" in version "v1"`)

	_, err = kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default").Create(t.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "admin", OwnerReferences: owner("Unknown", true)}}, metav1.CreateOptions{})
	require.NoError(t, err, "who may update all finalizers")

	for name, want := range map[string]string{"deletable": "", "kept": "cannot set an ownerRef on a resource you can't delete: , <nil>"} {
		stored, err := client.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		require.NoError(t, err)
		stored.Data = map[string]string{"a": "b"}
		stored, err = client.Update(t.Context(), stored, metav1.UpdateOptions{})
		require.NoError(t, err)
		stored.OwnerReferences = owner("Pod", false)
		_, err = client.Update(t.Context(), stored, metav1.UpdateOptions{})
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.True(t, apierrors.IsForbidden(err), "%v", err)
		require.ErrorContains(t, err, want)
	}
}
