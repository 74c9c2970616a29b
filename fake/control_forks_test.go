package fakeapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
)

// A fork has the objects and the credentials of its server, its fault rules without those that were
// added later, and an address of its own. It is closed by a request or with its server.
func TestControlForks(t *testing.T) {
	rule, err := faults.Parse("once: when verb(delete) && first(1) do status(500)")
	require.NoError(t, err)
	log := &auditWriter{t: t}
	policy := &auditv1.Policy{Rules: []auditv1.PolicyRule{{Level: auditv1.LevelMetadata, Resources: []auditv1.GroupResources{{Resources: []string{"configmaps"}}}}}}
	srv, err := fakeapi.New(fakeapi.WithControlAPI(), fakeapi.WithAuditLog(policy, log), fakeapi.WithTokens(fakeapi.Token{Value: "secret", User: "jane"}),
		fakeapi.WithObjects(configMap("a", "0")), fakeapi.WithFaults(rule))
	require.NoError(t, err)
	c := controlClient{t, srv}
	c.call(201, "POST", "faults", "later: when verb(get) do status(500)")
	got := c.call(201, "POST", "forks/second", "")
	c.call(204, "DELETE", "faults/later", "")
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
	require.True(t, apierrors.IsInternalError(maps.Delete(t.Context(), "a", metav1.DeleteOptions{})), "the rule of WithFaults")
	require.NoError(t, maps.Delete(t.Context(), "a", metav1.DeleteOptions{}))
	require.Empty(t, log.take(), "a fork does not write to the audit log")
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

	inMemory := newControlClient(t)
	require.Contains(t, inMemory.call(400, "POST", "forks/x", ""), "use Server.Fork in Go")
	require.Contains(t, inMemory.call(400, "GET", "kubeconfig", ""), "use Server.RESTConfig in Go")
}

// A fork comes with a kubeconfig and a control API of its own. A closed fork is forgotten.
func TestControlForkKubeconfig(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithRBAC(), fakeapi.WithControlAddress("127.0.0.1:0"), fakeapi.WithObjects(configMap("a", "0")))
	code, _, body := sendPlain(t, "POST", srv.ControlURL()+"/forks/second", "", "Accept", "application/json")
	require.Equal(t, 201, code, body)
	var fork struct{ Name, URL, ControlURL, Kubeconfig string }
	require.NoError(t, json.Unmarshal([]byte(body), &fork))
	require.Equal(t, "second", fork.Name)
	require.NotEqual(t, srv.URL(), fork.URL)
	require.NotEqual(t, srv.ControlURL(), fork.ControlURL)
	config, err := clientcmd.RESTConfigFromKubeConfig([]byte(fork.Kubeconfig))
	require.NoError(t, err)
	require.Equal(t, fork.URL, config.Host)
	maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
	require.Equal(t, "0", getValue(t, maps, ""))
	code, _, body = sendPlain(t, "GET", fork.ControlURL+"/requests", "")
	require.Equal(t, 200, code)
	require.Equal(t, 2, strings.Count(body, "\n"), "those of the fork")
	require.Empty(t, srv.Requests())

	_, _, again := sendPlain(t, "GET", srv.ControlURL()+"/forks/second", "", "Accept", "application/json")
	require.Contains(t, again, fork.ControlURL)
	_, _, file := sendPlain(t, "GET", srv.ControlURL()+"/forks/second/kubeconfig", "")
	same, err := clientcmd.RESTConfigFromKubeConfig([]byte(file))
	require.NoError(t, err)
	require.Equal(t, config.Host, same.Host)
	_, _, file = sendPlain(t, "GET", srv.ControlURL()+"/kubeconfig", "")
	own, err := clientcmd.RESTConfigFromKubeConfig([]byte(file))
	require.NoError(t, err)
	require.Equal(t, srv.URL(), own.Host)

	code, _, _ = sendPlain(t, "DELETE", srv.ControlURL()+"/forks/second", "")
	require.Equal(t, 204, code)
	_, err = http.Get(fork.ControlURL)
	require.ErrorContains(t, err, "refused")
	for _, path := range []string{"/forks/second", "/forks/second/kubeconfig"} {
		code, _, _ = sendPlain(t, "GET", srv.ControlURL()+path, "")
		require.Equal(t, 404, code)
	}
}
