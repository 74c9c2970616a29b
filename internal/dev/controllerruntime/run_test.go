package controllerruntime

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	controllerRuntime = "sigs.k8s.io/controller-runtime"
	runTimeout        = 3 * time.Minute
)

// testPackage is a package whose tests need an API server.
type testPackage struct {
	dir        string // below the module
	usesGinkgo bool
	// usesPort reports whether managers listen on the default port for metrics. A suite whose manager
	// does not get the port waits for ever.
	usesPort bool
}

// suites is what all runs have in common.
type suites struct {
	root        string // a copy of the module
	environment []string
	expected    map[string]bool // the keys of expectedFailures that failed
	port        sync.Mutex      // held by the run that may listen on the default port
}

// run is one process that runs the tests of a package, or some of them.
type run struct {
	testPackage
	binary string
	flags  []string
	// environment is what the run has in addition to the environment of all.
	environment []string
	// output and err are the result.
	output string
	err    error
}

// portTaken matches the failure of a spec whose port is in use. Suites look for a free port and
// listen on it later, so a connection of another process may have it by then.
var portTaken = regexp.MustCompile(`(?s)\[FAILED\] Unexpected error:.{0,300}bind: address already in use`)

// sourceTimeout matches the end of a suite by its spec "should only start sources once when called
// multiple times concurrently": sources must start within a millisecond, and what checks this is a
// goroutine of its own, whose failure ends the process.
var sourceTimeout = regexp.MustCompile(`Your Test Panicked.*\n.*/pkg/internal/controller/controller_test\.go:`)

// start runs the tests, in the folder of the package. It runs them once more if a spec failed
// because its port was taken, or because the machine was too busy for a timeout of a millisecond.
func (s *suites) start(ctx context.Context, r *run) {
	if r.usesPort {
		s.port.Lock()
		defer s.port.Unlock()
	}
	s.runOnce(ctx, r)
	if r.err != nil && (portTaken.MatchString(r.output) || sourceTimeout.MatchString(r.output)) {
		s.runOnce(ctx, r)
	}
}

func (s *suites) runOnce(ctx context.Context, r *run) {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	flags := r.flags
	if r.usesGinkgo {
		flags = append([]string{"-ginkgo.no-color"}, flags...)
	}
	command := exec.CommandContext(ctx, r.binary, flags...)
	command.Dir, command.Env = filepath.Join(s.root, r.dir), append(slices.Clip(s.environment), r.environment...)
	output, err := command.CombinedOutput()
	r.output, r.err = string(output), err
}

var (
	failedSpec = regexp.MustCompile(`(?m)^  \[FAIL\] (.*)$`)
	failedTest = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)`)
)

// failures returns the texts of the specs that failed, or the names of the tests.
func (r *run) failures() (failed []string) {
	pattern := failedTest
	if failedSpec.MatchString(r.output) {
		pattern = failedSpec
	}
	for _, found := range pattern.FindAllStringSubmatch(r.output, -1) {
		failed = append(failed, found[1])
	}
	return failed
}

// goCommand runs a command of go in this module, or in the one at dir, and returns its output.
func goCommand(t *testing.T, dir string, arguments ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", arguments...)
	command.Dir = dir
	var stderr strings.Builder
	command.Stderr = &stderr
	output, err := command.Output()
	require.NoError(t, err, "go %s: %s", strings.Join(arguments, " "), &stderr)
	return strings.TrimSpace(string(output))
}

// findPackages returns the packages of controller-runtime whose tests need an API server, those
// that take longest first.
func findPackages(t *testing.T, root string) (packages []testPackage) {
	t.Helper()
	const format = `{{.ImportPath}}{{range .TestImports}} {{.}}{{end}}{{range .XTestImports}} {{.}}{{end}}`
	longest := []string{"pkg/manager", "pkg/cache"}
	first := make([]testPackage, 0, len(longest))
	for line := range strings.Lines(goCommand(t, ".", "list", "-f", format, controllerRuntime+"/pkg/...")) {
		name, imports, _ := strings.Cut(line, " ")
		imports = strings.ReplaceAll(imports, "\n", " ")
		p := testPackage{strings.TrimPrefix(strings.TrimSpace(name), controllerRuntime+"/"), strings.Contains(imports, "github.com/onsi/ginkgo/v2"), false}
		if p.dir != "pkg/envtest" && !strings.Contains(imports, "/pkg/envtest ") && !strings.Contains(imports, "/testing/controlplane") {
			continue
		}
		p.usesPort = usesPort(t, filepath.Join(root, p.dir))
		if p.dir == longest[0] || p.dir == longest[1] {
			first = append(first, p)
		} else {
			packages = append(packages, p)
		}
	}
	require.Len(t, first, len(longest))
	return append(first, packages...)
}

// usesPort reports whether tests in a folder make managers with the default address for metrics.
func usesPort(t *testing.T, folder string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	require.NoError(t, err)
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		all.Write(text)
	}
	return strings.Contains(all.String(), "manager.New(") && !strings.Contains(all.String(), `DefaultBindAddress = "0"`)
}

// buildTests builds the tests of a package.
func buildTests(t *testing.T, p testPackage) (binary string) {
	t.Helper()
	binary = filepath.Join(t.TempDir(), "suite.test")
	goCommand(t, ".", "test", "-c", "-vet=off", "-ldflags=-s -w", "-o", binary, controllerRuntime+"/"+p.dir)
	return binary
}

// copyModule copies controller-runtime out of the module cache, whose files are neither writable
// nor executable.
func copyModule(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	source := goCommand(t, ".", "list", "-m", "-f", "{{.Dir}}", controllerRuntime)
	require.NoError(t, os.CopyFS(filepath.Join(root, "pkg"), os.DirFS(filepath.Join(source, "pkg"))))
	scripts, err := filepath.Glob(filepath.Join(root, "pkg/internal/testing/controlplane/testdata/*.sh"))
	require.NoError(t, err)
	require.NotEmpty(t, scripts)
	for _, script := range scripts {
		require.NoError(t, os.Chmod(script, 0o755))
	}
	return root
}

// buildAssets returns the folder for KUBEBUILDER_ASSETS. The program is beside it.
func buildAssets(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	program, assets := filepath.Join(folder, "fakeapi"), filepath.Join(folder, "assets")
	goCommand(t, "../../..", "run", "-exec", "cp", "./cmd/fakeapi", program) // copies it from the build cache
	output, err := exec.CommandContext(t.Context(), program, "envtest-assets", "-p", "path", assets).CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.Equal(t, assets, string(output))
	return assets
}

// oldServer runs kube-apiserver as a release that can disable aggregated discovery, which the
// current one cannot: requests are answered as if their clients did not accept it.
const oldServer = `#!/bin/sh
for argument; do
	shift
	case $argument in
	--feature-gates=AggregatedDiscoveryEndpoint=false) export FAKEAPI_FAULTS='when path(/api) do requestHeader(Accept, application/json)' ;;
	*) set -- "$@" "$argument" ;;
	esac
done
exec "$ASSETS/kube-apiserver" "$@"
`

// installRelease returns a folder for XDG_DATA_HOME in which envtest finds the assets of a release
// that one of the suites would download.
func installRelease(t *testing.T, assets, release string) string {
	t.Helper()
	home := t.TempDir()
	folder := filepath.Join(home, "kubebuilder-envtest/k8s", release+"-"+runtime.GOOS+"-"+runtime.GOARCH)
	require.NoError(t, os.MkdirAll(folder, 0o755))
	script := strings.ReplaceAll(oldServer, "$ASSETS", assets)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "kube-apiserver"), []byte(script), 0o755))
	for _, name := range []string{"etcd", "kubectl"} {
		require.NoError(t, os.Symlink(filepath.Join(assets, name), filepath.Join(folder, name)))
	}
	return home
}

// requireNoProcess checks that no process of a program below folder is left.
func requireNoProcess(t *testing.T, folder string) {
	t.Helper()
	processes, err := filepath.Glob("/proc/[0-9]*/exe")
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		for _, process := range processes {
			if program, err := os.Readlink(process); err == nil && strings.HasPrefix(program, folder) {
				return false
			}
		}
		return true
	}, time.Minute, 50*time.Millisecond, "processes of %s are left", folder)
}

// A spec that failed because of a port is recognized, one that failed for another reason is not.
func TestPortTaken(t *testing.T) {
	const taken = "  [FAILED] Unexpected error:\n      <*net.OpError | 0x1b6369bae910>: \n      listen tcp 127.0.0.1:41599: bind: address already in use\n"
	require.Regexp(t, portTaken, taken)
	require.NotRegexp(t, portTaken, "error: bind: address already in use\n  [FAILED] Expected\n      <int>: 1\n  to equal\n      <int>: 2\n")
}

// The end of a suite by a timeout is recognized, and no other failure of its specs.
func TestSourceTimeout(t *testing.T) {
	const spec = "sigs.k8s.io/controller-runtime@v0.25.2/pkg/internal/controller/controller_test.go:740"
	require.Regexp(t, sourceTimeout, "••panic: \x1b[1m\x1b[38;5;9mYour Test Panicked\x1b[0m\n\t\x1b[38;5;243m"+spec+"\x1b[0m\n")
	require.NotRegexp(t, sourceTimeout, "  [FAILED] Timed out\n  "+spec+"\n")
}
