package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// figurative maps words that are not used in names of files, packages and identifiers to the term
// that kube-apiserver or Go uses instead.
var figurative = map[string]string{
	"abreast":    "by index",
	"armed":      "active",
	"armory":     "rule snapshot",
	"backstage":  "recorder",
	"canonizer":  "canonicalizer",
	"chronicle":  "history",
	"condemn":    "beforeDelete",
	"deaf":       "unresponsive",
	"dialect":    "syntax or encoding",
	"disown":     "onDeleted",
	"doomed":     "pending deletion",
	"door":       "server, replica or API server instance",
	"echo":       "no-op cache",
	"entrance":   "listener",
	"excuse":     "known failure",
	"glance":     "read",
	"glimpse":    "observed event",
	"guest":      "external client",
	"halve":      "drop the older half",
	"holding":    "resource usage",
	"hollow":     "empty",
	"homeless":   "namespace missing",
	"horizon":    "cache view",
	"house":      "module",
	"knob":       "option or preset",
	"knock":      "request",
	"liar":       "faulty server",
	"life":       "lifecycle",
	"likeness":   "equality function",
	"loose":      "untyped",
	"mend":       "restore",
	"mischief":   "fault injector",
	"mourn":      "watch deletes",
	"nobody":     "anonymous or unprivileged",
	"nursery":    "arena",
	"onlooker":   "reader",
	"outlook":    "partial evaluation",
	"plant":      "fixture",
	"prospect":   "tristate",
	"rehearsal":  "dry run",
	"rehearse":   "dry run",
	"restless":   "livelock",
	"rouse":      "wake or take waiters",
	"scribe":     "normalizer",
	"sentry":     "resuming watcher",
	"slip":       "edit",
	"station":    "filter or admission plugin",
	"story":      "scenario or data",
	"survivor":   "panic recovery",
	"tidy":       "evict",
	"tired":      "exceeded limit",
	"told":       "text, JSON, logged or reported",
	"tongue":     "encoding",
	"undertaker": "deletion handler",
	"unread":     "conversion error",
	"untold":     "deferred error",
	"victim":     "object",
	"weave":      "instrument",
	"weaver":     "instrumenter",
	"witness":    "observer",
}

// words splits an identifier or a file name into its words in lower case: "newHTTPServer" has the
// words new, http and server.
func words(name string) (found []string) {
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) }) {
		runes := []rune(part)
		start := 0
		for i := 1; i <= len(runes); i++ {
			boundary := i == len(runes) ||
				unicode.IsUpper(runes[i]) && !unicode.IsUpper(runes[i-1]) ||
				i+1 < len(runes) && unicode.IsUpper(runes[i]) && unicode.IsLower(runes[i+1])
			if boundary {
				found = append(found, strings.ToLower(string(runes[start:i])))
				start = i
			}
		}
	}
	return found
}

// checkName returns a violation for each word of name that is figurative, in singular or plural.
func checkName(at, name string) (violations []string) {
	for _, word := range words(name) {
		term, ok := figurative[word]
		if !ok {
			term, ok = figurative[strings.TrimSuffix(word, "s")]
		}
		if ok {
			violations = append(violations, fmt.Sprintf("%s: %s: the word for %q is %s", at, name, word, term))
		}
	}
	return violations
}

// declaredNames returns the identifiers that a file declares.
func declaredNames(syntax *ast.File) (names []*ast.Ident) {
	add := func(exprs ...ast.Expr) {
		for _, e := range exprs {
			if name, ok := e.(*ast.Ident); ok {
				names = append(names, name)
			}
		}
	}
	ast.Inspect(syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			names = append(names, n.Name)
		case *ast.TypeSpec:
			names = append(names, n.Name)
		case *ast.ValueSpec:
			names = append(names, n.Names...)
		case *ast.Field:
			names = append(names, n.Names...)
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				add(n.Key, n.Value)
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				add(n.Lhs...)
			}
		}
		return true
	})
	return names
}

func TestNamesAreLiteral(t *testing.T) {
	repo := loadRepository(t)
	for _, name := range slices.Sorted(maps.Keys(repo.texts)) {
		if !strings.Contains(name, "/testdata/") {
			reportAll(t, checkName(name, strings.TrimSuffix(path.Base(name), path.Ext(name))))
		}
	}
	for _, s := range repo.sources {
		for _, name := range declaredNames(s.syntax) {
			reportAll(t, checkName(repo.files.Position(name.Pos()).String(), name.Name))
		}
	}
}

func TestVocabularyRules(t *testing.T) {
	require.Equal(t, []string{"new", "http", "server"}, words("newHTTPServer"))
	require.Equal(t, []string{"step", "watch", "test"}, words("step_watch_test"))
	require.Equal(t, []string{"a", "b"}, words("A2B"))
	require.Len(t, checkName("", "frontDoor"), 1)
	require.Len(t, checkName("", "toldStations"), 2)
	require.Empty(t, checkName("", "lifecycle"))

	s, err := parse(token.NewFileSet(), "p/p.go", []byte("package p\nfunc f(a int) (b int) { for c := range 2 { d := c; _ = d }; var e int; type g struct{ h int }; return e }\n"))
	require.NoError(t, err)
	var names []string
	for _, name := range declaredNames(s.syntax) {
		names = append(names, name.Name)
	}
	require.Subset(t, names, []string{"f", "a", "b", "c", "d", "e", "g", "h"})
}
