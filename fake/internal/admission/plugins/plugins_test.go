package plugins

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEnabled(t *testing.T) {
	names, err := Enabled(nil, nil)
	require.NoError(t, err)
	require.Contains(t, names, "NamespaceLifecycle")

	names, err = Enabled(nil, []string{"NamespaceLifecycle"})
	require.NoError(t, err)
	require.False(t, slices.Contains(names, "NamespaceLifecycle"))

	_, err = Enabled([]string{"Namespaces"}, nil)
	require.ErrorContains(t, err, `admission plugin "Namespaces" is unknown, only these are known: NamespaceLifecycle`)
	_, err = Enabled([]string{"NamespaceLifecycle"}, []string{"NamespaceLifecycle"})
	require.EqualError(t, err, `admission plugin "NamespaceLifecycle" is both enabled and disabled`)
}
