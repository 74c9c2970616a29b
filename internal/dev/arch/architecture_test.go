package arch

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

var (
	// packageRow matches a row of the table of packages in ARCHITECTURE.md. A row may name several
	// packages.
	packageRow = regexp.MustCompile("(?m)^\\| (`[\\w/.]+`(?:, `[\\w/.]+`)*) \\|")
	// codeSpan matches `code`.
	codeSpan = regexp.MustCompile("`([^`\n]+)`")
	// goFile matches the name of a Go file, with or without its directory.
	goFile = regexp.MustCompile(`^(?:[\w.-]+/)*[\w*<>-]+\.go$`)
)

// rowPackages returns the packages in the first column of the table of packages.
func rowPackages(document string) (names []string) {
	for _, row := range packageRow.FindAllStringSubmatch(document, -1) {
		for _, span := range codeSpan.FindAllStringSubmatch(row[1], -1) {
			names = append(names, span[1])
		}
	}
	slices.Sort(names)
	return names
}

// modulePackages returns the directories of the module's packages, relative to the root.
func modulePackages(packages map[string]goPackage) (names []string) {
	for name, p := range packages {
		if p.inModule() {
			names = append(names, strings.TrimPrefix(name, module+"/"))
		}
	}
	slices.Sort(names)
	return names
}

// asRows returns packages with those that a row such as "a/..." matches replaced by that row.
func asRows(packages, rows []string) (listed []string) {
	for _, name := range packages {
		if i := slices.IndexFunc(rows, func(row string) bool { return strings.HasSuffix(row, "/...") && matchesPath(row, name) }); i >= 0 {
			name = rows[i]
		}
		listed = append(listed, name)
	}
	slices.Sort(listed)
	return slices.Compact(listed)
}

func TestArchitectureListsEveryPackage(t *testing.T) {
	rows := rowPackages(string(loadRepository(t).texts["ARCHITECTURE.md"]))
	require.Equal(t, asRows(modulePackages(loadPackages(t)), rows), rows,
		"the packages of the module, and those in the first column of the table in ARCHITECTURE.md")
}

// missingFiles returns the Go files that a document names and the repository does not have. A
// name without a directory may be in any directory. "*" and "<word>" match any name.
func missingFiles(document string, files []string) (missing []string) {
	for _, span := range codeSpan.FindAllStringSubmatch(document, -1) {
		if !goFile.MatchString(span[1]) {
			continue
		}
		pattern := regexp.MustCompile(`<\w+>`).ReplaceAllString(span[1], "*")
		if !slices.ContainsFunc(files, func(file string) bool {
			suffix := file
			for range strings.Count(file, "/") - strings.Count(pattern, "/") {
				_, suffix, _ = strings.Cut(suffix, "/")
			}
			ok, err := path.Match(pattern, suffix)
			return err == nil && ok
		}) {
			missing = append(missing, span[1])
		}
	}
	return missing
}

func TestDocumentedFilesExist(t *testing.T) {
	repo := loadRepository(t)
	var files []string
	for name := range repo.texts {
		files = append(files, name)
	}
	for _, name := range []string{"ARCHITECTURE.md", "CONTRIBUTING.md"} {
		require.Empty(t, missingFiles(string(repo.texts[name]), files), "files that %s names", name)
	}
}

func TestDocumentsAreShort(t *testing.T) {
	for name, limit := range map[string]int{"README.md": 230, "ARCHITECTURE.md": 130} {
		lines := strings.Count(string(loadRepository(t).texts[name]), "\n")
		require.Less(t, lines, limit, "lines of %s", name)
		require.NotZero(t, lines, name)
	}
}

// entryDocuments have one entry in a line, however long it is.
var entryDocuments = []string{"conformance/rules.md", "faults/CATALOGUE.md"}

// wideLines returns the numbers of the lines of prose in a document that have more than maxColumns
// characters. Code and tables are no prose.
func wideLines(text string) (numbers []int) {
	code := false
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		preformatted := code || strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "|")
		if !preformatted && utf8.RuneCountInString(line) > maxColumns {
			numbers = append(numbers, i+1)
		}
	}
	return numbers
}

func TestDocumentsAreNotTooWide(t *testing.T) {
	for name, text := range loadRepository(t).texts {
		if strings.HasSuffix(name, ".md") && !slices.Contains(entryDocuments, name) {
			require.Empty(t, wideLines(string(text)), "lines of %s with more than %d columns", name, maxColumns)
		}
	}
}

func TestArchitectureRules(t *testing.T) {
	require.Equal(t, []string{"a", "b/c"}, rowPackages("| package | purpose |\n|---|---|\n| `b/c`, `a` | uses `d` |\n"))
	files := []string{"fake/internal/handlers/create.go", "go.mod"}
	require.Empty(t, missingFiles("`create.go`, `handlers/create.go`, `fake/internal/handlers/<verb>.go`, `no file`, `k8s.io/api`", files))
	require.Equal(t, []string{"update.go", "fake/create.go"}, missingFiles("`update.go`, `fake/create.go`", files))
	wide := strings.Repeat("é", maxColumns+1)
	require.Equal(t, []int{2, 8}, wideLines(wide[2:]+"\n"+wide+"\n|"+wide+"\n    "+wide+"\n```\n"+wide+"\n```\n"+wide))
}
