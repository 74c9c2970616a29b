package conformance_test

import (
	"cmp"
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

func TestCasesReturnsACopy(t *testing.T) {
	conformance.Cases()[0].Title = "changed"
	require.NotEqual(t, "changed", conformance.Cases()[0].Title)
}
