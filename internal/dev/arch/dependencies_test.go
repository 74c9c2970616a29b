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

// tableModules reads the dependency table of the README: the module paths that
// stand in `code` in the first column, below a heading that speaks of
// dependencies.
func tableModules(readme string) []string {
	var modules []string
	inside := false
	for line := range strings.Lines(readme) {
		switch {
		case strings.HasPrefix(line, "#"):
			inside = strings.Contains(strings.ToLower(line), "dependencies")
		case inside && strings.HasPrefix(line, "|"):
			first, _, _ := strings.Cut(strings.TrimPrefix(line, "|"), "|")
			for _, m := range modulePath.FindAllStringSubmatch(first, -1) {
				modules = append(modules, m[1])
			}
		}
	}
	slices.Sort(modules)
	return modules
}

var modulePath = regexp.MustCompile("`([a-z0-9.-]+\\.[a-z]+/[^` ]+)`")

// directModules reads the modules that go.mod requires and does not mark as
// indirect. (go mod tidy keeps the marks right.)
func directModules(gomod string) []string {
	var modules []string
	inside := false
	for line := range strings.Lines(gomod) {
		line = strings.TrimSpace(line)
		single, isSingle := strings.CutPrefix(line, "require ")
		switch {
		case line == "require (":
			inside = true
		case line == ")":
			inside = false
		case (inside || isSingle) && line != "" && !strings.HasSuffix(line, "// indirect"):
			name, _, _ := strings.Cut(single, " ")
			modules = append(modules, name)
		}
	}
	slices.Sort(modules)
	return modules
}

// unlisted complains of modules in have that list lacks.
func unlisted(have, list []string, format string) (complaints []string) {
	for _, name := range have {
		if !slices.Contains(list, name) {
			complaints = append(complaints, fmt.Sprintf(format, name))
		}
	}
	return complaints
}

func TestDependencies(t *testing.T) {
	texts := theTree(t).texts
	readme, ok := texts["README.md"]
	require.True(t, ok, "there is no README.md, and so no table of dependencies")
	table := tableModules(string(readme))
	require.NotEmpty(t, table, "README.md has no table of dependencies")
	direct := directModules(string(texts["go.mod"]))
	require.NotEmpty(t, direct)

	report(t, unlisted(direct, table, "go.mod requires %s: the README's table of dependencies has no line for it"))
	report(t, unlisted(table, direct, "the README's table of dependencies has a line for %s, which go.mod does not require"))
	report(t, unlisted(importedModules(thePackages(t)), table, "%s is imported: the README's table of dependencies has no line for it"))
}

// importedModules are the modules that the root module's packages import
// directly, tests left out.
func importedModules(packages map[string]listed) []string {
	modules := map[string]bool{}
	for _, p := range packages {
		if !p.ours() {
			continue
		}
		for _, imported := range p.Imports {
			if from := packages[imported].Module; from != nil && !from.Main {
				modules[from.Path] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(modules))
}

func TestDependencyTableIsRead(t *testing.T) {
	const readme = "# It\n| `not.a/dependency` | no |\n## Dependencies\n\n" +
		"| module | what for |\n|---|---|\n| `k8s.io/api`, `k8s.io/client-go` | types, see `some.where/else` |\n| `gopkg.in/yaml.v4` | yaml |\n\n" +
		"## More\n| `not.this/either` | no |\n"
	require.Equal(t, []string{"gopkg.in/yaml.v4", "k8s.io/api", "k8s.io/client-go"}, tableModules(readme))

	const gomod = "module example.com/it\n\ngo 1.26.0\n\nrequire b.example/one v1.0.0\n\n" +
		"require (\n\ta.example/two v1.0.0\n\tc.example/three v1.0.0 // indirect\n)\n\nrequire d.example/four v1.0.0 // indirect\n"
	require.Equal(t, []string{"a.example/two", "b.example/one"}, directModules(gomod))
	require.Equal(t, []string{"b is lost"}, unlisted([]string{"a", "b"}, []string{"a"}, "%s is lost"))
}
