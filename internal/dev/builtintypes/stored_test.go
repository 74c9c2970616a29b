package builtintypes

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStoredObjects plays all cases. A case of pending that passes fails the test.
func TestStoredObjects(t *testing.T) {
	paths := collections(t)
	cases := allCases(t)
	reasons := map[string]string{}
	for reason, list := range pending {
		for _, name := range list {
			reasons[name] = reason
		}
	}
	names := map[string]bool{}
	for _, c := range cases {
		names[c.Name] = true
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			p := &player{server: startServer(t), paths: paths, symbols: symbols{"$ns": namespace, "$id": id}}
			require.NoError(t, p.setUser())
			differences := p.play(c)
			if reason := reasons[c.Name]; reason != "" {
				require.NotEmpty(t, differences, "the case passes; remove it from pending[%q]", reason)
				return
			}
			require.Empty(t, differences, "%s\n%s", c.Source, strings.Join(differences, "\n"))
		})
	}
	for name := range reasons {
		require.True(t, names[name], "pending has %s, which is not a case", name)
	}
}
