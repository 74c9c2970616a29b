package fakeapi_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	fakeapi "example.com/fakeapi/fake"
)

// A response to an upgrade request is an upgrade or an error, which are those of the other server
// without headers of this one. Texts as those of a v0.37.2 server.
func TestAggregatedAPIUpgradeResponses(t *testing.T) {
	m := startMetricsServer(t, "metrics-server.kube-system.svc")
	m.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			m.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Upgrade", "echo")
		w.Header().Set("Connection", "Upgrade")
		switch r.URL.Query().Get("case") {
		case "upgrade":
			w.WriteHeader(http.StatusSwitchingProtocols)
		case "ok":
			w.WriteHeader(http.StatusOK)
		case "redirect":
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		case "refused":
			http.Error(w, "no", http.StatusForbidden)
		default:
			panic(http.ErrAbortHandler)
		}
	})
	srv := fakeapi.Start(t, m.network())
	m.load(t, srv)
	waitForCondition(t, srv, metricsAPIService, "Passed")
	for name, want := range map[string]struct {
		code int
		body string
	}{
		"upgrade":  {http.StatusSwitchingProtocols, ""},
		"ok":       {http.StatusServiceUnavailable, "invalid upgrade response: status code 200\n"},
		"redirect": {http.StatusServiceUnavailable, "invalid upgrade response: status code 302\n"},
		"refused":  {http.StatusForbidden, "no\n"},
		"close":    {http.StatusServiceUnavailable, "unexpected EOF\n"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL()+metricsPath+"/nodes/a/exec?case="+name, nil)
		require.NoError(t, err)
		r.Header.Set("Connection", "Upgrade")
		r.Header.Set("Upgrade", "echo")
		response, err := srv.Client().Do(r)
		require.NoError(t, err)
		require.Equal(t, want.code, response.StatusCode, name)
		if want.code != http.StatusSwitchingProtocols {
			body, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.Equal(t, want.body, string(body), name)
		}
		require.NoError(t, response.Body.Close())
		if want.code != http.StatusServiceUnavailable {
			require.Empty(t, response.Header.Get("Cache-Control"), name)
			require.Empty(t, response.Header.Get("Audit-Id"), name)
		}
	}
}

// The other server may compress its response to a client that does not accept that.
func TestAggregatedAPICompression(t *testing.T) {
	m := startMetricsServer(t, "metrics-server.kube-system.svc")
	m.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != metricsPath+"/nodes" || r.Header.Get("Accept-Encoding") != "gzip" {
			m.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		compressed := gzip.NewWriter(w)
		_, _ = io.WriteString(compressed, "was compressed")
		_ = compressed.Close()
	})
	srv := fakeapi.Start(t, m.network())
	m.load(t, srv)
	waitForCondition(t, srv, metricsAPIService, "Passed")
	code, header, body := getWithAccept(t, srv, "GET", metricsPath+"/nodes", "application/json", "Accept-Encoding", "identity")
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, body, "NodeMetricsList")
	require.Empty(t, header.Get("Content-Encoding"))

	r, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL()+metricsPath+"/nodes", nil)
	require.NoError(t, err)
	response, err := (&http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}).Do(r)
	require.NoError(t, err)
	defer func() { require.NoError(t, response.Body.Close()) }()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, "was compressed", string(text))
	require.Empty(t, response.Header.Get("Content-Encoding"))
}

// An APIService that leads to no other server any more is available.
func TestAPIServiceBecomesLocal(t *testing.T) {
	m := startMetricsServer(t, "metrics-server.kube-system.svc")
	srv := fakeapi.Start(t, m.network())
	require.NoError(t, srv.Load(m.apiService())) // without the Service
	require.Equal(t, apiregistrationv1.ConditionFalse, waitForCondition(t, srv, metricsAPIService, "ServiceNotFound").Status)
	requireCode(t, srv, 200, "PATCH", apiServicesPath+"/"+metricsAPIService, `{"spec":{"service":null,"caBundle":null}}`)
	c := waitForCondition(t, srv, metricsAPIService, "Local")
	require.Equal(t, apiregistrationv1.ConditionTrue, c.Status)
	require.Equal(t, "Local APIServices are always available", c.Message)
}
