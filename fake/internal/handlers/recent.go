package handlers

import (
	"hash/maphash"
	"sync/atomic"

	"example.com/fakeapi/memstore"
)

// recentSlots is how many records a recent knows something of, and recentSize how long their data is at
// most: what is decoded of a few hundred large objects would be gigabytes.
const (
	recentSlots = 512
	recentSize  = 256 << 10
)

// recent keeps something about the records that were dealt with last; what is dealt
// with mostly is so again soon. A record takes the place of another one now and
// then. It is safe for concurrent use.
type recent[T any] struct {
	seed  maphash.Seed
	slots [recentSlots]atomic.Pointer[noted[T]]
}

// noted is what is kept about a record.
type noted[T any] struct {
	rec  *memstore.Record
	what T
}

func newRecent[T any]() *recent[T] { return &recent[T]{seed: maphash.MakeSeed()} }

func (r *recent[T]) slot(rec *memstore.Record) *atomic.Pointer[noted[T]] {
	return &r.slots[maphash.String(r.seed, rec.Key)%recentSlots]
}

// of gives what is known about this very record, if anything.
func (r *recent[T]) of(rec *memstore.Record) (what T, ok bool) {
	if n := r.slot(rec).Load(); n != nil && n.rec == rec {
		return n.what, true
	}
	return what, false
}

// note keeps what is to be known about a record.
func (r *recent[T]) note(rec *memstore.Record, what T) {
	if len(rec.Data) > recentSize {
		return
	}
	r.slot(rec).Store(&noted[T]{rec, what})
}
