package memstore

import (
	"fmt"
	"strings"

	"github.com/hashicorp/go-memdb"
)

const (
	table       = "records"
	byKey       = "id" // go-memdb requires this name for the primary index
	byKeyPrefix = byKey + "_prefix"
)

// state is the set of all records at one revision. It is immutable.
//
// The memdb.MemDB in it is always the result of Snapshot, never of NewMemDB. memdb does not treat a
// snapshot as the primary database: a commit to it neither tracks nor closes the watch channels of
// the radix nodes that it replaces. This makes writes faster, and allows writing to the tree both
// inside and outside of a synctest bubble, because none of its channels is ever used.
type state struct {
	rev  Revision
	db   *memdb.MemDB
	dirs *dirCounts
	// bytes is the size of the records that the quota counts.
	bytes int64
	// id is a pointer that no state with other records has; see View.Identity.
	id *byte
}

// newState returns an empty state.
func newState(rev Revision) *state {
	db, err := memdb.NewMemDB(&memdb.DBSchema{Tables: map[string]*memdb.TableSchema{
		table: {Name: table, Indexes: map[string]*memdb.IndexSchema{
			byKey: {Name: byKey, Unique: true, Indexer: keyIndex{}},
		}},
	}})
	must(err)
	return &state{rev: rev, db: db.Snapshot(), dirs: newDirCounts(), id: new(byte)}
}

// keyIndex indexes a record by the bytes of its key. memdb's string index would append a NUL, so
// the order would differ from that of etcd, in which "a-b/x" comes before "a/x".
type keyIndex struct{}

// FromObject implements memdb.SingleIndexer. It returns the key of a record.
func (keyIndex) FromObject(o any) (bool, []byte, error) { return true, []byte(o.(*Record).Key), nil }

// FromArgs implements memdb.Indexer. Its only argument is a key.
func (keyIndex) FromArgs(args ...any) ([]byte, error) { return []byte(args[0].(string)), nil }

// PrefixFromArgs implements memdb.PrefixIndexer. Its only argument is a prefix of keys.
func (keyIndex) PrefixFromArgs(args ...any) ([]byte, error) { return []byte(args[0].(string)), nil }

// must panics on an error of memdb, which cannot occur with a fixed schema and an indexer that does
// not fail.
func must(err error) {
	if err != nil {
		panic(fmt.Sprintf("memstore: memdb: %v", err))
	}
}

// get returns the record of a key, or nil if it does not exist.
func (s *state) get(key string) *Record {
	if s.dirs.get("") == 0 {
		return nil // a new store is filled without a look-up for each key
	}
	o, err := s.db.Txn(false).First(table, byKey, key)
	must(err)
	if o == nil {
		return nil
	}
	return o.(*Record)
}

// apply returns the state after events. Its revision is that of the last event.
func (s *state) apply(events []*Event) *state {
	db := s.db.Snapshot()
	txn := db.Txn(true)
	for _, e := range events {
		if e.Record != nil {
			must(txn.Insert(table, e.Record))
		} else {
			must(txn.Delete(table, e.Prev))
		}
	}
	txn.Commit()
	return &state{
		rev: events[len(events)-1].Revision, db: db, dirs: s.dirs.apply(events), bytes: s.bytes + sizeChange(events), id: new(byte),
	}
}

// applyAll applies any number of events. It returns the states that the history keeps and the last
// state.
func (s *state) applyAll(events []*Event) []*state {
	states := make([]*state, 0, 1+len(events)/baseInterval)
	for len(events) > 0 {
		n := int(-events[0].Revision%baseInterval) + 1 // up to and including the next multiple of baseInterval
		n = min(n, len(events))
		s = s.apply(events[:n])
		states = append(states, s)
		events = events[n:]
	}
	return states
}

// scan returns a scanner of the records whose key has the prefix and is not below from, ordered by
// key.
func (s *state) scan(prefix, from string) scanner {
	txn := s.db.Txn(false)
	var it memdb.ResultIterator
	var err error
	if from <= prefix {
		it, err = txn.Get(table, byKeyPrefix, prefix)
	} else {
		it, err = txn.LowerBound(table, byKey, from)
	}
	must(err)
	return scanner{it, prefix}
}

type scanner struct {
	it     memdb.ResultIterator
	prefix string
}

// next returns the next record, or nil at the end.
func (s scanner) next() *Record {
	o := s.it.Next()
	if o == nil {
		return nil
	}
	r := o.(*Record)
	if !strings.HasPrefix(r.Key, s.prefix) {
		return nil // LowerBound does not stop at the end of the prefix
	}
	return r
}
