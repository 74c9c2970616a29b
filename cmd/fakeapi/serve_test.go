package main

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	fakeapi "example.com/fakeapi/fake"
)

// running is a serve command after its announcement.
type running struct {
	url        string
	kubeconfig string
	text       string        // the announcement
	stop       func() result // interrupts the command and waits; stdout is the output after the announcement
}

// start runs serve and waits for the announcement of its server.
func start(t *testing.T, args ...string) running {
	t.Helper()
	text, stop := launch(t, args...)
	r := parseAnnouncement(t, text)
	r.stop = stop
	return r
}

// launch runs the command and waits for its announcement.
func launch(t *testing.T, args ...string) (text string, stop func() result) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	read, write := io.Pipe()
	var stderr bytes.Buffer
	status := make(chan int, 1)
	go func() {
		code := run(ctx, args, write, &stderr)
		_ = write.Close()
		status <- code
	}()
	text = announcement(t, read)
	rest := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(read)
		rest <- string(b)
	}()
	t.Cleanup(func() { _ = read.Close() })
	return text, func() result {
		cancel()
		return result{<-status, <-rest, stderr.String()}
	}
}

// announcement reads the announcement of serve up to its last line and no further, because the
// output of a scenario may follow.
func announcement(t *testing.T, from io.Reader) string {
	t.Helper()
	var text strings.Builder
	buffer := make([]byte, 1)
	for !strings.HasSuffix(text.String(), "ends it.\n") {
		n, err := from.Read(buffer)
		text.Write(buffer[:n])
		require.NoError(t, err, "after %q", text.String())
	}
	return text.String()
}

func parseAnnouncement(t *testing.T, text string) running {
	t.Helper()
	m := regexp.MustCompile(`^serving on (https?://127\.0\.0\.1:\d+), as Kubernetes v1\.\S+ does
kubeconfig: (\S+)(?: \(removed at the end\))?
control API: (https?://127\.0\.0\.1:\d+)/fakeapi/v1

  export KUBECONFIG=(\S+)
  kubectl --kubeconfig (\S+) get namespaces

Ctrl-C ends it\.
$`).FindStringSubmatch(text)
	require.NotNil(t, m, text)
	require.Equal(t, m[2], m[4])
	require.Equal(t, m[2], m[5])
	return running{url: m[1], kubeconfig: m[2], text: text}
}

// config returns the client configuration of the kubeconfig.
func (r running) config(t *testing.T) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", r.kubeconfig)
	require.NoError(t, err)
	return config
}

// get sends a GET request and decodes the response into out, unless out is nil.
func (r running) get(t *testing.T, path string, out any) int {
	t.Helper()
	answer, err := http.Get(r.url + path)
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	if out != nil {
		require.NoError(t, json.Unmarshal(body, out))
	}
	return answer.StatusCode
}

var cleanExit = result{status: exitOK}

func TestServe(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, args := range [][]string{nil, {"serve"}, {"--address", "127.0.0.1:0"}, {"serve", "--address=127.0.0.1:0", "--controllers=false"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			r := start(t, args...)
			require.Equal(t, http.StatusOK, r.get(t, "/api/v1/namespaces/default", nil))

			info, err := os.Stat(r.kubeconfig)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
			config, err := clientcmd.LoadFromFile(r.kubeconfig)
			require.NoError(t, err)
			require.Equal(t, r.url, config.Clusters[config.Contexts[config.CurrentContext].Cluster].Server)
			require.Contains(t, r.text, "(removed at the end)")

			require.Equal(t, cleanExit, r.stop())
			require.NoDirExists(t, filepath.Dir(r.kubeconfig))
			_, err = net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
			require.Error(t, err, "the port should be closed")
		})
	}
}

// The kubeconfig is sufficient to connect with TLS. A client without its CA does not trust the
// server.
func TestServeTLS(t *testing.T) {
	r := start(t, "serve", "--tls")
	require.Regexp(t, "^https://", r.url)
	_, err := http.Get(r.url + "/version")
	require.ErrorAs(t, err, new(x509.UnknownAuthorityError))
	list, err := kubernetes.NewForConfigOrDie(r.config(t)).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, list.Items, 4)
	require.Equal(t, cleanExit, r.stop())
}

// The kubeconfig has the first token. Others are accepted, and requests without a token are
// rejected.
func TestServeTokens(t *testing.T) {
	r := start(t, "--token", "one", "--token=two,bob,team-a,team-b")
	require.Regexp(t, "^https://", r.url)
	list := func(change func(*rest.Config)) error {
		config := r.config(t)
		change(config)
		_, err := kubernetes.NewForConfigOrDie(config).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
		return err
	}
	require.NoError(t, list(func(c *rest.Config) { require.Equal(t, "one", c.BearerToken) }))
	require.NoError(t, list(func(c *rest.Config) { c.BearerToken = "two" }))
	require.True(t, apierrors.IsUnauthorized(list(func(c *rest.Config) { c.BearerToken = "" })))
	require.True(t, apierrors.IsUnauthorized(list(func(c *rest.Config) { c.BearerToken = "two,bob" })))
	require.Equal(t, cleanExit, r.stop())

	requireFailure(t, `fakeapi: "" cannot be sent as a bearer token`, "--token=")
	requireFailure(t, `fakeapi: token "one" has no user name`, "--token=one,")
}

// Client certificates of the authority in a file are accepted. The kubeconfig has one of the
// server's own authority.
func TestServeClientCA(t *testing.T) {
	other := fakeapi.Start(t, fakeapi.WithClientCA())
	file := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(file, other.CACertificate(), 0o600))
	r := start(t, "--client-ca", file)
	require.Regexp(t, "^https://", r.url)
	list := func(change func(*rest.Config)) error {
		config := r.config(t)
		change(config)
		_, err := kubernetes.NewForConfigOrDie(config).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
		return err
	}
	require.NoError(t, list(func(c *rest.Config) { require.NotEmpty(t, c.CertData) }))
	require.True(t, apierrors.IsUnauthorized(list(func(c *rest.Config) { c.CertData, c.KeyData = nil, nil })))
	require.NoError(t, list(func(c *rest.Config) {
		var err error
		c.CertData, c.KeyData, err = other.IssueClientCertificate(0, "ann")
		require.NoError(t, err)
	}))
	require.Equal(t, cleanExit, r.stop())

	require.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
	requireFailure(t, "fakeapi: the client authority 1 of 1 is not a certificate in PEM form", "--client-ca="+file)
	requireFailure(t, `fakeapi: "a/b" is not a host name, which has no port and no scheme`, "--host=a/b")
}

// Requests with an unknown host name are rejected, unless a flag allows the name.
func TestServeHosts(t *testing.T) {
	r := start(t, "--host", "api.test")
	for host, want := range map[string]int{"": 200, "api.test:80": 200, "evil.example": 403} {
		request, err := http.NewRequestWithContext(t.Context(), "GET", r.url+"/version", nil)
		require.NoError(t, err)
		request.Host = host
		answer, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, want, answer.StatusCode, host)
	}
	require.Equal(t, cleanExit, r.stop())
}

func TestServeEndsWatches(t *testing.T) {
	r := start(t)
	answer, err := http.Get(r.url + "/api/v1/pods?watch=true")
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	require.Equal(t, cleanExit, r.stop())
	_, _ = io.ReadAll(answer.Body) // returns because the server ends the stream
}

// The requests of the command itself are not recorded, and no fault applies to them.
func TestServeRecordsNoOwnRequests(t *testing.T) {
	rules := filepath.Join(t.TempDir(), "rules")
	require.NoError(t, os.WriteFile(rules, []byte("once: when path(/) && first(1) do status(503)\nexpire410(resource(pods))\n"), 0o600))
	r := start(t, "--faults", rules)
	for path, want := range map[string]string{"requests": "", "hits": "", "timeline": "", "access": ""} {
		answer, err := http.Get(r.url + "/fakeapi/v1/" + path)
		require.NoError(t, err)
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, want, string(text), path)
	}
	require.Equal(t, http.StatusServiceUnavailable, r.get(t, "/livez", nil), "the first request")
	require.Equal(t, cleanExit, r.stop())
}

func TestServeHasTheControlAPI(t *testing.T) {
	r := start(t)
	var list corev1.NamespaceList
	r.get(t, "/api/v1/namespaces", &list)
	past := "/api/v1/namespaces?resourceVersionMatch=Exact&resourceVersion=" + list.ResourceVersion
	_, err := http.Post(r.url+"/api/v1/namespaces", "application/json", strings.NewReader(`{"metadata":{"name":"next"}}`))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, r.get(t, past, nil))

	answer, err := http.Post(r.url+"/fakeapi/v1/compact", "", nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusNoContent, answer.StatusCode)
	require.Equal(t, http.StatusGone, r.get(t, past, nil))
	require.Equal(t, cleanExit, r.stop())
}

// Disabled controllers are stepped through the control API, which rejects other methods and unknown
// paths.
func TestServeStepsControllers(t *testing.T) {
	r := start(t, "serve", "--controllers=false")
	post := func(path, body string, want int) {
		answer, err := http.Post(r.url+path, "application/json", strings.NewReader(body))
		require.NoError(t, err)
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.Equal(t, want, answer.StatusCode, "%s", text)
	}
	const owner = `"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"gone"}]`
	post("/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"lost",`+owner+`}}`, http.StatusCreated)
	require.Equal(t, http.StatusOK, r.get(t, "/api/v1/namespaces/default/configmaps/lost", nil))
	post("/fakeapi/v1/run-controllers", "", http.StatusNoContent)
	require.Equal(t, http.StatusNotFound, r.get(t, "/api/v1/namespaces/default/configmaps/lost", nil))

	require.Equal(t, http.StatusMethodNotAllowed, r.get(t, "/fakeapi/v1/run-controllers", nil))
	require.Equal(t, http.StatusNotFound, r.get(t, "/fakeapi/v1/unknown", nil))
	require.Equal(t, cleanExit, r.stop())
}

func TestServeInterruptedBeforeStart(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	require.Equal(t, exitOK, run(ctx, nil, &stdout, &stderr))
	require.Empty(t, stdout.String())
	require.Empty(t, stderr.String())
	requireEmptyDir(t, os.Getenv("TMPDIR"))
}

// requireFailure requires that a command line fails with one line on stderr, and leaves nothing in
// TMPDIR.
func requireFailure(t *testing.T, want string, args ...string) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	got := runCommand(t, args...)
	require.Equal(t, result{status: exitError, stderr: want + "\n"}, got)
	requireEmptyDir(t, os.Getenv("TMPDIR"))
}

func requireEmptyDir(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestServeAddressRefused(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	address := taken.Addr().String()

	requireFailure(t, "fakeapi: listen tcp "+address+": bind: address already in use", "--address", address)
	requireFailure(t, "fakeapi: listen tcp "+address+": bind: address already in use", "--address", address, "--load", manifest(t, "a.yaml", namespaceManifest))
	requireFailure(t, `fakeapi: address "0.0.0.0:0" is not a loopback address`, "--address", "0.0.0.0:0")
	requireFailure(t, `fakeapi: address ":8080" is not a loopback address`, "--address", ":8080")
	requireFailure(t, `fakeapi: address "8080": address 8080: missing port in address`, "--address", "8080")
}

// brokenWriter is a stdout whose writes fail.
type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestServeOutputUnwritable(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var stderr bytes.Buffer
	require.Equal(t, exitError, run(t.Context(), nil, brokenWriter{}, &stderr))
	require.Equal(t, "fakeapi: no space left on device\n", stderr.String())
	requireEmptyDir(t, os.Getenv("TMPDIR"))
}

// With --cache-initializing, lists get 429 at first.
func TestServeCacheInitializing(t *testing.T) {
	r := start(t, "--cache-initializing", "1h")
	require.Equal(t, http.StatusTooManyRequests, r.get(t, "/api/v1/pods", nil))
	require.Equal(t, http.StatusOK, r.get(t, "/api/v1/pods?limit=1", nil))
	require.Equal(t, cleanExit, r.stop())
}

// --latency adds the rules of faults.RealisticLatency.
func TestServeLatency(t *testing.T) {
	r := start(t, "--latency")
	answer, err := http.Get(r.url + "/fakeapi/v1/faults")
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	rules, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, "latency: when during(before) do delay(1ms), jitter(4ms, 1)\nwatch-latency: when during(stream) && !initialEvents do delay(1ms), jitter(4ms, 1)\n", string(rules))
	require.Equal(t, cleanExit, r.stop())
}
