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

//go:embed doc.go
var manual string

// tableBelow returns the table below a heading of doc.go.
func tableBelow(t *testing.T, heading string) string {
	t.Helper()
	_, text, found := strings.Cut(manual, "// # "+heading+"\n//\n")
	require.True(t, found, heading)
	table, _, _ := strings.Cut(text, "\n//\n")
	return table
}

// tableKeywords returns the first words of the lines of the table below a heading of doc.go.
func tableKeywords(t *testing.T, heading string) (words []string) {
	t.Helper()
	for _, match := range regexp.MustCompile(`(?m)^//\t(\w+)(?:\(|\s)`).FindAllStringSubmatch(tableBelow(t, heading), -1) {
		words = append(words, match[1])
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// TestDocListsEveryKeyword tests that the tables of doc.go list all predicates and effects and no
// others.
func TestDocListsEveryKeyword(t *testing.T) {
	without := func(words []string, others ...string) []string {
		return slices.DeleteFunc(words, func(w string) bool { return slices.Contains(others, w) })
	}
	require.Equal(t, slices.Sorted(maps.Keys(predicates)), without(tableKeywords(t, "Predicates"), "a"))
	require.Equal(t, slices.Sorted(maps.Keys(effects)), without(tableKeywords(t, "Effects"), "effect"))
}

// TestKeywordsWithoutArguments tests that the predicates and effects that have no arguments in the
// tables of doc.go take none.
func TestKeywordsWithoutArguments(t *testing.T) {
	for heading, rule := range map[string]string{"Predicates": "when WORD(x) do reset", "Effects": "when verb(watch) do WORD(x)"} {
		for _, row := range regexp.MustCompile(`(?m)^//\t(\w+) {2}`).FindAllStringSubmatch(tableBelow(t, heading), -1) {
			if row[1] != "effect" {
				_, err := Parse(strings.Replace(rule, "WORD", row[1], 1))
				require.ErrorContains(t, err, row[1]+" takes no arguments")
			}
		}
	}
}

// effectNamed returns an effect without its arguments. It is not valid if they are required.
func effectNamed(word string) Effect {
	return effects[word](&args{p: &parser{}, call: call{name: token{text: word}}})
}

// TestDocListsPhases tests that the table of effects in doc.go has the phases of each effect, with
// the marks of effects that apply to watches or to calls of webhooks only.
func TestDocListsPhases(t *testing.T) {
	rows := regexp.MustCompile(`(?m)^//\t(\w+)(?:\(.*?\))?[\s/]+((?:(?:before|committed|stream)(?:\(\*+\))? )+)`)
	listed := map[string]string{}
	for _, row := range rows.FindAllStringSubmatch(tableBelow(t, "Effects"), -1) {
		listed[row[1]] = strings.TrimSpace(row[2])
	}
	want := map[string]string{}
	for word := range effects {
		e := effectNamed(word)
		phases := strings.ReplaceAll(supportedPhases(e).String(), ",", "")
		if _, ok := e.(watchOnlyEffect); ok {
			phases = strings.Replace(phases, "before", "before(*)", 1)
		}
		if _, ok := e.(webhookOnlyEffect); ok {
			phases = strings.Replace(phases, "before", "before(**)", 1)
		}
		want[word] = phases
	}
	require.Equal(t, want, listed)
}

// TestDocListsGroups tests that doc.go lists the effects that must be the last of a rule, and those
// on responses that also apply to calls of webhooks, which an error lists, too.
func TestDocListsGroups(t *testing.T) {
	text := strings.ReplaceAll(manual, "\n// ", " ")
	list := func(pattern string) []string {
		match := regexp.MustCompile(pattern).FindStringSubmatch(text)
		require.NotNil(t, match, pattern)
		words := strings.Split(strings.Replace(strings.TrimSpace(match[1]), " and ", ", ", 1), ", ")
		slices.Sort(words)
		return words
	}
	var last, onCalls, known []string
	for _, word := range slices.Sorted(maps.Keys(effects)) {
		e := effectNamed(word)
		_, only := e.(webhookOnlyEffect)
		if e.isFinal() {
			last = append(last, word)
		}
		if appliesToCalls(e) {
			onCalls = append(onCalls, word)
		}
		if only || appliesToCalls(e) {
			known = append(known, word)
		}
	}
	require.Equal(t, last, list(`([\w, ]+) complete the response or the frame, so they must be the last effect`))
	require.Equal(t, onCalls, list(`The effects are those on a response: ([\w, ]+)\.`))
	err := Rule{When: Webhook("a"), Do: []Effect{Drop()}}.Validate()
	require.ErrorContains(t, err, "those that can: "+strings.Join(known, ", "))
}
