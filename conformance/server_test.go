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

// TestServer runs the suite against the server with the root URL in FAKEAPI_CONFORMANCE_URL,
// without credentials. It is skipped if the variable is not set.
//
//	FAKEAPI_CONFORMANCE_URL=http://127.0.0.1:8001 go test -run TestServer ./conformance
//
// "kubectl proxy" makes any cluster available in this way. Further variables:
//
//   - FAKEAPI_CONFORMANCE_COMPACT_URL: a URL that compacts the history of the server on POST
//   - FAKEAPI_CONFORMANCE_PATIENCE: Config.Patience, for example "5m"
//   - FAKEAPI_CONFORMANCE_UNPRIVILEGED_TOKEN: the bearer token of a user without rights, for
//     Config.UnprivilegedClient
//   - FAKEAPI_CONFORMANCE_SKIP: Config.Skip, for example "NS-05: no strategy for namespaces; NS-06:
//     the same"
func TestServer(t *testing.T) {
	url := os.Getenv("FAKEAPI_CONFORMANCE_URL")
	if url == "" {
		t.Skip("FAKEAPI_CONFORMANCE_URL is not set")
	}
	config := conformance.Config{BaseURL: url, Client: &http.Client{}}
	if compact := os.Getenv("FAKEAPI_CONFORMANCE_COMPACT_URL"); compact != "" {
		config.Compact = postHook(compact)
	}
	if token := os.Getenv("FAKEAPI_CONFORMANCE_UNPRIVILEGED_TOKEN"); token != "" {
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
