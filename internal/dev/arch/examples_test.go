package arch

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// withoutExample are entry points that no example shows, and why.
var withoutExample = map[string]string{}

// entryPoints are what a user of a package calls: its exported functions, and the exported
// methods of its exported types, those of aliases included. What only prints or makes an
// error of something, String and the like, is none.
func entryPoints(p *types.Package) (names map[types.Object]string) {
	names = map[types.Object]string{}
	for _, name := range p.Scope().Names() {
		object := p.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		switch object := object.(type) {
		case *types.Func:
			names[object] = name
		case *types.TypeName:
			named, ok := types.Unalias(object.Type()).(*types.Named)
			if !ok || object.Pkg() == nil || types.IsInterface(named) {
				continue
			}
			for m := range named.Methods() {
				if m.Exported() && !slices.Contains([]string{"String", "Error", "Is", "Unwrap"}, m.Name()) {
					names[m] = name + "." + m.Name()
				}
			}
		}
	}
	return names
}

// shown are the functions and methods that the examples of a package's tests use: the
// Example functions, and in a file of examples also the types and functions around them.
// What those tests cannot be checked for, such as a package that only tests import, is
// passed over.
func shown(files *token.FileSet, from types.Importer, syntax []*ast.File) map[types.Object]bool {
	uses := map[types.Object]bool{}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: from, Error: func(error) {}}
	_, _ = config.Check("examples", files, syntax, info) // as far as it goes
	for _, file := range syntax {
		only := strings.HasPrefix(path.Base(files.Position(file.Pos()).Filename), "example")
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !only && !strings.HasPrefix(f.Name.Name, "Example") {
				continue
			}
			ast.Inspect(f.Body, func(n ast.Node) bool {
				if name, ok := n.(*ast.Ident); ok && info.Uses[name] != nil {
					uses[info.Uses[name]] = true
				}
				return true
			})
		}
	}
	return uses
}

// runs reports whether a file has an example that is run: one whose output is compared.
func runs(file *ast.File) bool {
	return slices.ContainsFunc(file.Comments, func(c *ast.CommentGroup) bool { return strings.Contains(c.Text(), "Output:") })
}

// unshown complains about entry points without an example, and about exceptions that are
// none, or have one.
func unshown(dir string, points map[types.Object]string, uses map[types.Object]bool, excused map[string]string) (complaints []string) {
	for object, name := range points {
		switch full := dir + "." + name; {
		case uses[object] && excused[full] != "":
			complaints = append(complaints, full+" has an example: take it out of withoutExample")
		case !uses[object] && excused[full] == "":
			complaints = append(complaints, fmt.Sprintf("%s is in no example: show it in an Example function of its package, or say in withoutExample why not", full))
		}
	}
	slices.Sort(complaints)
	return complaints
}

func TestEntryPointsHaveExamples(t *testing.T) {
	all := theTree(t)
	from := exported(all.files, thePackages(t))
	known := map[string]bool{}
	for _, dir := range public {
		p, err := from.Import(module + "/" + dir)
		require.NoError(t, err)
		var syntax []*ast.File
		for _, s := range all.sources {
			if s.dir() == dir && s.test && strings.HasSuffix(s.syntax.Name.Name, "_test") && runs(s.syntax) {
				syntax = append(syntax, s.syntax)
			}
		}
		points := entryPoints(p)
		report(t, unshown(dir, points, shown(all.files, from, syntax), withoutExample))
		for _, name := range points {
			known[dir+"."+name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(withoutExample)) {
		require.True(t, known[name], "withoutExample has %s, which is no entry point", name)
	}
}

func TestExampleRule(t *testing.T) {
	const code = "package p\n\nfunc Shown() {}\nfunc Hidden() {}\nfunc own() {}\n" +
		"type Box struct{}\nfunc (Box) Open() {}\nfunc (*Box) Shut() {}\nfunc (Box) String() string { return \"\" }\n" +
		"type Lid = sealed\ntype Way interface { Go() }\ntype sealed struct{}\nfunc (sealed) Open() {}\n" +
		"func Example() { Shown(); b := Box{}; b.Open(); run := b.Shut; run() }\nfunc Helper() { Hidden() }\n"
	files := token.NewFileSet()
	s, err := parse(files, "p/p.go", []byte(code))
	require.NoError(t, err)
	p := types.NewPackage("p", "p")
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	require.NoError(t, types.NewChecker(&types.Config{Importer: importer.Default()}, files, p, info).Files([]*ast.File{s.syntax}))
	require.Equal(t, []string{"Box.Open", "Box.Shut", "Example", "Helper", "Hidden", "Lid.Open", "Shown"}, slices.Sorted(maps.Values(entryPoints(p))))
}

func TestShownRule(t *testing.T) {
	const code = `package q

import (
	"net/url"
	"nowhere/at/all"
)

func ExampleX() { u, _ := url.Parse(all.Of("")); _ = u.Hostname() }

func helper() { url.QueryEscape("") }
`
	for name, more := range map[string]int{"q/example_test.go": 1, "q/q_test.go": 0} {
		files := token.NewFileSet()
		s, err := parse(files, name, []byte(code))
		require.NoError(t, err)
		from := exported(files, thePackages(t))
		p, err := from.Import("net/url")
		require.NoError(t, err)
		points, uses := entryPoints(p), shown(files, from, []*ast.File{s.syntax})
		maps.DeleteFunc(points, func(_ types.Object, of string) bool {
			return !slices.Contains([]string{"Parse", "URL.Hostname", "QueryEscape", "PathEscape"}, of)
		})
		require.Len(t, unshown("url", points, uses, nil), 2-more, "PathEscape, and QueryEscape outside of examples")
		require.Len(t, unshown("url", points, uses, map[string]string{"url.PathEscape": "why", "url.QueryEscape": "why"}), more)
		require.Len(t, unshown("url", points, uses, map[string]string{"url.PathEscape": "why", "url.Parse": "why"}), 2-more)
	}
}
