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
func (e *environment) runRound() []string {
	e.round++
	e.quiet.Store(false)
	var clients, injector sync.WaitGroup
	over := make(chan struct{})
	injector.Go(func() { e.faults.run(over) })
	for _, g := range e.groups {
		for _, c := range g.clients {
			clients.Go(func() {
				for range e.opsPerRound {
					time.Sleep(time.Duration(c.Rand.IntN(6)) * 2 * time.Millisecond) // coarse, so that requests overlap
					c.DoRandom()
				}
			})
		}
	}
	for _, r := range e.readers {
		clients.Go(func() {
			for range e.opsPerRound {
				time.Sleep(time.Duration(r.rng.IntN(6)) * 2 * time.Millisecond)
				r.readOnce()
			}
		})
	}
	clients.Wait()
	close(over)
	injector.Wait()
	e.quiet.Store(true)
	time.Sleep(time.Second) // delayed responses and events have arrived
	return e.checkRound()
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
func (e *environment) checkRound() (violations []string) {
	f := finalState{kinds: e.kinds, start: e.roundStart.Load(), end: e.revision(), initial: e.initial, final: e.listAll(), groups: e.groups, forgottenAt: e.forgottenAt}
	if f.end > historyLimit {
		f.forgottenAt = append(slices.Clone(f.forgottenAt), f.end-historyLimit)
	}
	if !waitUntil(10*time.Second, func() bool { return e.recorder.count() >= f.end-f.start }) {
		violations = append(violations, fmt.Sprintf("missing: %d changes were seen, there are more from revision %d to %d", e.recorder.count(), f.start, f.end))
	}
	violations = append(violations, e.checkCaughtUp(f)...)
	e.collect(&f)
	violations = append(violations, e.errors.Drain()...)
	violations = append(violations, e.outsideBubble(f.check)...)
	if len(violations) > 0 {
		return violations // the other checks would fail as a consequence
	}
	violations = append(violations, e.checkResourceUsage()...)
	violations = append(violations, e.checkMetrics(f.final)...)
	violations = append(violations, e.checkHistoryLimit(f.end)...)
	e.startNextRound(f)
	return violations
}

// checkCaughtUp returns a violation for each watcher and informer that does not see the newest
// state in three minutes.
func (e *environment) checkCaughtUp(f finalState) (violations []string) {
	waitUntil(3*time.Minute, func() bool {
		violations = nil
		for _, w := range e.watchers {
			if pos, ok := w.caughtUpTo(f.end); !ok {
				violations = append(violations, fmt.Sprintf("lost: %s has no events after %d, the store is at %d", w.name, pos, f.end))
			}
		}
		for _, i := range e.informers {
			if why := i.differences(f.final[i.kind.Name]); why != "" {
				violations = append(violations, why)
			}
		}
		return len(violations) == 0
	})
	return violations
}

// collect takes the logs, reads and events of the round from the clients.
func (e *environment) collect(f *finalState) {
	f.watchLogs = map[string][]watchguarantees.WatchLog{}
	for _, w := range e.watchers {
		f.watchLogs[w.encoding.Kind.Name] = append(f.watchLogs[w.encoding.Kind.Name], w.drain())
	}
	for _, r := range e.readers {
		f.reads = append(f.reads, r.reads...)
		r.reads = nil
	}
	f.events = e.recorder.drain()
}

// startNextRound makes the state at the end of this round the initial state of the next.
func (e *environment) startNextRound(f finalState) {
	for _, g := range e.groups {
		for _, op := range g.History {
			e.counter.Add(linearizability.Outcome(op.Input.(linearizability.Request), op.Output.(linearizability.Response)))
		}
		g.History = nil
		for key, now := range g.statesIn(f.final, f.end) {
			g.initialStates[key] = now
		}
	}
	e.roundStart.Store(f.end)
	linearizability.StoreMax(&e.newestRevision, f.end)
	e.initial, e.forgottenAt = f.final, nil
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
func (f finalState) check() (violations []string) {
	writes := writesFrom(f.events)
	records := map[string]*watchguarantees.History{}
	for _, k := range f.kinds {
		h, wrong := watchguarantees.NewHistory(k.Name, f.initial[k.Name], f.start, f.end, writes)
		h.ForgottenAt = f.forgottenAt
		records[k.Name] = h
		violations = append(violations, wrong...)
		if want := h.ObjectsAt(f.end, func(harness.Object) bool { return true }); !slices.EqualFunc(want, f.final[k.Name], harness.Object.Equal) {
			violations = append(violations, fmt.Sprintf("wrong final state: the server has %v, the history has %v", f.final[k.Name], want))
		}
		for _, change := range h.Changes {
			violations = append(violations, checkInvariants(k, change)...)
		}
	}
	var history []porcupine.Operation
	for _, g := range f.groups {
		history = append(history, g.History...)
		violations = append(violations, checkWrites(g.Namespace, g.History, g.writesIn(records))...)
		violations = append(violations, g.checkLinearizable(g.statesIn(f.final, f.end), f.end)...)
	}
	violations = append(violations, linearizability.CheckRevisions(history)...)
	violations = append(violations, checkReads(records, f.reads)...)
	return append(violations, checkWatches(records, f.watchLogs)...)
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
func (e *environment) close() {
	e.recorder.close()
	for _, w := range e.watchers {
		w.close()
	}
	for _, i := range e.informers {
		i.close()
	}
	for _, transport := range e.transports {
		transport.next.CloseIdleConnections()
	}
}
