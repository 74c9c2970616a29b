package fakeapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
)

// A fork has the objects and the credentials of its server, and an address of its own. It is closed
// by a request or with its server.
func TestControlForks(t *testing.T) {
	rule, err := faults.Parse("when verb(delete) do status(500)")
	require.NoError(t, err)
	srv, err := fakeapi.New(fakeapi.WithControlAPI(), fakeapi.WithTokens(fakeapi.Token{Value: "secret", User: "jane"}),
		fakeapi.WithObjects(configMap("a", "0")), fakeapi.WithFaults(rule))
	require.NoError(t, err)
	c := controlClient{t, srv}
	got := c.call(201, "POST", "forks/second", "")
	name, url, found := strings.Cut(strings.TrimSuffix(got, "\n"), " at ")
	require.True(t, found, got)
	require.Equal(t, "second", name)
	require.Equal(t, got, c.call(200, "GET", "forks", ""))
	require.Contains(t, c.call(409, "POST", "forks/second", ""), `forks \"second\" already exists`)
	c.call(201, "POST", "forks/third", "")

	config := srv.RESTConfig()
	config.Host = url
	maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
	require.Equal(t, "0", getValue(t, maps, ""))
	require.NoError(t, maps.Delete(t.Context(), "a", metav1.DeleteOptions{}), "the fork has no fault rules")
	serverMaps := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
	require.Equal(t, "0", getValue(t, serverMaps, ""))

	c.call(204, "DELETE", "forks/second", "")
	c.call(404, "DELETE", "forks/second", "")
	_, err = maps.Get(t.Context(), "a", metav1.GetOptions{})
	require.ErrorContains(t, err, "refused")
	third := strings.TrimSpace(strings.TrimPrefix(c.call(200, "GET", "forks", ""), "third at "))
	require.NoError(t, srv.Close())
	_, err = http.Get(strings.Replace(third, "https", "http", 1))
	require.ErrorContains(t, err, "refused", "the fork is closed with its server")

	require.Contains(t, newControlClient(t).call(400, "POST", "forks/x", ""), "use Server.Fork in Go")
}
