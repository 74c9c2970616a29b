package arch

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Command lines of documents are run where that is quick, by the tests of what they run.
// Here is seen that what the others name is there.

var (
	commandLine = regexp.MustCompile(`(?m)^(?:    |\t)\(?(.*?(?:go (?:test|run)|\.ci/run).*?)(?:\s+#.*)?$`)
	pattern     = regexp.MustCompile(`-(?:run|fuzz|bench)[ =]'?([\w^$./()|]+)'?`)
	step        = regexp.MustCompile(`(?m)^step_(\w+)\(\)`)
)

// wrongCommand says what a command line names that there is not: a package, a test, a gate.
// It is called at the top, or in the folder of the document.
func wrongCommand(line, from string, there map[string]bool, names map[string]bool, steps []string) string {
	words := strings.Fields(strings.TrimSuffix(line, ")"))
	inFolder := ""
	for i, word := range words {
		before := ""
		if i > 0 {
			before = words[i-1]
		}
		switch {
		case before == "(cd" || before == "cd":
			inFolder = word
		case word == "./..." || strings.HasPrefix(word, "./"):
			if folder := path.Join(inFolder, strings.TrimSuffix(word, "/...")); folder != "." && folder != "..." && !there[folder] && !there[path.Join(from, folder)] {
				return "the folder " + folder
			}
		case words[0] == ".ci/run" && i > 0 && !strings.HasPrefix(word, "-") && !slices.Contains(steps, word):
			return "the gate " + word
		}
	}
	for _, match := range pattern.FindAllStringSubmatch(line, -1) {
		name := strings.Trim(strings.Split(match[1], "/")[0], "^$")
		if !tested.MatchString(name) {
			continue // ".", "^$" and parts of names
		}
		if missing := missingTests(document{"it", name}, names); len(missing) > 0 {
			return name
		}
	}
	return ""
}

func TestCommandsOfDocuments(t *testing.T) {
	all := theTree(t)
	there, names := places(all), declared(all.sources)
	var steps []string
	for _, match := range step.FindAllStringSubmatch(string(all.texts[".ci/run"]), -1) {
		steps = append(steps, match[1])
	}
	require.Contains(t, steps, "race")
	lines := 0
	for _, d := range documents(all) {
		for _, match := range commandLine.FindAllStringSubmatch(d.text, -1) {
			lines++
			if wrong := wrongCommand(match[1], path.Dir(d.path), there, names, steps); wrong != "" {
				t.Errorf("%s: %q names %s, which is not there", d.path, match[1], wrong)
			}
		}
	}
	require.Greater(t, lines, 15)
}

func TestCommandRules(t *testing.T) {
	there := map[string]bool{"fake": true, "internal/dev/e2e": true}
	names := map[string]bool{"TestRules": true}
	for line, wrong := range map[string]string{
		"go test ./...":                            "",
		"go test ./fake -run '^$' -bench .":        "",
		"go test ./gone":                           "the folder gone",
		"go test ./e2e":                            "",
		"(cd internal/dev/e2e && go test ./...)":   "",
		"(cd internal/gone && go test ./...)":      "the folder internal/gone",
		"go test ./fake -run TestRules -update":    "",
		"go test ./fake -run='^TestGone$/sub'":     "TestGone",
		".ci/run race vet":                         "",
		".ci/run -l":                               "",
		".ci/run rice":                             "the gate rice",
		"FAKEAPI_X=1 go test ./fake -fuzz FuzzAll": "FuzzAll",
	} {
		require.Equal(t, wrong, wrongCommand(line, "internal", there, names, []string{"race", "vet"}), line)
	}
	found := commandLine.FindAllStringSubmatch("text\n    go test ./a   # why\n    ls\n\tgo run ./b\n", -1)
	require.Equal(t, []string{"go test ./a", "go run ./b"}, []string{found[0][1], found[1][1]})
}
