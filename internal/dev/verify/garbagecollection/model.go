package garbagecollection

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// graph is the garbage collector as it could be written without regard to speed or
// events: rules that are applied to everything, again and again, until none changes
// anything. What it comes to is what the server has to come to.
type graph map[string]*node

// node is an object of a kin. Its name is its uid, too.
type node struct {
	owners     []ownerRef
	finalizers []string
	deleted    bool
}

// ownerRef is a reference to an owner. A strange one is of a kind that is not served.
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

// delete is a DELETE with a policy, "" for none.
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

// removeIfFinished removes a deleted relative without finalizers.
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

// applyRule applies to one relative what there is to apply, and reports whether it changed anything.
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

// processForeground sends the dependents of a waiting relative off, then lets it go if none blocks it.
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

// blockedBy is all that a waiting relative waits for and that waits itself, the relative included.
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

// attemptToDelete decides about a relative by its owners.
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
