package faults

import (
	_ "embed"
	"go/ast"
	goparser "go/parser"
	gotoken "go/token"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

//go:embed presets.go
var presetsSource string

// constructors returns the functions of presets.go under their names in text, each with the types
// of its parameters before the conditions.
func constructors(t *testing.T) map[string][]string {
	t.Helper()
	file, err := goparser.ParseFile(gotoken.NewFileSet(), "presets.go", presetsSource, 0)
	require.NoError(t, err)
	found := map[string][]string{}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || !f.Name.IsExported() {
			continue
		}
		name := strings.ToLower(f.Name.Name[:1]) + f.Name.Name[1:]
		found[name] = nil
		for _, p := range f.Type.Params.List {
			switch of := p.Type.(type) {
			case *ast.Ident:
				found[name] = append(found[name], of.Name)
			case *ast.SelectorExpr:
				found[name] = append(found[name], of.Sel.Name)
			}
		}
	}
	return found
}

// Every function of presets.go is a ready-made fault with its parameters, and the examples are
// rules that a set accepts.
func TestReadyMade(t *testing.T) {
	functions := constructors(t)
	require.Equal(t, slices.Sorted(maps.Keys(functions)), slices.Sorted(maps.Keys(readyMade)))
	types := map[string]string{"DURATION": "Duration", "SEED": "uint64"}
	for _, f := range ReadyMade() {
		var want []string
		for _, parameter := range f.Parameters {
			want = append(want, types[parameter])
		}
		require.Equal(t, functions[f.Name], want, f.Name)
		require.True(t, strings.HasSuffix(f.Doc, "."), f.Doc)
		require.NotEmpty(t, f.Rules, f.Example)
		var set Set
		_, err := set.AddText(f.Example)
		require.NoError(t, err, f.Example)
		require.Equal(t, f.Rules, set.Rules())
	}
	require.Equal(t, "retry504(DURATION, CONDITION, ...)", ReadyMade()[5].Usage())
}

// Text with a ready-made fault is the same rule as the call of the Go function.
func TestReadyMadeInText(t *testing.T) {
	rules, err := ParseAll(`
		expire410(resource(pods), first(1))
		late: retry504(1s, verb(get) || name(a))   # a remark
		realisticLatency(7, resource(pods))
		away: revokeFor(5m, resource(secrets))
		badGateway`)
	require.NoError(t, err)
	late := Retry504(1e9, Or(Verb("get"), Name("a")))
	late.Name = "late"
	away := RevokeFor(300e9, Resource("secrets"))
	away[0].Name, away[1].Name = "away", "away"
	want := slices.Concat([]Rule{Expire410(Resource("pods"), First(1)), late}, RealisticLatency(7, Resource("pods")), away, []Rule{BadGateway()})
	require.Equal(t, want, rules)

	var set Set
	_, err = set.AddText("away: revokeFor(5m)")
	require.NoError(t, err)
	require.Equal(t, 2, set.Remove("away"), "a name is that of all rules")

	_, err = ParseAll("expire410\n\n  dropBookmarks(verb(lst))")
	require.ErrorContains(t, err, `fault rule, line 3, column 22: unknown verb "lst"`)
}
