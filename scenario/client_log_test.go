package scenario

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// Lines have no continue tokens and no access tokens.
func TestRequestLine(t *testing.T) {
	for path, want := range map[string]string{
		"/a":                             "GET /a no answer",
		"/a?limit=2&continue=abc":        "GET /a?limit=2&continue=... no answer",
		"/a?access_token=s3cret&limit=2": "GET /a?access_token=...&limit=2 no answer",
		"/a?access%5Ftoken=s3cret":       "GET /a?access%5Ftoken=... no answer",
		"/a?continue=&watch":             "GET /a?continue=&watch no answer",
	} {
		require.Equal(t, want, requestLine(httptest.NewRequest(http.MethodGet, path, nil), nil))
	}
	answer := &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"1"}}}
	require.Equal(t, "PUT /a 429 Retry-After 1", requestLine(httptest.NewRequest(http.MethodPut, "/a", nil), answer))
}

// Logs have no times and no resourceVersions, and are limited.
func TestClientLogs(t *testing.T) {
	log := &Transcript{}
	mine := log.clientLog("mine")
	for _, line := range []string{
		"GET /a?resourceVersion=0&timeout=5m3s&timeoutSeconds=303&watch=true 200",
		"PUT /b no answer",
		"GET /a?resourceVersion=17 504 Retry-After 2",
	} {
		mine.afterResponse(line)
	}
	looping := log.clientLog("looping")
	for range maxLoggedRequests + 1 {
		looping.afterResponse("GET /a 200")
	}
	require.Equal(t, map[string][]string{
		"mine /a": {"GET?resourceVersion=0&watch=true 200", "GET?resourceVersion=... 504 Retry-After 2"},
		"mine /b": {"PUT no answer"},
		"looping": {"..."},
	}, log.ClientLogs())
}
