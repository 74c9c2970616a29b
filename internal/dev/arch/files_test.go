package arch

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxLines is the maximum number of lines of a file that is not a test.
const maxLines = 450

// longFiles returns the files with more than maxLines lines.
func longFiles(sources []source) (violations []string) {
	for _, s := range sources {
		if !s.test && !strings.Contains(s.path, "zz_generated") && s.lines > maxLines {
			violations = append(violations, fmt.Sprintf("%s has %d lines, more than %d: split it by idea", s.path, s.lines, maxLines))
		}
	}
	return violations
}

func TestFilesAreShort(t *testing.T) {
	repo := loadRepository(t)
	require.NotEmpty(t, repo.sources)
	reportAll(t, longFiles(repo.sources))
}

// machinePath matches an absolute path into a home directory, a workspace or a module cache.
var machinePath = regexp.MustCompile(`(^|[^\w.:/*-])/(home|root|work|Users)/\w|\bC:\\Users\\|/go/pkg/(mod)/`)

// machinePaths returns the lines of a text that contain a path of one machine.
func machinePaths(name string, text []byte) (violations []string) {
	n := 0
	for line := range strings.SplitSeq(string(text), "\n") {
		n++
		if found := machinePath.FindString(line); found != "" {
			violations = append(violations, fmt.Sprintf("%s:%d: a path of one machine: %q", name, n, found))
		}
	}
	return violations
}

func TestNoMachinePaths(t *testing.T) {
	texts := loadRepository(t).texts
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		reportAll(t, machinePaths(name, texts[name]))
	}
}

func TestFileRules(t *testing.T) {
	require.Len(t, longFiles([]source{{path: "a.go", lines: maxLines + 1}, {path: "b.go", lines: maxLines}, {path: "c_test.go", lines: 2000, test: true}}), 1)

	// In the samples | is a slash and ! a backslash, because this file has no such paths either.
	separators := strings.NewReplacer("|", "/", "!", `\`)
	for sample, bad := range map[string]bool{
		"see |home|ada|notes":            true,
		`dir = "|root|src"`:              true,
		"(|Users|ada)":                   true,
		"|work|tree":                     true,
		"C:!Users!ada":                   true,
		"x|go|pkg|mod|k8s.io":            true,
		"https:||example.com|work|items": false,
		"|apis|batch|v1|work|items":      false,
		"docs|home|index.md":             false,
		"|tmp|fakeapi":                   false,
		"|home":                          false,
	} {
		line := separators.Replace(sample)
		require.Equal(t, bad, len(machinePaths("f", []byte("first\n"+line+"\n"))) == 1, line)
	}
	require.Contains(t, machinePaths("f", []byte(separators.Replace("a\n|home|ada\n")))[0], "f:2:")
}
