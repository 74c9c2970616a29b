package scenario

import (
	"maps"
	"slices"
	"strconv"
)

// What steps build on; shrink_writes.go has it of writes. Requests build on their namespace; an expectation about
// an object on how it was written last, one about events on all that happened to
// the collection since.

func (s watchStep) link(l *ledger) {
	l.readNamespace(s.of.Namespace)
	l.read("watch " + s.name)
	l.facts["watch "+s.name] = "open"
	l.collections[s.name] = s.of
}

func (s expectEvents) link(l *ledger) {
	l.read("watch " + s.watch)
	l.readWrites(l.collections[s.watch])
}

func (s expect) link(l *ledger)       { l.readObject(s.ref.Namespace, s.ref.Name) }
func (s expectAbsent) link(l *ledger) { l.readObject(s.ref.Namespace, s.ref.Name) }
func (s expectList) link(l *ledger)   { l.readList(s.of) }

func (s expectSame) link(l *ledger) {
	l.readNamespace(s.one)
	l.readNamespace(s.other)
}

// What is done to clients stays: a client that does not run, or asks another
// server, fails for no fault of its own. The same goes for what servers see.
func (s runClient) link(l *ledger) {
	l.stays = true
	l.facts["client "+s.name] = "runs"
}

func (stopClient) link(l *ledger)   { l.stays = true }
func (switchClient) link(l *ledger) { l.stays = true }
func (replicaStep) link(l *ledger)  { l.stays = true }
func (viewStep) link(l *ledger)     { l.stays = true }

func (s expectDone) link(l *ledger)     { l.read("client " + s.name) }
func (s expectFailed) link(l *ledger)   { l.read("client " + s.name) }
func (s expectRequests) link(l *ledger) { l.read("client " + s.name) }

func (s fault) link(l *ledger) {
	l.begin(ruleTrouble + s.rule.Name)
	l.facts["rule "+s.rule.Name] = "added"
}

func (clearFaults) link(l *ledger) { l.endAll(ruleTrouble) }

// There must be such a rule.
func (s clearFault) link(l *ledger) {
	l.reads["armed "+s.name] = strconv.FormatBool(l.end(ruleTrouble + s.name))
}

// A snapshot is taken of objects as they are, which are then as they were.
func (s snapshot) link(l *ledger) {
	l.read("snapshot " + s.name)
	l.facts["snapshot "+s.name] = "taken"
	l.snapshots[s.name] = maps.Clone(l.objects)
}

func (s restore) link(l *ledger) {
	l.read("snapshot " + s.name)
	l.objects = maps.Clone(l.snapshots[s.name])
	if l.objects == nil {
		l.objects = map[string]string{}
	}
	for key := range l.objects {
		l.writes = append(l.writes, key+" restored")
	}
	slices.Sort(l.writes[len(l.writes)-len(l.objects):])
}

func (s expectHits) link(l *ledger) { l.read("rule " + s.rule) }

func (s eventually) link(l *ledger)  { link(s.step, l) }
func (s always) link(l *ledger)      { link(s.step, l) }
func (s expectError) link(l *ledger) { link(s.step, l) }

func (s onServer) link(l *ledger) {
	before := l.at
	defer func() { l.at = before }()
	l.at = s.name
	if s.name == mainServer {
		l.at = ""
	}
	link(s.step, l)
}
