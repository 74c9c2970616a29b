package handlers

import (
	"sync"

	"example.com/fakeapi/memstore"
)

// remainingCounts caches the number of items after the pages that were served last, so that the
// remainingItemCount of the next page is a subtraction. Other counts walk to the end of the
// collection. It is safe for concurrent use.
type remainingCounts struct {
	mu     sync.Mutex
	counts map[pageKey]int64
	ring   [64]pageKey // the keys of counts in the order in which they were added
	next   int         // the index in ring of the next key
}

// pageKey identifies the rest of a collection: the one from startKey on.
type pageKey struct {
	revision epochRevision
	prefix   string
	startKey string
}

// afterPage returns the number of items after a page of limit items, which starts at startKey.
// nextKey is the start of the next page.
func (c *remainingCounts) afterPage(view memstore.View, revision epochRevision, prefix, startKey, nextKey string, limit int) int64 {
	count := c.from(view, revision, prefix, startKey) - int64(limit)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = make(map[pageKey]int64, len(c.ring))
	}
	key := pageKey{revision, prefix, nextKey}
	if _, ok := c.counts[key]; !ok {
		delete(c.counts, c.ring[c.next])
		c.ring[c.next] = key
		c.next = (c.next + 1) % len(c.ring)
	}
	c.counts[key] = count
	return count
}

// from returns the number of items from startKey on.
func (c *remainingCounts) from(view memstore.View, revision epochRevision, prefix, startKey string) int64 {
	if startKey == "" {
		return int64(view.Count(prefix))
	}
	c.mu.Lock()
	count, ok := c.counts[pageKey{revision, prefix, startKey}]
	c.mu.Unlock()
	if ok {
		return count
	}
	var n int64
	for range view.Range(prefix, startKey) {
		n++
	}
	return n
}
