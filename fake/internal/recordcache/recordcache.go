// Package recordcache caches values that belong to records of the store, such as decoded objects.
package recordcache

import (
	"hash/maphash"
	"sync/atomic"

	"example.com/fakeapi/memstore"
)

// slotCount is the number of records that a Cache has values for. maxDataSize is the size of
// the largest record in bytes: the decoded form of a few hundred large objects takes gigabytes.
const (
	slotCount   = 512
	maxDataSize = 256 << 10
)

// Cache holds a value for each of the records that were used last. A record occupies the slot of
// the hash of its key, so that two records with the same hash replace each other. It is safe for
// concurrent use.
type Cache[T any] struct {
	seed  maphash.Seed
	slots [slotCount]atomic.Pointer[entry[T]]
}

type entry[T any] struct {
	rec   *memstore.Record
	value T
}

// New returns an empty Cache.
func New[T any]() *Cache[T] { return &Cache[T]{seed: maphash.MakeSeed()} }

func (c *Cache[T]) slot(key string) *atomic.Pointer[entry[T]] {
	return &c.slots[maphash.String(c.seed, key)%slotCount]
}

// Get returns the value of rec, and whether there is one. The value of another record with the same
// key does not count.
func (c *Cache[T]) Get(rec *memstore.Record) (value T, ok bool) {
	if e := c.slot(rec.Key).Load(); e != nil && e.rec == rec {
		return e.value, true
	}
	return value, false
}

// Put sets the value of rec, unless rec is too large.
func (c *Cache[T]) Put(rec *memstore.Record, value T) {
	if len(rec.Data) > maxDataSize {
		return
	}
	c.slot(rec.Key).Store(&entry[T]{rec, value})
}
