package handlers

import (
	"sync"

	"example.com/fakeapi/memstore"
)

// pages remembers how many items are left behind the pages it has served, so
// that remainingItemCount of the next page is a subtraction and not a walk to
// the end of the collection. What it has forgotten is counted.
type pages struct {
	mu   sync.Mutex
	left map[pageEnd]int64
	// recent are the keys of left in the order they came, a ring.
	recent [64]pageEnd
	next   int
}

// pageEnd is where a page ended: the key that the next one starts from.
type pageEnd struct {
	at     moment
	prefix string
	from   string
}

// moment is a revision between two restores of the store: after the next one, its
// number may be given to another state.
type moment struct {
	restores uint64
	revision memstore.Revision
}

func (a *API) moment(rev memstore.Revision) moment { return moment{a.store.RestoreCount(), rev} }

// remaining tells how many items follow a page of limit items that began at
// from and ended before end.
func (p *pages) remaining(view memstore.View, at moment, prefix, from, end string, limit int) int64 {
	left := p.behind(view, at, prefix, from) - int64(limit)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left == nil {
		p.left = make(map[pageEnd]int64, len(p.recent))
	}
	key := pageEnd{at, prefix, end}
	if _, known := p.left[key]; !known {
		delete(p.left, p.recent[p.next])
		p.recent[p.next] = key
		p.next = (p.next + 1) % len(p.recent)
	}
	p.left[key] = left
	return left
}

// behind tells how many items a collection has from a key on.
func (p *pages) behind(view memstore.View, at moment, prefix, from string) int64 {
	if from == "" {
		return int64(view.Count(prefix))
	}
	p.mu.Lock()
	left, known := p.left[pageEnd{at, prefix, from}]
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
