package conformance_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/conformance"
	fakeapi "example.com/fakeapi/fake"
)

// proxyTo returns a proxy that passes everything on.
func proxyTo(target string) (*httputil.ReverseProxy, error) {
	to, err := url.Parse(target)
	if err != nil {
		return nil, err
	}
	return &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(to) },
		FlushInterval: -1, // otherwise events of a watch are buffered
	}, nil
}

// A run against a proxy in front of an API server.
func ExampleExecute_proxy() {
	behind, err := fakeapi.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = behind.Close() }()
	proxy, err := proxyTo(behind.URL())
	if err != nil {
		fmt.Println(err)
		return
	}
	srv := httptest.NewServer(proxy)
	defer srv.Close()

	features := map[string]bool{}
	for _, gate := range conformance.FeatureGates() {
		features[gate] = gate == conformance.WatchList
	}
	report, err := conformance.Execute(context.Background(), conformance.Config{
		BaseURL:  srv.URL,
		Run:      regexp.MustCompile(`^(CB-02|CH-18/typed|GT-01/typed|SI-01/typed|WA-02/typed)$`),
		Features: features,
		Timeout:  time.Minute,
	})
	if err != nil {
		fmt.Println(err) // an error of the run; failed cases are in the report
	}
	for _, r := range report.Results {
		fmt.Println(r.Outcome, r.Case.ID)
	}
	fmt.Println(report.LevelTally(conformance.Must).Failed, len(report.Leftovers))
	// Output:
	// skipped CB-02
	// skipped CH-18/typed
	// passed GT-01/typed
	// passed SI-01/typed
	// passed WA-02/typed
	// 0 0
}

// TestRunOnAProxy runs the example against a server that is closed by defer.
func TestRunOnAProxy(t *testing.T) {
	t.Parallel()
	proxy, err := proxyTo(fakeapi.Start(t).URL())
	require.NoError(t, err)
	srv := httptest.NewServer(proxy)
	defer srv.Close()
	conformance.Run(t, conformance.Config{BaseURL: srv.URL, Client: srv.Client(), Run: regexp.MustCompile(`^(OC|GT)-`), Timeout: 5 * time.Minute})
}
