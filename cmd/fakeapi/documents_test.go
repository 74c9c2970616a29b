//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	fakeapi "example.com/fakeapi/fake"
)

// commandLine matches the command in an indented block of a document or of a package comment.
var commandLine = regexp.MustCompile(`(?m)^(?://\t|    )(?:go run \./cmd/fakeapi|fakeapi)(?: +([^#&\n]*)|$)`)

// documentedLines returns the command lines of the documents, split into arguments without the
// command's name. TestManualAndHelpAgree checks the synopsis of this package, before its first
// heading.
func documentedLines(t *testing.T) (lines [][]string) {
	t.Helper()
	manuals, err := filepath.Glob("../../*/doc.go")
	require.NoError(t, err)
	for _, name := range append([]string{"../../README.md", "../../BENCHMARKS.md", "../../CONTRIBUTING.md", "doc.go"}, manuals...) {
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		text := string(content)
		if name == "doc.go" {
			_, text, _ = strings.Cut(text, "\n// # ")
		}
		for _, match := range commandLine.FindAllStringSubmatch(text, -1) {
			lines = append(lines, strings.Fields(match[1]))
		}
	}
	return lines
}

// narrowArguments adds arguments that make a documented command short enough for a test, by the
// first words of its line.
var narrowArguments = map[string][]string{
	"run --all":   {"--client", "deletion-handler=careful"},
	"conformance": {"--run", "^GT-01"},
	"compare":     {"--run", "^(GT-01|get-rv--cm)"},
	"bench":       {"--objects", "10", "--clients", "2", "--watchers", "1,2", "--duration", "5ms"},
}

const aScenario = "apply a.yaml\nexpect cm/a\n-- a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"

// placeholders maps the placeholders in documents to values for the test, in a new directory.
func placeholders(t *testing.T, dir string) map[string]string {
	t.Helper()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	srv := fakeapi.Start(t, fakeapi.WithControlAPI(), fakeapi.WithNamespaceDeletionDelay(0))
	config := srv.RESTConfig()
	config.UserAgent = "manager/v1"
	_, err := kubernetes.NewForConfigOrDie(config).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	manifests := filepath.Join(dir, "rbac")
	require.NoError(t, os.Mkdir(manifests, 0o700))
	write("rbac/robot.yaml", robotManifest)
	recordings, err := filepath.Abs("../../internal/cmd/golden/recordings/testdata/v1.37")
	require.NoError(t, err)
	return map[string]string{
		"golden:DIR":  "golden:" + recordings,
		"FILE":        kubeconfigOf(t, srv),
		"DIRECTORY":   manifests,
		"RULES":       write("rules", "slow: when verb(list) do delay(1ms)\n"),
		"FILE.txtar":  write("FILE.txtar", aScenario),
		"case.txtar":  write("case.txtar", aScenario),
		"manifests":   manifests,
		"/tmp/config": filepath.Join(dir, "config"),
	}
}

// runDocumentedCommands runs every command line of the documents. Servers are interrupted after
// they have responded; other commands run to their end.
func runDocumentedCommands(t *testing.T, binary string) {
	lines := documentedLines(t)
	require.Greater(t, len(lines), 8)
	for _, words := range lines {
		t.Run(strings.Join(words, " "), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			known := placeholders(t, dir)
			args := make([]string, 0, len(words))
			for _, word := range words {
				if inPlace, ok := known[word]; ok {
					word = inPlace
				}
				require.NotRegexp(t, `^[A-Z]+\b`, word, "unknown placeholder; add it to placeholders")
				args = append(args, word)
			}
			if i := slices.Index(args, "--"); i >= 0 { // a command follows, which needs not exist here
				args = append(args[:i+1], "env")
			}
			for first, more := range narrowArguments {
				if strings.HasPrefix(strings.Join(words, " ")+" ", first+" ") {
					args = append(args, more...)
				}
			}
			command := exec.CommandContext(t.Context(), binary, args...)
			command.Dir = dir
			command.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(dir, "cache")) // of the assets
			if playing := slices.Contains(words, "--scenario"); !playing && (len(words) == 0 || words[0] == "serve" || words[0] == "proxy") {
				runUntilAnswer(t, command)
				return
			}
			var stderr bytes.Buffer
			command.Stderr = &stderr
			stdout, err := command.Output()
			require.NoError(t, err, "%s", stderr.Bytes())
			require.NotEmpty(t, stdout)
			requireFiles(t, dir, words)
		})
	}
}

// requireFiles requires the files that the command should have written.
func requireFiles(t *testing.T, dir string, words []string) {
	t.Helper()
	if strings.Contains(strings.Join(words, " "), "html") {
		pages, err := filepath.Glob(filepath.Join(dir, "*.html"))
		require.NoError(t, err)
		require.Len(t, pages, 1)
	}
}

// runUntilAnswer lists the namespaces of the server of a command, with the kubeconfig that it
// wrote, and then interrupts it.
func runUntilAnswer(t *testing.T, command *exec.Cmd) {
	t.Helper()
	var stderr bytes.Buffer
	command.Stderr = &stderr
	stdout, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	text := announcement(t, stdout)
	path := regexp.MustCompile(`(?m)^  export KUBECONFIG=(\S+)`).FindStringSubmatch(text)
	require.NotNil(t, path, text)
	config, err := clientcmd.BuildConfigFromFlags("", path[1])
	require.NoError(t, err)
	_, err = kubernetes.NewForConfigOrDie(config).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.NoError(t, command.Process.Signal(os.Interrupt))
	var rest bytes.Buffer
	_, err = rest.ReadFrom(stdout)
	require.NoError(t, err)
	require.NoError(t, command.Wait(), "%s", stderr.Bytes())
	require.Empty(t, stderr.String())
}
