package handlers

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// dedupOwnerReferences merges owner references that are the same and warns of them
// (MD-22). A real server looks twice, at what was sent and again behind admission,
// where what a patch has made comes by; the words tell which.
func (q *request) dedupOwnerReferences(obj runtime.Object, afterAdmission bool) {
	m := accessor(obj)
	owners := m.GetOwnerReferences()
	if len(owners) < 2 {
		return
	}
	var kept []metav1.OwnerReference
	var duplicates []string
	for _, owner := range owners {
		if containsOwner(kept, owner) {
			duplicates = append(duplicates, string(owner.UID))
			continue
		}
		kept = append(kept, owner)
	}
	if len(duplicates) == 0 {
		return
	}
	m.SetOwnerReferences(kept)
	when := ""
	if afterAdmission {
		when = " after mutating admission happens"
	}
	q.addWarnings(fmt.Errorf(".metadata.ownerReferences contains duplicate entries%s; API server dedups owner references in 1.20+, "+
		"and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: %s",
		when, strings.Join(duplicates, ", ")))
}

func containsOwner(owners []metav1.OwnerReference, owner metav1.OwnerReference) bool {
	for _, o := range owners {
		if o.UID == owner.UID && equality.Semantic.DeepEqual(o, owner) {
			return true
		}
	}
	return false
}
