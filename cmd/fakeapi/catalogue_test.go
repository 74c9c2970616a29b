package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/scenario"
	"example.com/fakeapi/scenario/perturb"
)

// The cases of scenarios and perturbations are in the catalogue of faults, with the same numbers
// and names.
func TestCatalogueOfFaults(t *testing.T) {
	faults, err := os.ReadFile("../../faults/CATALOGUE.md")
	require.NoError(t, err)
	names := map[int]string{}
	for line := range strings.Lines(string(faults)) {
		var number int
		var name string
		if n, _ := fmt.Sscanf(line, "### %d %s", &number, &name); n == 2 {
			names[number] = name
		}
	}
	require.NotEmpty(t, names)
	for _, c := range scenario.Catalogue() {
		name := names[c.Number]
		require.True(t, name != "" && (c.Name == name || strings.HasPrefix(c.Name, name+"-")), "%s; the fault is called %q", c, name)
	}
	for _, k := range perturb.Kinds() {
		for _, n := range k.Catalogue {
			require.NotEmpty(t, names[n], "%s: %d", k.Name, n)
		}
	}
}
