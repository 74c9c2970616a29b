package scenario_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/scenario"
	"example.com/fakeapi/scenario/clients"
)

// otherModuleClients are the clients of other modules that cases may list, by role. They are tested
// there.
var otherModuleClients = map[string][]string{
	"mirror":    {"controller-runtime"},
	"elector":   {"controller-runtime"},
	"inventory": {"controller-runtime"},
}

// Each client of a role passes or fails each case as the catalogue says.
func TestCatalogue(t *testing.T) {
	for _, c := range clients.All() {
		t.Run(c.Role+"/"+c.Name, func(t *testing.T) {
			t.Parallel()
			scenario.RunCatalogue(t, c.Role, c.Client, scenario.KnownFailures(c.Role, c.Name))
		})
	}
}

// Each case lists all clients of its role and no others.
func TestCatalogueNamesAllClients(t *testing.T) {
	inRole := map[string][]string{}
	for _, c := range clients.All() {
		require.NotContains(t, inRole[c.Role], c.Name, c.Role)
		require.NotEmpty(t, c.Doc, c.Name)
		inRole[c.Role] = append(inRole[c.Role], c.Name)
	}
	for _, c := range scenario.Catalogue() {
		listed := slices.Clone(c.Passes)
		for name := range c.Fails {
			listed = append(listed, name)
		}
		require.NotEmpty(t, inRole[c.Role], "%s: no client has the role %s", c.Name, c.Role)
		for _, name := range inRole[c.Role] {
			require.Contains(t, listed, name, c.Name)
		}
		for _, name := range listed {
			require.Contains(t, append(otherModuleClients[c.Role], inRole[c.Role]...), name, c.Name)
		}
	}
}

// ruleName matches the rules that a case adds.
var ruleName = regexp.MustCompile(`(?m)^fault ([a-z-]+): `)

// Each rule of a case is applied for at least one client, so that passing the case means something.
func TestCatalogueRulesAreHit(t *testing.T) {
	for _, c := range scenario.Catalogue() {
		idle := map[string]bool{}
		for _, rule := range ruleName.FindAllStringSubmatch(c.Text, -1) {
			require.False(t, idle[rule[1]], "%s: two rules are called %s", c.Name, rule[1])
			idle[rule[1]] = true
		}
		require.Len(t, idle, strings.Count(c.Text, "\nfault "), "%s: a rule has no name", c.Name)
		for _, client := range clients.All() {
			if client.Role != c.Role || len(idle) == 0 {
				continue
			}
			log, _ := c.Play(client.Client) // rules are also applied for clients that fail
			maps.DeleteFunc(idle, func(name string, _ bool) bool {
				return regexp.MustCompile(" fault " + name + ": (before|committed|stream) ").MatchString(log.String())
			})
		}
		require.Empty(t, idle, "%s: rules that never act", c.Name)
	}
}
