package scenario

import (
	"strconv"
)

// What steps build on. Requests build on their namespace; an expectation about
// an object on how it was written last, one about events on all that happened to
// the collection since.

func (s apply) link(l *ledger) {
	objects, err := decodeManifest(s.manifest)
	if err != nil {
		return // the step fails, wherever it stands
	}
	for _, o := range objects {
		l.write(o.GetNamespace(), o.GetName(), render(o.Object))
	}
}

// A deletion needs an object that is there; what is in it does not matter.
func (s remove) link(l *ledger) {
	key := objectKey(s.ref.Namespace, s.ref.Name)
	content, written := l.objects[key]
	l.reads["there "+key] = strconv.FormatBool(written && content != deleted)
	l.write(s.ref.Namespace, s.ref.Name, deleted)
}

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

// A client that was started stays: without it, what is expected of it fails for
// no fault of its own.
func (s runClient) link(l *ledger) {
	l.stays = true
	l.facts["client "+s.name] = "runs"
}

func (s expectDone) link(l *ledger)     { l.read("client " + s.name) }
func (s expectFailed) link(l *ledger)   { l.read("client " + s.name) }
func (s expectRequests) link(l *ledger) { l.read("client " + s.name) }

func (s fault) link(l *ledger) {
	l.armed[l.step] = true
	l.facts["rule "+s.rule.Name] = "added"
}

func (clearFaults) link(l *ledger) { clear(l.armed) }

func (s expectHits) link(l *ledger) { l.read("rule " + s.rule) }

func (s eventually) link(l *ledger)  { link(s.step, l) }
func (s expectError) link(l *ledger) { link(s.step, l) }
