package fakeapi_test

import (
	"context"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
)

// A closed server can be read. What would change its objects or start another server is an error.
func TestClosedServer(t *testing.T) {
	srv, err := fakeapi.New(fakeapi.WithObjects(configMap("a", "0")))
	require.NoError(t, err)
	replica, err := srv.Replica()
	require.NoError(t, err)
	snapshot := srv.Snapshot()
	require.NoError(t, srv.Close())

	second := func(_ any, err error) error { return err }
	for name, err := range map[string]error{
		"replica":            second(srv.Replica()),
		"fork":               second(srv.Fork()),
		"fork of a replica":  second(replica.Fork()),
		"load":               srv.Load(configMap("b", "0")),
		"load in a replica":  replica.Load(configMap("b", "0")),
		"load YAML":          srv.LoadYAML("{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}"),
		"load manifests":     srv.LoadManifests(fstest.MapFS{}),
		"load CRDs":          srv.LoadCRDs(),
		"restore":            srv.Restore(snapshot, 0),
		"restore with bump":  srv.Restore(snapshot, 10),
		"run controllers":    srv.RunControllers(t.Context()),
		"restart":            srv.Restart(0),
		"restart of replica": replica.Restart(0),
	} {
		require.ErrorIs(t, err, net.ErrClosed, name)
		require.ErrorContains(t, err, "fakeapi: ", name)
	}

	var stored corev1.ConfigMap
	require.NoError(t, srv.Get("default", "a", &stored))
	text, err := srv.Dump()
	require.NoError(t, err)
	require.NotContains(t, text, "name: b\n")
	require.NotEmpty(t, srv.Snapshot().ResourceVersion())
	require.Empty(t, srv.Requests())
	require.NoError(t, srv.Shutdown())
	require.NoError(t, srv.Close())
}

// Nil arguments are errors that name the option or the method.
func TestNilArguments(t *testing.T) {
	for want, option := range map[string]fakeapi.Option{
		"option 2 of 2 is nil":                               nil,
		"load <nil>: the object is nil":                      fakeapi.WithObjects(nil),
		"load *v1.ConfigMap: the object is nil":              fakeapi.WithObjects((*corev1.ConfigMap)(nil)),
		"load *unstructured.Unstructured: the object is nil": fakeapi.WithObjects((*unstructured.Unstructured)(nil)),
		"load *v1.ConfigMapList: the object is nil":          fakeapi.WithObjects((*corev1.ConfigMapList)(nil)),
		"WithManifests needs a file system":                  fakeapi.WithManifests(nil),
		"WithMiddleware needs a function":                    fakeapi.WithMiddleware(nil),
		"WithLogger needs a logger":                          fakeapi.WithLogger((*slog.Logger)(nil)),
		"WithScheme: the scheme is nil":                      fakeapi.WithScheme((*runtime.Scheme)(nil)),
		"WithAuthorizer needs an authorizer":                 fakeapi.WithAuthorizer(authorizer.AuthorizerFunc(nil)),
		"WithWebhookDialer needs a function":                 fakeapi.WithWebhookDialer(nil),
		"WithServiceResolver needs a function":               fakeapi.WithServiceResolver(nil),
		`admission function "a" is nil`:                      fakeapi.WithAdmission(fakeapi.Admission{Name: "a"}),
		"the CRDSource is empty":                             fakeapi.WithCRDs(fakeapi.CRDSource{}),
		"CRDsFromFS needs a file system":                     fakeapi.WithCRDs(fakeapi.CRDsFromFS(nil)),
		"CRDs: <nil> is not a CustomResourceDefinition":      fakeapi.WithCRDs(fakeapi.CRDsFromObjects(nil)),
		"CRDs: *v1.CustomResourceDefinition is not":          fakeapi.WithCRDs(fakeapi.CRDsFromObjects((*apiextensionsv1.CustomResourceDefinition)(nil))),
		"CRDs: *v1.CustomResourceDefinitionList is not":      fakeapi.WithCRDs(fakeapi.CRDsFromObjects((*apiextensionsv1.CustomResourceDefinitionList)(nil))),
		"CRDs: *unstructured.Unstructured is not":            fakeapi.WithCRDs(fakeapi.CRDsFromObjects((*unstructured.Unstructured)(nil))),
		"CRDs: <nil>: a scheme and an object are needed":     fakeapi.WithCRDs(fakeapi.CRDFromGoType(nil, nil, fakeapi.CRDTypeOptions{})),
		"client authority 1 of 1":                            fakeapi.WithClientCA(nil),
		"it has no effects":                                  fakeapi.WithFaults(faults.Rule{}),
		"an effect is nil":                                   fakeapi.WithFaults(faults.Rule{Do: []faults.Effect{nil}}),
	} {
		_, err := fakeapi.New(fakeapi.WithInMemoryNetwork(), option)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "fakeapi: ")
	}

	srv := fakeapi.Start(t)
	var noContext context.Context
	for want, call := range map[string]func() error{
		"the object is nil":                       func() error { return srv.Load(nil) },
		"LoadManifests needs a file system":       func() error { return srv.LoadManifests(fs.FS(nil)) },
		"<nil> is not a pointer to an object":     func() error { return srv.Get("default", "a", nil) },
		"*v1.Pod is not a pointer to an object":   func() error { return srv.Get("default", "a", (*corev1.Pod)(nil)) },
		"list: <nil> is not a pointer":            func() error { return srv.List("", nil) },
		"RunControllers needs a context":          func() error { return srv.RunControllers(noContext) },
		"restore: the snapshot is empty":          func() error { return srv.Restore(fakeapi.Snapshot{}, 0) },
		"option 1 of 1 is nil":                    func() error { _, err := srv.Fork(nil); return err },
		"option 1 of 2 is nil":                    func() error { _, err := srv.Replica(nil, fakeapi.WithTLS()); return err },
		"the CRDSource is empty; use CRDsFromObj": func() error { return srv.LoadCRDs(fakeapi.CRDSource{}) },
	} {
		err := call()
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "fakeapi: ")
	}
	code, _, _ := send(t, srv, "GET", "/readyz", "", nil)
	require.Equal(t, http.StatusOK, code)
}
