//go:build unix

package etcd

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/keyutil"

	"example.com/fakeapi/internal/cmd/controlplane"
	"example.com/fakeapi/internal/cmd/kubeapiserver"
	"example.com/fakeapi/internal/dev/freeport"
)

// programVariable makes the test binary the program of this name.
const programVariable = "ETCD_TEST_PROGRAM"

func TestMain(m *testing.M) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	switch os.Getenv(programVariable) {
	case "etcd":
		os.Exit(Main(ctx, os.Args[1:], os.Stdout, os.Stderr))
	case "kube-apiserver":
		os.Exit(kubeapiserver.Main(ctx, os.Args[1:], os.Stdout, os.Stderr))
	}
	stop()
	os.Exit(m.Run())
}

// timeout is how long a test waits for a process. The machine may be busy.
const timeout = 2 * time.Minute

// program is a running process of a test.
type program struct {
	*exec.Cmd
	done chan struct{} // is closed when it has ended

	mu     sync.Mutex // guards output
	output bytes.Buffer
}

// Write adds to the output.
func (p *program) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.Write(text)
}

func (p *program) log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.String()
}

// startProgram starts the test binary as a program. It is killed at the end of the test.
func startProgram(t *testing.T, name string, args []string, env ...string) *program {
	t.Helper()
	p := &program{Cmd: exec.Command(os.Args[0], args...), done: make(chan struct{})}
	p.Env = append(append(os.Environ(), programVariable+"="+name), env...)
	p.Stdout, p.Stderr = p, p
	require.NoError(t, p.Start())
	go func() {
		defer close(p.done)
		_ = p.Wait() // with the exit status
	}()
	t.Cleanup(func() {
		_ = p.Process.Kill()
		p.wait(t)
	})
	return p
}

// wait waits for the end of the process and of its output, and returns its exit status.
func (p *program) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(timeout):
		t.Fatalf("%s has not ended: %s", p.Path, p.log())
	}
	return p.ProcessState.ExitCode()
}

// end sends a signal, and waits for the end.
func (p *program) end(t *testing.T, s os.Signal) int {
	t.Helper()
	require.NoError(t, p.Process.Signal(s))
	return p.wait(t)
}

// freePort returns a port on which nothing listens.
func freePort(t *testing.T) int {
	t.Helper()
	return freeport.Choose(t, 1)[0]
}

// startEtcd starts etcd and waits until it is healthy. It returns its URL.
func startEtcd(t *testing.T, args ...string) (*program, string) {
	t.Helper()
	url := fmt.Sprintf("http://127.0.0.1:%d", freePort(t))
	p := startProgram(t, "etcd", append([]string{"--listen-client-urls", url, "--advertise-client-urls", url, "--listen-peer-urls=http://127.0.0.1:0", "--data-dir", t.TempDir()}, args...))
	await(t, p, url+"/health")
	return p, url
}

// await waits until a URL returns 200.
func await(t *testing.T, p *program, url string) {
	t.Helper()
	require.Eventually(t, func() bool {
		code, _ := get(url)
		return code == http.StatusOK
	}, timeout, 5*time.Millisecond, "%s: %s", url, p.log())
}

func newClient() *http.Client {
	return &http.Client{Timeout: timeout, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
}

func get(url string) (code int, text string) { return send(http.MethodGet, url, "") }

// send sends a request with a token. It returns 0 if there is no response.
func send(method, url, body string) (code int, text string) {
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	request.Header.Set("Authorization", "Bearer secret")
	request.Header.Set("Content-Type", "application/json")
	answer, err := newClient().Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = answer.Body.Close() }()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err.Error()
	}
	return answer.StatusCode, string(content)
}

// apiServerArguments returns arguments of kube-apiserver, with a token, and its URL.
func apiServerArguments(t *testing.T, etcd string, port int) (args []string, url string) {
	t.Helper()
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens.csv")
	require.NoError(t, os.WriteFile(tokens, []byte("secret,ann,1,system:masters\n"), 0o600))
	key, err := keyutil.MakeEllipticPrivateKeyPEM()
	require.NoError(t, err)
	keyFile := filepath.Join(dir, "service-account.key")
	require.NoError(t, os.WriteFile(keyFile, key, 0o600))
	return []string{
		"--etcd-servers", etcd, "--bind-address=127.0.0.1", "--secure-port", strconv.Itoa(port), "--cert-dir", dir, "--token-auth-file", tokens,
		"--authorization-mode=RBAC", "--service-account-issuer=https://a", "--service-cluster-ip-range=10.0.0.0/24",
		"--service-account-key-file", keyFile, "--service-account-signing-key-file", keyFile,
	}, fmt.Sprintf("https://127.0.0.1:%d", port)
}

// startAPIServer starts kube-apiserver with arguments and waits until it is ready.
func startAPIServer(t *testing.T, args []string, url string, env ...string) *program {
	t.Helper()
	p := startProgram(t, "kube-apiserver", args, env...)
	await(t, p, url+"/readyz")
	return p
}

const configMaps = "/api/v1/namespaces/default/configmaps"

// resourceVersion returns that of an object.
func resourceVersion(t *testing.T, object string) string {
	t.Helper()
	var o struct {
		Metadata struct{ ResourceVersion string }
	}
	require.NoError(t, json.Unmarshal([]byte(object), &o))
	return o.Metadata.ResourceVersion
}

// The API server has the objects of an earlier one, after each way to end it, at the same port.
func TestRestart(t *testing.T) {
	_, etcd := startEtcd(t)
	args, url := apiServerArguments(t, etcd, freePort(t))
	server := startAPIServer(t, args, url)
	code, created := send(http.MethodPost, url+configMaps, `{"metadata":{"name":"a"}}`)
	require.Equal(t, http.StatusCreated, code, created)
	for _, s := range []os.Signal{syscall.SIGTERM, os.Kill, os.Interrupt} {
		watch, err := http.NewRequest(http.MethodGet, url+configMaps+"?watch=1", nil)
		require.NoError(t, err)
		watch.Header.Set("Authorization", "Bearer secret")
		answer, err := newClient().Do(watch)
		require.NoError(t, err)

		status := server.end(t, s)
		if s == os.Kill {
			require.Equal(t, -1, status)
		} else {
			require.Zero(t, status, server.log())
			_, err := io.Copy(io.Discard, answer.Body)
			require.NoError(t, err, "the watch ends cleanly")
		}
		require.NoError(t, answer.Body.Close())

		server = startAPIServer(t, args, url)
		code, read := get(url + configMaps + "/a")
		require.Equal(t, http.StatusOK, code)
		require.Equal(t, created, read)
		require.NotEmpty(t, resourceVersion(t, read))
	}
	require.Contains(t, server.log(), "Serving securely on 127.0.0.1:")
}

// Two API servers on one etcd have the same objects, and end independently.
func TestTwoAPIServers(t *testing.T) {
	_, etcd := startEtcd(t)
	ports := freeport.Choose(t, 2)
	firstArgs, firstURL := apiServerArguments(t, etcd, ports[0])
	secondArgs, secondURL := apiServerArguments(t, etcd, ports[1])
	first, second := startAPIServer(t, firstArgs, firstURL), startAPIServer(t, secondArgs, secondURL)
	code, created := send(http.MethodPost, firstURL+configMaps, `{"metadata":{"name":"a"}}`)
	require.Equal(t, http.StatusCreated, code, created)
	require.Equal(t, -1, first.end(t, os.Kill))
	_, read := get(secondURL + configMaps + "/a")
	require.Equal(t, created, read)
	require.Zero(t, second.end(t, syscall.SIGTERM))
}

// The end of etcd is the end of the API servers.
func TestEtcdEnded(t *testing.T) {
	for _, s := range []os.Signal{os.Kill, syscall.SIGTERM} {
		etcd, etcdURL := startEtcd(t)
		args, url := apiServerArguments(t, etcdURL, freePort(t))
		server := startAPIServer(t, args, url)
		status := etcd.end(t, s)
		require.Equal(t, s == os.Kill, status != 0, etcd.log())
		require.Equal(t, 1, server.wait(t))
		require.Contains(t, server.log(), `"command failed" err="the etcd process has ended"`)
		code, _ := get(url + "/readyz")
		require.Zero(t, code, "the port is closed")
	}
}

// requireFailure requires that a process ends with status 1 and a text in its output.
func requireFailure(t *testing.T, p *program, text string) {
	t.Helper()
	require.Equal(t, 1, p.wait(t), p.log())
	require.Contains(t, p.log(), text)
}

func TestPortsTaken(t *testing.T) {
	_, etcd := startEtcd(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, taken.Close()) }()
	address, port := taken.Addr().String(), taken.Addr().(*net.TCPAddr).Port

	args, _ := apiServerArguments(t, etcd, port)
	requireFailure(t, startProgram(t, "kube-apiserver", args),
		fmt.Sprintf(`"command failed" err="failed to create listener: failed to listen on %[1]s: listen tcp %[1]s: bind: address already in use"`, address))
	free := fmt.Sprintf("http://127.0.0.1:%d", freePort(t))
	for _, flags := range [][]string{
		{"--listen-client-urls=http://" + address, "--advertise-client-urls=http://" + address, "--listen-peer-urls=http://127.0.0.1:0"},
		{"--listen-client-urls=" + free, "--advertise-client-urls=" + free, "--listen-peer-urls=http://" + address},
	} {
		requireFailure(t, startProgram(t, "etcd", flags), `err="listen tcp `+address+`: bind: address already in use"`)
	}
}

// An error of the start is that of kube-apiserver, and leaves the port free.
func TestStartError(t *testing.T) {
	_, etcd := startEtcd(t)
	args, url := apiServerArguments(t, etcd, freePort(t))
	requireFailure(t, startProgram(t, "kube-apiserver", append(args, "--client-ca-file=absent.crt")), "absent.crt: no such file or directory")
	requireFailure(t, startProgram(t, "kube-apiserver", args, "FAKEAPI_SEED=x"), "FAKEAPI_SEED: ")
	startAPIServer(t, args, url)
}

// Other servers at the address of --etcd-servers are refused.
func TestOtherEtcd(t *testing.T) {
	for response, want := range map[string]string{
		`{"etcdserver":"3.6.0"}`:        "is not the etcd",
		`{"protocol":999,"socket":"x"}`: "another version of fakeapi",
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		go func() {
			_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, response) }))
		}()
		args, _ := apiServerArguments(t, "http://"+l.Addr().String(), freePort(t))
		requireFailure(t, startProgram(t, "kube-apiserver", args), want)
		require.NoError(t, l.Close())
	}
}

// kube-apiserver waits for an etcd that is not listening yet, and ends at a signal.
func TestEtcdNotStarted(t *testing.T) {
	port := freePort(t)
	etcdURL := fmt.Sprintf("http://127.0.0.1:%d", port)
	args, url := apiServerArguments(t, etcdURL, freePort(t))
	server := startProgram(t, "kube-apiserver", args)
	require.Eventually(t, func() bool { return strings.Contains(server.log(), "Waiting for etcd") }, timeout, time.Millisecond)
	startProgram(t, "etcd", []string{"--listen-client-urls", etcdURL, "--advertise-client-urls", etcdURL, "--listen-peer-urls=http://127.0.0.1:0"})
	await(t, server, url+"/readyz")
	require.Zero(t, server.end(t, syscall.SIGTERM))

	ports := freeport.Choose(t, 2)
	args, _ = apiServerArguments(t, fmt.Sprintf("http://127.0.0.1:%d", ports[0]), ports[1])
	server = startProgram(t, "kube-apiserver", args)
	require.Eventually(t, func() bool { return strings.Contains(server.log(), "Waiting for etcd") }, timeout, time.Millisecond)
	require.Zero(t, server.end(t, syscall.SIGTERM))
}

// The paths of the client URLs, and their responses to a gRPC call.
func TestClientURLs(t *testing.T) {
	secure := fmt.Sprintf("https://127.0.0.1:%d", freePort(t))
	process, url := startEtcd(t, "--listen-client-http-urls", secure, "--auto-tls")
	for path, want := range map[string]string{
		"/health": `{"health":"true","reason":""}`, "/readyz": "ok\n", "/livez": "ok\n",
		"/version": `{"etcdcluster":"3.6.0","etcdserver":"` + releaseVersion + `","storage":"3.6.0"}`,
	} {
		for _, base := range []string{url, secure} {
			code, text := get(base + path)
			require.Equal(t, http.StatusOK, code)
			require.Equal(t, want, text)
		}
	}
	_, text := get(url + "/metrics")
	require.Contains(t, text, "\netcd_server_has_leader 1\n")
	code, _ := get(url + "/v2/keys")
	require.Equal(t, http.StatusNotFound, code)
	code, _ = send(http.MethodPost, url+"/health", "")
	require.Equal(t, http.StatusMethodNotAllowed, code)

	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	request, err := http.NewRequest(http.MethodPost, url+"/etcdserverpb.KV/Range", nil)
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/grpc")
	answer, err := (&http.Client{Transport: &http.Transport{Protocols: &protocols}}).Do(request)
	require.NoError(t, err)
	defer func() { require.NoError(t, answer.Body.Close()) }()
	require.Equal(t, "HTTP/2.0", answer.Proto)
	require.Equal(t, "12", answer.Header.Get("Grpc-Status"))

	_, text = get(url + controlplane.Path)
	var address controlplane.Address
	require.NoError(t, json.Unmarshal([]byte(text), &address))
	require.Zero(t, process.end(t, syscall.SIGTERM), process.log())
	_, err = controlplane.Dial(t.Context(), address.Socket)
	require.Error(t, err, "the socket is removed")
}

// Addresses that are not of the loopback interface are replaced.
func TestLoopbackOnly(t *testing.T) {
	port := freePort(t)
	etcd := startProgram(t, "etcd", []string{"--listen-client-urls", fmt.Sprintf("http://0.0.0.0:%d", port), "--advertise-client-urls=http://127.0.0.1:1", "--listen-peer-urls=http://127.0.0.1:0"})
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	await(t, etcd, url+"/health")
	require.Contains(t, etcd.log(), "Listening on a loopback address only")
	args, serverURL := apiServerArguments(t, url, freePort(t))
	server := startAPIServer(t, append(args, "--bind-address=0.0.0.0"), serverURL)
	require.Contains(t, server.log(), `"Listening on a loopback address only" bind-address="0.0.0.0"`)
}

// The environment of kube-apiserver applies to its API server: rules, the seed and the reports,
// whose paths are relative to its working directory.
func TestEnvironment(t *testing.T) {
	_, etcd := startEtcd(t)
	args, url := apiServerArguments(t, etcd, freePort(t))
	artifacts := t.TempDir()
	server := startAPIServer(t, args, url, "FAKEAPI_FAULTS=gone: when verb(get) && resource(configmaps) do forbid", "FAKEAPI_ARTIFACTS="+artifacts)
	code, text := get(url + configMaps + "/a")
	require.Equal(t, http.StatusForbidden, code, text)
	require.Equal(t, -1, server.end(t, os.Kill))
	require.Eventually(t, func() bool {
		pages, err := filepath.Glob(filepath.Join(artifacts, "*.html"))
		return err == nil && len(pages) == 1
	}, timeout, 5*time.Millisecond, "the page is written also after a kill")

	startAPIServer(t, args, url)
	code, text = get(url + configMaps + "/a")
	require.Equal(t, http.StatusNotFound, code, text)
}

// Without --tls-cert-file the certificate is in --cert-dir: it is created, and used again.
func TestCertificate(t *testing.T) {
	_, etcd := startEtcd(t)
	args, url := apiServerArguments(t, etcd, freePort(t))
	dir := args[6]
	server := startAPIServer(t, args, url)
	created, err := os.ReadFile(filepath.Join(dir, "apiserver.crt"))
	require.NoError(t, err)
	info, err := os.Stat(filepath.Join(dir, "apiserver.key"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.Zero(t, server.end(t, syscall.SIGTERM))

	server = startAPIServer(t, args, url)
	again, err := os.ReadFile(filepath.Join(dir, "apiserver.crt"))
	require.NoError(t, err)
	require.Equal(t, created, again)
	require.Zero(t, server.end(t, syscall.SIGTERM))

	require.NoError(t, os.Remove(filepath.Join(dir, "apiserver.key")))
	requireFailure(t, startProgram(t, "kube-apiserver", args), "error creating self-signed certificates: ")
}

// The API server writes to the output of kube-apiserver: requests with -v=3, and the audit log.
func TestOutput(t *testing.T) {
	_, etcd := startEtcd(t)
	args, url := apiServerArguments(t, etcd, freePort(t))
	policy := filepath.Join(t.TempDir(), "policy.yaml")
	require.NoError(t, os.WriteFile(policy, []byte("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n"), 0o600))
	server := startAPIServer(t, append(args, "-v=3", "--audit-policy-file", policy, "--audit-log-path=-"), url)
	code, text := get(url + configMaps)
	require.Equal(t, http.StatusOK, code, text)
	require.Zero(t, server.end(t, syscall.SIGTERM))
	require.Regexp(t, `(?m)^I\d{4} .*\] "request" method="GET" url="`+configMaps+`"`, server.log())
	require.Regexp(t, `(?m)^\{"kind":"Event","apiVersion":"audit\.k8s\.io/v1".*"requestURI":"`+configMaps+`"`, server.log())
}

// During --shutdown-delay-duration requests are served, except /readyz. A second signal ends it.
func TestShutdownDelay(t *testing.T) {
	_, etcd := startEtcd(t)
	args, url := apiServerArguments(t, etcd, freePort(t))
	server := startAPIServer(t, append(args, "--shutdown-delay-duration=1h"), url)
	require.NoError(t, server.Process.Signal(syscall.SIGTERM))
	require.Eventually(t, func() bool {
		code, _ := get(url + "/readyz")
		return code == http.StatusInternalServerError
	}, timeout, time.Millisecond)
	code, text := get(url + configMaps)
	require.Equal(t, http.StatusOK, code, text)
	// The process may not yet have handled the first signal to its end.
	require.Eventually(t, func() bool {
		_ = server.Process.Signal(syscall.SIGTERM)
		select {
		case <-server.done:
			return true
		default:
			return false
		}
	}, timeout, 10*time.Millisecond)
	require.Equal(t, -1, server.wait(t))
	startAPIServer(t, args, url)
}
