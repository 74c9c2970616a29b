package memstore

import "strings"

// Identity identifies the records of a View under a prefix; see [View.Identity]. It is comparable.
// It does not keep records in memory. The zero Identity is that of no records.
type Identity struct {
	// node is the channel of the radix node that contains the prefix. Each node has a channel of its
	// own, and a write replaces the nodes on the way to its key. The channel is compared only.
	node <-chan struct{}
	// state is the id of the state of a view, for the prefix "".
	state *byte
}

// Identity returns the identity of the records whose key has the prefix. If those of two views are
// equal for the same prefix, the views have the same records under it, also if they are of
// different stores that were forked or restored. So a value that is derived from these records can
// be used again.
//
// A write under the prefix changes the identity. It may also change without one, if a key is
// created or deleted that is next to the prefix in the tree of keys. A view at an older revision
// has another identity in each call if there were writes under the prefix shortly before that
// revision. Identity is fastest for "".
func (v View) Identity(prefix string) Identity {
	if v.base == nil {
		return Identity{}
	}
	if i, _ := v.findPatch(prefix); i < len(v.patches) && strings.HasPrefix(v.patches[i].key, prefix) {
		return Identity{node: make(chan struct{})}
	}
	if prefix == "" {
		return Identity{state: v.base.id}
	}
	if strings.HasSuffix(prefix, "/") && v.base.dirs.get(prefix) == 0 {
		return Identity{} // without a look-up in the tree of keys
	}
	node, first, err := v.base.db.Txn(false).FirstWatch(table, byKeyPrefix, prefix)
	must(err)
	if first == nil {
		return Identity{}
	}
	return Identity{node: node}
}
