package controllers

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/memstore"
)

// readEvents processes the events since the last call.
func (m *Controllers) readEvents() {
	for m.cursor != nil {
		n, err := m.cursor.Next(m.events)
		if err != nil { // the events were dropped by history, or the store was restored
			m.cursor = nil
			break
		}
		for i, e := range m.events[:n] {
			m.handleChange(e.Prev, e.Record)
			m.events[i] = nil // release the event: history decides how long it is kept
		}
		if n < len(m.events) {
			return
		}
	}
	m.buildGraph()
}

// buildGraph builds the indexes from all objects, and queues those that need work.
func (m *Controllers) buildGraph() {
	m.graph = graph{}
	m.queue, m.queued, m.ending, m.deadlines, m.quotas, m.inUse = nil, nil, nil, deadlines{}, nil, nil
	m.retries, m.aggregated = retries{}, nil
	view := m.store.View()
	for m.cursor == nil {
		cursor, err := m.store.Watch("", view.Revision())
		if err == nil {
			m.cursor = cursor
			break
		}
		view = m.store.View() // the view is no longer the latest
	}
	initialRoles, clusterRoles := 0, 0
	for rec := range view.Range("", "") {
		m.handleChange(nil, rec)
		if isClusterRole(rec.Key) {
			clusterRoles++
			if isInitialState(rec) {
				initialRoles++
			}
		}
	}
	m.onClusterRolesRead(initialRoles, clusterRoles)
}

// maxPendingEvents is how many irrelevant events may stay unread, so that history does not drop
// events before they are read.
const maxPendingEvents = 256

// isRelevant reports whether an event may need work of a controller. Every writer calls it: most
// events are irrelevant, and waking Run costs many times as much.
func (m *Controllers) isRelevant(e *memstore.Event) bool {
	if e.Record == nil || m.emptying.Load() || m.hasQuotas.Load() || m.hasInUse.Load() || m.pending.Add(1) > maxPendingEvents {
		return true
	}
	if codec.HasOwnersOrDeletion(e.Record) {
		return true
	}
	if isPolicy(e.Record.Key) || isClusterRole(e.Record.Key) && (m.hasAggregated.Load() || mayAggregate(e.Record)) {
		return true
	}
	if e.Prev != nil {
		return e.Prev.UID != e.Record.UID || codec.HasOwnersOrDeletion(e.Prev)
	}
	p, ok := m.resources.find(e.Record.Key)
	return ok && p.isResource("resourcequotas") || m.namespaceMissing(p)
}

// handleChange updates the indexes for a write and queues affected objects.
func (m *Controllers) handleChange(prev, rec *memstore.Record) {
	left := prev
	if rec != nil {
		left = rec
	}
	p, ok := m.resources.find(left.Key)
	if !ok {
		return
	}
	m.onQuotaChange(p)
	m.onUserChange(p, rec)
	if isClusterRole(left.Key) {
		m.onClusterRoleChange(prev, rec)
	}
	isLate := prev == nil && m.namespaceMissing(p)
	if isLate || m.ending[p.namespace] != nil {
		m.onNamespaceTerminating(p.namespace, m.writer.Now())
	}
	if isLate {
		m.ending[p.namespace].hasLate = true
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
			return // an object that cannot be decoded has no owners to process
		}
		meta = *decoded
	}
	m.onPresent(p, rec, &meta)
}

// onDeleted updates the indexes for a deleted object. It queues its dependents, and its owners,
// which may be in foreground deletion.
func (m *Controllers) onDeleted(p location, rec *memstore.Record) {
	if ns := m.ending[p.name]; p.isResource("namespaces") && (ns == nil || !ns.hasLate) {
		m.forgetEnding(p.name)
	}
	if p.res.ProtectionFinalizer != "" {
		m.setInUse(rec.Key, false)
	}
	if p.isIgnored() {
		return
	}
	m.requeueDependents(rec.Key, m.graph.remove(rec.Key, rec.UID))
	for _, key := range m.graph.dependents(rec.UID) {
		m.enqueue(key)
	}
}

// onPresent updates the indexes for a created or updated object.
func (m *Controllers) onPresent(p location, rec *memstore.Record, meta *metav1.ObjectMeta) {
	ends := meta.DeletionTimestamp != nil
	switch {
	case p.isResource("namespaces") && ends:
		m.onNamespaceChange(p.name, meta.DeletionTimestamp.Add(m.namespaceDelay))
	case p.isResource("namespaces"):
		m.forgetEnding(p.name) // a fixture has replaced it
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
	if changed && len(meta.OwnerReferences) > 0 || ends && needsCollection(meta) || isProtected(p, meta) || isPolicy(rec.Key) {
		m.enqueue(rec.Key)
	}
}

// requeueDependents queues those former owners that are in foreground deletion.
func (m *Controllers) requeueDependents(key string, owners []owner) {
	for _, o := range owners {
		if waiting, ok := m.graph.waiting[o.uid]; ok && waiting != key {
			m.enqueue(waiting)
		}
	}
}

// namespaceMissing reports whether the namespace of a new object was removed while the object was
// created.
func (m *Controllers) namespaceMissing(p location) bool {
	return p.namespace != "" && m.store.View().Get(namespaceKey(p.namespace)) == nil
}

// endingNamespace is a terminating namespace, or one that was removed and has content.
type endingNamespace struct {
	// due is the time from which its content is deleted.
	due time.Time
	// examine reports whether something has happened in it since its content was last deleted.
	examine bool
	// hasLate reports whether an object was created when it was removed already, or was being removed.
	hasLate bool
}

// onNamespaceChange is onNamespaceTerminating for a write of the namespace itself. The controllers
// write in its status why they could not delete its content, and then wait for the next retry.
func (m *Controllers) onNamespaceChange(name string, due time.Time) {
	if !m.retries.isWaiting(namespaceContent(name)) {
		m.onNamespaceTerminating(name, due)
	}
}

// examineNamespace marks a namespace for the deletion of its content if that has not ended yet.
func (m *Controllers) examineNamespace(name string) {
	if ns := m.ending[name]; ns != nil {
		ns.examine = true
	}
}

// forgetEnding ends the deletion of the content of a namespace that is not terminating any more.
// The next namespace of the name does not wait for the retries of this one.
func (m *Controllers) forgetEnding(name string) {
	delete(m.ending, name)
	delete(m.retries, namespaceContent(name))
}

// onNamespaceTerminating marks a terminating or removed namespace for the deletion of its content
// at due, or when it was to be deleted already.
func (m *Controllers) onNamespaceTerminating(name string, due time.Time) {
	if m.ending == nil {
		m.ending = make(map[string]*endingNamespace)
	}
	if m.ending[name] == nil {
		m.ending[name] = &endingNamespace{due: due}
	}
	m.ending[name].examine = true
	m.emptying.Store(true)
}
