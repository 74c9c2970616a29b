package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// runVariable selects the mutants of a mutation run, by their IDs: a regular expression, or "all".
const runVariable = "FAKEAPI_MUTANTS"

var update = flag.Bool("update", false, "write TABLE.md anew")

// patience is how long one run of the suite may take by the clock.
const patience = 10 * time.Minute

// TestMutants is the mutation run; see the manual of the package.
func TestMutants(t *testing.T) {
	chosen := os.Getenv(runVariable)
	if chosen == "" {
		t.Skipf("the mutation run takes minutes: it wants %s, see doc.go", runVariable)
	}
	all := All()
	if chosen != "all" {
		pattern := regexp.MustCompile(chosen)
		all = slices.DeleteFunc(all, func(m Mutant) bool { return !pattern.MatchString(m.ID()) })
		require.NotEmpty(t, all, "no mutant matches %s", chosen)
	}
	known, err := readTable()
	require.NoError(t, err)
	v := build(t)
	healthy := v.run(t, "", regexp.MustCompile(".*"))
	killers := map[string][]string{}
	for _, m := range all {
		began := time.Now()
		killers[m.ID()] = v.kill(t, m, known[m.ID()], healthy.Passed)
		t.Logf("%s: killed by %d cases in %v: %v", m.ID(), len(killers[m.ID()]), time.Since(began).Round(time.Second/10), first(killers[m.ID()], 5))
		assert.NotEmpty(t, killers[m.ID()], "%s survives: a server that %s passes all cases", m.ID(), m.Breaks)
	}
	if chosen != "all" || t.Failed() {
		return
	}
	if table := tableOf(All(), killers); *update {
		require.NoError(t, os.WriteFile(tableFile, []byte(table), 0o644))
	}
}

func first(ids []string, n int) []string { return ids[:min(n, len(ids))] }

// victim is the binary that is every mutant.
type victim struct{ binary, folder string }

// build makes it.
func build(t *testing.T) victim {
	t.Helper()
	v := victim{folder: t.TempDir()}
	v.binary = filepath.Join(v.folder, "victim")
	woven, err := Weave(root, All())
	require.NoError(t, err)
	absolute, err := filepath.Abs(root)
	require.NoError(t, err)
	replace := map[string]string{}
	for file, source := range woven {
		to := filepath.Join(v.folder, strings.ReplaceAll(file, "/", "_"))
		require.NoError(t, os.WriteFile(to, source, 0o600))
		replace[filepath.Join(absolute, file)] = to
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	path := filepath.Join(v.folder, "overlay.json")
	require.NoError(t, os.WriteFile(path, overlay, 0o600))
	out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay", path, "-o", v.binary, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return v
}

// run runs cases on a mutant, "" for the whole server. A server that crashes has no result, and that is a mistake of the mutant.
func (v victim) run(t *testing.T, mutant string, cases *regexp.Regexp) suiteResult {
	t.Helper()
	path := filepath.Join(v.folder, "result.json")
	_ = os.Remove(path)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, v.binary, "-test.run", "^TestSuite$", "-test.timeout", patience.String())
	command.Env = append(os.Environ(), Variable+"="+mutant, casesVariable+"="+cases.String(), resultVariable+"="+path)
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	err := command.Run()
	text, readErr := os.ReadFile(path)
	if !assert.NoError(t, readErr, "%s did not come to an end: %v\n%s", mutant, err, out.String()[:min(out.Len(), 4000)]) {
		return suiteResult{}
	}
	var result suiteResult
	require.NoError(t, json.Unmarshal(text, &result))
	return result
}

// kill gives the cases that fail on a mutant and pass on the whole server. It asks those that are known to, those of
// the groups that the mutant names, and all the others, until some do.
func (v victim) kill(t *testing.T, m Mutant, known, healthy []string) []string {
	t.Helper()
	groups := regexp.MustCompile("^(" + strings.Join(append([]string{m.Group()}, m.Groups...), "|") + ")-")
	attempts := []*regexp.Regexp{groups, regexp.MustCompile(".*")}
	if len(known) > 0 && !*update {
		attempts = slices.Insert(attempts, 0, only(known))
	}
	for _, cases := range attempts {
		failed := slices.DeleteFunc(v.run(t, m.ID(), cases).Failed, func(id string) bool { return !slices.Contains(healthy, id) })
		if len(failed) > 0 {
			return failed
		}
	}
	return nil
}

const tableFile = "TABLE.md"

// tableOf is TABLE.md.
func tableOf(all []Mutant, killers map[string][]string) string {
	var b strings.Builder
	b.WriteString(`# The mutants, and the cases that kill them

Written by the mutation run (see doc.go), not by hand. Each line is one way to break the server; the cases named fail on it. Where more than
five do, the first are named.

`)
	counts := map[string]int{}
	for _, m := range all {
		counts[m.Group()]++
	}
	groups := make([]string, 0, len(counts))
	for group := range counts {
		groups = append(groups, group)
	}
	slices.Sort(groups)
	fmt.Fprintf(&b, "%d mutants in %d groups of rules:", len(all), len(groups))
	for i, group := range groups {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, " %s %d", group, counts[group])
	}
	b.WriteString(".\n\n| mutant | a server that | killed by |\n|---|---|---|\n")
	for _, m := range all {
		ids := killers[m.ID()]
		more := ""
		if n := len(ids) - named; n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s%s |\n", m.ID(), m.Breaks, strings.Join(first(ids, named), ", "), more)
	}
	return b.String()
}

// named is how many cases TABLE.md names for a mutant.
const named = 5

// readTable gives the cases that TABLE.md names, by mutants.
func readTable() (map[string][]string, error) {
	text, err := os.ReadFile(tableFile)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	known := map[string][]string{}
	for line := range strings.SplitSeq(string(text), "\n") {
		cells := strings.Split(line, " | ")
		id, ok := strings.CutPrefix(cells[0], "| `")
		if !ok || len(cells) != 3 {
			continue
		}
		cases, _, _ := strings.Cut(strings.TrimSuffix(cells[2], " |"), " and ")
		known[strings.TrimSuffix(id, "`")] = strings.Split(cases, ", ")
	}
	return known, nil
}
