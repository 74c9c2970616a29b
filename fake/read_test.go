package fakeapi_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
)

const twoObjects = `
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {k: v}
---
apiVersion: v1
kind: Node
metadata: {name: node}
`

func TestGet(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithYAML(twoObjects),
		fakeapi.WithFaults(faults.Rule{When: faults.Path("/"), Do: []faults.Effect{faults.Reply(faults.Expired())}}))
	cm := &corev1.ConfigMap{Data: map[string]string{"other": "value"}}
	require.NoError(t, srv.Get("", "a", cm))
	require.Equal(t, map[string]string{"k": "v"}, cm.Data, "what was in the object is replaced")
	require.Equal(t, "default", cm.Namespace)
	require.NoError(t, srv.Get("ignored", "node", &corev1.Node{}))
	require.NoError(t, srv.Get("", "kube-system", &corev1.Namespace{}))

	u := &unstructured.Unstructured{}
	u.SetAPIVersion("v1")
	u.SetKind("ConfigMap")
	require.NoError(t, srv.Get("default", "a", u))
	require.NotEmpty(t, u.GetUID())

	require.True(t, apierrors.IsNotFound(srv.Get("other", "a", cm)))
	require.ErrorContains(t, srv.Get("", "", cm), "the name is empty")
	require.ErrorContains(t, srv.Get("", "a", &unstructured.Unstructured{}), "no apiVersion")
	require.ErrorContains(t, srv.Get("", "a", (*corev1.Pod)(nil)), "is not a pointer to an object")
	u.SetKind("Unknown")
	require.ErrorContains(t, srv.Get("", "a", u), "Unknown is not served")
	require.Empty(t, srv.Requests(), "it is not a request")
}

func TestList(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutSystemObjects(), fakeapi.WithYAML(twoObjects), fakeapi.WithCRDs(fakeapi.CRDsFromObjects(decodeCRD(t, widgetCRD))))
	require.NoError(t, srv.LoadYAML(strings.ReplaceAll(twoObjects, "name: ", "namespace: other, name: second-")))
	for namespace, want := range map[string]int{"": 2, "other": 1, "none": 0} {
		var list corev1.ConfigMapList
		require.NoError(t, srv.List(namespace, &list))
		require.Len(t, list.Items, want, namespace)
	}
	var nodes corev1.NodeList
	require.NoError(t, srv.List("ignored", &nodes))
	require.Len(t, nodes.Items, 2)
	var namespaces corev1.NamespaceList
	require.NoError(t, srv.List("", &namespaces))
	require.Len(t, namespaces.Items, 5)
	var crds apiextensionsv1.CustomResourceDefinitionList
	require.NoError(t, srv.List("", &crds))
	require.Len(t, crds.Items, 1)

	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("v1")
	list.SetKind("ConfigMapList")
	require.NoError(t, srv.List("", list))
	require.Len(t, list.Items, 2)
	require.EqualError(t, srv.List("", &corev1.ConfigMap{}), "fakeapi: list: *v1.ConfigMap is not a list")
	require.EqualError(t, srv.List("", nil), "fakeapi: list: <nil> is not a pointer to an object")
	require.EqualError(t, srv.List("", (*corev1.ConfigMapList)(nil)), "fakeapi: list: *v1.ConfigMapList is not a pointer to an object")
}

// The dump of a server can be loaded into another one.
func TestDump(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutSystemObjects(), fakeapi.WithYAML(twoObjects), fakeapi.WithCRDs(fakeapi.CRDsFromObjects(decodeCRD(t, widgetCRD))))
	text, err := srv.Dump()
	require.NoError(t, err)
	require.Contains(t, text, "kind: ConfigMap\n")
	require.NotContains(t, text, "managedFields")
	require.Equal(t, 7, strings.Count("---\n"+text, "---\n"))

	other := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutSystemObjects(), fakeapi.WithYAML(text))
	again, err := other.Dump()
	require.NoError(t, err)
	require.Equal(t, withoutVersions(text), withoutVersions(again))
}

// withoutVersions removes the lines with a resourceVersion, and those of the status of definitions
// with times.
func withoutVersions(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		if !strings.Contains(line, "resourceVersion:") && !strings.Contains(line, "lastTransitionTime:") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

func TestLoadYAML(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	require.NoError(t, srv.LoadYAML(""))
	require.ErrorContains(t, srv.LoadYAML(twoObjects+"---\nkind: {"), "YAML: document 3: ")
	require.True(t, apierrors.IsNotFound(srv.Get("", "a", &corev1.ConfigMap{})), "all objects or none")
	_, err := fakeapi.New(fakeapi.WithYAML("a: b"))
	require.ErrorContains(t, err, "YAML: document 1: ")
}

func TestKubeconfigFile(t *testing.T) {
	tb := &fakeTB{}
	srv := fakeapi.Start(t, fakeapi.WithTokens(annToken))
	path := srv.KubeconfigFile(tb)
	config, err := clientcmd.BuildConfigFromFlags("", path)
	require.NoError(t, err)
	require.Equal(t, srv.URL(), config.Host)
	require.Equal(t, "ann-1", config.BearerToken)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	tb.end()
	require.NoFileExists(t, path)
}

// The objects of a dump are in their storage versions, also if clients prefer another version.
func TestDumpInStorageVersions(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutSystemObjects(), fakeapi.WithObjects(decodeCRD(t, gadgetCRD("v1", `{"strategy":"None"}`))))
	requireCode(t, srv, 201, "POST", "/apis/example.com/v2/namespaces/default/gadgets", `{"apiVersion":"example.com/v2","kind":"Gadget","metadata":{"name":"a"}}`)
	text, err := srv.Dump()
	require.NoError(t, err)
	require.Contains(t, text, "apiVersion: example.com/v1\nkind: Gadget\n")
	require.NotContains(t, text, "apiVersion: example.com/v2\n")
}
