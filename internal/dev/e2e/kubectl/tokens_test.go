package kubectl_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

// The kubeconfig contains the token. With an expired or unknown token kubectl asks the user to log
// in; a token of a service account is accepted.
func TestTokens(t *testing.T) {
	u := newUser(t, fakeapi.WithTokens(fakeapi.Token{Value: "ann-1", User: "ann"}))
	require.Equal(t, "namespace/default\n", u.do("get", "namespace", "default", "-o", "name"))
	u.do("create", "serviceaccount", "robot")
	token := strings.TrimSpace(u.do("create", "token", "robot"))

	const login = "error: You must be logged in to the server (Unauthorized)\n"
	require.NoError(t, u.srv.ExpireToken("ann-1"))
	require.Equal(t, login, u.doRefused("get", "namespace", "default", "-o", "name"))
	require.Equal(t, login, u.doRefused("--token=bob-1", "get", "namespace", "default", "-o", "name"))
	require.Equal(t, "namespace/default\n", u.do("--token="+token, "get", "namespace", "default", "-o", "name"))

	require.NoError(t, u.srv.AddToken(fakeapi.Token{Value: "ann-1", User: "ann"}))
	require.Equal(t, "namespace/default\n", u.do("get", "namespace", "default", "-o", "name"))
}
