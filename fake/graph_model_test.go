package fakeapi_test

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// kin is the garbage collector as it could be written without regard to speed or
// events: rules that are applied to everything, again and again, until none changes
// anything. What it comes to is what the server has to come to.
type kin map[string]*relative

// relative is an object of a kin. Its name is its uid, too.
type relative struct {
	owners     []tie
	finalizers []string
	deleted    bool
}

// tie is a reference to an owner. A strange one is of a kind that is not served.
type tie struct {
	name    string
	blocks  bool
	strange bool
}

func (t *relative) has(finalizer string) bool { return slices.Contains(t.finalizers, finalizer) }

func (t *relative) waits() bool { return t.deleted && t.has(metav1.FinalizerDeleteDependents) }

func (t *relative) owner(name string) (tie, bool) {
	i := slices.IndexFunc(t.owners, func(o tie) bool { return o.name == name })
	if i < 0 {
		return tie{}, false
	}
	return t.owners[i], true
}

func (w kin) names() []string { return slices.Sorted(maps.Keys(w)) }

func (w kin) dependents(owner string) (names []string) {
	for _, name := range w.names() {
		if _, is := w[name].owner(owner); is {
			names = append(names, name)
		}
	}
	return names
}

// delete is a DELETE with a policy, "" for none.
func (w kin) delete(name string, policy metav1.DeletionPropagation) {
	t := w[name]
	if policy == "" {
		switch {
		case t.has(metav1.FinalizerOrphanDependents):
			policy = metav1.DeletePropagationOrphan
		case t.has(metav1.FinalizerDeleteDependents):
			policy = metav1.DeletePropagationForeground
		}
	}
	t.deleted = true
	t.drop(metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents)
	switch policy {
	case metav1.DeletePropagationOrphan:
		t.finalizers = append(t.finalizers, metav1.FinalizerOrphanDependents)
	case metav1.DeletePropagationForeground:
		t.finalizers = append(t.finalizers, metav1.FinalizerDeleteDependents)
	}
	w.end(name)
}

func (t *relative) drop(finalizers ...string) {
	t.finalizers = slices.DeleteFunc(t.finalizers, func(f string) bool { return slices.Contains(finalizers, f) })
}

// end removes a deleted relative without finalizers.
func (w kin) end(name string) {
	if t := w[name]; t.deleted && len(t.finalizers) == 0 {
		delete(w, name)
	}
}

func (w kin) settle() {
	for changed := true; changed; {
		changed = false
		for _, name := range w.names() {
			if t := w[name]; t != nil && w.rule(name, t) {
				changed = true
			}
		}
	}
}

// rule applies to one relative what there is to apply, and reports whether it changed anything.
func (w kin) rule(name string, t *relative) bool {
	switch {
	case t.deleted && t.has(metav1.FinalizerOrphanDependents):
		for _, d := range w.dependents(name) {
			w[d].release(name)
		}
		t.drop(metav1.FinalizerOrphanDependents)
		w.end(name)
		return true
	case t.waits():
		return w.wait(name, t)
	case t.deleted:
		return false
	}
	return w.judge(name, t)
}

func (t *relative) release(owners ...string) {
	t.owners = slices.DeleteFunc(t.owners, func(o tie) bool { return slices.Contains(owners, o.name) })
}

// wait sends the dependents of a waiting relative off, then lets it go if none blocks it.
func (w kin) wait(name string, t *relative) bool {
	changed := false
	for _, d := range w.dependents(name) {
		if !w[d].deleted && w.judge(d, w[d]) {
			changed = true
		}
	}
	blocked := false
	for _, d := range w.dependents(name) {
		if o, _ := w[d].owner(name); !o.blocks {
			continue
		}
		blocked = true
		if w[d].waits() && w.behind(d)[name] {
			w[d].unblock()
			return true
		}
	}
	if blocked {
		return changed
	}
	t.drop(metav1.FinalizerDeleteDependents)
	w.end(name)
	return true
}

// behind is all that a waiting relative waits for and that waits itself, the relative included.
func (w kin) behind(name string) map[string]bool {
	all := map[string]bool{name: true}
	for grown := true; grown; {
		grown = false
		for d, t := range w {
			for _, o := range t.owners {
				if o.blocks && all[o.name] && t.waits() && !all[d] {
					all[d], grown = true, true
				}
			}
		}
	}
	return all
}

func (t *relative) unblock() {
	for i := range t.owners {
		t.owners[i].blocks = false
	}
}

// judge decides about a relative by its owners.
func (w kin) judge(name string, t *relative) bool {
	var lost []string
	solid, waiting := 0, false
	for _, o := range t.owners {
		owner := w[o.name]
		switch {
		case o.strange:
			return false
		case owner == nil:
			lost = append(lost, o.name)
		case owner.waits():
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
		t.release(lost...)
	case waiting && len(dependents) > 0:
		if slices.ContainsFunc(dependents, func(d string) bool { return w[d].waits() }) {
			t.unblock()
		}
		w.delete(name, metav1.DeletePropagationForeground)
	default:
		w.delete(name, "")
	}
	return true
}
