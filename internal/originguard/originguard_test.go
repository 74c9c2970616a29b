package originguard_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/internal/originguard"
)

func request(method, host string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, "/api/v1/pods", nil)
	r.Host = host
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

func TestCheckHost(t *testing.T) {
	for _, host := range []string{"", "localhost", "LocalHost:80", "127.0.0.1", "127.0.0.1:6443", "127.1.2.3:1", "[::1]", "[::1]:6443", "::1", "api.test", "API.test:443", "10.0.0.1:2"} {
		require.NoError(t, originguard.CheckHost(request("GET", host), "api.test", "10.0.0.1"), host)
	}
	for _, host := range []string{"evil.example", "evil.example:6443", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.2", "0.0.0.0:1", "[fe80::1]:80", "api.test.evil.example"} {
		require.ErrorContains(t, originguard.CheckHost(request("GET", host), "api.test", "10.0.0.1"), "is not one of this machine", host)
	}
}

func TestCheckOrigin(t *testing.T) {
	const here = "127.0.0.1:8080"
	for _, r := range []*http.Request{
		request("POST", here),
		request("POST", here, "Sec-Fetch-Site", "same-origin"),
		request("GET", here, "Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate"),
		request("POST", here, "Origin", "http://"+here),
		request("GET", here, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"),
	} {
		require.NoError(t, originguard.CheckOrigin(r), "%v", r.Header)
	}
	for _, r := range []*http.Request{
		request("GET", here, "Sec-Fetch-Site", "cross-site"),
		request("GET", here, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"),
		request("POST", here, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"),
		request("POST", here, "Sec-Fetch-Site", "same-site"),
		request("GET", here, "Origin", "http://127.0.0.1:3000"),
		request("GET", here, "Origin", "null"),
		request("GET", here, "Origin", "https://evil.example", "Upgrade", "websocket"),
		request("GET", here, "Origin", "::"),
		request("GET", here, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document", "Origin", "null"),
	} {
		require.ErrorContains(t, originguard.CheckOrigin(r), "of another origin", "%v", r.Header)
	}
}

func TestCheckNotFromWebPage(t *testing.T) {
	require.NoError(t, originguard.CheckNotFromWebPage(request("POST", "localhost")))
	require.ErrorContains(t, originguard.CheckNotFromWebPage(request("POST", "localhost", "Sec-Fetch-Site", "same-origin")), "Sec-Fetch-Site: same-origin")
	require.ErrorContains(t, originguard.CheckNotFromWebPage(request("POST", "localhost", "Origin", "http://localhost")), "Origin: http://localhost")
}
