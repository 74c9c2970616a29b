package arch

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// readmeTests are the files with the Go code of the README.
var readmeTests = []string{"fake/readme_test.go", "scenario/readme_test.go", "scenario/perturb/example_test.go", "internal/dev/e2e/operator/readme_test.go"}

// trimmedLines returns the lines of a text without leading and trailing space.
func trimmedLines(text string) (lines []string) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

// containsLines reports whether a file has the lines of code in sequence. A line "..." matches any
// lines.
func containsLines(code, file []string) bool {
	for i := range file {
		at, ok := i, true
		for k, line := range code {
			if line == "..." {
				more := slices.Index(file[at:], code[k+1])
				ok = more >= 0
				at += more
			} else {
				ok = at < len(file) && file[at] == line
				at++
			}
			if !ok {
				break
			}
		}
		if ok {
			return true
		}
	}
	return false
}

// readme returns the text of the README.
func readme(t *testing.T, repo *repository) string {
	t.Helper()
	text := string(repo.texts["README.md"])
	require.NotEmpty(t, text)
	return text
}

// The first test in the README is short.
func TestReadmeShowsShortTest(t *testing.T) {
	_, code, _ := strings.Cut(readme(t, loadRepository(t)), "func TestNamespacesAreListed")
	code, _, found := strings.Cut(code, "\n}\n")
	require.True(t, found)
	require.Less(t, strings.Count(code, "\n"), 15)
}

// All Go code of the README is in a test, verbatim.
func TestReadmeShowsTestedCode(t *testing.T) {
	repo := loadRepository(t)
	var files [][]string
	for _, name := range readmeTests {
		require.NotEmpty(t, repo.texts[name], name)
		files = append(files, trimmedLines(string(repo.texts[name])))
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(readme(t, repo), -1)
	require.Greater(t, len(blocks), 5)
	for _, block := range blocks {
		code := trimmedLines(block[1])
		require.True(t, slices.ContainsFunc(files, func(file []string) bool { return containsLines(code, file) }), "no test has the code\n%s", block[1])
	}
	require.False(t, containsLines([]string{"a", "c"}, []string{"a", "b", "c"}))
	require.True(t, containsLines([]string{"a", "...", "c"}, []string{"x", "a", "b", "c"}))
}

// The README shows the controller of the example of perturb, and the finding that is printed.
func TestReadmeShowsFinding(t *testing.T) {
	repo := loadRepository(t)
	_, controller, found := strings.Cut(string(repo.texts["scenario/perturb/example_test.go"]), "// deliver starts")
	require.True(t, found)
	controller, _, _ = strings.Cut(controller, "\n\n// delivery returns")
	require.Contains(t, readme(t, repo), "```go\n// deliver starts"+controller+"\n```\n")
	finding := string(repo.texts["scenario/perturb/testdata/finding.txt"])
	require.NotEmpty(t, finding)
	require.Contains(t, readme(t, repo), "```\n"+finding+"```\n")
}
