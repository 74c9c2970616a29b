package scenario

import (
	"maps"
	"slices"
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

// What is done to clients stays: a client that does not run, or asks another
// server, fails for no fault of its own. The same goes for what servers see.
func (s runClient) link(l *ledger) {
	l.stays = true
	l.facts["client "+s.name] = "runs"
}

func (stopClient) link(l *ledger)   { l.stays = true }
func (switchClient) link(l *ledger) { l.stays = true }
func (openReplica) link(l *ledger)  { l.stays = true }
func (sight) link(l *ledger)        { l.stays = true }

func (s expectDone) link(l *ledger)     { l.read("client " + s.name) }
func (s expectFailed) link(l *ledger)   { l.read("client " + s.name) }
func (s expectRequests) link(l *ledger) { l.read("client " + s.name) }

func (s fault) link(l *ledger) {
	l.armed[l.step] = armedRule{l.at, s.rule.Name}
	l.facts["rule "+s.rule.Name] = "added"
}

func (clearFaults) link(l *ledger) {
	maps.DeleteFunc(l.armed, func(_ int, r armedRule) bool { return r.at == l.at })
}

// There must be such a rule.
func (s clearFault) link(l *ledger) {
	before := len(l.armed)
	maps.DeleteFunc(l.armed, func(_ int, r armedRule) bool { return r == armedRule{l.at, s.name} })
	l.reads["armed "+s.name] = strconv.FormatBool(len(l.armed) < before)
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
func (s expectError) link(l *ledger) { link(s.step, l) }

func (s on) link(l *ledger) {
	before := l.at
	defer func() { l.at = before }()
	l.at = s.name
	if s.name == mainDoor {
		l.at = ""
	}
	link(s.step, l)
}
