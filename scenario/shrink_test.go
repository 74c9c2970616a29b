package scenario

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func configMapManifest(name, data string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", labels: {a: b}}\ndata: {" + data + "}\n"
}

// containsLines is a failure that comes from lines: it is there as long as they are.
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

// What is left is what the failure and the steps that show it need.
func TestShrink(t *testing.T) {
	for name, test := range map[string]struct {
		text  string
		fails func([]Step) bool
		want  string
	}{
		"nothing":          {"compact\nexpire\n", func([]Step) bool { return true }, ""},
		"it does not fail": {"compact\nexpire\n", func([]Step) bool { return false }, "compact\nexpire\n"},
		"what a deletion needs": {"apply a\napply b\ncompact\ndelete cm/a\nadvance 1h\n", containsLines("delete cm/a", "advance"),
			"apply a\ndelete cm/a\nadvance 1s\n"},
		"a namespace": {"apply ns\napply x\nexpire\n", containsLines("apply x"), "apply ns\napply x\n"},
		"a watch":     {"watch w cm\nwatch v cm\ncompact\nexpect events w\n", containsLines("expect events w"), "watch w cm\nexpect events w\n"},
		// All that happened to the collection is in the events.
		"events": {"watch w cm\napply a\nexpect events w ADDED a\n", containsLines("expect events w"), "watch w cm\napply a\nexpect events w ADDED a\n"},
		// The state that an expectation is about stays, how it came about does not.
		"an object": {"apply b\napply a\napply b\nexpect cm/b data.k=1 kind=ConfigMap\n", containsLines("expect cm/b"), "apply b\nexpect cm/b\n"},
		"a list":    {"apply a\napply b\ndelete cm/b\nexpect list cm a\n", containsLines("expect list cm"), "apply a\nexpect list cm a\n"},
		// A client that runs stays.
		"clients": {"run mine\ncompact\nexpect done mine\n", containsLines("expect done"), "run mine\nexpect done mine\n"},
		// No rule is in force longer than it was.
		"rules": {"fault f: when verb(get) do reset\nclear faults\nfault g: when verb(get) && first(9) do delay(1m), reset\nexpect hits f 0\nexpire\n",
			containsLines("expect hits f", "fault g"), "fault f: when always do reset\nclear faults\nfault g: when always do reset\nexpect hits f 0\n"},
		"inside": {"eventually 10m expect error NotFound delete cm/b\nadvance 90s\n", containsLines("eventually 10m0s expect error", "advance"),
			"eventually 10m0s expect error NotFound delete cm/b\nadvance 1s\n"},
		// What was written in parts is there with all its parts.
		"parts": {"create a\npatch cm/a {data: {k: \"1\", l: \"2\"}}\napply a --server-side --force\nexpect cm/a data.k=1\nexpire\n", containsLines("expect cm/a"),
			"create a\npatch cm/a {\"data\":{\"k\":\"1\",\"l\":\"2\"}}\napply a --server-side --force\nexpect cm/a\n"},
		"a patch":                             {"create a\npatch cm/a {data: {k: \"1\", l: \"2\"}}\ncompact\n", containsLines("patch cm/a"), "create a\npatch cm/a {\"data\":{}}\n"},
		"an update that is like the creation": {"create a\npatch cm/a {data: {k: w}}\nupdate a\nexpect cm/a\n", containsLines("expect cm/a"), "create a\nexpect cm/a\n"},
		"what is not needed": {"create a\npatch cm/a {data: {k: w}}\nupdate a\napply a --server-side\nskew 1h\nskew 0s\nnot ready 1m\nnot ready 0s\n" +
			"shutdown\nrestart 5s\nfeature WatchList off\nfeature WatchList on\ndiscovery hide apps\ndiscovery reset\nexpire token x\ncompact\n", containsLines("compact"), "compact\n"},
		// Nobody is left in trouble that was over.
		"down":      {"shutdown\nrestart 1m\nexpect list cm\nexpire\n", containsLines("shutdown", "expect list"), "shutdown\nrestart\nexpect list cm\n"},
		"not ready": {"not ready 1m\nnot ready 0s\nwatch w cm\n", containsLines("not ready 1", "watch w"), "not ready 1s\nnot ready 0s\nwatch w cm\n"},
		"on b": {"replica b\non b shutdown\nrestart\non b restart 1m\non b expect list cm\n", containsLines("on b shutdown", "on b expect list"),
			"replica b\non b shutdown\non b restart\non b expect list cm\n"},
		"skew": {"skew 1h\nskew 1m\nskew 0s\napply a\n", containsLines("skew 1h", "apply a"), "skew 1h0m0s\nskew 1m0s\nskew 0s\napply a\n"},
		"discovery": {"discovery hide apps batch\ndiscovery fail apps\ndiscovery reset batch\nexpect list cm\n", containsLines("discovery hide", "expect list"),
			"discovery hide batch\ndiscovery reset batch\nexpect list cm\n"},
		"feature": {"feature WatchList off\nfeature WatchList on\nwatch w cm\n", containsLines("feature WatchList off", "watch w"),
			"feature WatchList off\nfeature WatchList on\nwatch w cm\n"},
		"ends":   {"watch w cm\nnot ready 1m\nexpect events w END\n", containsLines("expect events w"), "watch w cm\nnot ready 1s\nexpect events w END\n"},
		"always": {"apply a\ndelete cm/a\nadvance 1m\nalways 10m expect absent cm/a\n", containsLines("always"), "apply a\ndelete cm/a\nalways 10m0s expect absent cm/a\n"},
	} {
		files := ""
		for _, f := range []struct{ name, data string }{
			{"a", configMapManifest("a", "k: v")}, {"b", configMapManifest("b", "k: '1'")}, {"x", manifestIn("x")},
			{"ns", "apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n"},
		} {
			if regexp.MustCompile(`(apply|create|update) ` + f.name + `\b`).MatchString(test.text) {
				files += "-- " + f.name + " --\n" + f.data
			}
		}
		steps, err := Parse(test.text + files)
		require.NoError(t, err, name)
		runs := 0
		small := Shrink(steps, func(steps []Step) bool { runs++; return test.fails(steps) })
		text := ""
		for _, s := range small {
			text += s.String() + "\n"
		}
		require.Equal(t, test.want, text, name)
		require.LessOrEqual(t, runs, shrinkRuns)
		require.Equal(t, small, Shrink(steps, test.fails), name)
	}
}

func manifestIn(namespace string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: " + namespace + "}\n"
}

// Objects lose what the failure does not need, but their names.
func TestShrinkObjects(t *testing.T) {
	steps := []Step{Apply("all", configMapManifest("a", "k: v, much: aaaaaaaaaaaaaaaaaaaaaaaa")+"---\n"+configMapManifest("b", "k: v")), Expire()}
	small := Shrink(steps, func(steps []Step) bool {
		for _, s := range steps {
			if a, ok := s.(apply); ok {
				return strings.Contains(a.manifest, "much")
			}
		}
		return false
	})
	require.Equal(t, []Step{Apply("all", "apiVersion: v1\ndata:\n  much: x\nkind: ConfigMap\nmetadata:\n  name: a\n")}, small)
}

// Two steps with one file do not get two contents.
func TestShrinkKeepsFilesAlike(t *testing.T) {
	steps := []Step{Apply("a", configMapManifest("a", "k: v")), Advance(time.Minute), Apply("a", configMapManifest("a", "k: v"))}
	small := Shrink(steps, func(steps []Step) bool { return len(steps) == 3 })
	_, err := Print(small...)
	require.NoError(t, err)
	require.Equal(t, Advance(time.Second), small[1])
}

// However long it goes on, there is an end.
func TestShrinkIsBounded(t *testing.T) {
	var steps []Step
	for range 600 {
		steps = append(steps, Advance(time.Hour))
	}
	runs := 0
	Shrink(steps, func(steps []Step) bool { runs++; return runs == 1 })
	require.Equal(t, shrinkRuns, runs)
}
