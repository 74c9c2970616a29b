package scenario

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sync"
)

// Case is a case of the catalogue: a known way in which API servers break clients, as a scenario
// for any client in the role of the case. The fields are parsed from the comments at the beginning
// of its file.
type Case struct {
	// Number and Name identify the case in faults/CATALOGUE.md. Name may have a suffix, such as
	// "watch-missed-delete-tombstone"; it is unique, while Number may be shared.
	Number int
	Name   string
	// Title describes the case in a line, Description in a few.
	Title, Description string
	// Role is the task of the client under test. The roles are in the package documentation.
	Role string
	// Must is what a client must do to pass.
	Must string
	// Sources are the addresses of issues and documents about the case.
	Sources []string
	// Passes names the clients of package scenario/clients and of other modules that pass. Fails
	// has the clients that fail and the reason for each.
	Passes []string
	Fails  map[string]string
	// Text is the file of the case, for Parse and Play.
	Text string
}

//go:embed catalogue/*.txtar
var catalogueFiles embed.FS

// Catalogue returns copies of the cases in this package, sorted by number and name.
func Catalogue() []Case {
	all := catalogue()
	cases := make([]Case, len(all))
	for i, c := range all {
		cases[i] = c.clone()
	}
	return cases
}

// catalogue parses the embedded files once. It panics on an error, which a test excludes.
var catalogue = sync.OnceValue(func() []Case {
	cases, err := readCases(catalogueFiles)
	if err != nil {
		panic(fmt.Sprintf("scenario: invalid catalogue: %v", err))
	}
	return cases
})

// readCases parses all cases of a file system, sorted by file name.
func readCases(fsys fs.FS) ([]Case, error) {
	names, err := scriptFiles(fsys)
	if err != nil {
		return nil, err
	}
	var cases []Case
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		c, err := parseCase(name, string(text))
		if err != nil {
			return nil, err
		}
		if want := c.fileName(); path.Base(name) != want {
			return nil, &SyntaxError{name, 1, fmt.Sprintf("expected the file to be called %s", want)}
		}
		if slices.ContainsFunc(cases, func(other Case) bool { return other.Name == c.Name }) {
			return nil, &SyntaxError{name, 1, fmt.Sprintf("expected each case once, found %s twice", c.Name)}
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// String returns "NUMBER NAME: TITLE".
func (c Case) String() string { return fmt.Sprintf("%d %s: %s", c.Number, c.Name, c.Title) }

// fileName returns the name of the case's file.
func (c Case) fileName() string { return fmt.Sprintf("%03d-%s%s", c.Number, c.Name, extension) }
