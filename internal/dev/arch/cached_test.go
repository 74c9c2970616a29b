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

// cachedPackages have tests that take long. go test reuses their results in another checkout, because
// they open no files of the module, and have no fuzz tests, which open the directory of their corpus.
// They embed what they read.
var cachedPackages = []string{"conformance", "fake", "scenario", "scenario/perturb", "internal/dev/e2e/kubectl"}

// fileFunctions are the functions whose first argument is the path of a file or a directory.
var fileFunctions = []string{"os.ReadFile", "os.Open", "os.ReadDir", "os.DirFS", "os.Stat", "filepath.Glob", "filepath.Abs", "t.Chdir", "b.Chdir", "f.Chdir"}

// opensFiles returns the calls in a test file by which its package would open files of the module. An
// example without output only compiles.
func opensFiles(files *token.FileSet, syntax *ast.File) (violations []string) {
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
			if name, ok := call.Args[0].(*ast.BasicLit); ok {
				if text, err := strconv.Unquote(name.Value); err == nil && !path.IsAbs(text) {
					violations = append(violations, fmt.Sprintf("%s: opens %s; embed it", files.Position(call.Pos()), text))
				}
			}
			return true
		})
	}
	return violations
}

func TestResultsAreCached(t *testing.T) {
	repo := loadRepository(t)
	checked := map[string]bool{}
	for _, s := range repo.sources {
		if s.test && slices.Contains(cachedPackages, s.dir()) {
			checked[s.dir()] = true
			reportAll(t, opensFiles(repo.files, s.syntax))
		}
	}
	require.Len(t, checked, len(cachedPackages))
}

func TestCachedRule(t *testing.T) {
	const text = `package p
		func TestA(t *testing.T) { os.ReadFile("testdata/a"); t.Chdir(".."); os.Open("/dev/null"); os.ReadFile(file) }
		func FuzzA(f *testing.F) {}
		func ExampleA() { os.DirFS("testdata") }`
	files := token.NewFileSet()
	syntax, err := parser.ParseFile(files, "a_test.go", text, 0)
	require.NoError(t, err)
	require.Equal(t, []string{
		"a_test.go:2:30: opens testdata/a; embed it",
		"a_test.go:2:57: opens ..; embed it",
		"a_test.go:3:3: FuzzA is a fuzz test; put it in internal/dev/fuzz",
	}, opensFiles(files, syntax))
}
