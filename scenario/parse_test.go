package scenario

import (
	_ "embed"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

// nameless is a manifest without a name, for create.
const nameless = "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: a-}\n"

const manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"

const stepFiles = "-- a.yaml --\n" + manifest + "-- b c.yaml --\n" + manifest

// withFiles adds the files that a line refers to.
func withFiles(line string) string {
	a := parseArchive(stepFiles)
	var used []file
	for _, f := range a.files {
		if strings.Contains(line+" ", " "+quote(f.name)+" ") {
			used = append(used, f)
		}
	}
	return archive{line + "\n", used}.String()
}

func TestStepsParseAndPrint(t *testing.T) {
	covered := map[string]bool{}
	for _, test := range stepTexts(t) {
		got, err := Parse(withFiles(test.text))
		if test.step == nil {
			require.Error(t, err, test.text)
			continue
		}
		require.NoError(t, err, test.text)
		require.Equal(t, []Step{test.step}, got, test.text)
		want := test.print
		if want == "" {
			want = test.text
		}
		require.Equal(t, want, test.step.String())
		text, err := Print(test.step)
		require.NoError(t, err, test.text)
		require.Equal(t, withFiles(want), text)
		kind, _, err := findStepKind(test.text)
		require.NoError(t, err)
		covered[kind.name()] = true
	}
	for _, kind := range stepKinds() {
		require.True(t, covered[kind.name()], "no row for %q", kind.name())
	}
}

// All steps are printed in one archive, with each file once.
func TestParsePrintIsIdentity(t *testing.T) {
	var steps []Step
	for _, test := range stepTexts(t) {
		if test.step != nil {
			steps = append(steps, test.step)
		}
	}
	text, err := Print(steps...)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(text, "-- a.yaml --"))
	back, err := Parse(text)
	require.NoError(t, err)
	require.Equal(t, steps, back)
	again, err := Print(back...)
	require.NoError(t, err)
	require.Equal(t, text, again)
}

// foreignStep is a step that cannot be parsed.
type foreignStep struct{ Step }

func (foreignStep) String() string { return "compact" }

func TestPrintErrors(t *testing.T) {
	for name, test := range map[string]struct {
		steps []Step
		says  string
	}{
		"two contents of a file":     {[]Step{Apply("a", manifest), Apply("a", manifest+"data: {}\n")}, `found "a" twice`},
		"an archive in a file":       {[]Step{Apply("a", manifest+"-- b --\n")}, "uses the file"},
		"an empty manifest":          {[]Step{Apply("a", "")}, "expected an object"},
		"a file name with a newline": {[]Step{Apply("a\nb", manifest)}, "expected a file"},
		"a file name with a blank":   {[]Step{Apply(" a", manifest)}, "expected a file"},
		"a foreign step":             {[]Step{foreignStep{}}, "the parsed text has other steps"},
		"an invalid path":            {[]Step{Expect(Ref{"cm", "a", ""}, Field{"a b", "1"})}, "PATH=VALUE"},
		"no kind":                    {[]Step{Delete(Ref{Name: "a"})}, "KIND/NAME"},
		"a zero duration":            {[]Step{Advance(0)}, "at least"},
		"an invalid patch":           {[]Step{Patch(Ref{"cm", "a", ""}, types.MergePatchType, "{a")}, "a patch in JSON or YAML"},
		"a patch of another type":    {[]Step{Patch(Ref{"cm", "a", ""}, types.MergePatchType, "[]")}, "a list of operations for --type json"},
		"an unknown patch type":      {[]Step{Patch(Ref{"cm", "a", ""}, types.ApplyYAMLPatchType, "{}")}, "after --type"},
		"an object with no name":     {[]Step{Apply("a", nameless)}, "which only create supports"},
	} {
		text, err := Print(test.steps...)
		require.ErrorContains(t, err, test.says, name)
		require.Empty(t, text, name)
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range syntaxErrors() {
		_, err := Parse(text)
		require.ErrorContains(t, err, want, text)
		syntax := (*SyntaxError)(nil)
		require.True(t, errors.As(err, &syntax), text)
	}
	_, err := parseScript("dir/x.txtar", "compact\nfly")
	require.ErrorContains(t, err, "dir/x.txtar:2: expected a step")
}

//go:embed doc.go
var manual string

// The list of steps in doc.go is written by go test -update.
func TestDocListsSteps(t *testing.T) {
	const begin, end = "// # Steps\n//\n", "//\n// Each"
	before, rest, ok := strings.Cut(manual, begin)
	require.True(t, ok)
	_, after, ok := strings.Cut(rest, end)
	require.True(t, ok)
	list := ""
	for _, k := range stepKinds() {
		list += "//\t" + k.usage + "\n"
	}
	want := before + begin + list + end + after
	if *update {
		require.NoError(t, os.WriteFile("doc.go", []byte(want), 0o644))
		return
	}
	require.Equal(t, want, manual, "run go test -run %s -update", t.Name())
}
