package handlers

import (
	"hash/maphash"
	"sync/atomic"

	"example.com/fakeapi/memstore"
)

// recordCacheSlots is how many records a recent knows something of, and maxCachedRecord how long their data is at
// most: what is decoded of a few hundred large objects would be gigabytes.
const (
	recordCacheSlots = 512
	maxCachedRecord  = 256 << 10
)

// recordCache keeps something about the records that were dealt with last; what is dealt
// with mostly is so again soon. A record takes the place of another one now and
// then. It is safe for concurrent use.
type recordCache[T any] struct {
	seed  maphash.Seed
	slots [recordCacheSlots]atomic.Pointer[cacheEntry[T]]
}

// cacheEntry is what is kept about a record.
type cacheEntry[T any] struct {
	rec   *memstore.Record
	value T
}

func newRecordCache[T any]() *recordCache[T] { return &recordCache[T]{seed: maphash.MakeSeed()} }

func (r *recordCache[T]) slot(rec *memstore.Record) *atomic.Pointer[cacheEntry[T]] {
	return &r.slots[maphash.String(r.seed, rec.Key)%recordCacheSlots]
}

// lookup gives what is known about this very record, if anything.
func (r *recordCache[T]) lookup(rec *memstore.Record) (value T, ok bool) {
	if n := r.slot(rec).Load(); n != nil && n.rec == rec {
		return n.value, true
	}
	return value, false
}

// store keeps what is to be known about a record.
func (r *recordCache[T]) store(rec *memstore.Record, value T) {
	if len(rec.Data) > maxCachedRecord {
		return
	}
	r.slot(rec).Store(&cacheEntry[T]{rec, value})
}
