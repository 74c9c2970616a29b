package fakeapi_test

import (
	"flag"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

// A seed that failed is run again with -linearizable.first=SEED
// -linearizable.seeds=1. What the clients ask follows from it; in which order
// they get to it does not.
var (
	linearizableFirst = flag.Uint64("linearizable.first", 0, "first seed of TestLinearizable")
	linearizableSeeds = flag.Uint64("linearizable.seeds", 12, "number of seeds of TestLinearizable")
)

// Whatever a number of clients do to an object at the same time, there is an
// order in which they could have done it one after the other, each between its
// request and its reply, so that all were told what they were: a success is seen
// by everybody who asks later, and of those who write the same state one wins and
// the others get a Conflict (OC-02, OC-08, OC-14, OC-15). Reads of "any" state are
// left out: they may be old.
func TestLinearizable(t *testing.T) {
	seeds := *linearizableSeeds
	if testing.Short() {
		seeds = min(seeds, 4)
	}
	var total tally
	t.Run("seeds", func(t *testing.T) {
		for seed := *linearizableFirst; seed < *linearizableFirst+seeds; seed++ {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				linearizable(t, seed, &total)
			})
		}
	})
	if seeds < 12 {
		return // too few for everything to occur
	}
	require.Positive(t, total.of("lost"), "no reply was lost")
	for _, verb := range []string{"create", "get", "list", "put", "merge", "json", "apply", "delete"} {
		for _, outcome := range outcomesOf(verb) {
			require.Positive(t, total.of(fmt.Sprint(verb, outcome)), "no %s was answered with %s", verb, outcome)
		}
	}
}

// outcomesOf are the answers that a verb must have had for the test to mean much.
func outcomesOf(verb string) []string {
	switch verb {
	case "create":
		return []string{" 201", " 409", " 201 dry", " 409 dry"}
	case "get":
		return []string{" 200", " 404"}
	case "list":
		return []string{" 200", " 200 empty"}
	case "json":
		return []string{" 200", " 404", " 422", " 200 dry"}
	case "apply":
		return []string{" 200", " 201", " 200 dry", " 201 dry"}
	}
	return []string{" 200", " 404", " 409", " 200 dry", " 409 dry"}
}

// linearizable runs one seed: each kind over TCP and in memory, and half of them
// with replies that are lost after the commit.
func linearizable(t *testing.T, seed uint64, total *tally) {
	var opts []fakeapi.Option
	if seed%2 == 0 {
		opts = append(opts, fakeapi.WithInMemoryNetwork())
	}
	srv := fakeapi.Start(t, opts...)
	r := newArena(t, arenaKinds()[seed%3])
	r.losing = seed/2%2 == 0
	if r.losing {
		_, err := srv.Faults().AddText(fmt.Sprintf(
			"lost: when during(committed) && verb(create,update,patch,delete) && chance(0.05, %d) do reset", seed))
		require.NoError(t, err)
	}
	begin, err := strconv.ParseUint(srv.ResourceVersion(), 10, 64)
	require.NoError(t, err)
	r.fight(seed, 8+int(seed%9), 30, door{srv.URL(), srv.Client()})
	for _, op := range r.history {
		total.add(outcome(op.Input.(question), op.Output.(tell)))
	}
	require.Empty(t, stamped(r.history))
	result, info := porcupine.CheckOperationsVerbose(model(nothing(begin)), r.history, time.Minute)
	if result == porcupine.Ok {
		return
	}
	file := filepath.Join(t.ArtifactDir(), "history.html")
	require.NoError(t, porcupine.VisualizePath(model(nothing(begin)), info, file))
	t.Errorf("%s. Rerun with -run TestLinearizable -linearizable.first=%d -linearizable.seeds=1 -artifacts and see %s\n%s",
		result, seed, file, stuck(r.history, info))
}

// stuck shows the end of the longest order that was found for each key, and what
// could not follow.
func stuck(history []porcupine.Operation, info porcupine.LinearizationInfo) string {
	var b strings.Builder
	for _, part := range info.PartialLinearizationsOperations() {
		var longest []porcupine.Operation
		for _, order := range part {
			if len(order) > len(longest) {
				longest = order
			}
		}
		if len(longest) == 0 {
			continue
		}
		key, placed := longest[0].Input.(question).key, map[int64]bool{}
		for i, op := range longest {
			if placed[op.Call] = true; i >= len(longest)-5 {
				fmt.Fprintf(&b, "%s: in order: %s\n", key, shownOperation(op))
			}
		}
		left := 0
		for _, op := range history {
			if op.Input.(question).key == key && !placed[op.Call] && left < 10 {
				fmt.Fprintf(&b, "%s: then not: %s\n", key, shownOperation(op))
				left++
			}
		}
	}
	return b.String()
}

func shownOperation(op porcupine.Operation) string {
	return fmt.Sprintf("[%d, %d] client %d: %+v -> %+v", op.Call, op.Return, op.ClientId, op.Input, op.Output)
}

// outcome names an answer for the tally.
func outcome(q question, a tell) string {
	what := fmt.Sprint(q.verb, " ", a.code)
	switch {
	case a.code == 0:
		return "lost"
	case q.verb == "list" && a.code == http.StatusOK && !a.object:
		what += " empty"
	}
	if q.dry {
		what += " dry"
	}
	return what
}
