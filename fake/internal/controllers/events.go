package controllers

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/memstore"
)

// readEvents notes what has been written since the last time.
func (m *Controllers) readEvents() {
	for m.cursor != nil {
		n, err := m.cursor.Next(m.events)
		if err != nil { // forgotten before it was read, or the store was restored
			m.cursor = nil
			break
		}
		for i, e := range m.events[:n] {
			m.handleChange(e.Prev, e.Record)
			m.events[i] = nil // history decides how long an event is kept
		}
		if n < len(m.events) {
			return
		}
	}
	m.buildGraph()
}

// buildGraph looks at everything there is, as if it had been written just now.
func (m *Controllers) buildGraph() {
	m.graph = graph{}
	m.queue, m.queued, m.ending, m.deadlines = nil, nil, nil, deadlines{}
	view := m.store.View()
	for m.cursor == nil {
		cursor, err := m.store.Watch("", view.Revision())
		if err == nil {
			m.cursor = cursor
			break
		}
		view = m.store.View() // it was the present no more
	}
	for rec := range view.Range("", "") {
		m.handleChange(nil, rec)
	}
}

// maxPendingEvents is how many events that mean nothing are left pending at most, so that
// history does not forget them before that is known.
const maxPendingEvents = 256

// isRelevant reports whether an event may mean something to the controllers that sleep.
// It is called by the writer, for every write: most mean nothing, and waking costs
// many times as much as finding out.
func (m *Controllers) isRelevant(e *memstore.Event) bool {
	if e.Record == nil || m.emptying.Load() || m.pending.Add(1) > maxPendingEvents {
		return true
	}
	if codec.HasOwnersOrDeletion(e.Record) {
		return true
	}
	if e.Prev != nil {
		return e.Prev.UID != e.Record.UID || codec.HasOwnersOrDeletion(e.Prev)
	}
	p, _ := m.kinds.find(e.Record.Key)
	return m.namespaceMissing(p)
}

// handleChange takes down what a write means to the controllers.
func (m *Controllers) handleChange(prev, rec *memstore.Record) {
	left := prev
	if rec != nil {
		left = rec
	}
	p, ok := m.kinds.find(left.Key)
	if !ok {
		return
	}
	_, ends := m.ending[p.namespace]
	if ends || prev == nil && m.namespaceMissing(p) {
		m.onNamespaceTerminating(p.namespace)
	}
	if prev != nil && (rec == nil || rec.UID != prev.UID) {
		m.onDeleted(p, prev)
	}
	if rec == nil {
		return
	}
	var meta metav1.ObjectMeta
	if codec.HasOwnersOrDeletion(rec) {
		decoded, err := codec.DecodeMetadata(rec)
		if err != nil {
			return // nobody can act on what cannot be read
		}
		meta = *decoded
	}
	m.onPresent(p, rec, &meta)
}

// onDeleted notes that an object is not there any more. Its dependents have to do
// without it, and its owners may have waited for that.
func (m *Controllers) onDeleted(p location, rec *memstore.Record) {
	if p.isResource("namespaces") {
		delete(m.ending, p.name)
	}
	if p.isIgnored() {
		return
	}
	m.requeueDependents(rec.Key, m.graph.remove(rec.Key, rec.UID))
	for _, key := range m.graph.dependents(rec.UID) {
		m.enqueue(key)
	}
}

// onPresent notes an object as it is now.
func (m *Controllers) onPresent(p location, rec *memstore.Record, meta *metav1.ObjectMeta) {
	ends := meta.DeletionTimestamp != nil
	switch {
	case p.isResource("namespaces") && ends:
		m.onNamespaceTerminating(p.name)
	case p.isResource("namespaces"):
		delete(m.ending, p.name) // a fixture has taken its place
	case p.res.GracePeriod != nil && ends:
		m.deadlines.add(rec.Key, rec.UID, meta)
	}
	if p.isIgnored() {
		return
	}
	before, changed := m.graph.put(rec.Key, rec.UID, meta.OwnerReferences)
	if changed {
		m.requeueDependents(rec.Key, before)
	}
	m.graph.setWaiting(rec.Key, rec.UID, isWaitingForDependents(meta))
	if changed && len(meta.OwnerReferences) > 0 || ends && needsCollection(meta) {
		m.enqueue(rec.Key)
	}
}

// requeueDependents has those former owners looked at that wait for the end of their dependents.
func (m *Controllers) requeueDependents(key string, owners []owner) {
	for _, o := range owners {
		if waiting, ok := m.graph.waiting[o.uid]; ok && waiting != key {
			m.enqueue(waiting)
		}
	}
}

// namespaceMissing reports whether a new object is in a namespace that has gone while it
// was being created. Nobody would ever find it there.
func (m *Controllers) namespaceMissing(p location) bool {
	return p.namespace != "" && m.store.View().Get(namespaceKey(p.namespace)) == nil
}

// onNamespaceTerminating notes that a namespace is on its way out, or gone, and to be emptied.
func (m *Controllers) onNamespaceTerminating(name string) {
	if m.ending == nil {
		m.ending = make(map[string]bool)
	}
	m.ending[name] = true
	m.emptying.Store(true)
}
