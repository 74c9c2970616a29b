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

// definesWidgets is a server option with widgetCRD and one widget, "a".
func definesWidgets() fakeapi.Option {
	return fakeapi.WithManifests(fstest.MapFS{"crd.yaml": {Data: []byte(widgetCRD)}, "a.yaml": {Data: []byte(aWidget)}})
}

func requireWidget(t testing.TB, srv *fakeapi.Server) {
	t.Helper()
	_, err := widgetsOf(srv).Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
}

// requireNoWidgets asserts that the type is not served: not that there are no objects.
func requireNoWidgets(t testing.TB, srv *fakeapi.Server) {
	t.Helper()
	_, err := widgetsOf(srv).List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
	require.ErrorContains(t, err, "the server could not find the requested resource")
}

func dropWidgets(t testing.TB, srv *fakeapi.Server) {
	t.Helper()
	require.NoError(t, dynamic.NewForConfigOrDie(srv.RESTConfig()).Resource(crdsResource).
		Delete(t.Context(), "widgets.shop.example.com", metav1.DeleteOptions{}))
}

// A fork has the types, the objects and the Go types of its original; then each goes its own way, also
// with one in a bubble whose original is outside.
func TestForkHasCustomResources(t *testing.T) {
	srv := fakeapi.Start(t, definesWidgets(), fakeapi.WithScheme(widgetScheme("v1")))
	synctest.Test(t, func(t *testing.T) {
		fork, err := srv.Fork(fakeapi.WithInMemoryNetwork())
		require.NoError(t, err)
		defer func() { require.NoError(t, fork.Close()) }()
		requireWidget(t, fork)
		requireEstablished(t, fork)
		require.NoError(t, fork.Load(&Widget{ObjectMeta: metav1.ObjectMeta{Name: "bare"}}))
		w, err := widgetsOf(fork).Watch(t.Context(), metav1.ListOptions{ResourceVersion: fork.ResourceVersion()})
		require.NoError(t, err)
		dropWidgets(t, fork)
		require.Equal(t, watch.Deleted, (<-w.ResultChan()).Type)
		_, open := <-w.ResultChan()
		require.False(t, open)
		requireNoWidgets(t, fork)
	})
	requireWidget(t, srv)
	fork, err := srv.Fork()
	require.NoError(t, err)
	defer func() { require.NoError(t, fork.Close()) }()
	dropWidgets(t, srv)
	requireNoWidgets(t, srv)
	requireWidget(t, fork)
}

// A fork may be given more types than its original has.
func TestForkWithCRDs(t *testing.T) {
	srv := fakeapi.Start(t)
	fork, err := srv.Fork(fakeapi.WithCRDs(fakeapi.CRDsFromObjects(definitionOf(t, widgetCRD))), fakeapi.WithManifests(fstest.MapFS{"a.yaml": {Data: []byte(aWidget)}}))
	require.NoError(t, err)
	defer func() { require.NoError(t, fork.Close()) }()
	requireWidget(t, fork)
	requireNoWidgets(t, srv)
}

// A restore to before a definition takes its type away and ends its watches; one to after
// brings it back, with its objects.
func TestRestoreOfCustomResources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		before := srv.Snapshot()
		require.NoError(t, srv.LoadCRDs(fakeapi.CRDsFromObjects(definitionOf(t, widgetCRD))))
		require.NoError(t, srv.LoadManifests(fstest.MapFS{"a.yaml": {Data: []byte(aWidget)}}))
		after := srv.Snapshot()
		w, err := widgetsOf(srv).Watch(t.Context(), metav1.ListOptions{ResourceVersion: srv.ResourceVersion()})
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

// A snapshot of another server brings its types along.
func TestRestoreOfAnotherServersTypes(t *testing.T) {
	from := fakeapi.Start(t, definesWidgets())
	srv := fakeapi.Start(t)
	require.NoError(t, srv.Restore(from.Snapshot(), 0))
	requireWidget(t, srv)
	dropWidgets(t, srv)
	requireWidget(t, from)
}

// Replicas serve what their server serves, whoever defines it, and outlive a neighbour.
func TestReplicasShareTypes(t *testing.T) {
	srv := fakeapi.Start(t)
	first, err := srv.Replica()
	require.NoError(t, err)
	second, err := srv.Replica()
	require.NoError(t, err)
	require.NoError(t, second.LoadCRDs(fakeapi.CRDsFromObjects(definitionOf(t, widgetCRD))))
	require.NoError(t, second.LoadManifests(fstest.MapFS{"a.yaml": {Data: []byte(aWidget)}}))
	requireWidget(t, srv)
	w, err := widgetsOf(first.Server).Watch(t.Context(), metav1.ListOptions{ResourceVersion: srv.ResourceVersion()})
	require.NoError(t, err)
	require.NoError(t, second.Close())
	requireWidget(t, first.Server)
	dropWidgets(t, srv)
	require.Equal(t, watch.Deleted, (<-w.ResultChan()).Type)
	_, open := <-w.ResultChan()
	require.False(t, open)
	requireNoWidgets(t, first.Server)
	for _, opt := range []fakeapi.Option{fakeapi.WithCRDs(fakeapi.CRDsFromPaths("x")), fakeapi.WithScheme(widgetScheme("v1"))} {
		_, err = srv.Replica(opt)
		require.ErrorContains(t, err, "objects and types of its server")
	}
}

// So do forks and snapshots of the control API; its server's own sources are not read again.
func TestControlForksCustomResources(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithControlAPI(), definesWidgets(), fakeapi.WithCRDs(fakeapi.CRDsFromObjects(definitionOf(t, widgetCRD))))
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
	var told struct {
		Forks []struct{ Name, URL string } `json:"forks"`
	}
	body := ask(http.MethodPost, "/fakeapi/v1/forks/one")
	require.NoError(t, json.Unmarshal(body, &told), "%s", body)
	url := told.Forks[0].URL
	dropWidgets(t, srv)
	requireNoWidgets(t, srv)
	response, err := http.Get(url + "/apis/shop.example.com/v1/namespaces/team/widgets/a")
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	require.Equal(t, http.StatusOK, response.StatusCode)
	ask(http.MethodPost, "/fakeapi/v1/snapshots/full/restore")
	requireWidget(t, srv)
}

// A second Close does nothing.
func TestCloseWithCustomResources(t *testing.T) {
	srv, err := fakeapi.New(definesWidgets())
	require.NoError(t, err)
	requireWidget(t, srv)
	require.NoError(t, srv.Close())
	require.NoError(t, srv.Close())
}
