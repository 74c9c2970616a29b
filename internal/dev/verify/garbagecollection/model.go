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

func (n *node) hasFinalizer(finalizer string) bool { return slices.Contains(n.finalizers, finalizer) }

func (n *node) waitsForDependents() bool {
	return n.deleted && n.hasFinalizer(metav1.FinalizerDeleteDependents)
}

func (n *node) ownerNamed(name string) (ownerRef, bool) {
	i := slices.IndexFunc(n.owners, func(o ownerRef) bool { return o.name == name })
	if i < 0 {
		return ownerRef{}, false
	}
	return n.owners[i], true
}

func (g graph) names() []string { return slices.Sorted(maps.Keys(g)) }

func (g graph) dependents(owner string) (names []string) {
	for _, name := range g.names() {
		if _, is := g[name].ownerNamed(owner); is {
			names = append(names, name)
		}
	}
	return names
}

// delete deletes a node with a propagation policy, "" for none.
func (g graph) delete(name string, policy metav1.DeletionPropagation) {
	n := g[name]
	if policy == "" {
		switch {
		case n.hasFinalizer(metav1.FinalizerOrphanDependents):
			policy = metav1.DeletePropagationOrphan
		case n.hasFinalizer(metav1.FinalizerDeleteDependents):
			policy = metav1.DeletePropagationForeground
		}
	}
	n.deleted = true
	n.removeFinalizers(metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents)
	switch policy {
	case metav1.DeletePropagationOrphan:
		n.finalizers = append(n.finalizers, metav1.FinalizerOrphanDependents)
	case metav1.DeletePropagationForeground:
		n.finalizers = append(n.finalizers, metav1.FinalizerDeleteDependents)
	}
	g.removeIfFinished(name)
}

func (n *node) removeFinalizers(finalizers ...string) {
	n.finalizers = slices.DeleteFunc(n.finalizers, func(f string) bool { return slices.Contains(finalizers, f) })
}

// removeIfFinished removes a node that is being deleted and has no finalizers.
func (g graph) removeIfFinished(name string) {
	if n := g[name]; n.deleted && len(n.finalizers) == 0 {
		delete(g, name)
	}
}

func (g graph) run() {
	for changed := true; changed; {
		changed = false
		for _, name := range g.names() {
			if n := g[name]; n != nil && g.applyRule(name, n) {
				changed = true
			}
		}
	}
}

// applyRule applies the rule for a node, and reports whether it changed anything.
func (g graph) applyRule(name string, n *node) bool {
	switch {
	case n.deleted && n.hasFinalizer(metav1.FinalizerOrphanDependents):
		for _, d := range g.dependents(name) {
			g[d].removeOwners(name)
		}
		n.removeFinalizers(metav1.FinalizerOrphanDependents)
		g.removeIfFinished(name)
		return true
	case n.waitsForDependents():
		return g.processForeground(name, n)
	case n.deleted:
		return false
	}
	return g.attemptToDelete(name, n)
}

func (n *node) removeOwners(owners ...string) {
	n.owners = slices.DeleteFunc(n.owners, func(o ownerRef) bool { return slices.Contains(owners, o.name) })
}

// processForeground deletes the dependents of a node that waits for them, and removes the node if
// none blocks it. It reports whether it changed anything.
func (g graph) processForeground(name string, n *node) bool {
	changed := false
	for _, d := range g.dependents(name) {
		if !g[d].deleted && g.attemptToDelete(d, g[d]) {
			changed = true
		}
	}
	blocked := false
	for _, d := range g.dependents(name) {
		if o, _ := g[d].ownerNamed(name); !o.blocks {
			continue
		}
		blocked = true
		if g[d].waitsForDependents() && g.blockedBy(d)[name] {
			g[d].unblock()
			return true
		}
	}
	if blocked {
		return changed
	}
	n.removeFinalizers(metav1.FinalizerDeleteDependents)
	g.removeIfFinished(name)
	return true
}

// blockedBy returns the nodes that wait for their dependents and that block the named node,
// directly or indirectly, including the node itself.
func (g graph) blockedBy(name string) map[string]bool {
	all := map[string]bool{name: true}
	for grown := true; grown; {
		grown = false
		for d, n := range g {
			for _, o := range n.owners {
				if o.blocks && all[o.name] && n.waitsForDependents() && !all[d] {
					all[d], grown = true, true
				}
			}
		}
	}
	return all
}

func (n *node) unblock() {
	for i := range n.owners {
		n.owners[i].blocks = false
	}
}

// attemptToDelete deletes a node if none of its owners exists and stays, and otherwise removes the
// references to those that do not. It reports whether it changed anything.
func (g graph) attemptToDelete(name string, n *node) bool {
	var lost []string
	solid, waiting := 0, false
	for _, o := range n.owners {
		owner := g[o.name]
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
	dependents := g.dependents(name)
	switch {
	case len(lost) == 0:
		return false
	case solid > 0:
		n.removeOwners(lost...)
	case waiting && len(dependents) > 0:
		if slices.ContainsFunc(dependents, func(d string) bool { return g[d].waitsForDependents() }) {
			n.unblock()
		}
		g.delete(name, metav1.DeletePropagationForeground)
	default:
		g.delete(name, "")
	}
	return true
}
