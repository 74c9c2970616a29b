package mutants

import (
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/conformance"
)

// root is the root of the module, from here.
const root = "../.."

// TestEveryMutantStillMeansSomething holds that each mutant's text is there once, in a function, and that what is made of all of them is Go.
func TestEveryMutantStillMeansSomething(t *testing.T) {
	woven, err := Weave(root, All())
	require.NoError(t, err)
	for file, source := range woven {
		_, err := parser.ParseFile(token.NewFileSet(), file, source, parser.SkipObjectResolution)
		require.NoError(t, err, file)
	}
}

// TestTheTables holds that mutants have names of their own and break rules that have cases.
func TestTheTables(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "conformance", "rules.md"))
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, m := range All() {
		require.False(t, seen[m.ID()], "%s is there twice", m.ID())
		seen[m.ID()] = true
		require.Regexp(t, regexp.MustCompile(`^[A-Z]{2}-\d\d/[a-z-]+$`), m.ID())
		require.Contains(t, string(text), "**"+m.Rule+"**", "%s: there is no such rule", m.ID())
		require.NotEmpty(t, m.Breaks, m.ID())
	}
	require.GreaterOrEqual(t, len(seen), 60)
}

// TestTableIsOfTheseMutants holds that TABLE.md has every mutant and no other, and that its cases exist.
func TestTableIsOfTheseMutants(t *testing.T) {
	known, err := readTable()
	require.NoError(t, err)
	cases := map[string]bool{}
	for _, one := range conformance.Cases() {
		cases[one.ID] = true
	}
	var ids []string
	for _, m := range All() {
		ids = append(ids, m.ID())
		for _, id := range known[m.ID()] {
			require.True(t, cases[id], "%s is killed by %q, which is no case: run the mutants with -update", m.ID(), id)
		}
	}
	require.ElementsMatch(t, ids, slices.Collect(maps.Keys(known)), "run the mutants with -update")
}

// weaveOne weaves mutants into a file of this text.
func weaveOne(t *testing.T, source string, all ...Mutant) (string, error) {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "a.go"), []byte(source), 0o600))
	for i := range all {
		all[i].File = "a.go"
	}
	woven, err := Weave(folder, all)
	return string(woven["a.go"]), err
}

func TestWeave(t *testing.T) {
	const source = `package a

// Add adds.
func (c *counter) Add(n int, more ...int) int { return c.n + n }

func say(words string) {
	print(words)
}
`
	woven, err := weaveOne(t, source,
		Mutant{Rule: "R-1", Name: "minus", Old: "c.n + n", New: "c.n - n"},
		Mutant{Rule: "R-2", Name: "none", Old: "c.n + n", New: "0"},
		Mutant{Rule: "R-3", Name: "mute", Old: "print(words)", New: "_ = words"})
	require.NoError(t, err)
	for _, part := range []string{
		"if isMutant(\"R-1/minus\") {\n\t\treturn c.AddMutant1(n, more...)\n\t}",
		"if isMutant(\"R-2/none\") {\n\t\treturn c.AddMutant2(n, more...)\n\t}",
		"return c.n + n",
		"func (c *counter) AddMutant1(n int, more ...int) int { return c.n - n }",
		"func (c *counter) AddMutant2(n int, more ...int) int { return 0 }",
		"if isMutant(\"R-3/mute\") {\n\t\tsayMutant3(words)\n\t\treturn\n\t}",
		"func sayMutant3(words string) {\n\t_ = words\n}",
	} {
		require.Equal(t, 1, strings.Count(woven, part), "%s\nin\n%s", part, woven)
	}
}

func TestWeaveRefuses(t *testing.T) {
	for _, c := range []struct{ source, old, says string }{
		{"package a\nfunc f() { g() }\n", "h()", "0 times"},
		{"package a\nfunc f() { g(); g() }\n", "g()", "2 times"},
		{"package a\nvar v = 1\n", "v = 1", "not in the body of a function"},
		{"package a\nfunc f(n int) { g() }\n", "n int", "not in the body of a function"},
		{"package a\nfunc f(_ int) { g() }\n", "g()", "no name"},
		{"package a\nfunc f(int) { g() }\n", "g()", "no name"},
		{"package a\nfunc (T) f() { g() }\n", "g()", "no name"},
		{"package a\nfunc f() { x() }\n", "x()", "changes nothing"},
	} {
		_, err := weaveOne(t, c.source, Mutant{Rule: "R-1", Name: "one", Old: c.old, New: "x()"})
		require.ErrorContains(t, err, c.says, c.source)
	}
}
