package arch

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Tests of the programs run the quick commands of documents. The tests of this file check that the
// directories, tests and CI steps in the other commands exist.

var (
	commandLine = regexp.MustCompile(`(?m)^(?:    |\t)\(?(.*?(?:go (?:test|run)|\.ci/run).*?)(?:\s+#.*)?$`)
	testPattern = regexp.MustCompile(`-(?:run|fuzz|bench)[ =]'?([\w^$./()|]+)'?`)
	testName    = regexp.MustCompile(`^(?:Test|Fuzz|Benchmark)[A-Z]\w*`)
	ciStep      = regexp.MustCompile(`(?m)^step_(\w+)\(\)`)
)

// commandChecker has the names that command lines may refer to.
type commandChecker struct {
	directories map[string]bool
	functions   []string
	ciSteps     []string
}

func newCommandChecker(repo *repository) *commandChecker {
	c := &commandChecker{directories: map[string]bool{}}
	for name := range repo.texts {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			c.directories[dir] = true
		}
	}
	for _, s := range repo.sources {
		for _, d := range s.syntax.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				c.functions = append(c.functions, f.Name.Name)
			}
		}
	}
	for _, match := range ciStep.FindAllStringSubmatch(string(repo.texts[".ci/run"]), -1) {
		c.ciSteps = append(c.ciSteps, match[1])
	}
	return c
}

// missing returns the directory, test or CI step that a command line names and that does not
// exist, or "". The command runs in the root or in directory from.
func (c *commandChecker) missing(line, from string) string {
	words := strings.Fields(strings.TrimSuffix(line, ")"))
	directory := ""
	for i, word := range words {
		previous := ""
		if i > 0 {
			previous = words[i-1]
		}
		switch {
		case previous == "(cd" || previous == "cd":
			directory = word
		case word == "./..." || strings.HasPrefix(word, "./"):
			target := path.Join(directory, strings.TrimSuffix(word, "/..."))
			if target != "." && target != "..." && !c.directories[target] && !c.directories[path.Join(from, target)] {
				return "directory " + target
			}
		case words[0] == ".ci/run" && i > 0 && !strings.HasPrefix(word, "-") && !slices.Contains(c.ciSteps, word):
			return "step " + word
		}
	}
	for _, match := range testPattern.FindAllStringSubmatch(line, -1) {
		name := strings.Trim(strings.Split(match[1], "/")[0], "^$")
		if testName.MatchString(name) && !slices.ContainsFunc(c.functions, func(f string) bool { return strings.HasPrefix(f, name) }) {
			return name
		}
	}
	return ""
}

func TestDocumentedCommandsExist(t *testing.T) {
	repo := loadRepository(t)
	c := newCommandChecker(repo)
	require.Contains(t, c.ciSteps, "race")
	documents := map[string]string{}
	for name, text := range repo.texts {
		if path.Ext(name) == ".md" {
			documents[name] = string(text)
		}
	}
	for _, s := range repo.sources {
		if !s.test && s.syntax.Doc != nil {
			documents[s.path] = s.syntax.Doc.Text()
		}
	}
	lines := 0
	for name, text := range documents {
		for _, match := range commandLine.FindAllStringSubmatch(text, -1) {
			lines++
			require.Empty(t, c.missing(match[1], path.Dir(name)), "%s: %s", name, match[1])
		}
	}
	require.Greater(t, lines, 15)
}

func TestCommandRules(t *testing.T) {
	c := &commandChecker{
		directories: map[string]bool{"fake": true, "internal/dev/e2e": true},
		functions:   []string{"TestRules"},
		ciSteps:     []string{"race", "vet"},
	}
	for line, missing := range map[string]string{
		"go test ./...":                             "",
		"go test ./fake -run '^$' -bench .":         "",
		"go test ./absent":                          "directory absent",
		"go test ./e2e":                             "",
		"(cd internal/dev/e2e && go test ./...)":    "",
		"(cd internal/absent && go test ./...)":     "directory internal/absent",
		"go test ./fake -run TestRules -update":     "",
		"go test ./fake -run='^TestAbsent$/sub'":    "TestAbsent",
		".ci/run race vet":                          "",
		".ci/run -l":                                "",
		".ci/run rice":                              "step rice",
		"FAKEAPI_X=1 go test ./fake -fuzz FuzzAll1": "FuzzAll1",
	} {
		require.Equal(t, missing, c.missing(line, "internal/dev"), line)
	}
	found := commandLine.FindAllStringSubmatch("text\n    go test ./a   # why\n    ls\n\tgo run ./b\n", -1)
	require.Equal(t, []string{"go test ./a", "go run ./b"}, []string{found[0][1], found[1][1]})
}
