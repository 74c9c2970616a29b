package soak

import (
	"flag"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/internal/dev/verify/harness"
)

// To rerun a seed that failed, use -seed SEED. The seed determines the requests of each client and
// the faults, but not the order of requests of different clients.
var (
	duration  = flag.Duration("duration", 2*time.Second, "for how long TestSoak goes on")
	firstSeed = flag.Uint64("seed", 1, "seed of the first server of TestSoak")
)

// roundsPerServer is the number of rounds that use the same server.
const roundsPerServer = 40

// TestSoak lets a hundred clients send all types of requests to a server and its replica, while
// faults are added and removed, history is forgotten and the replica lags behind. Informers run as
// well. After each round it checks that each object was linearizable, that watches kept their
// guarantees, that reads returned what was stored, that informers are equal to the store, and that
// the server holds and counts what it should.
//
//	go test ./internal/dev/verify/soak -run 'TestSoak$' -duration 10m
//
// -seed matches the random numbers. Time is virtual, except for the duration. After 40 rounds a new
// server is started with the next seed.
func TestSoak(t *testing.T) {
	var over atomic.Bool
	timer := time.AfterFunc(testDuration(t), func() { over.Store(true) })
	defer timer.Stop()
	var total harness.Counter
	rounds := 0
	for seed := *firstSeed; rounds == 0 || !over.Load() && !t.Failed(); seed++ {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			rounds += runServer(t, seed, &total, over.Load)
		})
	}
	t.Logf("%d rounds, from -seed %d", rounds, *firstSeed)
	if rounds >= 100 && !t.Failed() {
		requireCoverage(t, &total)
	}
}

// testDuration returns the duration, or 9/10 of the time until the test times out if that is less.
func testDuration(t *testing.T) time.Duration {
	d := *duration
	if testing.Short() {
		d = min(d, time.Second)
	}
	if end, ok := t.Deadline(); ok {
		if left := time.Until(end) * 9 / 10; left < d {
			t.Logf("the duration is limited to %v by -timeout", left)
			d = left
		}
	}
	return d
}

// runServer runs rounds with one server and returns their number.
func runServer(t *testing.T, seed uint64, total *harness.Counter, over func() bool) (rounds int) {
	outside, stop := startOutsideBubble()
	defer stop()
	synctest.Test(t, func(t *testing.T) {
		s := newEnvironment(t, seed, total, outside)
		defer s.close()
		for s.round < roundsPerServer && (s.round == 0 || !over()) {
			violations := s.runRound()
			rounds = s.round
			if len(violations) > 0 {
				t.Errorf("rerun with -run 'TestSoak$' -seed %d -duration %v; in round %d:\n%s", seed, *duration, s.round, summarize(violations))
				return
			}
		}
		s.close()
		time.Sleep(time.Second) // the server notices that the connections are closed
		if left := s.checkIdle(0); len(left) > 0 {
			t.Errorf("after the last round of -seed %d: %s", seed, summarize(left))
		}
	})
	return rounds
}

// startOutsideBubble returns a function that runs checks outside of a synctest bubble, where
// timeouts are of real time.
func startOutsideBubble() (run func(func() []string) []string, stop func()) {
	jobs, answers := make(chan func() []string), make(chan []string)
	go func() {
		for job := range jobs {
			answers <- job()
		}
	}()
	return func(job func() []string) []string {
		jobs <- job
		return <-answers
	}, func() { close(jobs) }
}

// summarize returns the first violations, shortened.
func summarize(violations []string) string {
	const most, longest = 12, 1500
	var b strings.Builder
	for i, c := range violations {
		if i == most {
			fmt.Fprintf(&b, "and %d more\n", len(violations)-most)
			break
		}
		if len(c) > longest {
			c = c[:longest] + " ..."
		}
		b.WriteString(c + "\n")
	}
	return b.String()
}

// requireCoverage fails the test if an operation, an outcome or a fault has never occurred.
func requireCoverage(t *testing.T, total *harness.Counter) {
	t.Helper()
	for _, rule := range faultRules() {
		name, _, _ := strings.Cut(rule, ":")
		require.Positive(t, total.Count("fault "+name), "the fault %s was never applied", name)
	}
	for _, what := range []string{
		"expired", "lost", "deletecollection 200", "getscale 200", "scale 200", "scale 409", "status 200", "status 409", "strategic 200",
		"json 200", "merge 200", "merge 409", "apply 200", "apply 201", "put 200", "put 409", "create 201", "create 409", "delete 200", "delete 409",
		"reader's get", "reader's get at 0", "reader's exact list", "reader's streaming list", "reader's streaming list at 0",
		"watcher's ADDED", "watcher's MODIFIED", "watcher's DELETED", "watcher's BOOKMARK", "watcher's ERROR",
	} {
		require.Positive(t, total.Count(what), "%s never occurred", what)
	}
}
