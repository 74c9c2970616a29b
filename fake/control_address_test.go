package fakeapi_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	fakeapi "example.com/fakeapi/fake"
)

// sendPlain sends a request without credentials, with headers, which are names and values in turn.
// It does not follow redirects.
func sendPlain(t *testing.T, method, url, body string, headers ...string) (int, http.Header, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	if host := request.Header.Get("Host"); host != "" {
		request.Host = host
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, response.Header, string(text)
}

// The control address has the control API and nothing else, without TLS and credentials, and the
// address of the API does not have it.
func TestControlAddress(t *testing.T) {
	srv, err := fakeapi.New(fakeapi.WithRBAC(), fakeapi.WithAddress(ownLoopback()), fakeapi.WithControlAddress("localhost:0"))
	require.NoError(t, err)
	url := srv.ControlURL()
	require.Regexp(t, `^http://127\.0\.0\.1:\d+/fakeapi/v1$`, url)
	base := strings.TrimSuffix(url, "/fakeapi/v1")

	code, _, body := sendPlain(t, "POST", url+"/faults", "busy: when verb(list) do status(429)")
	require.Equal(t, 201, code, body)
	require.Len(t, srv.Faults().Rules(), 1)
	code, _, _ = send(t, srv, "GET", "/api/v1/pods", "", nil)
	require.Equal(t, 429, code)
	_, _, body = sendPlain(t, "GET", url+"/hits", "")
	require.Equal(t, "busy: before list pods: status(429)\n", body)

	code, header, _ := sendPlain(t, "GET", base+"/", "")
	require.Equal(t, http.StatusFound, code)
	require.Equal(t, "/fakeapi/v1/", header.Get("Location"))
	for _, path := range []string{"/api/v1/pods", "/version", "/healthz", "/fakeapi", "/fakeapi/v2/"} {
		code, _, body = sendPlain(t, "GET", base+path, "")
		require.Equal(t, 404, code, path)
		require.Contains(t, body, "NotFound")
	}
	code, _, _ = send(t, srv, "GET", "/fakeapi/v1/faults", "", nil)
	require.Equal(t, 404, code)
	require.Len(t, srv.Requests(), 2, "requests of the control address are not recorded")

	// A browser opens the page. Pages of others cannot read or change anything.
	code, _, body = sendPlain(t, "GET", url+"/timeline", "", "Accept", "text/html", "Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document")
	require.Equal(t, 200, code)
	require.Contains(t, body, "<!doctype html>")
	for _, headers := range [][]string{{"Origin", "https://evil.example"}, {"Sec-Fetch-Site", "cross-site"}, {"Host", "evil.example"}} {
		code, _, body = sendPlain(t, "GET", url+"/timeline", "", headers...)
		require.Equal(t, 403, code)
		require.Contains(t, body, "the request is refused")
	}
	code, _, _ = sendPlain(t, "DELETE", url+"/faults", "", "Origin", base)
	require.Equal(t, 403, code)
	require.Len(t, srv.Faults().Rules(), 1)

	// It serves while the server is shut down, and ends with it.
	require.NoError(t, srv.Shutdown())
	code, _, _ = sendPlain(t, "GET", url+"/faults", "")
	require.Equal(t, 200, code)
	require.NoError(t, srv.Restart(0))
	require.NoError(t, srv.Close())
	_, err = http.Get(url + "/faults")
	require.ErrorContains(t, err, "refused")
}

// ControlURL is the URL of the control API at the address of the server, and "" without one. A
// replica and a fork have none.
func TestControlURL(t *testing.T) {
	require.Empty(t, fakeapi.Start(t).ControlURL())
	srv := fakeapi.Start(t, fakeapi.WithControlAPI(), fakeapi.WithTLS())
	require.Equal(t, srv.URL()+"/fakeapi/v1", srv.ControlURL())
	srv = fakeapi.Start(t, fakeapi.WithControlAPI(), fakeapi.WithControlAddress("127.0.0.1:0"))
	require.NotContains(t, srv.ControlURL(), srv.URL())
	code, _, _ := send(t, srv, "GET", "/fakeapi/v1/faults", "", nil)
	require.Equal(t, 200, code)
	replica, err := srv.Replica()
	require.NoError(t, err)
	require.Empty(t, replica.ControlURL())
	fork, err := srv.Fork()
	require.NoError(t, err)
	require.Empty(t, fork.ControlURL())
	require.NoError(t, fork.Close())
}

func TestControlAddressErrors(t *testing.T) {
	taken := fakeapi.Start(t, fakeapi.WithControlAddress("127.0.0.1:0"))
	address := strings.TrimSuffix(strings.TrimPrefix(taken.ControlURL(), "http://"), "/fakeapi/v1")
	for _, c := range []struct {
		want string
		opts []fakeapi.Option
	}{
		{"is not a loopback address", []fakeapi.Option{fakeapi.WithControlAddress("0.0.0.0:0")}},
		{"missing port", []fakeapi.Option{fakeapi.WithControlAddress("127.0.0.1")}},
		{"cannot be combined", []fakeapi.Option{fakeapi.WithControlAddress("127.0.0.1:0"), fakeapi.WithInMemoryNetwork()}},
		{"fakeapi: control API: listen tcp " + address, []fakeapi.Option{fakeapi.WithControlAddress(address)}},
	} {
		_, err := fakeapi.New(c.opts...)
		require.ErrorContains(t, err, c.want)
	}
}

// A kubeconfig without TLS skips the verification of certificates, which the JavaScript client
// requires for plain HTTP, and which client-go accepts. One with TLS does not.
func TestKubeconfigWithoutTLS(t *testing.T) {
	srv := fakeapi.Start(t)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	file, err := srv.Kubeconfig()
	require.NoError(t, err)
	require.Contains(t, string(file), "insecure-skip-tls-verify: true")
	require.NoError(t, os.WriteFile(path, file, 0o600))
	config, err := clientcmd.BuildConfigFromFlags("", path)
	require.NoError(t, err)
	_, err = kubernetes.NewForConfigOrDie(config).Discovery().ServerVersion()
	require.NoError(t, err)
	secured, err := fakeapi.Start(t, fakeapi.WithTLS()).Kubeconfig()
	require.NoError(t, err)
	require.NotContains(t, string(secured), "insecure")
}
