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
		frames  = clients + `during(stream) && `
		change  = frames + `event(ADDED,MODIFIED,DELETED) && `
		odds    = `chance(0.1, SEED) do `
		seldom  = `chance(0.03, SEED) do `
	)
	return []string{
		`lost: when ` + writes + `during(committed) && ` + odds + `reset`,
		`refused: when ` + writes + `during(before) && ` + odds + `reset`,
		`half-a-reply: when ` + writes + `during(committed) && ` + odds + `truncate(40)`,
		`broken-reply: when ` + writes + `during(committed) && ` + odds + `status(500)`,
		`late-reply: when ` + writes + `during(committed) && ` + odds + `delay(30ms)`,
		`late: when ` + writes + `during(before) && ` + odds + `jitter(30ms, SEED)`,
		`busy: when ` + clients + `during(before) && !verb(watch) && ` + odds + `status(429, retryAfter(1s))`,
		`behind: when ` + reads + `during(before) && ` + odds + `status(504, Timeout, "Too large resource version", retryAfter(1s), cause(ResourceVersionTooLarge, "Too large resource version", ""))`,
		`half-a-list: when ` + reads + `during(committed) && ` + odds + `truncate(100)`,
		`slow-list: when ` + reads + `during(committed) && ` + odds + `throttle(2000, 5ms)`,
		`no-page: when ` + clients + `verb(list) && query(continue) && during(before) && ` + odds + `status(410, Expired, ` + injectedMessage + `)`,
		`gone: when ` + clients + `verb(watch) && query(resourceVersion) && !query(sendInitialEvents) && during(before) && ` + odds + `error(410, Expired, ` + injectedMessage + `)`,
		`no-watch: when ` + clients + `verb(watch) && during(before) && ` + odds + `status(503, retryAfter(1s))`,
		`gone-later: when ` + frames + seldom + `error(410, Expired, ` + injectedMessage + `)`,
		`cut: when ` + change + seldom + `reset`,
		`cut-within: when ` + change + seldom + `truncate(30)`,
		`over: when ` + change + seldom + `end`,
		`late-frame: when ` + frames + odds + `delay(20ms)`,
		`no-bookmarks: when ` + frames + `event(BOOKMARK) && !initialEventsEnd do drop`,
		`no-end: when ` + frames + `initialEventsEnd && ` + odds + `reset`,
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

func newFaultInjector(s *environment) *faultInjector {
	return &faultInjector{environment: s, rng: s.newRand(30, 0), active: map[string]func(){}}
}

// run injects faults until over is closed, and then removes all.
func (x *faultInjector) run(over <-chan struct{}) {
	x.roundBegin = time.Now()
	for {
		select {
		case <-over:
			x.removeAll()
			return
		case <-time.After(time.Duration(2+x.rng.IntN(12)) * time.Millisecond):
		}
		switch n := x.rng.IntN(20); {
		case n < 13:
			x.toggle(faultRules()[x.rng.IntN(len(faultRules()))])
		case n < 14:
			x.srv.Compact()
		case n < 15:
			x.forgetHistory()
		default:
			x.moveReplica()
		}
	}
}

// toggle adds a rule to the server and to the replica, or removes it.
func (x *faultInjector) toggle(rule string) {
	if disarm := x.active[rule]; disarm != nil {
		disarm()
		delete(x.active, rule)
		return
	}
	if len(x.active) > 5 {
		return // some requests must succeed
	}
	var removes []func()
	for _, srv := range x.servers() {
		remove, err := srv.Faults().AddText(strings.ReplaceAll(rule, "SEED", strconv.FormatUint(x.rng.Uint64(), 10)))
		require.NoError(x.t, err)
		removes = append(removes, remove)
	}
	x.active[rule] = func() {
		for _, remove := range removes {
			remove()
		}
	}
}

// forgetHistory makes the server forget its history, so that watches fail. It pauses all writers
// until the recorder has seen all events; other watches may be behind.
func (x *faultInjector) forgetHistory() {
	for range cap(x.writeSlots) {
		x.writeSlots <- struct{}{}
	}
	if waitUntil(time.Second, func() bool { return x.revision() <= x.roundStart.Load()+x.recorder.count() }) {
		x.recorder.skippedTo.Store(x.revision())
		x.srv.ForgetHistory()
		x.forgottenAt = append(x.forgottenAt, x.revision())
		x.counter.Add("expired")
	}
	for range cap(x.writeSlots) {
		<-x.writeSlots
	}
}

// moveReplica changes the view of the replica, which never becomes older than the start of the
// round.
func (x *faultInjector) moveReplica() {
	switch x.rng.IntN(4) {
	case 0:
		x.replica.Freeze()
	case 1:
		x.replica.CatchUp()
	case 2:
		if elapsed := x.revision() - x.roundStart.Load(); elapsed > 1 {
			x.viewResets.Add(1)
			x.replica.Lag(uint(1 + x.rng.Uint64N(min(elapsed, 200)-1)))
			x.viewResets.Add(1)
		}
	default:
		if elapsed := time.Since(x.roundBegin); elapsed > 2*time.Millisecond {
			x.viewResets.Add(1)
			x.replica.Delay(elapsed / 2)
			x.viewResets.Add(1)
		}
	}
}

// removeAll removes all faults, and counts how often each was applied.
func (x *faultInjector) removeAll() {
	for rule, disarm := range x.active {
		disarm()
		delete(x.active, rule)
	}
	x.replica.CatchUp()
	for _, srv := range x.servers() {
		for _, h := range srv.Faults().Hits() {
			x.counter.Add("fault " + h.Rule.Name)
		}
	}
}
