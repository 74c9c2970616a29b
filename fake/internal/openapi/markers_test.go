package openapi

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/fake/internal/resource/builtin"
)

var update = flag.Bool("update", false, "write markers.json anew")

// TestMarkers compares markers.json with the sources of the release in go.mod. It reads the
// comments as openapi-gen does.
func TestMarkers(t *testing.T) {
	packages := make(map[string]bool)
	reached := make(map[string]bool)
	visit(t, packages, reached)
	var sources []*source
	constants := make(map[string]string)
	for path, dir := range sourceDirs(t, slices.Sorted(maps.Keys(packages))) {
		sources = append(sources, parsePackage(t, path, dir, constants))
	}
	for _, s := range sources {
		s.eachConstant((*source).readLiteral)
	}
	for _, s := range sources {
		s.eachConstant((*source).readEnum)
	}
	all := make(map[string]marker)
	for _, s := range sources {
		maps.Copy(all, s.readTypes())
	}
	maps.DeleteFunc(all, func(name string, m marker) bool {
		return !reached[name] || reflect.DeepEqual(m, marker{})
	})
	want := encodeMarkers(t, all)
	if *update {
		require.NoError(t, os.WriteFile("markers.json", want, 0o644))
		return
	}
	require.Equal(t, string(want), string(markersJSON), "out of date: go test ./fake/internal/openapi -run TestMarkers -update")
	require.Greater(t, len(all), 300)
}

// visit adds the named types that the built-in resources reach, and their packages.
func visit(t *testing.T, packages, reached map[string]bool) {
	t.Helper()
	var walk func(reflect.Type)
	walk = func(typ reflect.Type) {
		if name := typ.PkgPath() + "." + typ.Name(); typ.PkgPath() != "" {
			if reached[name] {
				return
			}
			reached[name] = true
			if strings.HasPrefix(name, "k8s.io/") {
				packages[typ.PkgPath()] = true
			}
		}
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			walk(typ.Elem())
		case reflect.Struct:
			for i := range typ.NumField() {
				if f := typ.Field(i); f.IsExported() {
					walk(f.Type)
				}
			}
		}
	}
	for _, root := range roots(builtin.Table()) {
		walk(root)
	}
}

// sourceDirs returns the directories of packages, as the go command reports them.
func sourceDirs(t *testing.T, packages []string) map[string]string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list", "-f", "{{.ImportPath}}\t{{.Dir}}"}, packages...)...).Output()
	require.NoError(t, err)
	dirs := make(map[string]string)
	for line := range strings.Lines(string(out)) {
		path, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		dirs[path] = dir
	}
	require.Len(t, dirs, len(packages))
	return dirs
}

// source is one parsed package.
type source struct {
	t     *testing.T
	path  string
	files []*ast.File
	// constants has the string constants of all packages by path and name, values those of each
	// type of this package.
	constants map[string]string
	values    map[string][]string
}

func parsePackage(t *testing.T, path, dir string, constants map[string]string) *source {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	s := &source{t: t, path: path, constants: constants, values: make(map[string][]string)}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		require.NoError(t, err)
		s.files = append(s.files, file)
	}
	return s
}

// eachConstant calls f with the name, type and value of every constant. The type may be nil. That
// of T("x") is T.
func (s *source) eachConstant(f func(s *source, name string, typ, value ast.Expr, file *ast.File)) {
	for _, file := range s.files {
		for _, decl := range file.Decls {
			d, ok := decl.(*ast.GenDecl)
			if !ok || d.Tok != token.CONST {
				continue
			}
			for _, sp := range d.Specs {
				v := sp.(*ast.ValueSpec)
				for i := range v.Values {
					typ, value := v.Type, v.Values[i]
					if call, ok := value.(*ast.CallExpr); ok && typ == nil && len(call.Args) == 1 {
						typ, value = call.Fun, call.Args[0]
					}
					f(s, v.Names[i].Name, typ, value, file)
				}
			}
		}
	}
}

func (s *source) readLiteral(name string, _, value ast.Expr, _ *ast.File) {
	if literal, ok := value.(*ast.BasicLit); ok && literal.Kind == token.STRING {
		text, err := strconv.Unquote(literal.Value)
		require.NoError(s.t, err)
		s.constants[s.path+"."+name] = text
	}
}

// readEnum records a constant of an enum type. Its value may be a constant of another package.
func (s *source) readEnum(name string, typ, value ast.Expr, file *ast.File) {
	ident, ok := typ.(*ast.Ident)
	if !ok {
		return
	}
	if selector, ok := value.(*ast.SelectorExpr); ok {
		for _, i := range file.Imports {
			path, err := strconv.Unquote(i.Path.Value)
			require.NoError(s.t, err)
			if i.Name != nil && i.Name.Name == selector.X.(*ast.Ident).Name {
				if text, ok := s.constants[path+"."+selector.Sel.Name]; ok {
					s.constants[s.path+"."+name] = text
				}
			}
		}
	}
	if text, ok := s.constants[s.path+"."+name]; ok {
		s.values[ident.Name] = append(s.values[ident.Name], text)
	} else {
		s.values[ident.Name] = append(s.values[ident.Name], unknown)
	}
}

// unknown is the value of a constant that is not parsed. No enum may have it.
const unknown = "\x00"

func (s *source) readTypes() map[string]marker {
	types := make(map[string]marker)
	for _, file := range s.files {
		for _, decl := range file.Decls {
			d, ok := decl.(*ast.GenDecl)
			if !ok || d.Tok != token.TYPE {
				continue
			}
			for _, sp := range d.Specs {
				spec := sp.(*ast.TypeSpec)
				doc := spec.Doc
				if doc == nil {
					doc = d.Doc
				}
				types[s.path+"."+spec.Name.Name] = s.readType(spec, markersIn(doc))
			}
		}
	}
	return types
}

func (s *source) readType(spec *ast.TypeSpec, tags map[string][]string) marker {
	require.NotContains(s.t, tags, "default", spec.Name.Name)
	var m marker
	_, enum := tags["enum"]
	switch typ := spec.Type.(type) {
	case *ast.Ident:
		if enum && typ.Name == "string" {
			m.Enum = slices.Compact(slices.Sorted(slices.Values(s.values[spec.Name.Name])))
			require.NotEmpty(s.t, m.Enum, spec.Name.Name)
			require.NotContains(s.t, m.Enum, unknown, spec.Name.Name)
		}
	case *ast.StructType:
		_, m.Union = tags["union"]
		m.MapType = first(tags["structType"]) + first(tags["mapType"])
		s.readFields(&m, typ)
	}
	return m
}

func (s *source) readFields(m *marker, typ *ast.StructType) {
	for _, field := range typ.Fields.List {
		tags := markersIn(field.Doc)
		require.NotContains(s.t, tags, "unionDeprecated")
		f := fieldMarker{
			ListType: first(tags["listType"]), ListMapKeys: tags["listMapKey"],
			MapType: first(tags["mapType"]) + first(tags["structType"]),
		}
		_, f.Discriminator = tags["unionDiscriminator"]
		_, optional := tags["optional"]
		_, required := tags["required"]
		if omits := field.Tag != nil && omitempty(reflect.StructTag(strings.Trim(field.Tag.Value, "`"))); optional && !omits || required && omits {
			f.Optional = &optional
		}
		if text := first(tags["default"]); text != "" {
			if name, ok := strings.CutPrefix(text, "ref("); ok {
				name = s.path + "." + strings.TrimSuffix(name, ")")
				require.Contains(s.t, s.constants, name)
				f.Default = s.constants[name]
			} else {
				require.NoError(s.t, json.Unmarshal([]byte(text), &f.Default))
			}
		}
		if reflect.DeepEqual(f, fieldMarker{}) {
			continue
		}
		if m.Fields == nil {
			m.Fields = make(map[string]fieldMarker)
		}
		require.LessOrEqual(s.t, len(field.Names), 1)
		m.Fields[fieldName(field)] = f
	}
}

// fieldName returns the name of a field, which for an embedded field is that of its type.
func fieldName(field *ast.Field) string {
	if len(field.Names) > 0 {
		return field.Names[0].Name
	}
	switch typ := field.Type.(type) {
	case *ast.SelectorExpr:
		return typ.Sel.Name
	case *ast.Ident:
		return typ.Name
	}
	return ""
}

// markersIn returns the lines "+name=value" of a comment.
func markersIn(doc *ast.CommentGroup) map[string][]string {
	tags := make(map[string][]string)
	if doc == nil {
		return tags
	}
	for _, c := range doc.List {
		line, ok := strings.CutPrefix(strings.TrimSpace(strings.TrimPrefix(c.Text, "//")), "+")
		if !ok {
			continue
		}
		name, value, _ := strings.Cut(line, "=")
		tags[name] = append(tags[name], value)
	}
	return tags
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

// encodeMarkers returns JSON with a line for each type.
func encodeMarkers(t *testing.T, all map[string]marker) []byte {
	t.Helper()
	var b bytes.Buffer
	separator := "{\n"
	for _, name := range slices.Sorted(maps.Keys(all)) {
		line, err := json.Marshal(all[name])
		require.NoError(t, err)
		b.WriteString(separator + strconv.Quote(name) + ": " + string(line))
		separator = ",\n"
	}
	b.WriteString("\n}\n")
	return b.Bytes()
}
