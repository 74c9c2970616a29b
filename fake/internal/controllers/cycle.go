package controllers

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// isFree reports whether an object in foreground deletion has no dependents left to wait for.
// Dependents that block it and wait for it themselves, directly or through others, stop blocking;
// the object is then examined again.
func (m *Controllers) isFree(ctx context.Context, it *item) (bool, error) {
	blockers := m.graph.blockers(it.rec.UID)
	for _, key := range blockers {
		if !m.reaches(key, it.rec.Key, make(map[string]bool)) {
			continue
		}
		dependent, err := m.readItem(key)
		if err != nil || dependent == nil {
			return false, err
		}
		if err := m.unblock(ctx, dependent); err != nil {
			return false, err
		}
	}
	return len(blockers) == 0, nil
}

// reaches reports whether the object under key from waits for the one under key to, directly or
// through others. An object that is its own owner waits for itself.
func (m *Controllers) reaches(from, to string, seen map[string]bool) bool {
	if !m.graph.isWaiting(from) || seen[from] {
		return false
	}
	if from == to {
		return true
	}
	seen[from] = true
	return slices.ContainsFunc(m.graph.blockers(m.graph.objects[from].uid), func(key string) bool {
		return m.reaches(key, to, seen)
	})
}

// unblock clears blockOwnerDeletion in the owner references of an object.
func (m *Controllers) unblock(ctx context.Context, it *item) error {
	no := false
	return m.changeObject(ctx, it, func(meta metav1.Object) {
		references := meta.GetOwnerReferences()
		for i := range references {
			if blocks(references[i]) {
				references[i].BlockOwnerDeletion = &no
			}
		}
		meta.SetOwnerReferences(references)
	})
}
