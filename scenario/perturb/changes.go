package perturb

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	fakeapi "example.com/fakeapi/fake"
)

// change is a write to the store.
type change struct {
	revision uint64
	at       time.Time
	phase    int
	// before is nil if the object was created, and after is nil if it was deleted.
	before, after *object
	// orphan is true if the object was deleted and had an owner that does not exist any more, so
	// that the garbage collector deletes it.
	orphan bool
}

// key returns the key of the object.
func (c *change) key() objectKey { return c.object().key }

// object returns the object after the write, or before a deletion.
func (c *change) object() *object {
	if c.after != nil {
		return c.after
	}
	return c.before
}

// verb describes a change.
func (c *change) verb() string {
	switch {
	case c.before == nil:
		return "created"
	case c.after == nil:
		return "deleted"
	case c.after.isTerminating() && !c.before.isTerminating():
		return "is being deleted"
	}
	return "changed"
}

// maxChanges limits the changes that a run records.
const maxChanges = 20_000

// changeLog has the changes of a run, which one goroutine adds.
type changeLog struct {
	normalizer *normalizer
	invariants []Invariant
	// learning is true for a reference, while the normalizer changes.
	learning bool
	// baseline is the revision before the first step.
	baseline uint64

	mu      sync.Mutex // guards all below
	changes []*change
	state   *State
	phase   int
	// uids has the keys of all objects by uid, also of deleted ones, and alive those that exist.
	uids  map[string]objectKey
	alive map[string]bool
	// effective is the latest change that is visible after normalization, or nil.
	effective *change
	// cached is the normalized state after as many changes as cachedAt.
	cached   normalState
	cachedAt int
	// violated has the error of each violated invariant.
	violated map[string]string
}

func newChangeLog(n *normalizer, invariants []Invariant) *changeLog {
	return &changeLog{
		normalizer: n, invariants: invariants, state: &State{objects: map[objectKey]*object{}},
		uids: map[string]objectKey{}, alive: map[string]bool{}, violated: map[string]string{},
	}
}

// add adds a change.
func (l *changeLog) add(c fakeapi.Change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.changes) == maxChanges {
		return
	}
	made := &change{revision: c.ResourceVersion, at: c.Time, phase: l.phase}
	key := keyOf(c)
	if c.Previous != nil {
		if made.before = l.state.objects[key]; made.before == nil {
			made.before = newObject(c, c.Previous)
		}
	}
	l.uids[c.UID] = key
	if c.Object != nil {
		made.after = newObject(c, c.Object)
		l.state.objects[key] = made.after
		l.alive[c.UID] = true
	} else {
		delete(l.state.objects, key)
		delete(l.alive, c.UID)
		for _, o := range made.before.owners() {
			_, known := l.uids[o.uid]
			made.orphan = made.orphan || known && !l.alive[o.uid]
		}
	}
	l.changes = append(l.changes, made)
	if l.isEffective(made) {
		l.effective = made
	}
	for _, invariant := range l.invariants {
		if l.violated[invariant.Name] != "" {
			continue
		}
		if err := invariant.Check(l.state); err != nil {
			l.violated[invariant.Name] = fmt.Sprintf("at resourceVersion %d, when %s was %s: %v", made.revision, key, made.verb(), err)
		}
	}
}

// copy returns the changes until now, without the state and what follows from it.
func (l *changeLog) copy() *changeLog {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &changeLog{normalizer: l.normalizer, baseline: l.baseline, changes: slices.Clone(l.changes)}
}

// isEffective reports whether a change is visible after normalization. The caller holds mu.
func (l *changeLog) isEffective(c *change) bool {
	if l.normalizer.ignores(c.key()) {
		return false
	}
	if c.before == nil || c.after == nil {
		return true
	}
	if c.revision <= l.baseline {
		return false
	}
	names := l.names()
	return l.normalizer.text(c.before, names) != l.normalizer.text(c.after, names)
}

// beginPhase begins a phase.
func (l *changeLog) beginPhase(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.phase = n
}

// lastEffective returns the latest change that is visible after normalization, or nil.
func (l *changeLog) lastEffective() *change {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.effective
}

// normalized returns the normalized state.
func (l *changeLog) normalized() normalState {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cached == nil || l.cachedAt != len(l.changes) || l.learning {
		l.cached, l.cachedAt = l.normalizer.state(l.state, l.names(), l.baseline), len(l.changes)
	}
	return l.cached
}

// names returns the names of the run for the normalizer. The caller holds mu, or the run has ended.
func (l *changeLog) names() names {
	in := names{uids: l.uids, alive: l.alive, state: l.state}
	for key, o := range l.state.objects {
		if pattern := l.normalizer.pattern(o); pattern != key.name && len(key.name) >= shortestName {
			in.generated = append(in.generated, generatedName{key.name, pattern})
		}
	}
	slices.SortFunc(in.generated, func(a, b generatedName) int {
		return cmp.Or(cmp.Compare(len(b.name), len(a.name)), cmp.Compare(a.name, b.name), cmp.Compare(a.pattern, b.pattern))
	})
	return in
}

// instance is an object from its creation to its deletion.
type instance struct {
	key objectKey
	uid string
	// created and deleted are changes, nil if the object existed before or exists at the end.
	created, deleted *change
	last             *object
}

// instances returns the instances of all objects in the order of their creation.
func (l *changeLog) instances() []*instance {
	var all []*instance
	current := map[objectKey]*instance{}
	for _, c := range l.changes {
		key := c.key()
		i := current[key]
		if i == nil || c.before == nil {
			i = &instance{key: key, uid: c.object().uid}
			if c.before == nil && c.revision > l.baseline {
				i.created = c
			}
			current[key] = i
			all = append(all, i)
		}
		i.last = c.object()
		if c.after == nil {
			i.deleted = c
			delete(current, key)
		}
	}
	return all
}
