package faults

import (
	"net/http"

	"example.com/fakeapi/internal/requestinfo"
)

// Handler returns a handler that applies the rules of set to the requests of next. next can be any
// handler that serves the Kubernetes API, for instance a fake server or a reverse proxy to a real
// one.
//
// Requests that no rule can match are passed to next with their original ResponseWriter. A response
// is buffered until it is complete only if a rule could match it in the Committed phase, which is
// decided when the request arrives. The frames of watches are matched one by one, also by rules
// that are added while the watch runs; to keep frames readable, the Accept-Encoding header of
// watches is removed. Upgraded connections (WebSocket, SPDY) have the Before phase only.
//
// Handler aborts a connection by hijacking it or by panicking with [http.ErrAbortHandler]. Handlers
// around it must not recover that panic.
func Handler(set *Set, next http.Handler) http.Handler {
	return &middleware{set: set, next: next}
}

type middleware struct {
	set        *Set
	next       http.Handler
	authorizes bool // next denies requests that rules forbid
}

func (m *middleware) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rules := m.set.rules()
	info := requestinfo.FromRequest(r)
	if rules == nil && info.Verb != requestinfo.Watch {
		m.next.ServeHTTP(w, r)
		return
	}
	x := &exchange{set: m.set, w: w, r: r, op: NewOp(r)}
	o := m.applyBefore(rules, x)
	if o == forbidden && m.forbid(x) || x.finishRequest(o) {
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

// finishRequest reports whether the request is complete after o. It panics to abort the connection.
func (x *exchange) finishRequest(o outcome) bool {
	if o == aborted {
		panic(http.ErrAbortHandler)
	}
	return o == finished
}
