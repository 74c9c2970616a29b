package conformance_test

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/conformance"
)

func TestCasesAreWellFormed(t *testing.T) {
	id := regexp.MustCompile(`^[A-Z]{2}-\d\d(/[a-z][A-Za-z]*)*$`)
	all := conformance.Cases()
	require.True(t, slices.IsSortedFunc(all, func(a, b conformance.Case) int { return cmp.Compare(a.ID, b.ID) }))
	seen := map[string]bool{}
	for _, one := range all {
		require.Regexp(t, id, one.ID)
		require.False(t, seen[one.ID], "two cases are called %s", one.ID)
		seen[one.ID] = true
		require.True(t, strings.HasPrefix(one.ID, one.Rule()))
		require.Len(t, one.Rule(), len("PV-01"))
		require.Contains(t, []string{"MAY", "SHOULD", "MUST"}, one.Level.String(), one.ID)
		for what, text := range map[string]string{"Title": one.Title, "Why": one.Why, "Source": one.Source} {
			require.NotEmpty(t, strings.TrimSpace(text), "%s of %s", what, one.ID)
			require.NotContains(t, text, "\n", "%s of %s", what, one.ID)
		}
	}
}

func TestCasesAreTheCallersOwn(t *testing.T) {
	conformance.Cases()[0].Title = "changed"
	require.NotEqual(t, "changed", conformance.Cases()[0].Title)
}

// Every rule of a group that is complete has a case, or stands here with the reason why it has none.
func TestRulesWithoutCase(t *testing.T) {
	without := map[string]string{
		"NM-08": "the retry after a random collision cannot be provoked from outside",
		"RS-04": "it forbids clients to compare, servers have nothing to do",
		"RS-06": "it is a permission, which the cases of RS-05 grant",
		"RS-08": "no such rule", "RS-09": "no such rule",
		"RS-31": "a cache that is not ready cannot be provoked from outside",
		"RS-32": "a cache that stays behind cannot be provoked from outside",
		"RS-33": "it is a permission, which the cases at resourceVersion 0 grant",
		"WA-17": "it would take half an hour",
		"WA-26": "how much a server buffers for a watch is its own affair",
		"RS-34": "it is alpha and off by default",
		"WA-33": "WebSockets are not checked yet",
		"WA-34": "WebSockets are not checked yet",
		"WA-35": "Tables are not checked yet",
		"WA-37": "the suite has the rights of one client only",
		"WA-38": "it would take more than a minute",
		"WA-39": "a cache that is not ready cannot be provoked from outside",
		"WA-27": "a restart of the cache cannot be provoked from outside",
	}
	have := map[string]bool{}
	for _, one := range conformance.Cases() {
		have[one.Rule()] = true
	}
	for group, last := range map[string]int{"PV": 31, "NM": 21, "GT": 9, "LS": 8, "RS": 34, "WA": 40} {
		for n := 1; n <= last; n++ {
			rule := fmt.Sprintf("%s-%02d", group, n)
			require.True(t, have[rule] != (without[rule] != ""), "%s: either a case or a reason", rule)
		}
	}
}
