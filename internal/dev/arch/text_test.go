package arch

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// longest is how many lines a file may have that is no test. It is a limit, not
// an aim: most are far shorter.
const longest = 450

// tooLong complains about files that are about more than one thing.
func tooLong(sources []source) (complaints []string) {
	for _, s := range sources {
		if !s.test && s.lines > longest {
			complaints = append(complaints, fmt.Sprintf("%s has %d lines, more than %d: what are the two things that it is about?", s.path, s.lines, longest))
		}
	}
	return complaints
}

func TestFilesAreShort(t *testing.T) {
	all := theTree(t)
	require.NotEmpty(t, all.sources)
	report(t, tooLong(all.sources))
}

// machinePath is an absolute path into somebody's home, workplace or module
// cache.
var machinePath = regexp.MustCompile(`(^|[^\w.:/*-])/(home|root|work|Users)/\w|\bC:\\Users\\|/go/pkg/mod/`)

// machinePaths complains about the lines of a text that only one machine knows.
func machinePaths(name string, text []byte) (complaints []string) {
	n := 0
	for line := range slices.Values(regexp.MustCompile("\n").Split(string(text), -1)) {
		n++
		if found := machinePath.FindString(line); found != "" {
			complaints = append(complaints, fmt.Sprintf("%s:%d: a path of one machine: %q", name, n, found))
		}
	}
	return complaints
}

func TestNoMachinePaths(t *testing.T) {
	texts := theTree(t).texts
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if name != "internal/dev/arch/text_test.go" { // has the pattern itself, and samples
			report(t, machinePaths(name, texts[name]))
		}
	}
}

func TestTextRules(t *testing.T) {
	require.Len(t, tooLong([]source{{path: "a.go", lines: longest + 1}, {path: "b.go", lines: longest}, {path: "c_test.go", lines: 2000, test: true}}), 1)

	for line, bad := range map[string]bool{
		"see /home/ada/notes":            true,
		`dir = "/root/src"`:              true,
		"(/Users/ada)":                   true,
		"/work/tree":                     true,
		`C:\Users\ada`:                   true,
		"x/go/pkg/mod/k8s.io":            true,
		"https://example.com/work/items": false,
		"/apis/batch/v1/work/items":      false,
		"docs/home/index.md":             false,
		"/tmp/fakeapi":                   false,
		"/home":                          false,
	} {
		require.Equal(t, bad, len(machinePaths("f", []byte("first\n"+line+"\n"))) == 1, line)
	}
	require.Contains(t, machinePaths("f", []byte("a\n/home/ada\n"))[0], "f:2:")
}
