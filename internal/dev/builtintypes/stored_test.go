package builtintypes

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStoredObjects plays the cases of what is stored.
func TestStoredObjects(t *testing.T) {
	paths := collections(t)
	for _, c := range casesIn(t, "stored") {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			p := &player{server: startServer(t), paths: paths, symbols: symbols{"$ns": namespace, "$id": id}}
			require.NoError(t, p.setUser())
			differences := p.play(c)
			require.Empty(t, differences, "%s\n%s", c.Source, strings.Join(differences, "\n"))
		})
	}
}
