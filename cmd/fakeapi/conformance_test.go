package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/conformance"
	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
	"example.com/fakeapi/internal/printable"
)

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// kubeconfigOf writes a kubeconfig for a server.
func kubeconfigOf(t *testing.T, srv *fakeapi.Server) string {
	t.Helper()
	content, err := srv.Kubeconfig()
	require.NoError(t, err)
	return manifest(t, "kubeconfig", string(content))
}

// hasRequest reports whether the server received a request whose method and path begin with prefix.
func hasRequest(srv *fakeapi.Server, prefix string) bool {
	for _, one := range srv.Timeline().Exchanges {
		if strings.HasPrefix(one.Method+" "+one.Path, prefix) {
			return true
		}
	}
	return false
}

// requireNothingLeft requires that no object of a run remains on a server. It waits for the
// controllers to remove namespaces.
func requireNothingLeft(t *testing.T, srv *fakeapi.Server) {
	t.Helper()
	left := func() (names []string) {
		for _, path := range []string{"/api/v1/namespaces", definitions} {
			response, err := srv.Client().Get(srv.URL() + path)
			require.NoError(t, err)
			var list metav1.PartialObjectMetadataList
			require.NoError(t, json.NewDecoder(response.Body).Decode(&list))
			require.NoError(t, response.Body.Close())
			for _, one := range list.Items {
				if strings.Contains(one.Name, "conformance") {
					names = append(names, one.Name)
				}
			}
		}
		return names
	}
	require.Eventually(t, func() bool { return len(left()) == 0 }, 2*time.Minute, 10*time.Millisecond)
}

func TestConformance(t *testing.T) {
	srv := fakeapi.Start(t)
	kubeconfig, folder := kubeconfigOf(t, srv), t.TempDir()
	args := []string{"conformance", "--kubeconfig", kubeconfig, "--namespace", "trial", "--run", "^(GT-01|LS-01|CR-01|DL-01|SA-01)", "--skip", "^DL-"}
	for _, format := range []string{"junit", "json", "markdown", "html"} {
		args = append(args, "--report", format+"="+filepath.Join(folder, format))
	}
	got := runCommand(t, args...)
	require.Equal(t, exitOK, got.status, got.stdout)
	require.Regexp(t, `(?m)^LS +MUST +\d+ +0 +0 +list$`, got.stdout)
	require.Regexp(t, `(?m)^server v1\.37\.\d+, run \w{5}: \d+ passed, 0 failed, [1-9]\d* skipped in \d+s$`, got.stdout)
	require.Regexp(t, `(?m)^ +\d+/\d+  0 failed, \d+ skipped +\d+s  LS, list$`, got.stderr)
	require.True(t, hasRequest(srv, "GET /api/v1/namespaces/trial-"))
	requireNothingLeft(t, srv)

	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, entries, 4, "only the reports are written")
	content, err := os.ReadFile(filepath.Join(folder, "json"))
	require.NoError(t, err)
	var report conformance.ReportJSON
	require.NoError(t, json.Unmarshal(content, &report))
	require.Zero(t, report.Failed)
	for _, one := range report.Cases {
		if one.Group == "DL" {
			require.Equal(t, "--skip ^DL-", one.Reason)
		}
	}
}

// If the report is written to stdout, nothing else is.
func TestConformanceReportOnStdout(t *testing.T) {
	got := runCommand(t, "conformance", "--kubeconfig", kubeconfigOf(t, fakeapi.Start(t)), "--run", "^GT-01/typed$", "--report", "json", "-q")
	require.Equal(t, exitOK, got.status)
	var report conformance.ReportJSON
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &report))
	require.Equal(t, 1, report.Passed)
	require.True(t, strings.HasPrefix(got.stderr, "GROUP  LEVEL"), got.stderr)
}

// Failed cases change the exit status only at the required level; objects left behind do so at any
// level.
func TestConformanceFails(t *testing.T) {
	level := func(id string) (found conformance.Level) {
		for _, one := range conformance.Cases() {
			if one.ID == id {
				found = one.Level
			}
		}
		return found
	}
	require.Equal(t, conformance.Must, level("PV-16"))
	require.Equal(t, conformance.Should, level("PV-20"))
	srv := fakeapi.Start(t)
	rule, err := faults.Parse(`lie: when path("/") && !path("/version", "/api/v1") do status(500)`)
	require.NoError(t, err)
	_, err = srv.Faults().Add(rule)
	require.NoError(t, err)
	for id, want := range map[string]int{"PV-16": exitError, "PV-20": exitOK} {
		got := runCommand(t, "conformance", "--kubeconfig", kubeconfigOf(t, srv), "--run", "^"+id+"$")
		require.Equal(t, want, got.status, got.stdout)
		require.Contains(t, got.stdout, "FAIL  "+id+" [")
		require.Contains(t, got.stdout, "      why: ")
		require.Contains(t, got.stdout, "\nonly the failed cases: --run '^("+id+")$'\nserver v1.37.")
		require.Contains(t, got.stderr, id+" ["+level(id).String()+"] failed: ")
	}
	got := runCommand(t, "conformance", "--kubeconfig", kubeconfigOf(t, srv), "--run", "^PV-20$", "--level", "MUST")
	require.Equal(t, exitUsage, got.status)
}

func TestConformanceReportsLeftovers(t *testing.T) {
	srv := fakeapi.Start(t)
	rule, err := faults.Parse(`stuck: when verb(delete) && resource(namespaces) do status(403)`)
	require.NoError(t, err)
	_, err = srv.Faults().Add(rule)
	require.NoError(t, err)
	got := runCommand(t, "conformance", "--kubeconfig", kubeconfigOf(t, srv), "--run", "^GT-01/typed$")
	require.Equal(t, exitError, got.status)
	require.Regexp(t, `(?m)^LEFT  GT-01/typed: DELETE http\S+/api/v1/namespaces/conformance-\w{5}-1: `, got.stdout)
}

// Text of a server cannot command a terminal, add lines, or look like text of the command.
func TestTextOfAHostileServer(t *testing.T) {
	srv := startFaultyServer(t, `lie: when path("/version") do set(/gitVersion, "v9: 9 passed\n::error::x\n\x1b[2J\u009b\u202e| # h")`)
	_, err := srv.Faults().Add(parseFault(t, `lies: when code(404) && resource(secrets) do set(/message, "\x1b]0;title\x07\u009b2J\u202e\n::error::y")`))
	require.NoError(t, err)
	const quoted = `"v9: 9 passed\n::error::x\n\x1b[2J\u009b\u202e| # h"`
	folder := t.TempDir()
	for name, test := range map[string]struct {
		formats []string
		args    []string
		shown   string
	}{
		"conformance": {[]string{"junit", "json", "markdown", "html"}, []string{"--url", srv.URL(), "--run", "^GT-01/typed$"}, "server " + quoted + ", run "},
		"compare":     {[]string{"json", "markdown"}, []string{"--left", "self", "--right", kubeconfigOf(t, srv), "--run", "^GT-01/typed$"}, " (" + quoted + "): 0 same"},
		"bench":       {nil, strings.Fields("--url " + srv.URL() + quick), "Kubernetes " + quoted + ", 40 objects"},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{name}, test.args...)
			for _, format := range test.formats {
				args = append(args, "--report", format+"="+filepath.Join(folder, name+"."+format))
			}
			got := runCommand(t, args...)
			require.Contains(t, got.stdout, test.shown)
			texts := map[string]string{"stdout": got.stdout, "stderr": got.stderr}
			for _, format := range test.formats {
				content, err := os.ReadFile(filepath.Join(folder, name+"."+format))
				require.NoError(t, err)
				if format != "json" { // it is not shown
					texts[format] = string(content)
				}
			}
			for where, text := range texts {
				require.Equal(t, printable.Text(text), text, where)
				require.NotRegexp(t, `(?m)^\s*::error`, text, where)
			}
			if len(test.formats) > 0 {
				for where, text := range texts {
					require.True(t, where == "stderr" || strings.Contains(text, `]0;title`), where)
				}
			}
		})
	}
}

// A dry run requests only the version of the server.
func TestConformanceDryRun(t *testing.T) {
	srv := fakeapi.Start(t)
	got := runCommand(t, "conformance", "--kubeconfig", kubeconfigOf(t, srv), "--dry-run", "--run", "^(GT-02|WA-38|CD-01|CD-02)", "--namespace", "trial")
	require.Equal(t, exitOK, got.status, got.stderr)
	require.Empty(t, got.stderr)
	exchanges := srv.Timeline().Exchanges
	require.Len(t, exchanges, 1)
	require.Equal(t, "GET /version", exchanges[0].Method+" "+exchanges[0].Path)
	require.Regexp(t, `(?m)^GT-02/typed +MUST +1 +1 +0 `, got.stdout)
	require.Regexp(t, `(?m)^GT-02/custom +MUST +1 +1 +1 `, got.stdout)
	require.Regexp(t, `(?m)^WA-38 +SHOULD +0 +0 +0 +skipped: it takes 1m10s`, got.stdout)
	require.Contains(t, got.stdout, "\nNothing was created on "+srv.URL())
	require.Regexp(t, `(?m)^  [1-9]\d* namespaces trial-RUN-\.\.\., some at a time, with [1-9]\d* objects in them$`, got.stdout)
	require.Contains(t, got.stdout, "\n  customresourcedefinitions.apiextensions.k8s.io/widgets.RUN.conformance.example.com\n")
	require.Regexp(t, `(?m)^  customresourcedefinitions\.apiextensions\.k8s\.io/gears\.gN\.RUN\.conformance\.example\.com, [1-9]\d* of them, `, got.stdout)
}

func TestConformanceList(t *testing.T) {
	got := runCommand(t, "conformance", "--list", "--level", "MUST", "--run", "^PV-(16|20)$")
	require.Equal(t, exitOK, got.status)
	require.Equal(t, 2, strings.Count(got.stdout, "\n"), got.stdout)
	require.Regexp(t, `(?m)^PV-16 +MUST +PV-16 +an unknown group`, got.stdout)
}

func TestConformanceUsage(t *testing.T) {
	config := manifest(t, "config", otherKubeconfig)
	for _, test := range []struct {
		args, want string
		status     int
	}{
		{"", "conformance: --kubeconfig or --url is required; see fakeapi help conformance", exitUsage},
		{"--list --dry-run", "conformance: --list and --dry-run are mutually exclusive; see", exitUsage},
		{"--list --report json", "conformance: --report requires a run; see", exitUsage},
		{"--run ^XX", "conformance: --run and --level select no case; see", exitUsage},
		{"--run (", `conformance: invalid value "(" for flag -run: error parsing regexp`, exitUsage},
		{"--level HIGH", `conformance: invalid value "HIGH" for flag -level: not one of MUST, SHOULD, MAY; see`, exitUsage},
		{"--report pdf", "it is none of junit, json, markdown, html, with or without =FILE; see", exitUsage},
		{"--report json=", "no FILE after the =; see", exitUsage},
		{"--report json --report html", "two reports cannot go to stdout; see", exitUsage},
		{"--report json=a --report html=a", "two reports cannot go to one file; see", exitUsage},
		{"--parallel 0", "conformance: --parallel and --run-timeout must be positive; see", exitUsage},
		{"--run-timeout -1s", "conformance: --parallel and --run-timeout must be positive; see", exitUsage},
		{"more", `conformance: unexpected argument "more"; see`, exitUsage},
		{"--kubeconfig /none", "--kubeconfig /none: no such file or directory", exitError},
		{"--kubeconfig " + config + " --namespace Upper", `invalid NamespacePrefix "Upper": `, exitUsage},
	} {
		t.Run(test.args, func(t *testing.T) {
			got := runCommand(t, append([]string{"conformance"}, strings.Fields(test.args)...)...)
			require.Equal(t, test.status, got.status, got.stderr)
			require.Empty(t, got.stdout)
			require.Contains(t, got.stderr, test.want)
			require.Equal(t, 1, strings.Count(got.stderr, "\n"))
		})
	}
}

// If the server is unreachable or rejects the credentials, nothing is created and no report is
// written.
func TestConformanceServerUnreachable(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	config := clientcmdapi.NewConfig()
	config.Clusters["a"] = &clientcmdapi.Cluster{Server: server.URL}
	config.Contexts["a"] = &clientcmdapi.Context{Cluster: "a"}
	config.CurrentContext = "a"
	kubeconfig := filepath.Join(t.TempDir(), "config")
	require.NoError(t, clientcmd.WriteToFile(*config, kubeconfig))
	got := runCommand(t, "conformance", "--kubeconfig", kubeconfig)
	require.Equal(t, result{status: exitError, stderr: "fakeapi: GET /version of " + server.URL + " returned 401 Unauthorized\n"}, got)
	server.Close()
	got = runCommand(t, "conformance", "--kubeconfig", kubeconfig)
	require.Equal(t, exitError, got.status)
	require.Contains(t, got.stderr, "fakeapi: the server "+server.URL+" does not respond: ")
}

// A report that cannot be written is an error before any case runs.
func TestConformanceReportUnwritable(t *testing.T) {
	srv := fakeapi.Start(t)
	folder := t.TempDir()
	got := runCommand(t, "conformance", "--kubeconfig", kubeconfigOf(t, srv), "--report", "html="+folder+"/page", "--report", "json=/none/x")
	require.Equal(t, result{status: exitError, stderr: "fakeapi: --report json=/none/x: no such file or directory\n"}, got)
	require.Len(t, srv.Timeline().Exchanges, 1, "only the version is requested")
	requireEmptyDir(t, folder)
}

// longRun is a fault rule with which a run of the cases GT does not end before it is interrupted:
// one of them waits for a response until its time is over.
const longRun = "long: when verb(get) && resource(secrets) && first(1) do hang"

// An interrupted run ends at once, also while a case waits.
func TestConformanceInterrupted(t *testing.T) {
	srv := startFaultyServer(t, longRun)
	ctx, cancel := context.WithCancel(t.Context())
	var stdout, stderr bytes.Buffer
	status := make(chan int, 1)
	go func() {
		status <- run(ctx, []string{"conformance", "--kubeconfig", kubeconfigOf(t, srv), "--run", "^(GT|LS)-"}, &stdout, &stderr)
	}()
	require.Eventually(t, func() bool { return hasRequest(srv, "POST /api/v1/namespaces") }, time.Minute, time.Millisecond)
	cancel()
	require.Equal(t, exitError, <-status)
	require.Contains(t, stderr.String(), "interrupted at ")
	require.Contains(t, stdout.String(), "skipped in ")
	requireNothingLeft(t, srv)
}

// A server that hangs, from the start or later, ends the run with a report that names the cases
// that were not reached. On a busy machine, the time of a run may be over before the first case has
// passed; there is another run with more time then.
func TestConformanceServerHangs(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answered         int64
		stderr, reason   string
		passed, unmissed int
	}{
		"always": {0, "fakeapi: the server http://127.0.0.1:", "the run was cancelled: the server ", 0, 0},
		"later":  {6, "fakeapi: the run did not end within LIMIT\n", "not reached: the run did not end within LIMIT", 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := fakeapi.Start(t)
			var requests atomic.Int64
			proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if requests.Add(1) > test.answered {
					<-r.Context().Done()
					return
				}
				srv.ServeHTTP(w, r)
			}))
			t.Cleanup(proxy.Close)
			file := filepath.Join(t.TempDir(), "report.json")
			var report conformance.ReportJSON
			var reason string
			for limit := 500 * time.Millisecond; limit < time.Minute; limit *= 4 {
				requests.Store(0)
				got := runCommand(t, "conformance", "--url", proxy.URL, "--run", "^DI-1[3-9]", "--parallel", "1", "--run-timeout", limit.String(), "--report", "json="+file)
				require.Equal(t, exitError, got.status)
				reason = strings.ReplaceAll(test.reason, "LIMIT", limit.String())
				require.Contains(t, got.stderr, strings.ReplaceAll(test.stderr, "LIMIT", limit.String()))
				require.Regexp(t, `(?m)^MISSED  [1-9]\d* cases were not reached:\n`, got.stdout)
				require.Regexp(t, `(?m)^      DI: `, got.stdout)
				content, err := os.ReadFile(file)
				require.NoError(t, err)
				report = conformance.ReportJSON{}
				require.NoError(t, json.Unmarshal(content, &report))
				if test.passed == 0 || report.Passed > 0 {
					break
				}
			}
			missed := 0
			for _, one := range report.Cases {
				if one.NotReached {
					missed++
					require.Contains(t, one.Reason, reason)
				}
			}
			require.NotZero(t, missed)
			require.Equal(t, test.unmissed > 0, missed < len(report.Cases))
			require.Equal(t, test.passed > 0, report.Passed > 0)
		})
	}
}
