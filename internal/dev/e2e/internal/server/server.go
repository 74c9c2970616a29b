// Package subject gives tests the server that they are about: one of fakeapi of their
// own or, to see that the tests themselves are right, a real one.
package server

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	fakeapi "example.com/fakeapi/fake"
)

// Variable is the environment variable with the path of a real server's kubeconfig. Tests
// that install the same definitions cannot share a server at a time: they do not run beside
// each other, and one runs one package at a time.
const Variable = "FAKEAPI_E2E_KUBECONFIG"

// Start gives the configuration of a server. If it is a server of the test's own, the
// test may run beside others.
func Start(t *testing.T, opts ...fakeapi.Option) *rest.Config {
	t.Helper()
	config, err := clientcmd.RESTConfigFromKubeConfig(Kubeconfig(t, opts...))
	require.NoError(t, err)
	config.QPS = -1 // the tests are not there to wait
	return config
}

// Kubeconfig is Start, with a kubeconfig for its result.
func Kubeconfig(t *testing.T, opts ...fakeapi.Option) []byte {
	t.Helper()
	if path := os.Getenv(Variable); path != "" {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		return text
	}
	t.Parallel()
	text, err := fakeapi.Start(t, opts...).Kubeconfig()
	require.NoError(t, err)
	return text
}
