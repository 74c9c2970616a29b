package garbagecollection

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// graph models the garbage collector, without regard to speed or events: run applies simple rules
// to all nodes until none changes anything. The server must end in the same state. Nodes are keyed
// by name, which is also their uid.
type graph map[string]*node

// node is an object of a graph.
type node struct {
	owners     []ownerRef
	finalizers []string
	deleted    bool
}

// ownerRef is a reference to an owner. An unserved one has a kind that the server does not serve.
type ownerRef struct {
	name     string
	blocks   bool
	unserved bool
}

func (t *node) hasFinalizer(finalizer string) bool { return slices.Contains(t.finalizers, finalizer) }

func (t *node) waitsForDependents() bool {
	return t.deleted && t.hasFinalizer(metav1.FinalizerDeleteDependents)
}

func (t *node) ownerNamed(name string) (ownerRef, bool) {
	i := slices.IndexFunc(t.owners, func(o ownerRef) bool { return o.name == name })
	if i < 0 {
		return ownerRef{}, false
	}
	return t.owners[i], true
}

func (w graph) names() []string { return slices.Sorted(maps.Keys(w)) }

func (w graph) dependents(owner string) (names []string) {
	for _, name := range w.names() {
		if _, is := w[name].ownerNamed(owner); is {
			names = append(names, name)
		}
	}
	return names
}

// delete deletes a node with a propagation policy, "" for none.
func (w graph) delete(name string, policy metav1.DeletionPropagation) {
	t := w[name]
	if policy == "" {
		switch {
		case t.hasFinalizer(metav1.FinalizerOrphanDependents):
			policy = metav1.DeletePropagationOrphan
		case t.hasFinalizer(metav1.FinalizerDeleteDependents):
			policy = metav1.DeletePropagationForeground
		}
	}
	t.deleted = true
	t.removeFinalizers(metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents)
	switch policy {
	case metav1.DeletePropagationOrphan:
		t.finalizers = append(t.finalizers, metav1.FinalizerOrphanDependents)
	case metav1.DeletePropagationForeground:
		t.finalizers = append(t.finalizers, metav1.FinalizerDeleteDependents)
	}
	w.removeIfFinished(name)
}

func (t *node) removeFinalizers(finalizers ...string) {
	t.finalizers = slices.DeleteFunc(t.finalizers, func(f string) bool { return slices.Contains(finalizers, f) })
}

// removeIfFinished removes a node that is being deleted and has no finalizers.
func (w graph) removeIfFinished(name string) {
	if t := w[name]; t.deleted && len(t.finalizers) == 0 {
		delete(w, name)
	}
}

func (w graph) run() {
	for changed := true; changed; {
		changed = false
		for _, name := range w.names() {
			if t := w[name]; t != nil && w.applyRule(name, t) {
				changed = true
			}
		}
	}
}

// applyRule applies the rule for a node, and reports whether it changed anything.
func (w graph) applyRule(name string, t *node) bool {
	switch {
	case t.deleted && t.hasFinalizer(metav1.FinalizerOrphanDependents):
		for _, d := range w.dependents(name) {
			w[d].removeOwners(name)
		}
		t.removeFinalizers(metav1.FinalizerOrphanDependents)
		w.removeIfFinished(name)
		return true
	case t.waitsForDependents():
		return w.processForeground(name, t)
	case t.deleted:
		return false
	}
	return w.attemptToDelete(name, t)
}

func (t *node) removeOwners(owners ...string) {
	t.owners = slices.DeleteFunc(t.owners, func(o ownerRef) bool { return slices.Contains(owners, o.name) })
}

// processForeground deletes the dependents of a node that waits for them, and removes the node if
// none blocks it. It reports whether it changed anything.
func (w graph) processForeground(name string, t *node) bool {
	changed := false
	for _, d := range w.dependents(name) {
		if !w[d].deleted && w.attemptToDelete(d, w[d]) {
			changed = true
		}
	}
	blocked := false
	for _, d := range w.dependents(name) {
		if o, _ := w[d].ownerNamed(name); !o.blocks {
			continue
		}
		blocked = true
		if w[d].waitsForDependents() && w.blockedBy(d)[name] {
			w[d].unblock()
			return true
		}
	}
	if blocked {
		return changed
	}
	t.removeFinalizers(metav1.FinalizerDeleteDependents)
	w.removeIfFinished(name)
	return true
}

// blockedBy returns the nodes that wait for their dependents and that block the named node,
// directly or indirectly, including the node itself.
func (w graph) blockedBy(name string) map[string]bool {
	all := map[string]bool{name: true}
	for grown := true; grown; {
		grown = false
		for d, t := range w {
			for _, o := range t.owners {
				if o.blocks && all[o.name] && t.waitsForDependents() && !all[d] {
					all[d], grown = true, true
				}
			}
		}
	}
	return all
}

func (t *node) unblock() {
	for i := range t.owners {
		t.owners[i].blocks = false
	}
}

// attemptToDelete deletes a node if none of its owners exists and stays, and otherwise removes the
// references to those that do not. It reports whether it changed anything.
func (w graph) attemptToDelete(name string, t *node) bool {
	var lost []string
	solid, waiting := 0, false
	for _, o := range t.owners {
		owner := w[o.name]
		switch {
		case o.unserved:
			return false
		case owner == nil:
			lost = append(lost, o.name)
		case owner.waitsForDependents():
			lost, waiting = append(lost, o.name), true
		default:
			solid++
		}
	}
	dependents := w.dependents(name)
	switch {
	case len(lost) == 0:
		return false
	case solid > 0:
		t.removeOwners(lost...)
	case waiting && len(dependents) > 0:
		if slices.ContainsFunc(dependents, func(d string) bool { return w[d].waitsForDependents() }) {
			t.unblock()
		}
		w.delete(name, metav1.DeletePropagationForeground)
	default:
		w.delete(name, "")
	}
	return true
}
