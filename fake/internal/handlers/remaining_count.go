package handlers

import (
	"sync"

	"example.com/fakeapi/memstore"
)

// remainingCounts remembers how many items are left behind the pages it has served, so
// that remainingItemCount of the next page is a subtraction and not a walk to
// the end of the collection. What it has forgotten is counted.
type remainingCounts struct {
	mu     sync.Mutex
	counts map[pageKey]int64
	// ring are the keys of left in the order they came, a ring.
	ring [64]pageKey
	next int
}

// pageKey is where a page ended: the key that the next one starts from.
type pageKey struct {
	at     epochRevision
	prefix string
	from   string
}

// epochRevision is a revision between two restores of the store: after the next one, its
// number may be given to another state.
type epochRevision struct {
	restores uint64
	revision memstore.Revision
}

func (a *API) epochRevision(rev memstore.Revision) epochRevision {
	return epochRevision{a.store.RestoreCount(), rev}
}

// remaining tells how many items follow a page of limit items that began at
// from and ended before end.
func (p *remainingCounts) remaining(view memstore.View, at epochRevision, prefix, from, end string, limit int) int64 {
	left := p.countFrom(view, at, prefix, from) - int64(limit)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.counts == nil {
		p.counts = make(map[pageKey]int64, len(p.ring))
	}
	key := pageKey{at, prefix, end}
	if _, known := p.counts[key]; !known {
		delete(p.counts, p.ring[p.next])
		p.ring[p.next] = key
		p.next = (p.next + 1) % len(p.ring)
	}
	p.counts[key] = left
	return left
}

// countFrom tells how many items a collection has from a key on.
func (p *remainingCounts) countFrom(view memstore.View, at epochRevision, prefix, from string) int64 {
	if from == "" {
		return int64(view.Count(prefix))
	}
	p.mu.Lock()
	left, known := p.counts[pageKey{at, prefix, from}]
	p.mu.Unlock()
	if known {
		return left
	}
	var n int64
	for range view.Range(prefix, from) {
		n++
	}
	return n
}
