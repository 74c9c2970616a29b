package arch

import (
	"fmt"
	"go/ast"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A document is true as long as what it names is there: files, packages, tests, names in
// the code. What it says of them nobody can check but its readers.

// document is a text that names things of the tree.
type document struct {
	path, text string
}

func (d document) markdown() bool { return path.Ext(d.path) == ".md" }

// guides are the documents that speak of the tree. Of the others one is rules of a
// protocol, and one is generated.
var guides = []string{"README.md", "CONTRIBUTING.md", "faults/CATALOGUE.md"}

// documents are the guides, and the comments of packages.
func documents(all *tree) (found []document) {
	for _, name := range guides {
		found = append(found, document{name, string(all.texts[name])})
	}
	for _, s := range all.sources {
		if !s.test && s.syntax.Doc != nil {
			found = append(found, document{s.path, s.syntax.Doc.Text()})
		}
	}
	slices.SortFunc(found, func(a, b document) int { return strings.Compare(a.path, b.path) })
	return found
}

// places are the paths of all files and folders of the tree.
func places(all *tree) map[string]bool {
	found := map[string]bool{}
	for name := range all.texts {
		for ; name != "."; name = path.Dir(name) {
			found[name] = true
		}
	}
	return found
}

var (
	codeSpan = regexp.MustCompile("`([^`\n]+)`|\\]\\(([^)# ]+)\\)")
	fileWord = regexp.MustCompile(`(?:^|[\s("])((?:[\w*-]+/)*[\w*.-]+\.(?:go|md|txt|html|css|js)|(?:internal|fake|faults|scenario|conformance|memstore|cmd)(?:/[\w*-]+)+)\b`)
	asPath   = regexp.MustCompile(`^(?:\.\./|\./)?[\w.<>*-]+(?:/[\w.<>*-]+)*/?$`)
	ending   = regexp.MustCompile(`\.(?:go|md|txt|html|css|js)$`)
	domain   = regexp.MustCompile(`^[\w-]+(?:\.[\w-]+)*\.(?:com|org|io|in|dev|v[0-9])(?:/|$)`)
)

// namedPaths are what a line names of files and folders.
func (d document) namedPaths(line string) (names []string) {
	if !d.markdown() {
		for _, match := range fileWord.FindAllStringSubmatch(line, -1) {
			if last := path.Base(match[1]); last != strings.ToUpper(last) { // "scenario/NAME" stands for another
				names = append(names, match[1])
			}
		}
		return names
	}
	for _, match := range codeSpan.FindAllStringSubmatch(line, -1) {
		name := match[1] + match[2]
		if asPath.MatchString(name) && !domain.MatchString(name) && (strings.Contains(name, "/") || ending.MatchString(name)) {
			names = append(names, name)
		}
	}
	return names
}

// missingPaths complains about the files and folders that a document names and that are
// not there. A name is relative to the top, to the document, or to what the same line
// names before it; "*" and "<word>" stand for any name.
func missingPaths(d document, there map[string]bool, known map[string]listed) (complaints []string) {
	for line := range strings.Lines(d.text) {
		if strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") { // code
			continue
		}
		bases := []string{"", path.Dir(d.path)}
		for _, name := range d.namedPaths(line) {
			pattern := regexp.MustCompile(`<\w+>`).ReplaceAllString(strings.TrimSuffix(name, "/"), "*")
			found := ""
			for _, base := range bases {
				if found = match(there, path.Join(base, pattern)); found != "" {
					break
				}
			}
			switch {
			case found != "":
				bases = append(bases, found, path.Dir(found), path.Dir(path.Dir(found)))
			case known[name].ImportPath == "": // of the standard library, say
				complaints = append(complaints, fmt.Sprintf("%s names %s, which is not there", d.path, name))
			}
		}
	}
	return complaints
}

// match finds a path that fits a pattern, "" if there is none.
func match(there map[string]bool, pattern string) string {
	if !strings.Contains(pattern, "*") {
		if there[pattern] {
			return pattern
		}
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(there)) {
		if ok, err := path.Match(pattern, name); ok && err == nil {
			return name
		}
	}
	return ""
}

func TestDocumentsNameWhatIsThere(t *testing.T) {
	all := theTree(t)
	there, packages := places(all), thePackages(t)
	for _, d := range documents(all) {
		report(t, missingPaths(d, there, packages))
	}
}

// declared are all names that Go files declare: functions, types, variables, fields.
func declared(sources []source) map[string]bool {
	names := map[string]bool{}
	for _, s := range sources {
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				names[n.Name.Name] = true
			case *ast.TypeSpec:
				names[n.Name.Name] = true
			case *ast.ValueSpec:
				for _, name := range n.Names {
					names[name.Name] = true
				}
			case *ast.Field:
				for _, name := range n.Names {
					names[name.Name] = true
				}
			}
			return true
		})
	}
	return names
}

// tested finds the names of tests, benchmarks and fuzz targets in a text.
var tested = regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark)[A-Z]\w*`)

// missingTests complains about tests that a document names and that nobody has. The name
// may be the beginning of one, as -run takes it.
func missingTests(d document, names map[string]bool) (complaints []string) {
	for _, name := range tested.FindAllString(d.text, -1) {
		if strings.HasPrefix(name, "TestMy") || strings.HasPrefix(name, "FuzzMy") { // the reader's
			continue
		}
		if !names[name] && !slices.ContainsFunc(slices.Collect(maps.Keys(names)), func(have string) bool { return strings.HasPrefix(have, name) }) {
			complaints = append(complaints, fmt.Sprintf("%s names %s, which is no test", d.path, name))
		}
	}
	return complaints
}

func TestDocumentsNameTests(t *testing.T) {
	all := theTree(t)
	names := declared(all.sources)
	for _, d := range documents(all) {
		report(t, missingTests(d, names))
	}
}

// inFile is a name in a file, as CONTRIBUTING has it: "a line in `commands` in `run.go`".
var inFile = regexp.MustCompile("`(\\w+)` in `([\\w./]+\\.go)`")

// The table of CONTRIBUTING names functions and lists: those are declared, and where it
// names the file, there.
func TestContributingNamesCode(t *testing.T) {
	all := theTree(t)
	names, there := declared(all.sources), places(all)
	text := string(all.texts["CONTRIBUTING.md"])
	require.NotEmpty(t, text)
	checked := 0
	for row := range strings.Lines(text) {
		if !strings.HasPrefix(row, "|") {
			continue
		}
		for _, span := range regexp.MustCompile("`([A-Za-z]\\w+)`").FindAllStringSubmatch(row, -1) {
			checked++
			folder := slices.ContainsFunc(slices.Collect(maps.Keys(there)), func(name string) bool { return path.Base(name) == span[1] })
			if !names[span[1]] && !folder {
				t.Errorf("CONTRIBUTING.md names %s, which no file declares: %s", span[1], row)
			}
		}
		for _, pair := range inFile.FindAllStringSubmatch(row, -1) {
			if !slices.ContainsFunc(all.sources, func(s source) bool {
				return strings.HasSuffix("/"+s.path, "/"+pair[2]) && declared([]source{s})[pair[1]]
			}) {
				t.Errorf("CONTRIBUTING.md says that %s is in %s: %s", pair[1], pair[2], row)
			}
		}
	}
	require.Greater(t, checked, 20)
}

// shownPackages are the folders in the first column of the README's table of packages.
func shownPackages(readme string) (found []string) {
	_, table, _ := strings.Cut(readme, "\n| package |")
	table, _, _ = strings.Cut(table, "\n\n")
	for _, row := range regexp.MustCompile("(?m)^\\| `([\\w/]+)`").FindAllStringSubmatch(table, -1) {
		found = append(found, row[1])
	}
	slices.Sort(found)
	return found
}

func TestReadmeShowsThePackages(t *testing.T) {
	want := append(slices.Clone(public), "cmd/fakeapi")
	slices.Sort(want)
	require.Equal(t, want, shownPackages(string(theTree(t).texts["README.md"])))
}

// What documents count, they count right.
func TestDocumentsCount(t *testing.T) {
	all := theTree(t)
	cases := len(regexp.MustCompile(`(?m)^### \d+ `).FindAll(all.texts["faults/CATALOGUE.md"], -1))
	require.NotZero(t, cases)
	counted := regexp.MustCompile(`(\d+)\s+(?:known\s+)?ways`)
	found := 0
	for _, d := range documents(all) {
		for _, number := range counted.FindAllStringSubmatch(d.text, -1) {
			found++
			require.Equal(t, fmt.Sprint(cases), number[1], "%s: the ways that CATALOGUE.md has", d.path)
		}
	}
	require.GreaterOrEqual(t, found, 2, "the README and the manual of faults say how many")
}

func TestDocumentRules(t *testing.T) {
	there := map[string]bool{"fake": true, "fake/run.go": true, "fake/internal": true, "fake/internal/codec": true, "fake/internal/codec/custom.go": true, "README.md": true}
	known := map[string]listed{"net/http": {ImportPath: "net/http"}}
	for text, missing := range map[string]int{
		"see `fake/run.go` and [it](fake/run.go)":                0,
		"a line in `fake/<any>.go`":                              0,
		"`fake/internal/codec`: `custom.go`, not `customs.go`":   1,
		"`fake/internal/codec`; its neighbour `codec/custom.go`": 0,
		"`gone.go`, `fake/gone/`, [gone](gone.md)":               3,
		"`net/http`, `k8s.io/api`, `a b/c.go`, `/apis/x`":        0,
		"https://example.com/gone.md and plain gone.md":          0,
		"    go run gone.go":                                     0,
	} {
		require.Len(t, missingPaths(document{"README.md", text}, there, known), missing, text)
	}
	for text, missing := range map[string]int{
		"see run.go and fake/internal/codec": 0,
		"see gone.go, internal/gone":         2,
		"\tgone.go":                          0,
		"1.5 e.g. this/that, fake/NAME":      0,
	} {
		require.Len(t, missingPaths(document{"fake/doc.go", text}, there, known), missing, text)
	}
	names := map[string]bool{"TestRules": true}
	require.Len(t, missingTests(document{"a.md", "TestRules, TestRul, TestGone, TestMyController"}, names), 1)
	require.Equal(t, []string{"cmd/it", "fake"}, shownPackages("# It\n\n| package | what |\n|---|---|\n| `fake` | a `b` |\n| `cmd/it` | it |\n\nmore\n"))
}
