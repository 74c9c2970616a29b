package faults_test

import (
	"embed"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// files are the files that tests read. They are embedded, because go test reuses the result of a
// test in another checkout only if the test opens no files of the module.
//
//go:embed CATALOGUE.md *.go
var files embed.FS

// catalogueCase is one case of CATALOGUE.md.
type catalogueCase struct {
	number, name string
	rules        []string
	server       string // the text after "Server: "
	needs        string // the text after "Needs: "
}

func readCatalogue(t *testing.T) (cases []catalogueCase) {
	t.Helper()
	text, err := files.ReadFile("CATALOGUE.md")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		last := len(cases) - 1
		if head, ok := strings.CutPrefix(line, "### "); ok {
			number, name, _ := strings.Cut(head, " ")
			cases = append(cases, catalogueCase{number: number, name: name})
		} else if rule, ok := strings.CutPrefix(line, "    "); ok {
			cases[last].rules = append(cases[last].rules, rule)
		} else if s, ok := strings.CutPrefix(line, "Server: "); ok {
			cases[last].server = s
		} else if s, ok := strings.CutPrefix(line, "Needs: "); ok {
			cases[last].needs = s
		}
	}
	return cases
}
