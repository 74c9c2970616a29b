package faults

import (
	"net/http"

	"example.com/fakeapi/internal/requestinfo"
)

// Handler puts the rules of set in front of next, which can be any handler that
// speaks the Kubernetes API: a fake server, or a reverse proxy to a real one.
//
// A request that no rule can match goes to next as it came, with the
// ResponseWriter as it came. An answer is held back until it is complete only if
// a rule could match it in the Committed phase; that is decided when the request
// arrives. Watches are looked at frame by frame, also for rules that are added
// while they run; for that, next does not get to see that the client of a watch
// accepts compression. Upgraded connections (WebSocket, SPDY) can be hit in the
// Before phase only.
//
// A connection is broken by hijacking it or with a panic of
// [http.ErrAbortHandler], so handlers around this one must let that pass.
func Handler(set *Set, next http.Handler) http.Handler {
	return &middleware{set, next}
}

type middleware struct {
	set  *Set
	next http.Handler
}

func (m *middleware) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rules := m.set.rules()
	info := requestinfo.FromRequest(r)
	if rules == nil && info.Verb != requestinfo.Watch {
		m.next.ServeHTTP(w, r)
		return
	}
	x := &exchange{set: m.set, w: w, r: r, op: NewOp(r)}
	if x.finishRequest(m.applyBefore(rules, x)) {
		return
	}
	switch upgraded := requestinfo.IsUpgrade(r); {
	case !upgraded && x.op.Verb == requestinfo.Watch:
		x.finishRequest(serveWatch(x, m.next))
	case !upgraded && !info.IsLongRunning() && rules.couldMatch(Committed, x.op):
		x.finishRequest(serveCommitted(x, m.next))
	default:
		m.next.ServeHTTP(x.w, x.r)
	}
	x.ensureHeader()
}

func (m *middleware) applyBefore(rules *ruleSnapshot, x *exchange) outcome {
	return x.applyRules(rules, x.op, func(e Effect) outcome { return e.(beforeEffect).applyBefore(x) })
}

// finishRequest ends the request if o says so.
func (x *exchange) finishRequest(o outcome) bool {
	if o == aborted {
		panic(http.ErrAbortHandler)
	}
	return o == finished
}
