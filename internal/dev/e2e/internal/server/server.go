// Package server starts the server that a test runs against: fakeapi, or a real API server to check
// the tests themselves.
package server

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	fakeapi "example.com/fakeapi/fake"
)

// Variable is the environment variable with the path of a real server's kubeconfig. Tests that
// install the same CRDs cannot share a server at the same time. With a real server tests therefore
// do not run in parallel, and packages have to be run one at a time.
const Variable = "FAKEAPI_E2E_KUBECONFIG"

// Start returns the configuration of a client of the server. It starts fakeapi and makes the test
// parallel, unless Variable names a real server.
func Start(t *testing.T, opts ...fakeapi.Option) *rest.Config {
	t.Helper()
	config, err := clientcmd.RESTConfigFromKubeConfig(Kubeconfig(t, opts...))
	require.NoError(t, err)
	config.QPS = -1 // no client-side rate limit
	return config
}

// Kubeconfig is like Start but returns a kubeconfig.
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
