package fakeapi_test

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"testing/fstest"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	fakeapi "example.com/fakeapi/fake"
)

// withWidgets returns an option with widgetCRD and a widget "a".
func withWidgets() fakeapi.Option {
	return fakeapi.WithManifests(fstest.MapFS{"crd.yaml": {Data: []byte(widgetCRD)}, "a.yaml": {Data: []byte(widgetManifest)}})
}

func requireWidget(t testing.TB, srv *fakeapi.Server) {
	t.Helper()
	_, err := widgetClient(srv).Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
}

// requireNoWidgets checks that the type is not served.
func requireNoWidgets(t testing.TB, srv *fakeapi.Server) {
	t.Helper()
	_, err := widgetClient(srv).List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
	require.ErrorContains(t, err, "the server could not find the requested resource")
}

func deleteWidgetCRD(t testing.TB, srv *fakeapi.Server) {
	t.Helper()
	require.NoError(t, dynamic.NewForConfigOrDie(srv.RESTConfig()).Resource(crdsResource).
		Delete(t.Context(), "widgets.shop.example.com", metav1.DeleteOptions{}))
}

// A fork has the types, objects and Go types of its server. Changes of one do not affect the other,
// also if the fork is in a synctest bubble and its server is not.
func TestForkOfCustomResources(t *testing.T) {
	srv := fakeapi.Start(t, withWidgets(), fakeapi.WithScheme(widgetScheme("v1")))
	synctest.Test(t, func(t *testing.T) {
		fork, err := srv.Fork(fakeapi.WithInMemoryNetwork())
		require.NoError(t, err)
		defer func() { require.NoError(t, fork.Close()) }()
		requireWidget(t, fork)
		requireEstablished(t, fork)
		require.NoError(t, fork.Load(&Widget{ObjectMeta: metav1.ObjectMeta{Name: "bare"}}))
		w, err := widgetClient(fork).Watch(t.Context(), metav1.ListOptions{ResourceVersion: fork.ResourceVersion()})
		require.NoError(t, err)
		deleteWidgetCRD(t, fork)
		require.Equal(t, watch.Deleted, (<-w.ResultChan()).Type)
		_, open := <-w.ResultChan()
		require.False(t, open)
		requireNoWidgets(t, fork)
	})
	requireWidget(t, srv)
	fork, err := srv.Fork()
	require.NoError(t, err)
	defer func() { require.NoError(t, fork.Close()) }()
	deleteWidgetCRD(t, srv)
	requireNoWidgets(t, srv)
	requireWidget(t, fork)
}

// A fork may have more types than its server.
func TestForkWithCRDs(t *testing.T) {
	srv := fakeapi.Start(t)
	fork, err := srv.Fork(fakeapi.WithCRDs(fakeapi.CRDsFromObjects(decodeCRD(t, widgetCRD))), fakeapi.WithManifests(fstest.MapFS{"a.yaml": {Data: []byte(widgetManifest)}}))
	require.NoError(t, err)
	defer func() { require.NoError(t, fork.Close()) }()
	requireWidget(t, fork)
	requireNoWidgets(t, srv)
}

// Restoring a snapshot from before a CRD removes the type and ends its watches. Restoring one from
// after it restores the type and its objects.
func TestRestoreOfCustomResources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		before := srv.Snapshot()
		require.NoError(t, srv.LoadCRDs(fakeapi.CRDsFromObjects(decodeCRD(t, widgetCRD))))
		require.NoError(t, srv.LoadManifests(fstest.MapFS{"a.yaml": {Data: []byte(widgetManifest)}}))
		after := srv.Snapshot()
		w, err := widgetClient(srv).Watch(t.Context(), metav1.ListOptions{ResourceVersion: srv.ResourceVersion()})
		require.NoError(t, err)
		require.NoError(t, srv.Restore(before, 10))
		_, open := <-w.ResultChan()
		require.False(t, open)
		requireNoWidgets(t, srv)
		require.NoError(t, srv.Restore(after, 10))
		requireWidget(t, srv)
		requireEstablished(t, srv)
	})
}

// Restoring a snapshot of another server restores its types.
func TestRestoreFromAnotherServer(t *testing.T) {
	from := fakeapi.Start(t, withWidgets())
	srv := fakeapi.Start(t)
	require.NoError(t, srv.Restore(from.Snapshot(), 0))
	requireWidget(t, srv)
	deleteWidgetCRD(t, srv)
	requireWidget(t, from)
}

// A CRD that is loaded into one replica is served by the server and all replicas, also after that
// replica was closed.
func TestReplicasShareCustomResources(t *testing.T) {
	srv := fakeapi.Start(t)
	first, err := srv.Replica()
	require.NoError(t, err)
	second, err := srv.Replica()
	require.NoError(t, err)
	require.NoError(t, second.LoadCRDs(fakeapi.CRDsFromObjects(decodeCRD(t, widgetCRD))))
	require.NoError(t, second.LoadManifests(fstest.MapFS{"a.yaml": {Data: []byte(widgetManifest)}}))
	requireWidget(t, srv)
	w, err := widgetClient(first.Server).Watch(t.Context(), metav1.ListOptions{ResourceVersion: srv.ResourceVersion()})
	require.NoError(t, err)
	require.NoError(t, second.Close())
	requireWidget(t, first.Server)
	deleteWidgetCRD(t, srv)
	event, _ := nextEvent(t, w)
	require.Equal(t, watch.Deleted, event.Type)
	_, open := nextEvent(t, w)
	require.False(t, open)
	requireNoWidgets(t, first.Server)
	for _, opt := range []fakeapi.Option{fakeapi.WithCRDs(fakeapi.CRDsFromPaths("x")), fakeapi.WithScheme(widgetScheme("v1"))} {
		_, err = srv.Replica(opt)
		require.ErrorContains(t, err, "objects and types of its server")
	}
	for _, opt := range []fakeapi.Option{
		fakeapi.WithRuntimeConfig(map[string]string{"api/beta": "true"}), fakeapi.WithServiceAccountKeys(fakeapi.ServiceAccountKeys{}), fakeapi.WithStorageOf(fakeapi.Start(t)),
	} {
		_, err = srv.Replica(opt)
		require.ErrorContains(t, err, "a replica has the storage, the service account keys and the runtime configuration of its server")
	}
}

// Forks and snapshots of the control API include custom resources. The CRD sources of the server
// are not read again.
func TestControlForksCustomResources(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithControlAPI(), withWidgets(), fakeapi.WithCRDs(fakeapi.CRDsFromObjects(decodeCRD(t, widgetCRD))))
	ask := func(method, path string) []byte {
		request, err := http.NewRequestWithContext(t.Context(), method, srv.URL()+path, nil)
		require.NoError(t, err)
		request.Header.Set("Accept", "application/json")
		response, err := srv.Client().Do(request)
		require.NoError(t, err)
		defer func() { _ = response.Body.Close() }()
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.Less(t, response.StatusCode, 300, "%s", body)
		return body
	}
	ask(http.MethodPost, "/fakeapi/v1/snapshots/full")
	var got struct{ Name, URL string }
	body := ask(http.MethodPost, "/fakeapi/v1/forks/one")
	require.NoError(t, json.Unmarshal(body, &got), "%s", body)
	url := got.URL
	deleteWidgetCRD(t, srv)
	requireNoWidgets(t, srv)
	response, err := http.Get(url + "/apis/shop.example.com/v1/namespaces/team/widgets/a")
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	require.Equal(t, http.StatusOK, response.StatusCode)
	ask(http.MethodPost, "/fakeapi/v1/snapshots/full/restore")
	requireWidget(t, srv)
}

// A second Close has no effect.
func TestCloseWithCustomResources(t *testing.T) {
	srv, err := fakeapi.New(withWidgets())
	require.NoError(t, err)
	requireWidget(t, srv)
	require.NoError(t, srv.Close())
	require.NoError(t, srv.Close())
}
