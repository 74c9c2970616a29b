package conformance_test

import (
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/transport"

	"example.com/fakeapi/conformance"
)

// TestServer runs the suite against the server whose root URL is in FAKEAPI_CONFORMANCE_URL, where that is set, without credentials:
//
//	FAKEAPI_CONFORMANCE_URL=http://127.0.0.1:8001 go test -run TestServer ./conformance
//
// "kubectl proxy" offers any cluster that way. FAKEAPI_CONFORMANCE_COMPACT_URL may name an address that compacts the
// server's history on POST, and FAKEAPI_CONFORMANCE_PATIENCE how long a case may wait for the clock ("5m").
// FAKEAPI_CONFORMANCE_NOBODY is the token of a user without rights, for the cases about denials.
// FAKEAPI_CONFORMANCE_SKIP leaves out what the server is known not to have, by cases or rules with a reason each:
// "NS-05: no strategy for namespaces; NS-06: the same".
func TestServer(t *testing.T) {
	url := os.Getenv("FAKEAPI_CONFORMANCE_URL")
	if url == "" {
		t.Skip("FAKEAPI_CONFORMANCE_URL names no server")
	}
	config := conformance.Config{BaseURL: url, Client: &http.Client{}}
	if compact := os.Getenv("FAKEAPI_CONFORMANCE_COMPACT_URL"); compact != "" {
		config.Compact = postHook(compact)
	}
	if token := os.Getenv("FAKEAPI_CONFORMANCE_NOBODY"); token != "" {
		config.UnprivilegedClient = &http.Client{Transport: transport.NewBearerAuthRoundTripper(token, http.DefaultTransport)}
	}
	if patience := os.Getenv("FAKEAPI_CONFORMANCE_PATIENCE"); patience != "" {
		var err error
		config.Patience, err = time.ParseDuration(patience)
		require.NoError(t, err)
	}
	if skips := os.Getenv("FAKEAPI_CONFORMANCE_SKIP"); skips != "" {
		config.Skip = map[string]string{}
		for one := range strings.SplitSeq(skips, ";") {
			id, reason, _ := strings.Cut(one, ":")
			config.Skip[strings.TrimSpace(id)] = strings.TrimSpace(reason)
		}
	}
	conformance.Run(t, config)
}
