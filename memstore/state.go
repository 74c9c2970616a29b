package memstore

import (
	"fmt"
	"strings"

	"github.com/hashicorp/go-memdb"
)

const (
	table       = "records"
	byKey       = "id" // memdb wants this name for the primary index
	byKeyPrefix = byKey + "_prefix"
)

// state is all records at one revision. It is immutable.
//
// The memdb.MemDB in it is always one that Snapshot returned, never the one that NewMemDB made. To
// memdb such a one is not the primary: a commit to it neither tracks nor closes the watch channels of
// the radix nodes it replaces. That makes a write cheaper, and it makes the tree safe to write inside
// a synctest bubble and outside of it in turn, as no channel of it is ever used.
type state struct {
	rev  Revision
	db   *memdb.MemDB
	dirs *dirCounts
	// bytes are what the records are taken to occupy.
	bytes int64
}

// newState returns the state without records at a revision.
func newState(rev Revision) *state {
	db, err := memdb.NewMemDB(&memdb.DBSchema{Tables: map[string]*memdb.TableSchema{
		table: {Name: table, Indexes: map[string]*memdb.IndexSchema{
			byKey: {Name: byKey, Unique: true, Indexer: keyIndex{}},
		}},
	}})
	must(err)
	return &state{rev: rev, db: db.Snapshot(), dirs: newDirCounts()}
}

// keyIndex indexes a record by the bytes of its key and nothing else. memdb's own string index would
// append a NUL, and then the order would no longer be that of etcd: "a-b/x" before "a/x".
type keyIndex struct{}

func (keyIndex) FromObject(o any) (bool, []byte, error)     { return true, []byte(o.(*Record).Key), nil }
func (keyIndex) FromArgs(args ...any) ([]byte, error)       { return []byte(args[0].(string)), nil }
func (keyIndex) PrefixFromArgs(args ...any) ([]byte, error) { return []byte(args[0].(string)), nil }

// must holds memdb to its word: its errors are about unknown tables and indexes, and about
// indexers that fail. Ours are fixed and do not.
func must(err error) {
	if err != nil {
		panic(fmt.Sprintf("memstore: memdb: %v", err))
	}
}

// get returns the record, nil if there is none.
func (s *state) get(key string) *Record {
	o, err := s.db.Txn(false).First(table, byKey, key)
	must(err)
	if o == nil {
		return nil
	}
	return o.(*Record)
}

// apply returns the state after the events, the last of which gives its revision.
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
	return &state{rev: events[len(events)-1].Revision, db: db, dirs: s.dirs.apply(events), bytes: s.bytes + sizeChange(events)}
}

// applyAll applies events that may be many, and returns every state on the way that the history keeps, and
// the last one.
func (s *state) applyAll(events []*Event) []*state {
	states := make([]*state, 0, 1+len(events)/baseInterval)
	for len(events) > 0 {
		n := int(-events[0].Revision%baseInterval) + 1 // up to and with the next multiple of stride
		n = min(n, len(events))
		s = s.apply(events[:n])
		states = append(states, s)
		events = events[n:]
	}
	return states
}

// scan walks the records with the prefix and a key not below from, in the order of their keys.
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

// next returns the next record, nil at the end.
func (s scanner) next() *Record {
	o := s.it.Next()
	if o == nil {
		return nil
	}
	r := o.(*Record)
	if !strings.HasPrefix(r.Key, s.prefix) {
		return nil // past the prefix: a seek to a lower bound does not stop by itself
	}
	return r
}
