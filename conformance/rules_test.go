package conformance_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/conformance"
)

// covered are the groups of rules.md that are complete: every rule of theirs has a case, or stands in without.
var covered = []string{"PV", "NM", "MD", "OC", "CR", "GT", "LS", "RS", "CH", "WA", "BM", "SI", "EX", "SE", "DL", "NS", "SU", "PA", "SA", "FV", "DR", "WN", "TB", "PM", "VR", "AU", "PB", "CB", "CN", "ST", "DI", "HT", "CD"}

// without are the rules of these groups that have no case, and why.
var without = map[string]string{
	"NM-08": "the retry after a random collision cannot be provoked from outside",
	"MD-28": "it is LS-01, whose cases check it",
	"CR-17": "a write that takes so long cannot be provoked from outside",
	"CR-19": "it is NM-17 and NM-18, whose cases check it",
	"RS-04": "it forbids clients to compare, servers have nothing to do",
	"RS-06": "it is a permission, which the cases of RS-05 grant",
	"RS-31": "a cache that is not ready cannot be provoked from outside",
	"RS-32": "a cache that stays behind cannot be provoked from outside",
	"RS-33": "it is a permission, which the cases at resourceVersion 0 grant",
	"RS-34": "it is alpha and off by default",
	"WA-17": "it would take half an hour",
	"WA-26": "how much a server buffers for a watch is its own affair",
	"WA-27": "a restart of the cache cannot be provoked from outside",
	"WA-37": "the suite has the rights of one client only",
	"WA-39": "a cache that is not ready cannot be provoked from outside",
	"BM-05": "it is a permission: the cases that need a bookmark are skipped where none comes, but for BM-08",
	"BM-11": "it is a permission, and BM-04 goes on from whatever a bookmark says",
	"DL-09": "it is NM-03, whose cases check it",
	"DL-33": "that an object goes between the list and its deletion cannot be provoked from outside",
	"EX-02": "it is RS-07, whose cases check it",
	"EX-03": "it points to WA-19 and CH-18, whose cases check it",
	"EX-07": "it binds clients, servers have nothing to do",
	"EX-09": "an answer that has begun and cannot go on cannot be provoked from outside",
	"EX-10": "it is a permission: the outcome of a write that timed out is open",
	"PB-04": "the server that the rules were seen on breaks the connection instead, and may not survive it",
	"SA-30": "the suite has the rights of one client only",
	"SA-37": "there is no gate to look at from outside",
	"DR-07": "the suite installs no admission webhooks",
	"DR-08": "the suite has the rights of one client only",
	"DR-11": "it is a permission, and DR-05 compares nothing that may differ",
	"AU-05": "an authorizer that fails cannot be provoked from outside",
	"WN-06": "the suite installs no admission webhooks",
	"ST-04": "it is RS-07 and WA-19, whose cases check it",
	"ST-05": "a server that is too busy cannot be provoked from outside",
	"ST-06": "an internal error cannot be provoked from outside",
	"ST-07": "it cannot be provoked from outside",
	"ST-08": "it is RS-05, whose cases check it",
	"ST-09": "a server that is not there yet cannot be provoked from outside, but by PV-28",
	"ST-10": "an object that cannot be read cannot be provoked from outside",
	"ST-11": "it is GT-06 and OC-07, whose cases check it",
	"HT-06": "it depends on the client, which is the caller's",
	"HT-07": "whether there is priority and fairness cannot be told from outside",
	"HT-08": "a server that is too busy cannot be provoked from outside",
	"HT-09": "the end of a server cannot be provoked from outside",
	"HT-10": "it is a permission",
	"HT-11": "a panic cannot be provoked from outside",
	"ST-14": "it is a list of names, which the cases about the errors compare",
}

// rules gives the level of every rule in rules.md.
func rules(t *testing.T) map[string]string {
	text, err := os.ReadFile("rules.md")
	require.NoError(t, err)
	levels := map[string]string{}
	for _, found := range regexp.MustCompile(`(?m)^- \*\*([A-Z]{2}-\d\d)\*\* \[(MUST|SHOULD|MAY)\] \S`).FindAllStringSubmatch(string(text), -1) {
		require.Empty(t, levels[found[1]], "two rules have the number %s", found[1])
		levels[found[1]] = found[2]
	}
	require.Len(t, levels, strings.Count(string(text), "\n- **"), "each rule reads ID [LEVEL] statement")
	return levels
}

func TestEveryCaseHasItsRule(t *testing.T) {
	levels := rules(t)
	for _, one := range conformance.Cases() {
		require.Contains(t, levels, one.Rule(), "%s is of no rule", one.ID)
		require.Equal(t, levels[one.Rule()], one.Level.String(), "the level of %s", one.ID)
	}
}

func TestEveryRuleHasACaseOrAReason(t *testing.T) {
	have := map[string]bool{}
	for _, one := range conformance.Cases() {
		group, _, _ := strings.Cut(one.ID, "-")
		require.Contains(t, covered, group, "the group of %s is covered in part only", one.ID)
		have[one.Rule()] = true
	}
	levels := rules(t)
	for rule := range levels {
		if group, _, _ := strings.Cut(rule, "-"); slices.Contains(covered, group) {
			require.True(t, have[rule] != (without[rule] != ""), "%s: either a case or a reason", rule)
		}
	}
	for rule := range without {
		require.Contains(t, levels, rule, "a reason for no rule")
	}
}
