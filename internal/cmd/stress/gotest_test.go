package stress

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
)

// module is a module with packages whose tests pass and fail in different ways.
var module = map[string]string{
	"go.mod":              "module example.org/m\n\ngo 1.26\n",
	"good/a_test.go":      "package good\nimport \"testing\"\nfunc TestA(t *testing.T) {}\n",
	"none/a.go":           "package none\n",
	"bad/a_test.go":       "package bad\nimport \"testing\"\nfunc TestA(t *testing.T) {}\nfunc TestB(t *testing.T) { t.Run(\"sub\", func(t *testing.T) { t.Fatal(\"reason\") }) }\nfunc TestC(t *testing.T) { t.Fail() }\n",
	"broken/a_test.go":    "package broken\nvar x = undefined\n",
	"panics/a_test.go":    "package panics\nimport \"testing\"\nfunc TestA(t *testing.T) { panic(\"why\") }\n",
	"exits/a_test.go":     "package exits\nimport (\"os\"; \"testing\")\nfunc TestMain(m *testing.M) { os.Exit(3) }\nfunc TestA(t *testing.T) {}\n",
	"ginkgo/like_test.go": "package ginkgo\nimport (\"fmt\"; \"testing\")\nfunc TestSuite(t *testing.T) { fmt.Println(\"  [FAILED] Expected true\\n\\x1b[38;5;9m\\x1b[1m[FAIL] \\x1b[0mWidget when it is new \\x1b[1m[It] is ready\\x1b[0m\"); t.Fail() }\n",
}

// The result of each package is that of go test.
func TestParseGoTest(t *testing.T) {
	dir := t.TempDir()
	for name, content := range module {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	args, is := IsGoTest([]string{"go", "test", "-vet=off", "./..."})
	require.True(t, is)
	command := exec.CommandContext(t.Context(), args[0], args[1:]...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	output, err := command.Output()
	require.Error(t, err)
	var other bytes.Buffer
	got, err := ParseGoTest(strings.NewReader("text\n"+string(output)), &other)
	require.NoError(t, err)
	require.Equal(t, "text\n", other.String())
	want := []Package{
		{Name: "example.org/m/bad", Status: Failed, Test: "TestB/sub"},
		{Name: "example.org/m/broken", Status: BuildFailed},
		{Name: "example.org/m/exits", Status: Failed},
		{Name: "example.org/m/ginkgo", Status: Failed, Test: "TestSuite", Spec: "Widget when it is new [It] is ready"},
		{Name: "example.org/m/good", Status: OK},
		{Name: "example.org/m/none", Status: NoTests},
		{Name: "example.org/m/panics", Status: Failed, Test: "TestA"},
	}
	require.Empty(t, cmp.Diff(want, got, cmpopts.IgnoreFields(Package{}, "Output")))
	for i, text := range map[int]string{0: "reason", 1: "undefined: undefined", 6: "panic: why"} {
		require.Contains(t, got[i].Output, text)
	}
	require.Empty(t, got[4].Output)
}

func TestIsGoTest(t *testing.T) {
	for line, want := range map[string]string{
		"go test ./...":                    "go test -json -count=1 ./...",
		"/usr/bin/go test -count 3 ./...":  "/usr/bin/go test -json -count 3 ./...",
		"go test -json --count=2 -run X .": "go test -json --count=2 -run X .",
		"go -C dir test .":                 "go -C dir test -json -count=1 .",
		"go run ./test":                    "",
		"make test":                        "",
		"go":                               "",
		"sh -c test":                       "",
	} {
		args := strings.Fields(line)
		got, is := IsGoTest(args)
		require.Equal(t, want != "", is, line)
		if is {
			require.Equal(t, want, strings.Join(got, " "))
		}
		require.Equal(t, line, strings.Join(args, " "))
	}
}

// Of long output the end is kept.
func TestReadEnd(t *testing.T) {
	got, err := ReadEnd(strings.NewReader(strings.Repeat("a", 5*maxOutput) + "end"))
	require.NoError(t, err)
	require.LessOrEqual(t, len(got), 2*maxOutput)
	require.True(t, bytes.HasSuffix(got, []byte("aend")))
}

// The table has a row for each package and a column for each run. Packages that fail without faults
// are not failures of runs with faults.
func TestReport(t *testing.T) {
	bad := Package{Name: "m/bad", Status: Failed, Test: "TestB/sub", Output: "one\n    --- FAIL: TestB/sub\n        reason\n"}
	report := Report{Command: []string{"go", "test", "./..."}, Seed: 1, Runs: []Run{
		{Set: None, Packages: []Package{{Name: "m/bad", Status: OK}, {Name: "m/broken", Status: BuildFailed, Output: "undefined: x\n"}, {Name: "m/none", Status: NoTests}}},
		{
			Set: "stale", Packages: []Package{bad, {Name: "m/broken", Status: BuildFailed}, {Name: "m/none", Status: NoTests}},
			Environment: []string{"FAKEAPI_SEED=1", "FAKEAPI_FAULTS=/a/rules"}, Pages: []string{"/a/bad.test-1_2_3.html", "/a/other.test-4_5_6.html"},
		},
	}}
	require.True(t, report.CanContinue())
	require.Equal(t, []string{"m/broken"}, report.FailsWithoutFaults())
	require.Len(t, report.Failures(), 1)
	var text strings.Builder
	require.NoError(t, report.WriteText(&text))
	require.Equal(t, `PACKAGE   NONE                 STALE
m/bad     ok                   FAIL TestB/sub
m/broken  FAIL (build failed)  FAIL (build failed)
m/none    no tests             no tests

Fails without faults, so that nothing follows from the runs with faults: m/broken
    | undefined: x

stale: m/bad: TestB/sub
    | one
    |     --- FAIL: TestB/sub
    |         reason
    repeat: FAKEAPI_SEED=1 FAKEAPI_FAULTS=/a/rules go test -count=1 -run '^TestB$' m/bad
    timeline: /a/bad.test-1_2_3.html
`, text.String())

	report.Command = []string{"make", "a test"}
	require.Equal(t, "FAKEAPI_SEED=1 FAKEAPI_FAULTS=/a/rules make 'a test'", report.Failures()[0].repeat(report.Command))
	require.False(t, Report{Runs: []Run{{Set: None, Packages: []Package{{Status: NoTests}}}}}.CanContinue())
}
