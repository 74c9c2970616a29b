package soak

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"
)

// injectedMessage is the message of a 410 from a fault.
const injectedMessage = "injected"

// expectedFailure reports whether a code is from a fault. With 429, 503 and 504 the request was not
// carried out, with 500 the response was replaced.
func expectedFailure(code int) (lost, undone bool) {
	switch code {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return false, true
	case http.StatusInternalServerError:
		return true, false
	}
	return false, false
}

// faultRules are the rules that are added and removed. They may discard responses, but never change
// one into a wrong one. SEED is replaced by a random number.
func faultRules() []string {
	const (
		clients = `!userAgent(` + faultFreeAgent + `) && `
		writes  = clients + `verb(create,update,patch,delete,deletecollection) && `
		reads   = clients + `verb(get,list) && `
		events  = clients + `during(stream) && `
		changes = events + `event(ADDED,MODIFIED,DELETED) && `
		often   = `chance(0.1, SEED) do `
		seldom  = `chance(0.03, SEED) do `
	)
	return []string{
		`lost-response: when ` + writes + `during(committed) && ` + often + `reset`,
		`reset-write: when ` + writes + `during(before) && ` + often + `reset`,
		`truncated-response: when ` + writes + `during(committed) && ` + often + `truncate(40)`,
		`replaced-response: when ` + writes + `during(committed) && ` + often + `status(500)`,
		`delayed-response: when ` + writes + `during(committed) && ` + often + `delay(30ms)`,
		`delayed-write: when ` + writes + `during(before) && ` + often + `jitter(30ms, SEED)`,
		`too-many-requests: when ` + clients + `during(before) && !verb(watch) && ` + often + `status(429, retryAfter(1s))`,
		`too-large-resource-version: when ` + reads + `during(before) && ` + often + `status(504, Timeout, "Too large resource version", retryAfter(1s), cause(ResourceVersionTooLarge, "Too large resource version", ""))`,
		`truncated-list: when ` + reads + `during(committed) && ` + often + `truncate(100)`,
		`slow-list: when ` + reads + `during(committed) && ` + often + `throttle(2000, 5ms)`,
		`expired-continue: when ` + clients + `verb(list) && query(continue) && during(before) && ` + often + `status(410, Expired, ` + injectedMessage + `)`,
		`expired-watch: when ` + clients + `verb(watch) && query(resourceVersion) && !query(sendInitialEvents) && during(before) && ` + often + `error(410, Expired, ` + injectedMessage + `)`,
		`unavailable-watch: when ` + clients + `verb(watch) && during(before) && ` + often + `status(503, retryAfter(1s))`,
		`error-event: when ` + events + seldom + `error(410, Expired, ` + injectedMessage + `)`,
		`reset-stream: when ` + changes + seldom + `reset`,
		`truncated-event: when ` + changes + seldom + `truncate(30)`,
		`ended-stream: when ` + changes + seldom + `end`,
		`delayed-event: when ` + events + often + `delay(20ms)`,
		`no-bookmarks: when ` + events + `event(BOOKMARK) && !initialEventsEnd do drop`,
		`lost-initial-events-end: when ` + events + `initialEventsEnd && ` + often + `reset`,
	}
}

// faultInjector adds and removes faults, forgets history and lets the replica lag, while the
// clients of a round send requests.
type faultInjector struct {
	*environment
	rng *rand.Rand
	// viewResets is incremented before and after the view of the replica is moved back, so that
	// readers notice both.
	viewResets atomic.Int64
	roundBegin time.Time
	active     map[string]func()
}

func newFaultInjector(e *environment) *faultInjector {
	return &faultInjector{environment: e, rng: e.newRand(30, 0), active: map[string]func(){}}
}

// run injects faults until over is closed, and then removes all.
func (f *faultInjector) run(over <-chan struct{}) {
	f.roundBegin = time.Now()
	for {
		select {
		case <-over:
			f.removeAll()
			return
		case <-time.After(time.Duration(2+f.rng.IntN(12)) * time.Millisecond):
		}
		switch n := f.rng.IntN(20); {
		case n < 13:
			f.toggle(faultRules()[f.rng.IntN(len(faultRules()))])
		case n < 14:
			f.srv.Compact()
		case n < 15:
			f.forgetHistory()
		default:
			f.moveReplica()
		}
	}
}

// toggle adds a rule to the server and to the replica, or removes it.
func (f *faultInjector) toggle(rule string) {
	if remove := f.active[rule]; remove != nil {
		remove()
		delete(f.active, rule)
		return
	}
	if len(f.active) > 5 {
		return // some requests must succeed
	}
	var removes []func()
	for _, srv := range f.servers() {
		remove, err := srv.Faults().AddText(strings.ReplaceAll(rule, "SEED", strconv.FormatUint(f.rng.Uint64(), 10)))
		require.NoError(f.t, err)
		removes = append(removes, remove)
	}
	f.active[rule] = func() {
		for _, remove := range removes {
			remove()
		}
	}
}

// forgetHistory makes the server forget its history, so that watches fail. It pauses all writers
// until the recorder has seen all events; other watches may be behind.
func (f *faultInjector) forgetHistory() {
	for range cap(f.writeSlots) {
		f.writeSlots <- struct{}{}
	}
	if waitUntil(time.Second, func() bool { return f.revision() <= f.roundStart.Load()+f.recorder.count() }) {
		f.recorder.skippedTo.Store(f.revision())
		f.srv.ForgetHistory()
		f.forgottenAt = append(f.forgottenAt, f.revision())
		f.counter.Add("expired")
	}
	for range cap(f.writeSlots) {
		<-f.writeSlots
	}
}

// moveReplica changes the view of the replica, which never becomes older than the start of the
// round.
func (f *faultInjector) moveReplica() {
	switch f.rng.IntN(4) {
	case 0:
		f.replica.Freeze()
	case 1:
		f.replica.CatchUp()
	case 2:
		if elapsed := f.revision() - f.roundStart.Load(); elapsed > 1 {
			f.viewResets.Add(1)
			f.replica.Lag(uint(1 + f.rng.Uint64N(min(elapsed, 200)-1)))
			f.viewResets.Add(1)
		}
	default:
		if elapsed := time.Since(f.roundBegin); elapsed > 2*time.Millisecond {
			f.viewResets.Add(1)
			f.replica.Delay(elapsed / 2)
			f.viewResets.Add(1)
		}
	}
}

// removeAll removes all faults, and counts how often each was applied.
func (f *faultInjector) removeAll() {
	for rule, remove := range f.active {
		remove()
		delete(f.active, rule)
	}
	f.replica.CatchUp()
	for _, srv := range f.servers() {
		for _, hit := range srv.Faults().Hits() {
			f.counter.Add("fault " + hit.Rule.Name)
		}
	}
}
