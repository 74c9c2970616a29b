package faults

import (
	_ "embed"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tableKeywords returns the first words of the lines of the table below a heading of doc.go.
func tableKeywords(t *testing.T, manual, heading string) (words []string) {
	t.Helper()
	_, text, found := strings.Cut(manual, "// # "+heading+"\n//\n")
	require.True(t, found, heading)
	text, _, _ = strings.Cut(text, "\n//\n")
	for _, match := range regexp.MustCompile(`(?m)^//\t(\w+)(?:\(|\s)`).FindAllStringSubmatch(text, -1) {
		words = append(words, match[1])
	}
	slices.Sort(words)
	return slices.Compact(words)
}

//go:embed doc.go
var manual string

// TestDocListsEveryKeyword tests that the tables of doc.go list all predicates and effects and no
// others.
func TestDocListsEveryKeyword(t *testing.T) {
	without := func(words []string, others ...string) []string {
		return slices.DeleteFunc(words, func(w string) bool { return slices.Contains(others, w) })
	}
	require.Equal(t, slices.Sorted(maps.Keys(predicates)), without(tableKeywords(t, manual, "Predicates"), "a"))
	require.Equal(t, slices.Sorted(maps.Keys(effects)), without(tableKeywords(t, manual, "Effects"), "effect"))
}
