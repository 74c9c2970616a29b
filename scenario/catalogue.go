package scenario

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sync"
)

// Case is a case of the catalogue: a known way in which API servers break their
// clients, as a scenario that any client of the case's role can be run in. It is
// what the leading remarks of its file say.
type Case struct {
	// Number and Name are those of the case in faults/CATALOGUE.md, where its rules
	// are. The name may have more behind it; it is unique, the number need not be.
	Number int
	Name   string
	// Title says in a line what happens, Story in a few.
	Title, Description string
	// Role is what the client under test has to do; see the package documentation.
	Role string
	// Must is what a client must do to survive.
	Must string
	// Sources are the issues and documents that the case comes from.
	Sources []string
	// Passes names the clients of package scenario/clients, and those of further
	// modules, that pass, Falls those that do not, with the reason.
	Passes []string
	Fails  map[string]string
	// Text is the file, as Parse and Play read it.
	Text string
}

//go:embed catalogue/*.txtar
var catalogueFiles embed.FS

// Catalogue gives the cases that are shipped with this package, sorted by number
// and name. They are the caller's own.
func Catalogue() []Case {
	all := catalogue()
	cases := make([]Case, len(all))
	for i, c := range all {
		cases[i] = c.clone()
	}
	return cases
}

// catalogue reads the files once. What is embedded is checked by a test, so that
// an error here can only be a broken build.
var catalogue = sync.OnceValue(func() []Case {
	cases, err := readCases(catalogueFiles)
	if err != nil {
		panic(fmt.Sprintf("scenario: the catalogue is broken: %v", err))
	}
	return cases
})

// readCases reads all cases of a file system, in the order of their files' names.
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

// String gives "NUMBER NAME: TITLE".
func (c Case) String() string { return fmt.Sprintf("%d %s: %s", c.Number, c.Name, c.Title) }

// fileName is the name of the case's file.
func (c Case) fileName() string { return fmt.Sprintf("%03d-%s%s", c.Number, c.Name, extension) }
