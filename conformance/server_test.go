package conformance_test

import (
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/conformance"
)

// TestServer runs the suite against the server whose root URL is in FAKEAPI_CONFORMANCE_URL, where that is set, without credentials:
//
//	FAKEAPI_CONFORMANCE_URL=http://127.0.0.1:8001 go test -run TestServer ./conformance
//
// "kubectl proxy" offers any cluster that way. FAKEAPI_CONFORMANCE_COMPACT_URL may name an address that compacts the
// server's history on POST, and FAKEAPI_CONFORMANCE_PATIENCE how long a case may wait for the clock ("5m").
func TestServer(t *testing.T) {
	url := os.Getenv("FAKEAPI_CONFORMANCE_URL")
	if url == "" {
		t.Skip("FAKEAPI_CONFORMANCE_URL names no server")
	}
	config := conformance.Config{BaseURL: url, Client: &http.Client{}}
	if compact := os.Getenv("FAKEAPI_CONFORMANCE_COMPACT_URL"); compact != "" {
		config.Compact = postTo(compact)
	}
	if patience := os.Getenv("FAKEAPI_CONFORMANCE_PATIENCE"); patience != "" {
		var err error
		config.Patience, err = time.ParseDuration(patience)
		require.NoError(t, err)
	}
	conformance.Run(t, config)
}
