package fakeapi_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

// Requests that a web page can send are rejected by the API and by the control API, and change
// nothing.
func TestCrossOriginRequestsAreRejected(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithControlAPI(), fakeapi.WithAllowedHosts("api.test"))
	past := srv.ResourceVersion()
	require.NoError(t, srv.Load(configMap("a", "0")))
	before := srv.ResourceVersion()
	try := func(method, path, host string, headers ...string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, srv.URL()+path, strings.NewReader(`{"metadata":{"name":"made"}}`))
		require.NoError(t, err)
		r.Host = host
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		resp, body := doRequest(t, srv, r)
		if resp.StatusCode == 403 {
			require.Equal(t, "Forbidden", string(decodeStatus(t, body).Reason))
		}
		return resp.StatusCode, body
	}
	for _, path := range []string{"/api/v1/pods", "/fakeapi/v1/hits", "/version"} {
		code, body := try("GET", path, "evil.example")
		require.Equal(t, 403, code, path)
		require.Contains(t, body, "the name \\\"evil.example\\\" is not one of this machine")
		code, _ = try("GET", path, "", "Origin", "https://evil.example")
		require.Equal(t, 403, code, path)
		code, _ = try("GET", path, "", "Sec-Fetch-Site", "cross-site")
		require.Equal(t, 403, code, path)
		for _, host := range []string{"", "localhost:1", "api.test"} {
			code, _ = try("GET", path, host)
			require.Equal(t, 200, code, path)
		}
	}
	code, _ := try("POST", "/fakeapi/v1/forget-history", "", "Sec-Fetch-Site", "same-origin")
	require.Equal(t, 403, code)
	code, _ = try("POST", "/fakeapi/v1/forget-history", "", "Origin", "null")
	require.Equal(t, 403, code)
	code, _ = try("GET", "/fakeapi/v1/timeline", "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document")
	require.Equal(t, 200, code, "navigation to the timeline is allowed")
	code, _ = try("POST", "/api/v1/namespaces", "", "Sec-Fetch-Site", "same-site")
	require.Equal(t, 403, code)
	require.Equal(t, before, srv.ResourceVersion(), "no namespace was created")
	code, _ = try("GET", "/api/v1/pods?resourceVersionMatch=Exact&resourceVersion="+past, "")
	require.Equal(t, 200, code, "no history was forgotten")

	w := httptest.NewRecorder()
	srv.ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/pods", nil)) // its Host is example.com
	require.Equal(t, 200, w.Code, "direct calls of the handler are not checked")
}

// The certificate has the allowed hosts.
func TestAllowedHostsInCertificate(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithTLS(), fakeapi.WithAllowedHosts("api.test", "192.0.2.1"))
	trusted := x509.NewCertPool()
	require.True(t, trusted.AppendCertsFromPEM(srv.CACertificate()))
	for host, good := range map[string]bool{"api.test": true, "192.0.2.1": true, "other.test": false} {
		conn, err := tls.Dial("tcp", strings.TrimPrefix(srv.URL(), "https://"), &tls.Config{ServerName: host, RootCAs: trusted})
		require.Equal(t, good, err == nil, "%s: %v", host, err)
		if err == nil {
			require.NoError(t, conn.Close())
		}
	}
}
