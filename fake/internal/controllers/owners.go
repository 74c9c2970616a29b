package controllers

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"example.com/fakeapi/fake/internal/codec"
)

// ownerState is the result of looking up the owners of an object.
type ownerState struct {
	// present counts the owners that exist and are not in foreground deletion.
	present int
	// waiting reports whether an owner is in foreground deletion.
	waiting bool
	// lost has the uids of the owners that are absent or in foreground deletion.
	lost []types.UID
}

// classify looks up the owners of an object. It returns false if one of them cannot be looked up;
// then the object must not be deleted.
func (m *Controllers) classify(it *item) (s ownerState, ok bool) {
	for _, reference := range it.meta.OwnerReferences {
		owner, ok, err := m.findOwner(it, reference)
		switch {
		case !ok || err != nil:
			return ownerState{}, false
		case owner == nil:
			s.lost = append(s.lost, reference.UID)
		case isWaitingForDependents(owner.meta):
			s.waiting = true
			s.lost = append(s.lost, reference.UID)
		default:
			s.present++
		}
	}
	return s, true
}

// findOwner returns the object of an owner reference, or nil if it is absent or has another uid. ok
// is false if the reference cannot be resolved: the kind was never served in that version, or a
// cluster-scoped object names a namespaced owner. An owner is looked up in the namespace of its
// dependent only.
func (m *Controllers) findOwner(it *item, reference metav1.OwnerReference) (owner *item, ok bool, err error) {
	res := m.resources.resourceForKind(schema.FromAPIVersionAndKind(reference.APIVersion, reference.Kind))
	if res == nil || !res.HasVerb("get") || res.Namespaced && it.namespace == "" {
		return nil, false, nil
	}
	rec := m.store.View().Get(codec.Key(res, it.namespace, reference.Name))
	if rec == nil || rec.UID != string(reference.UID) {
		return nil, true, nil
	}
	meta, err := codec.DecodeMetadata(rec)
	return &item{rec: rec, meta: meta}, true, err
}
