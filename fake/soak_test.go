package fakeapi_test

import (
	"flag"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// What failed is run again with -seed SEED. What the clients ask, and which faults there
// are, follows from it; in which order they get to it does not.
var (
	soakDuration = flag.Duration("duration", 2*time.Second, "for how long TestSoak goes on")
	soakSeed     = flag.Uint64("seed", 1, "seed of the first server of TestSoak")
)

// soakRounds are the rounds that a server lives for.
const soakRounds = 40

// A hundred clients do everything to a server and its replica, while faults come and go,
// history is forgotten and the replica lies behind; informers follow. After each round, when
// the trouble is over, what they saw is checked: that each object was linearizable, that the
// watches kept their promises, that whatever was read was there, that the informers are equal
// to the store, and that the server holds and counts what it should.
//
//	go test ./fake -run Soak -duration 10m
//
// -seed chooses another story. Time is virtual but for the duration, and a new server with the
// next seed takes over after 40 rounds.
func TestSoak(t *testing.T) {
	var over atomic.Bool
	timer := time.AfterFunc(soakTime(t), func() { over.Store(true) })
	defer timer.Stop()
	var total tally
	rounds := 0
	for seed := *soakSeed; rounds == 0 || !over.Load() && !t.Failed(); seed++ {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			rounds += soaked(t, seed, &total, over.Load)
		})
	}
	t.Logf("%d rounds, from -seed %d on", rounds, *soakSeed)
	if rounds >= 100 && !t.Failed() {
		requireCoverage(t, &total)
	}
}

// soakTime is the duration, or what -timeout leaves of it.
func soakTime(t *testing.T) time.Duration {
	d := *soakDuration
	if testing.Short() {
		d = min(d, time.Second)
	}
	if end, ok := t.Deadline(); ok {
		if left := time.Until(end) * 9 / 10; left < d {
			t.Logf("-timeout leaves %v of the duration", left)
			d = left
		}
	}
	return d
}

// soaked is the life of one server. It gives the number of its rounds.
func soaked(t *testing.T, seed uint64, total *tally, over func() bool) (rounds int) {
	outside, stop := outsideOf()
	defer stop()
	synctest.Test(t, func(t *testing.T) {
		s := newSoak(t, seed, total, outside)
		defer s.end()
		for s.round < soakRounds && (s.round == 0 || !over()) {
			complaints := s.play()
			rounds = s.round
			if len(complaints) > 0 {
				t.Errorf("rerun with -run 'TestSoak$' -seed %d -duration %v; in round %d:\n%s", seed, *soakDuration, s.round, inShort(complaints))
				return
			}
		}
		s.end()
		time.Sleep(time.Second) // the server notices
		if left := s.idle(0); len(left) > 0 {
			t.Errorf("at the end of -seed %d: %s", seed, inShort(left))
		}
	})
	return rounds
}

// outsideOf gives a way out of a bubble, for checks with a timeout of real time.
func outsideOf() (run func(func() []string) []string, stop func()) {
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

// inShort is the beginning of what there is to complain of.
func inShort(complaints []string) string {
	const most, longest = 12, 1500
	var b strings.Builder
	for i, c := range complaints {
		if i == most {
			fmt.Fprintf(&b, "and %d more\n", len(complaints)-most)
			break
		}
		if len(c) > longest {
			c = c[:longest] + " ..."
		}
		b.WriteString(c + "\n")
	}
	return b.String()
}

// requireCoverage fails if something has never occurred, so that a check of nothing is
// noticed.
func requireCoverage(t *testing.T, total *tally) {
	t.Helper()
	for _, rule := range soakFaults() {
		name, _, _ := strings.Cut(rule, ":")
		require.Positive(t, total.of("fault "+name), "the fault %s never hit", name)
	}
	for _, what := range []string{
		"expired", "lost", "sweep 200", "getscale 200", "scale 200", "scale 409", "status 200", "status 409", "strategic 200",
		"json 200", "merge 200", "merge 409", "apply 200", "apply 201", "put 200", "put 409", "create 201", "create 409", "delete 200", "delete 409",
		"onlooker's get", "onlooker's get at 0", "onlooker's exact list", "onlooker's streaming list", "onlooker's streaming list at 0",
		"sentry's ADDED", "sentry's MODIFIED", "sentry's DELETED", "sentry's BOOKMARK", "sentry's ERROR",
	} {
		require.Positive(t, total.of(what), "no %s has occurred", what)
	}
}
