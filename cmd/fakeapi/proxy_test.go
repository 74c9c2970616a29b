package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// startProxy starts the proxy and waits for its announcement.
func startProxy(t *testing.T, args ...string) running {
	t.Helper()
	text, stop := launch(t, append([]string{"proxy"}, args...)...)
	m := regexp.MustCompile(`^proxy for (https?://\S+) on (http://127\.0\.0\.1:\d+), fault rules: \d+
kubeconfig: (\S+)(?: \(removed at the end\))?

  export KUBECONFIG=(\S+)

Ctrl-C ends it\.
$`).FindStringSubmatch(text)
	require.NotNil(t, m, text)
	return running{url: m[2], kubeconfig: m[3], text: text, stop: stop}
}

func TestServeWithFaults(t *testing.T) {
	rules := manifest(t, "rules", "# for lists\nbusy: when verb(list) && first(1) do status(429)\n\nlost: when verb(get) do status(410)\n")
	r := start(t, "--faults", rules)
	require.Equal(t, http.StatusTooManyRequests, r.get(t, "/api/v1/pods", nil))
	require.Equal(t, http.StatusOK, r.get(t, "/api/v1/pods", nil))
	require.Equal(t, http.StatusGone, r.get(t, "/api/v1/namespaces/default", nil))
	require.Equal(t, http.StatusOK, r.get(t, "/fakeapi/v1/hits", nil))
	require.Equal(t, cleanExit, r.stop())
}

// The rules may be the value of the flag.
func TestFaultsOnCommandLine(t *testing.T) {
	r := start(t, "--faults", "busy: when verb(list) && first(1) do status(429); lost: when verb(get) do status(410)")
	require.Equal(t, http.StatusTooManyRequests, r.get(t, "/api/v1/pods", nil))
	require.Equal(t, http.StatusGone, r.get(t, "/api/v1/namespaces/default", nil))
	require.Equal(t, cleanExit, r.stop())
	requireFailureLike(t, "--faults expire410(frist(1)): ", `fault rule, line 1, column 11: unknown predicate "frist"; known: `, "--faults", "expire410(frist(1))")
}

// An invalid fault file ends both commands before they serve. The error has the line.
func TestFaultsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"when always do hang\nwhen always do explode": `fault rule, line 2, column 16: unknown effect "explode"; known: `,
		"when verb(get) do drop":                      `fault rule "when verb(get) do drop": `,
		"# none\n":                                    "it contains no fault rule",
	} {
		rules := manifest(t, "rules", text)
		for _, args := range [][]string{{"serve"}, {"proxy", "--kubeconfig", manifest(t, "config", otherKubeconfig)}} {
			got := runCommand(t, append(args, "--faults", rules)...)
			require.Equal(t, exitError, got.status)
			require.Contains(t, got.stderr, "fakeapi: --faults "+rules+": "+want)
			require.Equal(t, 1, strings.Count(got.stderr, "\n"))
			require.Empty(t, got.stdout)
		}
	}
	requireFailure(t, "fakeapi: --faults /none: no such file or directory", "--faults", "/none")
}

// The proxy uses the credentials of its kubeconfig, its clients need none, and fault rules apply to
// the requests.
func TestProxy(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var asked, protocol string
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, protocol = r.Header.Get("Authorization"), r.Proto
		_, _ = io.WriteString(w, r.URL.Path)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	config := clientcmdapi.NewConfig()
	config.Clusters["real"] = &clientcmdapi.Cluster{Server: server.URL + "/base", InsecureSkipTLSVerify: true}
	config.AuthInfos["me"] = &clientcmdapi.AuthInfo{Token: "secret"}
	config.Contexts["one"] = &clientcmdapi.Context{Cluster: "real", AuthInfo: "me", Namespace: "team"}
	kubeconfig := filepath.Join(t.TempDir(), "config")
	require.NoError(t, clientcmd.WriteToFile(*config, kubeconfig))

	rules := manifest(t, "rules", "busy: when verb(list) do status(429)\n")
	r := startProxy(t, "--kubeconfig", kubeconfig, "--context", "one", "--faults", rules)
	require.Contains(t, r.text, "proxy for "+server.URL+"/base on ")
	require.Equal(t, http.StatusTooManyRequests, r.get(t, "/api/v1/pods", nil))
	answer, err := http.Get(r.url + "/api/v1/nodes/a")
	require.NoError(t, err)
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, "/base/api/v1/nodes/a", string(body))
	require.Equal(t, "Bearer secret", asked)
	require.Equal(t, "HTTP/2.0", protocol)

	upgrading, err := http.NewRequestWithContext(t.Context(), "GET", r.url+"/api/v1/namespaces/ns/pods/a/exec", nil)
	require.NoError(t, err)
	upgrading.Header.Set("Connection", "Upgrade")
	upgrading.Header.Set("Upgrade", "SPDY/3.1")
	answer, err = http.DefaultClient.Do(upgrading)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, "HTTP/1.1", protocol, "upgrades require HTTP/1.1")

	written, err := clientcmd.LoadFromFile(r.kubeconfig)
	require.NoError(t, err)
	context := written.Contexts[written.CurrentContext]
	require.Equal(t, "team", context.Namespace)
	require.Equal(t, r.url, written.Clusters[context.Cluster].Server)
	require.Empty(t, written.AuthInfos[context.AuthInfo].Token)

	require.Equal(t, result{status: exitOK, stdout: "busy: before list pods: status(429)\n"}, r.stop())
	requireEmptyDir(t, os.Getenv("TMPDIR"))
}

// The kubeconfig that a fakeapi server wrote is not changed by a proxy for that server.
func TestProxyOfAFakeapi(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	server := start(t, "--kubeconfig", path)
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	rules := manifest(t, "rules", "when verb(get) && resource(nodes) do status(503)")
	requireFailure(t, "fakeapi: kubeconfig "+path+": it exists and was not written by fakeapi; name another file",
		"proxy", "--kubeconfig", path, "--faults", rules, "--write-kubeconfig", path)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))

	to := filepath.Join(t.TempDir(), "for-the-client")
	for range 2 { // the proxy replaces its own file
		r := startProxy(t, "--kubeconfig", path, "--faults", rules, "--write-kubeconfig", to)
		require.Equal(t, http.StatusOK, r.get(t, "/api/v1/namespaces/default", nil))
		require.Equal(t, http.StatusServiceUnavailable, r.get(t, "/api/v1/nodes/a", nil))
		require.Equal(t, exitOK, r.stop().status)
		require.FileExists(t, to)
	}
	require.Equal(t, cleanExit, server.stop())
}

// A rule about webhooks is refused, because a proxy does not see them.
func TestProxyRefusesRulesOfWebhooks(t *testing.T) {
	rules := manifest(t, "rules", "when verb(get) do status(503)\ndown: when webhook(*) do reset\n")
	requireFailure(t, "fakeapi: --faults "+rules+": a proxy does not see the webhooks that the cluster calls, so that this rule matches nothing; it works with fakeapi serve: down: when webhook(*) do reset",
		"proxy", "--kubeconfig", manifest(t, "config", otherKubeconfig), "--faults", rules)
}

// Only clients on this machine can use the proxy's credentials.
func TestProxyServesLoopbackHostsOnly(t *testing.T) {
	path := manifest(t, "config", otherKubeconfig)
	rules := manifest(t, "rules", "when always do status(500)")
	for address, want := range map[string]string{
		"0.0.0.0:0": `fakeapi: address "0.0.0.0:0" is not a loopback address`,
		":8080":     `fakeapi: address ":8080" is not a loopback address`,
		"8080":      "fakeapi: address 8080: missing port in address",
	} {
		requireFailure(t, want, "proxy", "--kubeconfig", path, "--faults", rules, "--address", address)
	}
	r := startProxy(t, "--kubeconfig", path, "--faults", rules, "--address", "localhost:0")
	for host, want := range map[string]int{"evil.example": 403, "evil.example:80": 403, "10.0.0.1": 403, "localhost": 500, "[::1]:99": 500} {
		request, err := http.NewRequestWithContext(t.Context(), "GET", r.url+"/api", nil)
		require.NoError(t, err)
		request.Host = host
		answer, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, want, answer.StatusCode, host)
	}
	require.Equal(t, exitOK, r.stop().status)
}

func TestProxyUsage(t *testing.T) {
	rules := manifest(t, "rules", "when always do hang")
	require.Equal(t, result{status: exitUsage, stderr: "fakeapi: proxy: --kubeconfig is required; see fakeapi help proxy\n"},
		runCommand(t, "proxy", "--faults", rules))
	require.Equal(t, result{status: exitUsage, stderr: "fakeapi: proxy: --faults is required; see fakeapi help proxy\n"},
		runCommand(t, "proxy", "--kubeconfig", "x"))
	got := runCommand(t, "proxy", "--faults", rules, "--kubeconfig", "/none")
	require.Equal(t, exitError, got.status)
	require.Contains(t, got.stderr, "fakeapi: --kubeconfig /none: ")
	path := manifest(t, "config", otherKubeconfig)
	got = runCommand(t, "proxy", "--faults", rules, "--kubeconfig", path, "--context", "other")
	require.Equal(t, exitError, got.status)
	require.Contains(t, got.stderr, `context "other" does not exist`)
}
