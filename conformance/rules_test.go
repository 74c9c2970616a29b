package conformance_test

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/conformance"
)

//go:embed rules.md
var rulesText string

// rules returns the level of each rule in rules.md.
func rules(t *testing.T) map[string]string {
	levels := map[string]string{}
	for _, found := range regexp.MustCompile(`(?m)^- \*\*([A-Z]{2}-\d\d)\*\* \[(MUST|SHOULD|MAY)\] \S`).FindAllStringSubmatch(rulesText, -1) {
		require.Empty(t, levels[found[1]], "two rules have the number %s", found[1])
		levels[found[1]] = found[2]
	}
	require.Len(t, levels, strings.Count(rulesText, "\n- **"), "each rule reads ID [LEVEL] statement")
	return levels
}

func TestEveryCaseHasARule(t *testing.T) {
	levels := rules(t)
	for _, one := range conformance.Cases() {
		require.Contains(t, levels, one.Rule(), "%s is of no rule", one.ID)
		require.Equal(t, levels[one.Rule()], one.Level.String(), "the level of %s", one.ID)
	}
}

// maxUnchecked is the highest allowed number of rules without cases.
const maxUnchecked = 40

func TestEveryRuleHasACaseOrAReason(t *testing.T) {
	checked := map[string]bool{}
	for _, one := range conformance.Cases() {
		checked[one.Rule()] = true
	}
	levels, unchecked := rules(t), conformance.UncheckedRules()
	require.LessOrEqual(t, len(unchecked), maxUnchecked)
	require.True(t, slices.IsSortedFunc(unchecked, func(a, b conformance.UncheckedRule) int { return strings.Compare(a.Rule, b.Rule) }))
	why := map[string]string{}
	for _, one := range unchecked {
		require.Equal(t, levels[one.Rule], one.Level.String(), "the level of %s", one.Rule)
		require.Empty(t, why[one.Rule], "%s is listed twice", one.Rule)
		require.NotEmpty(t, one.Reason, "%s is listed without a reason", one.Rule)
		why[one.Rule] = one.Reason
	}
	for rule := range levels {
		require.True(t, checked[rule] != (why[rule] != ""), "%s: either a case or a reason", rule)
	}
}
