package rbac

import (
	"maps"
	"slices"
	"sync/atomic"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/user"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// binding is a ClusterRoleBinding or a RoleBinding. It is immutable.
type binding struct {
	record          *memstore.Record
	kind, namespace string
	name            string // of a RoleBinding NAME/NAMESPACE
	roleRef         rbacv1.RoleRef
	subjects        []rbacv1.Subject
	err             error // not nil if the record cannot be decoded
}

// decodeBinding returns the binding of a record.
func decodeBinding(res *resource.Resource, record *memstore.Record) *binding {
	obj, err := codec.DecodeStored(res, record)
	if err != nil {
		return &binding{record: record, err: err}
	}
	if b, ok := obj.(*rbacv1.RoleBinding); ok {
		return &binding{record: record, kind: "RoleBinding", namespace: b.Namespace, name: b.Name + "/" + b.Namespace, roleRef: b.RoleRef, subjects: b.Subjects}
	}
	b := obj.(*rbacv1.ClusterRoleBinding)
	return &binding{record: record, kind: "ClusterRoleBinding", name: b.Name, roleRef: b.RoleRef, subjects: b.Subjects}
}

// grants returns the grants of a binding by key, for each key that of its first subject.
func (b *binding) grants() map[subjectKey]*grant {
	if b.err != nil {
		return map[subjectKey]*grant{everyone: {binding: b}}
	}
	grants := make(map[subjectKey]*grant, len(b.subjects))
	for i := range b.subjects {
		key, ok := keyOf(&b.subjects[i], b.namespace)
		if ok && grants[key] == nil {
			grants[key] = &grant{binding: b, subject: i}
		}
	}
	return grants
}

// bindingSet has the ClusterRoleBindings, or the RoleBindings of a namespace, by subject. It is
// immutable.
type bindingSet struct {
	identity  memstore.Identity // of the records
	bindings  []*binding        // sorted by key
	bySubject map[subjectKey]*subjectGrants
}

// subjectGrants has the grants of a key, sorted, and the rules of their roles.
type subjectGrants struct {
	grants []*grant
	rules  atomic.Pointer[ruleIndex] // the last one that was used
}

// grantsOf returns the grants of a user, for each binding that of its first subject that is the
// user.
func (s *bindingSet) grantsOf(u user.Info) []*grant {
	var all []*grant
	forEachKey(u, func(key subjectKey) {
		if of := s.bySubject[key]; of != nil {
			all = append(all, of.grants...)
		}
	})
	return uniqueBindings(all)
}

// update returns the set of the records of a view under a prefix, whose identity is given. It
// decodes only the records that s does not have, and costs as much as the difference, apart from
// comparing the records and copying the maps.
func (s *bindingSet) update(res *resource.Resource, view memstore.View, prefix string, identity memstore.Identity) *bindingSet {
	next := &bindingSet{identity: identity, bindings: make([]*binding, 0, len(s.bindings))}
	var added []*binding
	removed := map[*binding]bool{}
	old := s.bindings
	for record := range view.Range(prefix, "") {
		for len(old) > 0 && old[0].record.Key < record.Key {
			removed[old[0]] = true
			old = old[1:]
		}
		if len(old) > 0 && old[0].record == record {
			next.bindings = append(next.bindings, old[0])
			old = old[1:]
			continue
		}
		b := decodeBinding(res, record)
		next.bindings, added = append(next.bindings, b), append(added, b)
	}
	for _, b := range old {
		removed[b] = true
	}
	if len(added)+len(removed) == 0 {
		next.bindings, next.bySubject = s.bindings, s.bySubject
	} else {
		next.bySubject = s.change(removed, added)
	}
	return next
}

// change returns bySubject without some bindings and with others.
func (s *bindingSet) change(removed map[*binding]bool, added []*binding) map[subjectKey]*subjectGrants {
	changed := map[subjectKey][]*grant{}
	for b := range removed {
		for key := range b.grants() {
			changed[key] = nil
		}
	}
	for _, b := range added {
		for key, g := range b.grants() {
			changed[key] = append(changed[key], g)
		}
	}
	next := make(map[subjectKey]*subjectGrants, len(s.bySubject)+len(changed))
	maps.Copy(next, s.bySubject)
	for key, grants := range changed {
		if of := s.bySubject[key]; of != nil {
			for _, g := range of.grants {
				if !removed[g.binding] {
					grants = append(grants, g)
				}
			}
		}
		if len(grants) == 0 {
			delete(next, key)
			continue
		}
		slices.SortFunc(grants, compareGrants)
		next[key] = &subjectGrants{grants: grants}
	}
	return next
}
