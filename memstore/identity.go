package memstore

import (
	"strings"
	"weak"
)

// Identity identifies the records of a View under a prefix; see [View.Identity]. It is comparable. It
// does not keep records in memory.
type Identity struct {
	// node is the channel of the radix node that contains the prefix. Each node has a channel of its
	// own, and a write replaces the nodes on the way to its key. The channel is compared only.
	node <-chan struct{}
	// state is the state of a view, for the prefix "".
	state weak.Pointer[state]
}

// Identity returns the identity of the records whose key has the prefix. If those of two views are
// equal for the same prefix, the views have the same records under it, also if they are of
// different stores that were forked or restored. So a value that is derived from these records can
// be used again.
//
// A write under the prefix changes the identity. The identity may also change for another reason: a
// write elsewhere if no key has the prefix, and a view at an older revision, whose identity
// differs in every call if there were writes under the prefix shortly before that revision.
func (v View) Identity(prefix string) Identity {
	if v.base == nil {
		return Identity{}
	}
	if i, _ := v.findPatch(prefix); i < len(v.patches) && strings.HasPrefix(v.patches[i].key, prefix) {
		return Identity{node: make(chan struct{})}
	}
	if prefix == "" {
		return Identity{state: weak.Make(v.base)}
	}
	it, err := v.base.db.Txn(false).Get(table, byKeyPrefix, prefix)
	must(err)
	return Identity{node: it.WatchCh()}
}
