package fakeapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// TestStorageOfClosedServer checks that a server on the storage of a closed one has its objects, and
// no others than a server that goes on.
func TestStorageOfClosedServer(t *testing.T) {
	first := fakeapi.Start(t, fakeapi.WithRBAC(), fakeapi.WithYAML("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"))
	client := kubernetes.NewForConfigOrDie(first.RESTConfig())
	created, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "b"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, first.Close())

	second := fakeapi.Start(t, fakeapi.WithStorageOf(first), fakeapi.WithRBAC(), fakeapi.WithYAML("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"))
	client = kubernetes.NewForConfigOrDie(second.RESTConfig())
	read, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "b", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, created.UID, read.UID)
	require.Equal(t, created.ResourceVersion, read.ResourceVersion)
}
