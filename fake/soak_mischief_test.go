package fakeapi_test

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"
)

// staged is in the message of a 410 that a fault has made up.
const staged = "staged"

// excused tells what an answer means in a world of faults. What is refused in the first
// place is refused with 429, 503 and 504, and 500 takes the place of an answer.
func excused(code int) (lost, undone bool) {
	switch code {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return false, true
	case http.StatusInternalServerError:
		return true, false
	}
	return false, false
}

// soakFaults are the rules that are switched on and off. None of them breaks a promise to a
// client: it may lose what it is told, but is told nothing wrong. SEED is a seed.
func soakFaults() []string {
	const (
		who    = `!userAgent(` + unharmed + `) && `
		writes = who + `verb(create,update,patch,delete,deletecollection) && `
		reads  = who + `verb(get,list) && `
		frames = who + `during(stream) && `
		change = frames + `event(ADDED,MODIFIED,DELETED) && `
		odds   = `chance(0.1, SEED) do `
		seldom = `chance(0.03, SEED) do `
	)
	return []string{
		`lost: when ` + writes + `during(committed) && ` + odds + `reset`,
		`refused: when ` + writes + `during(before) && ` + odds + `reset`,
		`half-a-reply: when ` + writes + `during(committed) && ` + odds + `truncate(40)`,
		`broken-reply: when ` + writes + `during(committed) && ` + odds + `status(500)`,
		`late-reply: when ` + writes + `during(committed) && ` + odds + `delay(30ms)`,
		`late: when ` + writes + `during(before) && ` + odds + `jitter(30ms, SEED)`,
		`busy: when ` + who + `during(before) && !verb(watch) && ` + odds + `status(429, retryAfter(1s))`,
		`behind: when ` + reads + `during(before) && ` + odds + `status(504, Timeout, "Too large resource version", retryAfter(1s), cause(ResourceVersionTooLarge, "Too large resource version", ""))`,
		`half-a-list: when ` + reads + `during(committed) && ` + odds + `truncate(100)`,
		`slow-list: when ` + reads + `during(committed) && ` + odds + `throttle(2000, 5ms)`,
		`no-page: when ` + who + `verb(list) && query(continue) && during(before) && ` + odds + `status(410, Expired, ` + staged + `)`,
		`gone: when ` + who + `verb(watch) && query(resourceVersion) && !query(sendInitialEvents) && during(before) && ` + odds + `error(410, Expired, ` + staged + `)`,
		`no-watch: when ` + who + `verb(watch) && during(before) && ` + odds + `status(503, retryAfter(1s))`,
		`gone-later: when ` + frames + seldom + `error(410, Expired, ` + staged + `)`,
		`cut: when ` + change + seldom + `reset`,
		`cut-within: when ` + change + seldom + `truncate(30)`,
		`over: when ` + change + seldom + `end`,
		`late-frame: when ` + frames + odds + `delay(20ms)`,
		`no-bookmarks: when ` + frames + `event(BOOKMARK) && !initialEventsEnd do drop`,
		`no-end: when ` + frames + `initialEventsEnd && ` + odds + `reset`,
	}
}

// mischief switches faults on and off, makes the server forget, and puts the replica
// behind, while the clients of a round are at work.
type mischief struct {
	*soak
	rng *rand.Rand
	// era counts how often the view of the replica was put back: twice for each time, so
	// that who reads meanwhile knows.
	era   atomic.Int64
	begun time.Time
	armed map[string]func()
}

func newMischief(s *soak) *mischief {
	return &mischief{soak: s, rng: s.random(30, 0), armed: map[string]func(){}}
}

// make makes trouble until the round is calm again, and leaves none.
func (x *mischief) make(over <-chan struct{}) {
	x.begun = time.Now()
	for {
		select {
		case <-over:
			x.undo()
			return
		case <-time.After(time.Duration(2+x.rng.IntN(12)) * time.Millisecond):
		}
		switch n := x.rng.IntN(20); {
		case n < 13:
			x.toggle(soakFaults()[x.rng.IntN(len(soakFaults()))])
		case n < 14:
			x.srv.Compact()
		case n < 15:
			x.expire()
		default:
			x.move()
		}
	}
}

// toggle arms a rule at both doors, or disarms it.
func (x *mischief) toggle(rule string) {
	if disarm := x.armed[rule]; disarm != nil {
		disarm()
		delete(x.armed, rule)
		return
	}
	if len(x.armed) > 5 {
		return // somebody must get through
	}
	var removes []func()
	for _, srv := range x.servers() {
		remove, err := srv.Faults().AddText(strings.ReplaceAll(rule, "SEED", strconv.FormatUint(x.rng.Uint64(), 10)))
		require.NoError(x.t, err)
		removes = append(removes, remove)
	}
	x.armed[rule] = func() {
		for _, remove := range removes {
			remove()
		}
	}
}

// expire makes watches forget, too. Nobody writes until the scribe has seen all, who would
// lose the thread; watches that are behind for other reasons do.
func (x *mischief) expire() {
	for range cap(x.gate) {
		x.gate <- struct{}{}
	}
	if within(time.Second, func() bool { return x.revision() <= x.since.Load()+x.scribe.count() }) {
		x.scribe.upTo.Store(x.revision())
		x.srv.ForgetHistory()
		x.expired = append(x.expired, x.revision())
		x.total.add("expired")
	}
	for range cap(x.gate) {
		<-x.gate
	}
}

// move changes what the replica sees. It never sees what was before the round.
func (x *mischief) move() {
	switch x.rng.IntN(4) {
	case 0:
		x.replica.Freeze()
	case 1:
		x.replica.CatchUp()
	case 2:
		if passed := x.revision() - x.since.Load(); passed > 1 {
			x.era.Add(1)
			x.replica.Lag(uint(1 + x.rng.Uint64N(min(passed, 200)-1)))
			x.era.Add(1)
		}
	default:
		if passed := time.Since(x.begun); passed > 2*time.Millisecond {
			x.era.Add(1)
			x.replica.Delay(passed / 2)
			x.era.Add(1)
		}
	}
}

// undo ends all trouble.
func (x *mischief) undo() {
	for rule, disarm := range x.armed {
		disarm()
		delete(x.armed, rule)
	}
	x.replica.CatchUp()
	for _, srv := range x.servers() {
		for _, h := range srv.Faults().Hits() {
			x.total.add("fault " + h.Rule.Name)
		}
	}
}
