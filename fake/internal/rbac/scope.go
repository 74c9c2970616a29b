package rbac

import (
	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// kinds are the resources of the roles and the bindings in a namespace, or at the cluster scope.
type kinds struct{ roles, bindings *resource.Resource }

// scope has the bindings in a namespace, or at the cluster scope, at one state of the store. It is
// immutable.
type scope struct {
	namespace string            // "" for the cluster scope
	state     memstore.Identity // of all records
	roles     memstore.Identity // of the Roles in the namespace, or of the ClusterRoles
	bindings  *bindingSet
}

// newScope returns the scope of an empty store.
func newScope(namespace string) *scope { return &scope{namespace: namespace, bindings: &bindingSet{}} }

// isAt reports whether s is that of a state.
func (s *scope) isAt(state memstore.Identity) bool { return s != nil && s.state == state }

// update returns the scope at a view, which has the given state. It uses what did not change.
func (s *scope) update(k kinds, view memstore.View, state memstore.Identity) *scope {
	prefix := codec.Key(k.bindings, s.namespace, "")
	next := &scope{
		namespace: s.namespace, state: state, bindings: s.bindings,
		roles: view.Identity(codec.Key(k.roles, s.namespace, "")),
	}
	if identity := view.Identity(prefix); identity != s.bindings.identity {
		next.bindings = s.bindings.update(k.bindings, view, prefix, identity)
	}
	return next
}
