package main

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/fake/access"
	"example.com/fakeapi/internal/cmd/environment"
)

// listPods lists pods in the namespace default with a user agent.
func listPods(t *testing.T, config *rest.Config, agent string) {
	t.Helper()
	config.UserAgent = agent
	_, err := kubernetes.NewForConfigOrDie(config).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
}

// The report of a running server is printed in all formats, for all clients or for one.
func TestAccess(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithControlAPI())
	kubeconfig := kubeconfigOf(t, srv)
	require.Equal(t, result{0, "", "no requests\n"}, runCommand(t, "access", "--kubeconfig", kubeconfig))
	listPods(t, srv.RESTConfig(), "manager/v1")
	listPods(t, srv.RESTConfig(), "other/v1")

	require.Equal(t, result{0, srv.Access().String(), ""}, runCommand(t, "access", "--kubeconfig", kubeconfig))
	require.Equal(t, result{0, srv.Access().Of("manager").String(), ""}, runCommand(t, "access", "--kubeconfig", kubeconfig, "--client", "manager"))
	got := runCommand(t, "access", "--kubeconfig", kubeconfig, "--format", "json", "--client", "other")
	var report access.Report
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &report))
	require.Equal(t, srv.Access().Of("other"), report)
	got = runCommand(t, "access", "--kubeconfig", kubeconfig, "--format", "yaml", "--client", "manager")
	require.Zero(t, got.status)
	require.Contains(t, got.stdout, "kind: RoleBinding")
	require.NotContains(t, got.stdout, "other")
}

// The exit status says whether manifests lack a rule, or with --and-nothing-more have one that was
// not used. What they lack is printed with the request.
func TestAccessWithManifests(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithControlAPI())
	listPods(t, srv.RESTConfig(), "manager/v1")
	compare := func(manifest string, args ...string) result {
		t.Helper()
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "rbac.yaml"), []byte(manifest), 0o600))
		return runCommand(t, append([]string{"access", "--kubeconfig", kubeconfigOf(t, srv), "--manifests", dir, "--client", "manager"}, args...)...)
	}
	got := compare(robotManifest, "--and-nothing-more")
	require.Zero(t, got.status, got.stderr)
	require.Contains(t, got.stdout, "Nothing is missing or unused")

	lacking := strings.Replace(robotManifest, "[list]", "[get]", 1)
	got = compare(lacking)
	require.Equal(t, exitError, got.status)
	require.Empty(t, got.stderr)
	require.Contains(t, got.stdout, "rbac.yaml: add to Role default/robot")
	require.Contains(t, got.stdout, "first needed by #1 GET /api/v1/namespaces/default/pods (list) of manager/v1")

	got = compare(lacking, "--format", "json", "--subject", "default/robot")
	require.Equal(t, exitError, got.status)
	var compared access.Result
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &compared))
	require.Equal(t, []string{"list"}, compared.Missing[0].Rule.Verbs)
	require.Equal(t, []string{"get"}, compared.Unused[0].Rule.Verbs)

	more := strings.Replace(robotManifest, "[list]", "[list, watch]", 1)
	require.Zero(t, compare(more).status)
	got = compare(more, "--and-nothing-more", "--namespace", "default")
	require.Equal(t, exitError, got.status)
	require.Contains(t, got.stdout, "watch of pods")
}

// What cannot be compared has another exit status than a rule that is missing.
func TestAccessErrors(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithControlAPI())
	kubeconfig, dir := kubeconfigOf(t, srv), t.TempDir()
	none := kubeconfigOf(t, fakeapi.Start(t))
	listPods(t, srv.RESTConfig(), "manager/v1")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rbac.yaml"), []byte(robotManifest), 0o600))
	invalid := filepath.Dir(manifest(t, "rbac.yaml", "kind: Role\n  a: b\n"))
	for _, test := range []struct {
		args   []string
		status int
		want   string
	}{
		{nil, exitUsage, "access: --kubeconfig is required; see fakeapi help access"},
		{[]string{"--kubeconfig", kubeconfig, "--format", "xml"}, exitUsage, "access: --format xml is none of text, json, yaml; see"},
		{[]string{"--kubeconfig", kubeconfig, "--manifests", dir, "--format", "yaml"}, exitUsage, "access: --format yaml cannot be used with --manifests"},
		{[]string{"--kubeconfig", kubeconfig, "--and-nothing-more"}, exitUsage, "--subject, --namespace and --and-nothing-more require --manifests"},
		{[]string{"--kubeconfig", "missing"}, exitError, "--kubeconfig missing: no such file or directory"},
		{[]string{"--kubeconfig", "missing", "--manifests", dir}, exitUsage, "--kubeconfig missing: no such file or directory"},
		{[]string{"--kubeconfig", none}, exitError, "has no control API; it is no fakeapi server"},
		{[]string{"--kubeconfig", kubeconfig, "--manifests", dir, "--client", "robot"}, exitUsage, "--client robot: it made no requests"},
		{[]string{"--kubeconfig", kubeconfig, "--manifests", filepath.Join(dir, "none")}, exitUsage, "none: no such file or directory"},
		{[]string{"--kubeconfig", kubeconfig, "--manifests", filepath.Join(dir, "rbac.yaml")}, exitUsage, "rbac.yaml: it is not a directory"},
		{[]string{"--kubeconfig", kubeconfig, "--manifests", invalid}, exitUsage, "rbac.yaml"},
		{[]string{"--kubeconfig", kubeconfig, "--manifests", dir, "--subject", "none/none"}, exitUsage, "none"},
	} {
		got := runCommand(t, append([]string{"access"}, test.args...)...)
		require.Equal(t, test.status, got.status, "%v: %s", test.args, got.stderr)
		require.Contains(t, got.stderr, test.want)
		require.Empty(t, got.stdout)
	}
}

// serve writes the report at its end, in the format of the file.
func TestServeAccessReport(t *testing.T) {
	for name, want := range map[string]string{
		"report": "user system:admin, user agent manager/v1\n", "report.json": `"userAgent": "manager/v1"`,
		"report.yaml": "kind: ServiceAccount\n", "report.yml": "kind: ServiceAccount\n",
	} {
		path := filepath.Join(t.TempDir(), name)
		r := start(t, "serve", "--access-report", path)
		listPods(t, r.config(t), "manager/v1")
		require.NoFileExists(t, path)
		require.Equal(t, cleanExit, r.stop())
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Contains(t, string(text), want)
		require.Contains(t, string(text), "pods")
	}
	got := runCommand(t, "serve", "--access-report", filepath.Join(t.TempDir(), "missing", "report"))
	require.Equal(t, exitError, got.status)
	require.Regexp(t, `^fakeapi: --access-report \S+/missing/report: no such file or directory\n$`, got.stderr)
	got = runCommand(t, "serve", "--access-report", "report", "--timeline=false")
	require.Equal(t, exitUsage, got.status)
	require.Contains(t, got.stderr, "--access-report requires --timeline")
}

// Control characters of clients do not reach the terminal.
func TestAccessIsPrintable(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithControlAPI())
	r := httptest.NewRequest("GET", "/", nil)
	r.URL.Path = "/\x1b[2J"
	srv.ServeHTTP(httptest.NewRecorder(), r)
	for _, format := range environment.AccessFormats() {
		got := runCommand(t, "access", "--kubeconfig", kubeconfigOf(t, srv), "--format", format)
		require.Contains(t, got.stdout, "[2J")
		require.NotContains(t, got.stdout, "\x1b")
	}
}
