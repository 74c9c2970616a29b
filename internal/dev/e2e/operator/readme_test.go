package operator_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	fakeapi "example.com/fakeapi/fake"
)

// The manifests of webhooks are installed on a server as the README shows.
func TestReadmeInstallsWebhooks(t *testing.T) {
	t.Chdir("internal")
	srv := fakeapi.Start(t)
	hooks := envtest.WebhookInstallOptions{Paths: []string{"../config/webhook"}} // chooses the port and makes the certificate
	err := hooks.Install(srv.RESTConfig())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, hooks.Cleanup()) })

	client := kubernetes.NewForConfigOrDie(srv.RESTConfig()).AdmissionregistrationV1()
	mutating, err := client.MutatingWebhookConfigurations().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	validating, err := client.ValidatingWebhookConfigurations().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, mutating.Items, 1)
	require.Len(t, validating.Items, 1)
	require.Equal(t, hooks.LocalServingCAData, mutating.Items[0].Webhooks[0].ClientConfig.CABundle)
	require.Equal(t, hooks.LocalServingCAData, validating.Items[0].Webhooks[0].ClientConfig.CABundle)
}

// The rules of a project's manifests are what its client needs.
func TestReadmeRequiresRBAC(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "config/rbac"), 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(root, "controllers"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(root, "config/rbac/role.yaml"), []byte(`
{apiVersion: v1, kind: Namespace, metadata: {name: system}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: manager, namespace: system}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: manager}, rules: [{apiGroups: [""], resources: [nodes], verbs: [list]}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: manager}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: manager}
subjects: [{kind: ServiceAccount, name: manager, namespace: system}]
`), 0o600))
	t.Chdir(filepath.Join(root, "controllers"))

	srv := fakeapi.Start(t, fakeapi.WithRBAC(), fakeapi.WithManifests(os.DirFS("../config/rbac")))
	config, err := srv.RESTConfigForServiceAccount("system", "manager")
	require.NoError(t, err)
	_, err = kubernetes.NewForConfigOrDie(config).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	fakeapi.RequireRBAC(t, srv, os.DirFS("../config/rbac"), "manager", fakeapi.AndNothingMore())
}

// CRDs are read from the directory that controller-gen writes to.
func TestReadmeCRDs(t *testing.T) {
	t.Chdir("internal")
	srv := fakeapi.Start(t, fakeapi.WithCRDs(fakeapi.CRDsFromPaths("../config/crd/bases")))
	sites := schema.GroupVersionResource{Group: "hosting.example.com", Version: "v1", Resource: "sites"}
	_, err := dynamic.NewForConfigOrDie(srv.RESTConfig()).Resource(sites).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
}
