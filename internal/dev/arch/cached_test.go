package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// cachedPackages have tests that take long. go test reuses their results in another checkout,
// because they open no files of the module, and have no fuzz tests, which open the directory of
// their corpus. They embed what they read.
var cachedPackages = []string{"conformance", "fake", "scenario", "scenario/perturb", "internal/dev/e2e/kubectl"}

// fileFunctions are the functions whose first argument is the path of a file or a directory.
var fileFunctions = []string{"os.ReadFile", "os.Open", "os.ReadDir", "os.DirFS", "os.Stat", "filepath.Glob", "filepath.Abs", "t.Chdir", "b.Chdir", "f.Chdir"}

// addConstants adds the constants of a file that are literals.
func addConstants(all map[string]string, syntax *ast.File) {
	ast.Inspect(syntax, func(n ast.Node) bool {
		d, ok := n.(*ast.GenDecl)
		if !ok || d.Tok != token.CONST {
			return true
		}
		for _, spec := range d.Specs {
			spec := spec.(*ast.ValueSpec)
			for i, value := range spec.Values {
				if text, ok := literalText(value, nil); ok {
					all[spec.Names[i].Name] = text
				}
			}
		}
		return true
	})
}

// literalText returns the text of a literal, or of one of constants.
func literalText(e ast.Expr, constants map[string]string) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.Ident:
		text, ok = constants[e.Name]
	}
	return text, ok
}

// opensFiles returns the calls in a test file by which its package, which has constants, would open
// files of the module. An example without output only compiles.
func opensFiles(files *token.FileSet, syntax *ast.File, constants map[string]string) (violations []string) {
	for _, d := range syntax.Decls {
		f, ok := d.(*ast.FuncDecl)
		if ok && strings.HasPrefix(f.Name.Name, "Example") {
			continue
		}
		if ok && strings.HasPrefix(f.Name.Name, "Fuzz") {
			violations = append(violations, fmt.Sprintf("%s: %s is a fuzz test; put it in internal/dev/fuzz", files.Position(f.Pos()), f.Name.Name))
		}
		ast.Inspect(d, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			function, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			of, ok := function.X.(*ast.Ident)
			if !ok || !slices.Contains(fileFunctions, of.Name+"."+function.Sel.Name) {
				return true
			}
			if name, ok := literalText(call.Args[0], constants); ok && !path.IsAbs(name) {
				violations = append(violations, fmt.Sprintf("%s: opens %s; embed it", files.Position(call.Pos()), name))
			}
			return true
		})
	}
	return violations
}

func TestResultsAreCached(t *testing.T) {
	repo := loadRepository(t)
	for _, dir := range cachedPackages {
		var tests []source
		constants := map[string]string{}
		for _, s := range repo.sources {
			if s.test && s.dir() == dir {
				tests = append(tests, s)
				addConstants(constants, s.syntax)
			}
		}
		require.NotEmpty(t, tests, dir)
		for _, s := range tests {
			reportAll(t, opensFiles(repo.files, s.syntax, constants))
		}
	}
}

func TestCachedRule(t *testing.T) {
	const text = `package p
		const dir, null = "testdata", "/dev/null"
		func TestA(t *testing.T) { os.ReadFile("testdata/a"); t.Chdir(".."); os.Open(null); os.ReadFile(file); os.DirFS(dir) }
		func FuzzA(f *testing.F) {}
		func ExampleA() { os.DirFS("testdata") }`
	files := token.NewFileSet()
	syntax, err := parser.ParseFile(files, "a_test.go", text, 0)
	require.NoError(t, err)
	constants := map[string]string{}
	addConstants(constants, syntax)
	require.Equal(t, []string{
		"a_test.go:3:30: opens testdata/a; embed it",
		"a_test.go:3:57: opens ..; embed it",
		"a_test.go:3:106: opens testdata; embed it",
		"a_test.go:4:3: FuzzA is a fuzz test; put it in internal/dev/fuzz",
	}, opensFiles(files, syntax, constants))
}
