package faults_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// catalogueCase is one case of CATALOGUE.md.
type catalogueCase struct {
	number, name string
	rules        []string
	server       string // the text after "Server: "
	needs        string // the text after "Needs: "
}

func readCatalogue(t *testing.T) (cases []catalogueCase) {
	text, err := os.ReadFile("CATALOGUE.md")
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

var (
	quotedName = regexp.MustCompile("`(?:Server\\.)?(\\w+)`")
	ruleName   = regexp.MustCompile(`\b[A-Z]{2}-\d\d\b`)
	function   = regexp.MustCompile(`(?m)^func (?:\([^)]*\) )?(\w+)`)
)

// TestCatalogueReferencesExist tests that the methods, tests and rules that the catalogue refers to
// exist.
func TestCatalogueReferencesExist(t *testing.T) {
	functions := map[string]bool{}
	for _, pattern := range []string{"*.go", "../fake/*.go", "../internal/dev/verify/*/*.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			source, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, f := range function.FindAllStringSubmatch(string(source), -1) {
				functions[f[1]] = true
			}
		}
	}
	rules, err := os.ReadFile("../conformance/rules.md")
	require.NoError(t, err)
	for _, c := range readCatalogue(t) {
		names := quotedName.FindAllStringSubmatch(c.server, -1)
		cited := ruleName.FindAllString(c.server, -1)
		if c.server != "" {
			require.NotEmpty(t, append(cited, quotedName.FindAllString(c.server, -1)...), "%s: the text after Server: has no reference", c.name)
		}
		for _, name := range names {
			require.True(t, functions[name[1]], "%s: %s does not exist", c.name, name[1])
		}
		for _, rule := range cited {
			require.Contains(t, string(rules), "**"+rule+"**", c.name)
		}
	}
}
