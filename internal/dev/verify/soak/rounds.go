package soak

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"example.com/fakeapi/internal/dev/verify/harness"
	"example.com/fakeapi/internal/dev/verify/linearizability"
	"example.com/fakeapi/internal/dev/verify/watchguarantees"
)

// runRound runs one round: all clients send requests while faults are injected. Then it checks the
// results and returns the violations.
func (s *environment) runRound() []string {
	s.round++
	s.quiet.Store(false)
	var clients, injector sync.WaitGroup
	over := make(chan struct{})
	injector.Go(func() { s.faults.run(over) })
	for _, g := range s.groups {
		for _, c := range g.clients {
			clients.Go(func() {
				for range s.opsPerRound {
					time.Sleep(time.Duration(c.Rand.IntN(6)) * 2 * time.Millisecond) // coarse, so that requests overlap
					c.DoRandom()
				}
			})
		}
	}
	for _, o := range s.readers {
		clients.Go(func() {
			for range s.opsPerRound {
				time.Sleep(time.Duration(o.rng.IntN(6)) * 2 * time.Millisecond)
				o.readOnce()
			}
		})
	}
	clients.Wait()
	close(over)
	injector.Wait()
	s.quiet.Store(true)
	time.Sleep(time.Second) // delayed responses and events have arrived
	return s.checkRound()
}

// finalState is what the checks of a round use.
type finalState struct {
	kinds          []harness.Kind
	start, end     uint64
	initial, final map[string][]harness.Object
	events         map[string][]harness.Event
	forgottenAt    []uint64
	groups         []*group
	watchLogs      map[string][]watchguarantees.WatchLog
	reads          []read
}

// checkRound waits until all clients have seen all changes, and checks what they saw.
func (s *environment) checkRound() (violations []string) {
	x := finalState{kinds: s.kinds, start: s.roundStart.Load(), end: s.revision(), initial: s.initial, final: s.listAll(), groups: s.groups, forgottenAt: s.forgottenAt}
	if x.end > historyLimit {
		x.forgottenAt = append(slices.Clone(x.forgottenAt), x.end-historyLimit)
	}
	if !waitUntil(10*time.Second, func() bool { return s.recorder.count() >= x.end-x.start }) {
		violations = append(violations, fmt.Sprintf("missing: %d changes were seen, there are more from revision %d to %d", s.recorder.count(), x.start, x.end))
	}
	violations = append(violations, s.checkCaughtUp(x)...)
	s.collect(&x)
	violations = append(violations, s.errors.Drain()...)
	violations = append(violations, s.outsideBubble(x.check)...)
	if len(violations) > 0 {
		return violations // the other checks would fail as a consequence
	}
	violations = append(violations, s.checkResourceUsage()...)
	violations = append(violations, s.checkMetrics(x.final)...)
	violations = append(violations, s.checkHistoryLimit(x.end)...)
	s.startNextRound(x)
	return violations
}

// checkCaughtUp returns a violation for each watcher and informer that does not see the newest
// state in three minutes.
func (s *environment) checkCaughtUp(x finalState) (violations []string) {
	waitUntil(3*time.Minute, func() bool {
		violations = nil
		for _, o := range s.watchers {
			if pos, ok := o.caughtUpTo(x.end); !ok {
				violations = append(violations, fmt.Sprintf("lost: %s has no events after %d, the store is at %d", o.name, pos, x.end))
			}
		}
		for _, i := range s.informers {
			if why := i.differences(x.final[i.kind.Name]); why != "" {
				violations = append(violations, why)
			}
		}
		return len(violations) == 0
	})
	return violations
}

// collect takes the logs, reads and events of the round from the clients.
func (s *environment) collect(x *finalState) {
	x.watchLogs = map[string][]watchguarantees.WatchLog{}
	for _, o := range s.watchers {
		x.watchLogs[o.encoding.Kind.Name] = append(x.watchLogs[o.encoding.Kind.Name], o.drain())
	}
	for _, o := range s.readers {
		x.reads = append(x.reads, o.reads...)
		o.reads = nil
	}
	x.events = s.recorder.drain()
}

// startNextRound makes the state at the end of this round the initial state of the next.
func (s *environment) startNextRound(x finalState) {
	for _, g := range s.groups {
		for _, op := range g.History {
			s.counter.Add(linearizability.Outcome(op.Input.(linearizability.Request), op.Output.(linearizability.Response)))
		}
		g.History = nil
		for key, now := range g.statesIn(x.final, x.end) {
			g.initialStates[key] = now
		}
	}
	s.roundStart.Store(x.end)
	linearizability.StoreMax(&s.newestRevision, x.end)
	s.initial, s.forgottenAt = x.final, nil
}

// statesIn returns the states of the objects of the group, from a list of all objects.
func (g *group) statesIn(there map[string][]harness.Object, last uint64) map[string]linearizability.State {
	states := map[string]linearizability.State{}
	for _, key := range g.Keys() {
		states[key] = linearizability.Absent(last)
	}
	for _, o := range there[g.Kind.Name] {
		namespace, key, _ := strings.Cut(o.Key, "/")
		if namespace != g.Namespace {
			continue
		}
		uid, content, err := linearizability.ParseObject(o.Content)
		if err != nil {
			panic(err) // ObjectFrom has written it
		}
		states[key] = linearizability.State{Exists: true, UID: uid, ResourceVersion: o.Revision, NextRevision: last + 1, Content: content}
	}
	return states
}

// check compares what the clients saw with the history and the model.
func (x finalState) check() (violations []string) {
	writes := writesFrom(x.events)
	records := map[string]*watchguarantees.History{}
	for _, k := range x.kinds {
		c, wrong := watchguarantees.NewHistory(k.Name, x.initial[k.Name], x.start, x.end, writes)
		c.ForgottenAt = x.forgottenAt
		records[k.Name] = c
		violations = append(violations, wrong...)
		if want := c.ObjectsAt(x.end, func(harness.Object) bool { return true }); !slices.EqualFunc(want, x.final[k.Name], harness.Object.Equal) {
			violations = append(violations, fmt.Sprintf("wrong final state: the server has %v, the history has %v", x.final[k.Name], want))
		}
		for _, change := range c.Changes {
			violations = append(violations, checkInvariants(k, change)...)
		}
	}
	var history []porcupine.Operation
	for _, g := range x.groups {
		history = append(history, g.History...)
		violations = append(violations, checkWrites(g.Namespace, g.History, g.writesIn(records))...)
		violations = append(violations, g.checkLinearizable(g.statesIn(x.final, x.end), x.end)...)
	}
	violations = append(violations, linearizability.CheckRevisions(history)...)
	violations = append(violations, checkReads(records, x.reads)...)
	return append(violations, checkWatches(records, x.watchLogs)...)
}

// writesIn returns the writes to the objects of the group.
func (g *group) writesIn(records map[string]*watchguarantees.History) (writes []watchguarantees.Write) {
	for _, c := range records[g.Kind.Name].Changes {
		if !strings.HasPrefix(c.Key, g.Namespace+"/") {
			continue
		}
		switch {
		case c.Old == nil:
			writes = append(writes, watchguarantees.Write{Object: *c.New, Verb: "create"})
		case c.New == nil:
			gone := *c.Old
			gone.Revision = c.Revision
			writes = append(writes, watchguarantees.Write{Object: gone, Verb: "delete"})
		default:
			writes = append(writes, watchguarantees.Write{Object: *c.New, Verb: "update"})
		}
	}
	return writes
}

// checkLinearizable returns a violation for each object for which no order of the requests explains
// the responses and the state at the end.
func (g *group) checkLinearizable(ends map[string]linearizability.State, last uint64) (violations []string) {
	history := slices.Clone(g.History)
	for key, end := range ends {
		resp := linearizability.Response{Code: http.StatusOK, HasObject: end.Exists, UID: end.UID, ResourceVersion: end.ResourceVersion, Content: end.Content, ListRevision: last}
		history = append(history, porcupine.Operation{ClientId: -1, Input: linearizability.Request{Key: key, Verb: "list"}, Output: resp, Call: linearizability.Pending - 2, Return: linearizability.Pending - 1})
	}
	for _, part := range linearizability.PartitionByKey(history) {
		key := part[0].Input.(linearizability.Request).Key
		m := linearizability.Model(g.initialStates[key])
		result, info := porcupine.CheckOperationsVerbose(m, part, time.Minute)
		if result != porcupine.Ok {
			violations = append(violations, fmt.Sprintf("not linearizable (%s): %s %s/%s, which began as %+v:\n%s", result, g.Kind.Plural, g.Namespace, key, g.initialStates[key], linearizability.DescribeFailure(part, info)))
		}
	}
	return violations
}

// close stops all clients.
func (s *environment) close() {
	s.recorder.close()
	for _, o := range s.watchers {
		o.close()
	}
	for _, x := range s.informers {
		x.close()
	}
	for _, g := range s.transports {
		g.next.CloseIdleConnections()
	}
}
