package arch

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	catalogueCase = regexp.MustCompile(`(?m)^(?:### \d+ (.*)|Server: (.*))$`)
	quotedName    = regexp.MustCompile("`(?:Server\\.)?(\\w+)`")
	ruleName      = regexp.MustCompile(`\b[A-Z]{2}-\d\d\b`)
)

// The methods, tests and rules that the catalogue of faults refers to exist.
func TestCatalogueReferencesExist(t *testing.T) {
	repo := loadRepository(t)
	functions := map[string]bool{}
	for _, s := range repo.sources {
		if dir := s.dir(); dir == "faults" || dir == "fake" || path.Dir(dir) == "internal/dev/verify" {
			for _, d := range s.syntax.Decls {
				if f, ok := d.(*ast.FuncDecl); ok {
					functions[f.Name.Name] = true
				}
			}
		}
	}
	rules, name, references := string(repo.texts["conformance/rules.md"]), "", 0
	for _, match := range catalogueCase.FindAllStringSubmatch(string(repo.texts["faults/CATALOGUE.md"]), -1) {
		if match[1] != "" {
			name = match[1]
			continue
		}
		names, cited := quotedName.FindAllStringSubmatch(match[2], -1), ruleName.FindAllString(match[2], -1)
		require.NotZero(t, len(names)+len(cited), "%s: the text after Server: has no reference", name)
		for _, quoted := range names {
			require.True(t, functions[quoted[1]], "%s: %s does not exist", name, quoted[1])
		}
		for _, rule := range cited {
			require.True(t, strings.Contains(rules, "**"+rule+"**"), "%s: %s does not exist", name, rule)
		}
		references += len(names) + len(cited)
	}
	require.Greater(t, references, 50)
}
