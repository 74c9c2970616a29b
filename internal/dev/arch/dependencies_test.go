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

// tableModules returns the module paths in the first column of the tables of DEPENDENCIES.md,
// where they are written as `code`.
func tableModules(document string) []string {
	var modules []string
	for line := range strings.Lines(document) {
		if strings.HasPrefix(line, "|") {
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

// directModules returns the modules that go.mod requires without an "// indirect" comment.
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

// unlisted returns a violation for each module of have that list lacks.
func unlisted(have, list []string, format string) (violations []string) {
	for _, name := range have {
		if !slices.Contains(list, name) {
			violations = append(violations, fmt.Sprintf(format, name))
		}
	}
	return violations
}

func TestDependencies(t *testing.T) {
	texts := loadRepository(t).texts
	table := tableModules(string(texts["DEPENDENCIES.md"]))
	require.NotEmpty(t, table, "DEPENDENCIES.md has no table of modules")
	direct := directModules(string(texts["go.mod"]))
	require.NotEmpty(t, direct)

	reportAll(t, unlisted(direct, table, "go.mod requires %s, which DEPENDENCIES.md does not list"))
	reportAll(t, unlisted(table, direct, "DEPENDENCIES.md lists %s, which go.mod does not require"))
	reportAll(t, unlisted(importedModules(loadPackages(t)), table, "%s is imported, and DEPENDENCIES.md does not list it"))
}

// importedModules returns the modules that the root module's packages import directly. Imports of
// tests do not count.
func importedModules(packages map[string]goPackage) []string {
	modules := map[string]bool{}
	for _, p := range packages {
		if !p.inModule() {
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

func TestDependencyRules(t *testing.T) {
	const document = "# It\n`not.a/dependency`\n\n| module | purpose |\n|---|---|\n" +
		"| `k8s.io/api`, `k8s.io/client-go` | types, see `some.where/else` |\n| `gopkg.in/yaml.v4` | yaml |\n"
	require.Equal(t, []string{"gopkg.in/yaml.v4", "k8s.io/api", "k8s.io/client-go"}, tableModules(document))

	const gomod = "module example.com/it\n\ngo 1.26.0\n\nrequire b.example/one v1.0.0\n\n" +
		"require (\n\ta.example/two v1.0.0\n\tc.example/three v1.0.0 // indirect\n)\n\nrequire d.example/four v1.0.0 // indirect\n"
	require.Equal(t, []string{"a.example/two", "b.example/one"}, directModules(gomod))
	require.Equal(t, []string{"b is missing"}, unlisted([]string{"a", "b"}, []string{"a"}, "%s is missing"))
}
