package scenario

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func configMapManifest(name, data string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", labels: {a: b}}\ndata: {" + data + "}\n"
}

// containsLines returns a function that reports whether the text of steps has certain lines.
func containsLines(lines ...string) func([]Step) bool {
	return func(steps []Step) bool {
		text := "\n"
		for _, s := range steps {
			text += s.String() + "\n"
		}
		for _, line := range lines {
			if !strings.Contains(text, "\n"+line) {
				return false
			}
		}
		return true
	}
}

func TestShrink(t *testing.T) {
	for name, test := range map[string]struct {
		text  string
		fails func([]Step) bool
		want  string
	}{
		"always fails": {"compact\nexpire\n", func([]Step) bool { return true }, ""},
		"never fails":  {"compact\nexpire\n", func([]Step) bool { return false }, "compact\nexpire\n"},
		"durations": {"not ready 1m\nadvance 1h\nrestart 5s\n", containsLines("not ready", "advance", "restart"),
			"not ready 1s\nadvance 1s\nrestart\n"},
		"rules":  {"fault f: when verb(get) && first(9) do delay(1m), reset\nexpire\n", containsLines("fault f"), "fault f: when always do reset\n"},
		"fields": {"expect cm/b data.k=1 kind=ConfigMap\n", containsLines("expect cm/b"), "expect cm/b\n"},
		"patch":  {"patch cm/a {data: {k: \"1\", l: \"2\"}}\ncompact\n", containsLines("patch cm/a"), "patch cm/a {\"data\":{}}\n"},
		"groups": {"discovery hide apps batch\ndiscovery reset\n", containsLines("discovery hide"), "discovery hide batch\n"},
		// The durations of eventually and always stay the same.
		"inner steps": {"eventually 10m on b advance 90s\nalways 10m on b advance 90s\n", containsLines("eventually", "always"),
			"eventually 10m0s on b advance 1s\nalways 10m0s on b advance 1s\n"},
	} {
		steps, err := Parse(test.text)
		require.NoError(t, err, name)
		require.Equal(t, test.want, shrunk(t, steps, test.fails), name)
	}
}

// shrunk returns the lines of the steps that Shrink returns.
func shrunk(t *testing.T, steps []Step, fails func([]Step) bool) (text string) {
	t.Helper()
	runs := 0
	small := Shrink(steps, func(steps []Step) bool { runs++; return fails(steps) })
	for _, s := range small {
		text += s.String() + "\n"
	}
	require.LessOrEqual(t, runs, maxShrinkRuns, text)
	require.Equal(t, small, Shrink(steps, fails), text)
	return text
}

// Scenarios that run and fail are shrunk to the steps that the failure needs. Each text has further
// steps before, between and after these.
func TestShrinkFailures(t *testing.T) {
	const (
		fileA = "-- a --\n" + manifest + "data: {k: v}\n"
		fileB = "-- b --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n"
	)
	for name, test := range map[string]struct{ text, failure, want string }{
		"deletion": {"apply b\nwatch w cm\napply a\ncompact\ndelete cm/a\nadvance 1h\nexpect events w ADDED b ADDED a\nexpire\n" + fileA + fileB,
			"saw [ADDED b ADDED a DELETED a END]", "apply b\nwatch w cm\napply a\ndelete cm/a\nadvance 1h0m0s\nexpect events w ADDED b ADDED a\n"},
		"update": {"create a\napply b\npatch cm/a {data: {k: w, l: x}}\nskew 1h\nskew 0s\nexpect cm/a data.k=v metadata.name=a\n" + fileA + fileB,
			"expected data.k=v; saw data.k=w", "create a\npatch cm/a {\"data\":{\"k\":\"w\"}}\nexpect cm/a data.k=v\n"},
		"rule": {"apply a\nwatch w cm\nfault f: when verb(get) do status(403)\nfault g: when verb(list) do reset\nclear fault g\n" +
			"expect error 403 expect cm/a\nclear faults\napply b\nexpect hits f 0\n" + fileA + fileB, "expected 0 hits of rule f",
			"fault f: when verb(get) do status(403)\nexpect error 403 expect cm/a\nexpect hits f 0\n"},
		"client": {"replica b\nfreeze b\napply a\nrun polls\nadvance 2s\nswitch polls b\ncatch up b\nexpect requests polls \" on b\" 0 --in 1m\nstop polls\n" + fileA,
			"saw 60", "replica b\nrun polls\nswitch polls b\nexpect requests polls \" on b\" 0 --in 1m0s\n"},
		"watch end": {"watch w cm\nnot ready 1m\nnot ready 0s\nfeature WatchList off\nexpect events w\n", "expected of watch w []; saw [END]",
			"watch w cm\nnot ready 1s\nexpect events w\n"},
		"shutdown": {"apply a\nshutdown\nsnapshot s\nrestart 1m\nexpect list cm a\nrestore s\n" + fileA, "503 ServiceUnavailable",
			"restart 1m0s\nexpect list cm a\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			steps, err := Parse(test.text)
			require.NoError(t, err)
			require.Equal(t, test.want, shrunk(t, steps, func(steps []Step) bool {
				_, err := playInBubble(Config{Clients: badClients()}, newScript(steps))
				return err != nil && strings.Contains(err.Error(), test.failure)
			}))
		})
	}
}

// Objects lose the fields that the failure does not need, but keep their names, in all steps that
// write manifests.
func TestShrinkObjects(t *testing.T) {
	big := configMapManifest("a", "k: v, much: aaaaaaaaaaaaaaaaaaaaaaaa") + "---\n" + configMapManifest("b", "k: v")
	for _, step := range []func(manifest string) Step{
		func(manifest string) Step { return Apply("all", manifest) },
		func(manifest string) Step { return ServerSideApply("all", manifest, "ann", true) },
		func(manifest string) Step { return Create("all", manifest) },
		func(manifest string) Step { return UpdateSubresource("all", manifest, "status") },
		func(manifest string) Step { return AtHit("w", Update("all", manifest)) },
	} {
		small := Shrink([]Step{step(big), Expire()}, func(steps []Step) bool {
			return slices.ContainsFunc(steps, func(s Step) bool {
				return slices.ContainsFunc(filesOf(s), func(f file) bool { return strings.Contains(f.data, "much") })
			})
		})
		require.Equal(t, []Step{step("apiVersion: v1\ndata:\n  much: x\nkind: ConfigMap\nmetadata:\n  name: a\n")}, small)
	}
}

// Two steps with the same file do not get different contents.
func TestShrinkSharedFile(t *testing.T) {
	steps := []Step{Apply("a", configMapManifest("a", "k: v")), Advance(time.Minute), Apply("a", configMapManifest("a", "k: v"))}
	small := Shrink(steps, func(steps []Step) bool { return len(steps) == 3 })
	_, err := Print(small...)
	require.NoError(t, err)
	require.Equal(t, Advance(time.Second), small[1])
}

// The number of runs is limited.
func TestShrinkLimit(t *testing.T) {
	var steps []Step
	for range 600 {
		steps = append(steps, Advance(time.Hour))
	}
	runs := 0
	Shrink(steps, func(steps []Step) bool { runs++; return runs == 1 })
	require.Equal(t, maxShrinkRuns, runs)
}
