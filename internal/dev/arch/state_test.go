package arch

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// These tests check that the packages have no mutable state: no init function, no variable of a
// mutable type (sync, sync/atomic, channels), and no variable that a function assigns to, takes the
// address of or calls a pointer method on. Only a command may assign to variables of the modules it
// is built from. The check does not follow a pointer or map that is passed on and changed
// elsewhere.

// packageState returns the violations of one type-checked package.
func packageState(files *token.FileSet, syntax []*ast.File, info *types.Info) (violations []string) {
	c := &stateCheck{files: files, info: info, command: len(syntax) > 0 && syntax[0].Name.Name == "main"}
	for _, file := range syntax {
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.Name == "init" && d.Recv == nil {
					c.violation(d, "an init function")
				}
			case *ast.GenDecl:
				c.checkDecl(d)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			c.visit(n)
			return true
		})
	}
	return c.violations
}

type stateCheck struct {
	files      *token.FileSet
	info       *types.Info
	command    bool // the package is a main package
	violations []string
}

func (c *stateCheck) violation(at ast.Node, format string, args ...any) {
	c.violations = append(c.violations, fmt.Sprintf("%s: %s", c.files.Position(at.Pos()), fmt.Sprintf(format, args...)))
}

// checkDecl checks the types of package-level variables.
func (c *stateCheck) checkDecl(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		values, ok := spec.(*ast.ValueSpec)
		if !ok || d.Tok != token.VAR {
			continue
		}
		for _, name := range values.Names {
			if v := c.info.Defs[name]; v != nil && isMutable(v.Type(), nil) {
				c.violation(name, "the package-level variable %s has a mutable type", name.Name)
			}
		}
	}
}

// isMutable reports whether a type is, points to or contains a channel or a type of sync or
// sync/atomic. Of structs it inspects only those of this module.
func isMutable(t types.Type, seen []types.Type) bool {
	if slices.Contains(seen, t) {
		return false
	}
	seen = append(seen, t)
	switch t := types.Unalias(t).(type) {
	case *types.Chan:
		return true
	case *types.Pointer:
		return isMutable(t.Elem(), seen)
	case *types.Array:
		return isMutable(t.Elem(), seen)
	case *types.Named:
		of := t.Obj().Pkg()
		if of == nil {
			return false
		}
		if of.Path() == "sync" || of.Path() == "sync/atomic" {
			return true
		}
		return isBelow(of.Path(), module) && isMutable(t.Underlying(), seen)
	case *types.Struct:
		for f := range t.Fields() {
			if isMutable(f.Type(), seen) {
				return true
			}
		}
	}
	return false
}

// visit checks one node for changes of a package-level variable.
func (c *stateCheck) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			c.checkAssign(n.Lhs...)
		}
	case *ast.IncDecStmt:
		c.checkAssign(n.X)
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			c.checkAssign(n.Key, n.Value)
		}
	case *ast.UnaryExpr:
		if v := c.variable(n.X); v != nil && n.Op == token.AND {
			c.violation(n, "takes the address of %s", v.Name())
		}
	case *ast.SelectorExpr:
		c.checkMethod(n)
	case *ast.CallExpr:
		c.checkCall(n)
	}
}

// mayAssign reports whether the package is a command and v belongs to another module: a process
// decides, for example, where client-go's errors go.
func (c *stateCheck) mayAssign(v *types.Var) bool {
	return c.command && strings.Contains(strings.Split(v.Pkg().Path(), "/")[0], ".") && !isBelow(v.Pkg().Path(), module)
}

func (c *stateCheck) checkAssign(targets ...ast.Expr) {
	for _, target := range targets {
		if v := c.variable(target); v != nil && !c.mayAssign(v) {
			c.violation(target, "writes to %s", v.Name())
		}
	}
}

// checkMethod checks for calls of pointer methods on a variable, which take its address.
func (c *stateCheck) checkMethod(n *ast.SelectorExpr) {
	s := c.info.Selections[n]
	if s == nil || s.Kind() != types.MethodVal || s.Indirect() {
		return
	}
	to := s.Obj().Type().(*types.Signature).Recv().Type()
	if _, pointer := to.(*types.Pointer); !pointer {
		return
	}
	if _, pointer := c.info.TypeOf(n.X).Underlying().(*types.Pointer); pointer {
		return
	}
	if v := c.variable(n.X); v != nil {
		c.violation(n, "calls %s on %s, which can change it", n.Sel.Name, v.Name())
	}
}

// writers lists the functions that write to their first argument: builtins, and functions of the
// standard library for slices and maps.
var writers = []string{
	"delete", "clear", "copy",
	"slices.Compact", "slices.CompactFunc", "slices.Delete", "slices.DeleteFunc", "slices.Insert", "slices.Replace",
	"slices.Reverse", "slices.Sort", "slices.SortFunc", "slices.SortStableFunc",
	"maps.Copy", "maps.DeleteFunc", "maps.Insert",
	"sort.Float64s", "sort.Ints", "sort.Slice", "sort.SliceStable", "sort.Strings",
}

// checkCall checks for calls of writers on a variable.
func (c *stateCheck) checkCall(n *ast.CallExpr) {
	if len(n.Args) == 0 {
		return
	}
	switch name := c.functionName(n.Fun); {
	case slices.Contains(writers, name):
		c.checkAssign(n.Args[0])
	case name == "append": // to a part of a slice: it overwrites the rest
		if part, ok := ast.Unparen(n.Args[0]).(*ast.SliceExpr); ok {
			c.checkAssign(part.X)
		}
	}
}

// functionName returns the name of a builtin, or the import path and name of a package function,
// or "" for any other expression.
func (c *stateCheck) functionName(function ast.Expr) string {
	switch f := ast.Unparen(function).(type) {
	case *ast.Ident:
		if _, ok := c.info.Uses[f].(*types.Builtin); ok {
			return f.Name
		}
	case *ast.SelectorExpr:
		if of, ok := c.info.Uses[f.Sel].(*types.Func); ok && of.Pkg() != nil && of.Signature().Recv() == nil {
			return of.Pkg().Path() + "." + of.Name()
		}
	case *ast.IndexExpr:
		return c.functionName(f.X)
	}
	return ""
}

// variable returns the package-level variable, of any package, that an expression denotes or is a
// part of, or nil.
func (c *stateCheck) variable(e ast.Expr) *types.Var {
	for {
		switch at := e.(type) {
		case *ast.ParenExpr:
			e = at.X
		case *ast.IndexExpr:
			e = at.X
		case *ast.SliceExpr:
			e = at.X
		case *ast.StarExpr:
			e = at.X
		case *ast.TypeAssertExpr:
			e = at.X
		case *ast.SelectorExpr:
			if v := packageLevel(c.info.Uses[at.Sel]); v != nil {
				return v
			}
			e = at.X
		case *ast.Ident:
			return packageLevel(c.info.Uses[at])
		default:
			return nil
		}
	}
}

// packageLevel returns o if it is a package-level variable, or nil.
func packageLevel(o types.Object) *types.Var {
	v, ok := o.(*types.Var)
	if !ok || v.Pkg() == nil || v.Pkg().Scope().Lookup(v.Name()) != v {
		return nil
	}
	return v
}

// checkTypes type-checks a package. Expressions that cannot be resolved have no type.
func checkTypes(files *token.FileSet, from types.Importer, name string, syntax []*ast.File) *types.Info {
	info := &types.Info{
		Types:      map[ast.Expr]types.TypeAndValue{},
		Defs:       map[*ast.Ident]types.Object{},
		Uses:       map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	config := types.Config{Importer: from, Error: func(error) {}}
	_, _ = config.Check(name, files, syntax, info)
	return info
}

// exportImporter returns an importer that reads the export data of packages.
func exportImporter(files *token.FileSet, packages map[string]goPackage) types.Importer {
	return importer.ForCompiler(files, "gc", func(name string) (io.ReadCloser, error) {
		if packages[name].Export == "" {
			return nil, fmt.Errorf("%s does not compile", name)
		}
		return os.Open(packages[name].Export)
	})
}

func TestNoPackageState(t *testing.T) {
	repo, packages := loadRepository(t), loadPackages(t)
	byPath := map[string]source{}
	for _, s := range repo.sources {
		byPath[s.path] = s
	}
	from := exportImporter(repo.files, packages)
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		p := packages[name]
		if !p.inModule() {
			continue
		}
		var syntax []*ast.File
		for _, file := range p.GoFiles {
			s, ok := byPath[strings.TrimPrefix(name, module+"/")+"/"+filepath.ToSlash(file)]
			require.True(t, ok, "%s of %s was not read", file, name)
			syntax = append(syntax, s.syntax)
		}
		reportAll(t, packageState(repo.files, syntax, checkTypes(repo.files, from, name, syntax)))
	}
}

func TestStateRule(t *testing.T) {
	const before = "package p\n\nimport (\"maps\"; \"net/http\"; \"slices\"; \"sync\"; \"sync/atomic\")\n\n" +
		"type _ struct { a http.Client; b sync.Mutex; c atomic.Int64 }\nvar _ = slices.Equal[[]int]\nvar _ = maps.Clone[map[string]int]\n" +
		"type counter struct { n int; sub []counter; to *counter }\nfunc (c *counter) add() { c.n++ }\nfunc (c counter) get() int { return c.n }\n" +
		"type guarded struct { mu sync.Mutex }\n" +
		"var ( table = map[string]int{}; list = []int{1}; array [2]int; count counter; number int; pointer = &counter{}; once = sync.OnceValue(func() int { return 1 }) )\n"
	for code, bad := range map[string]bool{
		"func init() {}":                                                            true,
		"type t struct{}; func (t) init() {}":                                       false,
		"func f() { number = 1 }":                                                   true,
		"func f() { number := 1; number = 2; _ = number }":                          false,
		"func f(number int) { number++ }":                                           false,
		"func f() { number++ }":                                                     true,
		"func f() { number += 2 }":                                                  true,
		"func f() { (table)[\"a\"] = 1 }":                                           true,
		"func f() int { return table[\"a\"] }":                                      false,
		"func f() { delete(table, \"a\") }":                                         true,
		"func f() { clear(table) }":                                                 true,
		"func f() { copy(list[1:], list) }":                                         true,
		"func f() []int { return append(list, 1) }":                                 false,
		"func f() []int { return append(list[:0], 1) }":                             true,
		"func delete(map[string]int, string) {}; func f() { delete(table, \"a\") }": false,
		"func f() { list[0] = 1 }":                                                  true,
		"func f() []int { return array[:] }":                                        false,
		"func f() { array[0] = 1 }":                                                 true,
		"func f() { slices.Sort(list) }":                                            true,
		"func f() { slices.Reverse(array[:]) }":                                     true,
		"func f() { slices.Sort[[]int](list) }":                                     true,
		"func f() bool { return slices.Contains(list, 1) }":                         false,
		"func f() { slices.Sort(slices.Clone(list)) }":                              false,
		"func f() { maps.Copy(table, table) }":                                      true,
		"func f() { maps.Copy(map[string]int{}, table) }":                           false,
		"func f() []int { return list[1:] }":                                        false,
		"func f() { for _, number = range list {} }":                                true,
		"func f() { for _, number := range list { _ = number } }":                   false,
		"func f() *int { return &list[0] }":                                         true,
		"func f() *int { x := list[0]; return &x }":                                 false,
		"func f() { count.add() }":                                                  true,
		"func f() { count.sub[0].add() }":                                           true,
		"func f() func() { return count.add }":                                      true,
		"func f() int { return count.get() }":                                       false,
		"func f() { c := count; c.add() }":                                          false,
		"func f() { pointer.n = 1 }":                                                true,
		"func f() { *pointer = counter{} }":                                         true,
		"func f() int { return once() + pointer.get() }":                            false,
		"var late = func() int { number = 1; return 1 }()":                          true,
		"func f() { http.DefaultClient.Timeout = 1 }":                               true,
		"func f() { http.DefaultClient = nil }":                                     true,
		"func f() { var c http.Client; c.Timeout = 1 }":                             false,
		"var mu sync.Mutex":                                                         true,
		"var pool = &sync.Pool{}":                                                   true,
		"var seen atomic.Int64":                                                     true,
		"var wake = make(chan int)":                                                 true,
		"var g guarded":                                                             true,
		"func f() { var mu sync.Mutex; mu.Lock() }":                                 false,
	} {
		files := token.NewFileSet()
		s, err := parse(files, "p/p.go", []byte(before+code))
		require.NoError(t, err, code)
		syntax := []*ast.File{s.syntax}
		// The sample has an import path of the module, so that its structs are inspected.
		got := packageState(files, syntax, checkTypes(files, exportImporter(files, loadPackages(t)), module+"/p", syntax))
		require.Equal(t, bad, len(got) > 0, "%s: %v", code, got)
	}
}

// A command may assign to variables of libraries, but not to its own.
func TestStateRuleForCommands(t *testing.T) {
	const before = "import (\"net/http\"; \"k8s.io/apimachinery/pkg/util/runtime\")\n\nvar _ http.Client\nvar number int\n"
	for _, test := range []struct {
		name, code string
		bad        bool
	}{
		{"main", "func f() { runtime.ErrorHandlers = nil }", false},
		{"p", "func f() { runtime.ErrorHandlers = nil }", true},
		{"main", "func f() { http.DefaultClient = nil; _ = runtime.PanicHandlers }", true},
		{"main", "func f() { number = 1; _ = runtime.PanicHandlers }", true},
	} {
		files := token.NewFileSet()
		s, err := parse(files, "p/p.go", []byte("package "+test.name+"\n\n"+before+test.code))
		require.NoError(t, err)
		syntax := []*ast.File{s.syntax}
		got := packageState(files, syntax, checkTypes(files, exportImporter(files, loadPackages(t)), module+"/p", syntax))
		require.Equal(t, test.bad, len(got) > 0, "%s: %s: %v", test.name, test.code, got)
	}
}
