package mutants

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Variable is the environment variable that names the mutant that a woven server is. Without it, it is the whole server.
const Variable = "FAKEAPI_MUTANT"

// Weave gives the sources with all mutants in them, by their paths below root, which is the root of the module: what
// the overlay of a build replaces or adds. A mutant whose text is not there exactly once, or not in the body of one function, is an error.
func Weave(root string, all []Mutant) (map[string][]byte, error) {
	byFile := map[string][]Mutant{}
	for _, m := range all {
		byFile[m.File] = append(byFile[m.File], m)
	}
	woven := map[string][]byte{}
	var wrong []error
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		source, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return nil, err
		}
		if woven[file], err = weaveFile(file, source, byFile[file]); err != nil {
			wrong = append(wrong, err)
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, source, parser.PackageClauseOnly)
		if err != nil {
			return nil, err
		}
		woven[filepath.Join(filepath.Dir(file), "mutant_switch.go")] = switchFile(parsed.Name.Name)
	}
	return woven, errors.Join(wrong...)
}

// switchFile is the file of each package that knows which mutant the process is.
func switchFile(pkg string) []byte {
	return fmt.Appendf(nil, `package %s

import "os"

var mutantOfProcess = os.Getenv(%q)

func isMutant(id string) bool { return mutantOfProcess == id }
`, pkg, Variable)
}

// weaveFile gives a file with its mutants.
func weaveFile(file string, source []byte, all []Mutant) ([]byte, error) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, source, 0)
	if err != nil {
		return nil, err
	}
	w := weaver{set: set, source: source, guards: map[int]string{}}
	var wrong []error
	for i, m := range all {
		if err := w.weave(parsed, m, i+1); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %s: %w", file, m.ID(), err))
		}
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	return format.Source(w.bytes())
}

// weaver gathers what is put into one file.
type weaver struct {
	set    *token.FileSet
	source []byte
	guards map[int]string // what is inserted, by the offset where
	copies bytes.Buffer   // the functions with mutants, behind all else
}

// weave puts one mutant in: a copy of its function with the change, and in the function itself what calls the copy.
func (w *weaver) weave(file *ast.File, m Mutant, number int) error {
	switch n := bytes.Count(w.source, []byte(m.Old)); {
	case m.Old == m.New:
		return fmt.Errorf("it changes nothing")
	case n != 1:
		return fmt.Errorf("its text is there %d times, and has to be once:\n%s", n, m.Old)
	}
	from := bytes.Index(w.source, []byte(m.Old))
	to := from + len(m.Old)
	function := w.function(file, from, to)
	if function == nil {
		return fmt.Errorf("its text is not in the body of a function:\n%s", m.Old)
	}
	call, err := callOf(function, number)
	if err != nil {
		return err
	}
	guard := "if isMutant(" + strconv.Quote(m.ID()) + ") {\nreturn " + call + "\n}\n"
	if function.Type.Results == nil {
		guard = "if isMutant(" + strconv.Quote(m.ID()) + ") {\n" + call + "\nreturn\n}\n"
	}
	w.guards[w.offset(function.Body.Lbrace)+1] += "\n" + guard

	begin, name, end := w.offset(function.Pos()), w.offset(function.Name.Pos()), w.offset(function.End())
	w.copies.WriteString("\n")
	w.copies.Write(w.source[begin:name])
	w.copies.WriteString(mutated(function, number))
	w.copies.Write(w.source[name+len(function.Name.Name) : from])
	w.copies.WriteString(m.New)
	w.copies.Write(w.source[to:end])
	w.copies.WriteString("\n")
	return nil
}

func (w *weaver) offset(p token.Pos) int { return w.set.Position(p).Offset }

// function finds the function whose body holds a piece of the file, or nil.
func (w *weaver) function(file *ast.File, from, to int) *ast.FuncDecl {
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if ok && f.Body != nil && w.offset(f.Body.Lbrace) < from && to <= w.offset(f.Body.Rbrace) {
			return f
		}
	}
	return nil
}

// bytes is the file with what was put in.
func (w *weaver) bytes() []byte {
	var out bytes.Buffer
	last := 0
	for _, at := range slices.Sorted(maps.Keys(w.guards)) {
		out.Write(w.source[last:at])
		out.WriteString(w.guards[at])
		last = at
	}
	out.Write(w.source[last:])
	out.Write(w.copies.Bytes())
	return out.Bytes()
}

// mutated is the name of the copy of a function.
func mutated(f *ast.FuncDecl, number int) string {
	return f.Name.Name + "Mutant" + strconv.Itoa(number)
}

// callOf is the call of the copy of a function, with the arguments of the function itself.
func callOf(f *ast.FuncDecl, number int) (string, error) {
	name := mutated(f, number)
	if f.Recv != nil {
		receiver := f.Recv.List[0].Names
		if len(receiver) == 0 || receiver[0].Name == "_" {
			return "", fmt.Errorf("the receiver of %s has no name", f.Name.Name)
		}
		name = receiver[0].Name + "." + name
	}
	var arguments []string
	for _, p := range f.Type.Params.List {
		if len(p.Names) == 0 {
			return "", fmt.Errorf("a parameter of %s has no name", f.Name.Name)
		}
		for _, n := range p.Names {
			if n.Name == "_" {
				return "", fmt.Errorf("a parameter of %s has no name", f.Name.Name)
			}
			if _, variadic := p.Type.(*ast.Ellipsis); variadic {
				arguments = append(arguments, n.Name+"...")
			} else {
				arguments = append(arguments, n.Name)
			}
		}
	}
	return name + "(" + strings.Join(arguments, ", ") + ")", nil
}
