package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// public are the packages that others import.
var public = []string{"memstore", "fake", "faults", "scenario", "scenario/clients", "conformance"}

// silentPackages names the folders of Go files, tests left out, in which none
// has a package comment.
func silentPackages(sources []source) []string {
	speaks := map[string]bool{}
	for _, s := range sources {
		if !s.test {
			speaks[s.dir()] = speaks[s.dir()] || s.syntax.Doc != nil
		}
	}
	maps.DeleteFunc(speaks, func(_ string, does bool) bool { return does })
	return slices.Sorted(maps.Keys(speaks))
}

// undocumented complains about the exported names of a file that have no
// comment. A comment over a group of constants or variables counts for all in
// it; so does one at the end of a line. For fields and the methods of interfaces
// see silentMembers.
func undocumented(files *token.FileSet, syntax *ast.File) (complaints []string) {
	check := func(name *ast.Ident, what string, comments ...*ast.CommentGroup) {
		if name.IsExported() && !slices.ContainsFunc(comments, func(c *ast.CommentGroup) bool { return c != nil }) {
			complaints = append(complaints, fmt.Sprintf("%s: %s%s has no comment", files.Position(name.Pos()), what, name.Name))
		}
	}
	for _, d := range syntax.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if of := receiver(d); of == nil {
				check(d.Name, "", d.Doc)
			} else if of.IsExported() {
				check(d.Name, of.Name+".", d.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						check(name, "", d.Doc, spec.Doc, spec.Comment)
					}
				case *ast.TypeSpec:
					check(spec.Name, "", spec.Doc, loneDoc(d))
					if spec.Name.IsExported() {
						for _, name := range silentMembers(files, spec.Type) {
							check(name, spec.Name.Name+".")
						}
					}
				}
			}
		}
	}
	return complaints
}

// loneDoc is the comment over a declaration that is no group.
func loneDoc(d *ast.GenDecl) *ast.CommentGroup {
	if d.Lparen.IsValid() {
		return nil
	}
	return d.Doc
}

// receiver names the type that a method belongs to; nil of a function.
func receiver(d *ast.FuncDecl) *ast.Ident {
	if d.Recv == nil {
		return nil
	}
	t := d.Recv.List[0].Type
	for {
		switch of := t.(type) {
		case *ast.Ident:
			return of
		case *ast.StarExpr:
			t = of.X
		case *ast.IndexExpr:
			t = of.X
		case *ast.IndexListExpr:
			t = of.X
		default:
			return nil
		}
	}
}

// few is how many members a type's own comment can speak for.
const few = 4

// silentMembers gives the fields of a struct or the methods of an interface that
// stand in a block, without an empty line between them, in which nothing is said
// of any. Not every field needs words (Time time.Time), a block of them does.
func silentMembers(files *token.FileSet, t ast.Expr) (silent []*ast.Ident) {
	var members *ast.FieldList
	switch t := t.(type) {
	case *ast.StructType:
		members = t.Fields
	case *ast.InterfaceType:
		members = t.Methods
	}
	if members.NumFields() <= few {
		return nil
	}
	var block []*ast.Ident
	said, last := false, 0
	endBlock := func() {
		if !said {
			silent = append(silent, block...)
		}
		block, said = nil, false
	}
	for _, f := range members.List {
		begin := f.Pos()
		if f.Doc != nil {
			begin = f.Doc.Pos()
		}
		if files.Position(begin).Line > last+1 {
			endBlock()
		}
		block = append(block, f.Names...)
		said = said || f.Doc != nil || f.Comment != nil
		last = files.Position(f.End()).Line
	}
	endBlock()
	return silent
}

func TestPackageComments(t *testing.T) {
	for _, dir := range silentPackages(theTree(t).sources) {
		t.Errorf("package %s has no comment", dir)
	}
}

func TestExportedNamesAreDocumented(t *testing.T) {
	all := theTree(t)
	for _, s := range all.sources {
		if !s.test && slices.Contains(public, s.dir()) {
			report(t, undocumented(all.files, s.syntax))
		}
	}
}

func TestCommentRules(t *testing.T) {
	const code = `package p

func Silent() {}
func own() {}
// Told is told.
func Told() {}
type Box struct {
	// Told is told.
	Told int
	Along int
	own int

	Silent, Mute int
	dumb int

	Beside int // is told
}
func (b *Box) Open() {}
func (l list[T]) Len() int { return 0 }
type list[T any] struct{ Field T }
// Shape is told.
type Shape interface { Area() int }
// The sizes.
const ( Small = 1; Big = 2 )
var Mute, dumb = 1, 2
// The types.
type ( Left int )
`
	files := token.NewFileSet()
	s, err := parse(files, "p/p.go", []byte(code))
	require.NoError(t, err)
	var names []string
	for _, c := range undocumented(files, s.syntax) {
		var at, name string
		_, err := fmt.Sscanf(c, "%s %s has no comment", &at, &name)
		require.NoError(t, err)
		names = append(names, name)
	}
	require.Equal(t, []string{"Silent", "Box", "Box.Silent", "Box.Mute", "Box.Open", "Mute", "Left"}, names)

	told, err := parse(files, "q/q.go", []byte("// Package q is told.\npackage q\n"))
	require.NoError(t, err)
	also, err := parse(files, "q/r.go", []byte("package q\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"p"}, silentPackages([]source{also, told, s}))
}
