package builtintypes

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestValidation plays the cases of what is refused, and of what is not.
func TestValidation(t *testing.T) {
	paths := collections(t)
	for _, c := range casesIn(t, "validation") {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			p := &player{server: startServer(t), paths: paths, symbols: symbols{"$ns": namespace, "$id": id}, fillVersions: true}
			differences := p.play(c)
			require.Empty(t, differences, "%s\n%s", c.Source, strings.Join(differences, "\n"))
		})
	}
}
