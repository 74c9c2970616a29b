package controllers

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// graph is the owner graph, as far as events have been read. It has only objects with owners, and
// objects in foreground deletion.
type graph struct {
	// objects has the objects with owners, by key.
	objects map[string]object
	// byOwner has the keys of the dependents, by the owner's uid.
	byOwner map[string]map[string]bool
	// waiting has the keys of the objects in foreground deletion, by uid.
	waiting map[string]string
}

// object is an object with owners.
type object struct {
	uid    string
	owners []owner
}

// owner is the part of an owner reference that the graph needs. The rest is read from the store
// when needed.
type owner struct {
	uid    string
	blocks bool
}

func ownersOf(references []metav1.OwnerReference) []owner {
	if len(references) == 0 {
		return nil
	}
	owners := make([]owner, len(references))
	for i, r := range references {
		owners[i] = owner{uid: string(r.UID), blocks: blocks(r)}
	}
	return owners
}

func blocks(r metav1.OwnerReference) bool {
	return r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion
}

// put records the owners of an object and returns the previous ones. changed reports whether the
// owners differ, or the object is new.
func (g *graph) put(key, uid string, references []metav1.OwnerReference) (before []owner, changed bool) {
	old, known := g.objects[key]
	if !known && len(references) == 0 {
		return nil, false
	}
	owners := ownersOf(references)
	if known && old.uid == uid && slices.Equal(old.owners, owners) {
		return nil, false
	}
	g.unlink(key, old)
	if len(owners) > 0 {
		g.link(key, object{uid: uid, owners: owners})
	}
	return old.owners, true
}

// remove removes an object and returns the owners that it had.
func (g *graph) remove(key, uid string) []owner {
	old := g.objects[key]
	g.unlink(key, old)
	delete(g.waiting, uid)
	return old.owners
}

func (g *graph) link(key string, o object) {
	if g.objects == nil {
		g.objects, g.byOwner = make(map[string]object), make(map[string]map[string]bool)
	}
	g.objects[key] = o
	for _, owner := range o.owners {
		keys := g.byOwner[owner.uid]
		if keys == nil {
			keys = make(map[string]bool)
			g.byOwner[owner.uid] = keys
		}
		keys[key] = true
	}
}

func (g *graph) unlink(key string, o object) {
	delete(g.objects, key)
	for _, owner := range o.owners {
		delete(g.byOwner[owner.uid], key)
		if len(g.byOwner[owner.uid]) == 0 {
			delete(g.byOwner, owner.uid)
		}
	}
}

// setWaiting records whether an object is in foreground deletion.
func (g *graph) setWaiting(key, uid string, waits bool) {
	if !waits {
		delete(g.waiting, uid)
		return
	}
	if g.waiting == nil {
		g.waiting = make(map[string]string)
	}
	g.waiting[uid] = key
}

// dependents returns the keys of the objects that have the uid as an owner, sorted.
func (g *graph) dependents(uid string) []string {
	return slices.Sorted(maps.Keys(g.byOwner[uid]))
}

// blockers returns the keys of the dependents that block the deletion of the owner, sorted.
func (g *graph) blockers(uid string) []string {
	var keys []string
	for key := range g.byOwner[uid] {
		if slices.Contains(g.objects[key].owners, owner{uid: uid, blocks: true}) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// isWaiting reports whether the object under a key, which has owners, is in foreground deletion.
func (g *graph) isWaiting(key string) bool {
	_, is := g.waiting[g.objects[key].uid]
	return is
}
