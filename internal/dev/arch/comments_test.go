package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// publicPackages are the packages that users import.
var publicPackages = []string{"memstore", "fake", "faults", "scenario", "scenario/clients", "conformance"}

// packagesWithoutComment returns the directories of packages that have no package comment. Test
// files do not count.
func packagesWithoutComment(sources []source) []string {
	commented := map[string]bool{}
	for _, s := range sources {
		if !s.test {
			commented[s.dir()] = commented[s.dir()] || s.syntax.Doc != nil
		}
	}
	maps.DeleteFunc(commented, func(_ string, has bool) bool { return has })
	return slices.Sorted(maps.Keys(commented))
}

// undocumented returns the exported names of a file that have no comment. A comment above a group
// of constants or variables counts for all of them; so does one at the end of a line. For fields
// and interface methods see membersWithoutComment.
func undocumented(files *token.FileSet, syntax *ast.File) (violations []string) {
	check := func(name *ast.Ident, what string, comments ...*ast.CommentGroup) {
		if name.IsExported() && !slices.ContainsFunc(comments, func(c *ast.CommentGroup) bool { return c != nil }) {
			violations = append(violations, fmt.Sprintf("%s: %s%s has no comment", files.Position(name.Pos()), what, name.Name))
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
					check(spec.Name, "", spec.Doc, singleDoc(d))
					if spec.Name.IsExported() {
						for _, name := range membersWithoutComment(files, spec.Type) {
							check(name, spec.Name.Name+".")
						}
					}
				}
			}
		}
	}
	return violations
}

// singleDoc returns the comment above a declaration that is not a group.
func singleDoc(d *ast.GenDecl) *ast.CommentGroup {
	if d.Lparen.IsValid() {
		return nil
	}
	return d.Doc
}

// receiver returns the name of a method's receiver type, nil for a function.
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

// maxUncommentedMembers is the number of members that the comment of their type may cover.
const maxUncommentedMembers = 4

// membersWithoutComment returns the fields of a struct or the methods of an interface that are in
// a block, which an empty line ends, without any comment. A single field needs none
// (Time time.Time), a block does.
func membersWithoutComment(files *token.FileSet, t ast.Expr) (names []*ast.Ident) {
	var members *ast.FieldList
	switch t := t.(type) {
	case *ast.StructType:
		members = t.Fields
	case *ast.InterfaceType:
		members = t.Methods
	}
	if members.NumFields() <= maxUncommentedMembers {
		return nil
	}
	var block []*ast.Ident
	commented, last := false, 0
	endBlock := func() {
		if !commented {
			names = append(names, block...)
		}
		block, commented = nil, false
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
		commented = commented || f.Doc != nil || f.Comment != nil
		last = files.Position(f.End()).Line
	}
	endBlock()
	return names
}

// maxColumns is the maximum number of characters of a line of prose in a comment.
const maxColumns = 100

// prose matches a line of a comment that is not preformatted, no directive, and has two words.
var prose = regexp.MustCompile(`^\t*// +[^ +]\S* .`)

// wideComments returns the lines of comments with more than maxColumns characters. The output of an
// example is no prose, nor is a comment behind code.
func wideComments(files *token.FileSet, s source, text []byte) (violations []string) {
	lines := strings.Split(string(text), "\n")
	for _, group := range s.syntax.Comments {
		for _, c := range group.List {
			at := files.Position(c.Pos()).Line
			line := lines[at-1]
			if strings.HasSuffix(line, "// Output:") || strings.HasSuffix(line, "// Unordered output:") {
				break
			}
			if n := utf8.RuneCountInString(line); n > maxColumns && prose.MatchString(line) {
				violations = append(violations, fmt.Sprintf("%s:%d: a comment of %d columns, more than %d", s.path, at, n, maxColumns))
			}
		}
	}
	return violations
}

func TestCommentsAreNotTooWide(t *testing.T) {
	repo := loadRepository(t)
	for _, s := range repo.sources {
		if !strings.Contains(s.path, "zz_generated") {
			reportAll(t, wideComments(repo.files, s, repo.texts[s.path]))
		}
	}
}

func TestPackageComments(t *testing.T) {
	for _, dir := range packagesWithoutComment(loadRepository(t).sources) {
		t.Errorf("package %s has no comment", dir)
	}
}

func TestExportedNamesAreDocumented(t *testing.T) {
	repo := loadRepository(t)
	for _, s := range repo.sources {
		if !s.test && slices.Contains(publicPackages, s.dir()) {
			reportAll(t, undocumented(repo.files, s.syntax))
		}
	}
}

func TestCommentRules(t *testing.T) {
	const code = `package p

func Bare() {}
func own() {}
// Documented has a comment.
func Documented() {}
type Box struct {
	// Documented has a comment.
	Documented int
	Neighbor int
	own int

	Bare, Plain int
	hidden int

	Trailing int // has a comment
}
func (b *Box) Open() {}
func (l list[T]) Len() int { return 0 }
type list[T any] struct{ Field T }
// Shape has a comment.
type Shape interface { Area() int }
// The sizes.
const ( Small = 1; Big = 2 )
var Plain, hidden = 1, 2
// The types.
type ( Left int )
`
	files := token.NewFileSet()
	s, err := parse(files, "p/p.go", []byte(code))
	require.NoError(t, err)
	var names []string
	for _, v := range undocumented(files, s.syntax) {
		var at, name string
		_, err := fmt.Sscanf(v, "%s %s has no comment", &at, &name)
		require.NoError(t, err)
		names = append(names, name)
	}
	require.Equal(t, []string{"Bare", "Box", "Box.Bare", "Box.Plain", "Box.Open", "Plain", "Left"}, names)

	long := strings.Repeat("é", maxColumns-len("// x "))
	text := []byte("// x " + long + "e\n// x " + long + "\n//\tx " + long + "e\n// " + long + "long\n//   - x " + long + "\npackage p\n" +
		"var a int // x " + long + "\n\t// x " + long + "\n\t// +x " + long + "\n\t// Output:\n\t// x " + long + "\n")
	wide, err := parse(files, "p/wide.go", text)
	require.NoError(t, err)
	require.Equal(t, []string{
		"p/wide.go:1: a comment of 101 columns, more than 100", "p/wide.go:5: a comment of 104 columns, more than 100",
		"p/wide.go:8: a comment of 101 columns, more than 100",
	}, wideComments(files, wide, text))

	documented, err := parse(files, "q/q.go", []byte("// Package q has a comment.\npackage q\n"))
	require.NoError(t, err)
	other, err := parse(files, "q/r.go", []byte("package q\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"p"}, packagesWithoutComment([]source{other, documented, s}))
}
