package controllers

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"example.com/fakeapi/fake/internal/codec"
)

// ownerState is what the owners of an object are worth to it.
type ownerState struct {
	// present counts those that are there and do not wait for their dependents.
	present int
	// waiting tells that one waits for its dependents.
	waiting bool
	// lost are the uids of those that are not solid.
	lost []types.UID
}

// classify looks up the owners of an object. It is false if one of them cannot be
// looked up: then nothing is known, and the object is left alone.
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

// findOwner finds the object that a reference means; nil if it is absent, or another one
// has its name. It is not ok if the server cannot tell: the kind was never served in that
// version, or a namespaced owner is named by an object without a namespace.
// An owner is in the namespace of its dependents, wherever else there may be one.
func (m *Controllers) findOwner(it *item, reference metav1.OwnerReference) (owner *item, ok bool, err error) {
	res := m.kinds.resourceForKind(schema.FromAPIVersionAndKind(reference.APIVersion, reference.Kind))
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
