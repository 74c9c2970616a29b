package scenario

import (
	"maps"
	"strings"
)

// trouble is a rule in force, or another state of a server that a step has begun and that
// one ends.
type trouble struct {
	step int    // its number
	at   string // the server, "" for the first
	what string
}

// The kinds of troubles; behind some of them stands what they are about.
const (
	ruleTrouble      = "rule "
	downTrouble      = "shutdown"
	startTrouble     = "startup"
	cacheTrouble     = "not ready"
	clockTrouble     = "skew"
	featureTrouble   = "feature "
	discoveryTrouble = "discovery "
)

// begin has a trouble begin at the step at hand.
func (l *ledger) begin(what string) { l.troubles[trouble{l.step, l.at, what}] = true }

// end ends a trouble of the server that steps are at, and reports whether there was one.
func (l *ledger) end(what string) bool {
	return l.endThose(func(t trouble) bool { return t.what == what })
}

// endAll is end for all troubles of a kind.
func (l *ledger) endAll(kind string) {
	l.endThose(func(t trouble) bool { return strings.HasPrefix(t.what, kind) })
}

func (l *ledger) endThose(are func(trouble) bool) bool {
	before := len(l.troubles)
	maps.DeleteFunc(l.troubles, func(t trouble, _ bool) bool { return t.at == l.at && are(t) })
	return len(l.troubles) < before
}

// become is for a trouble that takes the place of the one before: it begins, or is over.
func (l *ledger) become(what string, on bool) {
	l.end(what)
	if on {
		l.begin(what)
	}
}

func (shutdown) link(l *ledger) {
	l.become(downTrouble, true)
	l.endWatches(downTrouble)
}

func (s restart) link(l *ledger) {
	l.end(downTrouble)
	l.become(startTrouble, s.startup > 0)
}

func (s notReady) link(l *ledger) {
	l.become(cacheTrouble, s.d > 0)
	if s.d > 0 {
		l.endWatches(cacheTrouble)
	}
}

func (s skew) link(l *ledger)    { l.become(clockTrouble, s.d != 0) }
func (s feature) link(l *ledger) { l.become(featureTrouble+string(s.name), !s.on) }

func (s discoveryStep) link(l *ledger) {
	heals := s.action == "reset"
	if heals && len(s.groups) == 0 {
		l.endAll(discoveryTrouble)
	}
	for _, group := range s.groups {
		l.become(discoveryTrouble+group, !heals)
	}
}
