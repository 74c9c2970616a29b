package faults

import (
	"strings"
	"sync"
	"time"
)

// Hit is one application of a rule to a request or a frame.
type Hit struct {
	// Seq numbers the hits of a set from 1. If the first hit that is left has another number, older
	// ones have been removed.
	Seq  uint64
	Time time.Time
	// Order is the order of the hit among other events, by the function of [Set.OrderHits], or 0.
	Order uint64
	// Rule is the rule as it was added.
	Rule Rule
	// Op is the operation that the rule matched.
	Op Op
	// NotApplied is the reason why the effects could not be applied, or "" if they were.
	NotApplied string
}

// String returns one line without number and time, so that equal runs print equal hits.
func (h Hit) String() string {
	texts := make([]string, len(h.Rule.Do))
	for i, e := range h.Rule.Do {
		texts[i] = e.String()
	}
	line := h.Op.Phase.String() + " " + h.Op.String() + ": " + strings.Join(texts, ", ")
	if h.Rule.Name != "" {
		line = h.Rule.Name + ": " + line
	}
	if h.NotApplied != "" {
		line += " [not applied: " + h.NotApplied + "]"
	}
	return line
}

// maxHits is the number of hits that a hitLog keeps.
const maxHits = 1024

// hitLog is a ring buffer of the latest hits.
type hitLog struct {
	mu     sync.Mutex // guards the fields below
	ring   []Hit
	oldest int // the index of the oldest hit in a full ring
	seq    uint64
	order  func() uint64
	next   chan struct{} // closed at the next hit; nil if nothing waits
}

// add adds a hit and returns its number.
func (l *hitLog) add(r *Rule, op Op, notApplied string) uint64 {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seq++
	h := Hit{Seq: l.seq, Time: now, Rule: *r, Op: op, NotApplied: notApplied}
	if l.order != nil {
		h.Order = l.order()
	}
	if len(l.ring) < maxHits {
		l.ring = append(l.ring, h)
	} else {
		l.ring[l.oldest] = h
		l.oldest = (l.oldest + 1) % maxHits
	}
	if l.next != nil {
		close(l.next)
		l.next = nil
	}
	return l.seq
}

// setNotApplied marks a hit as not applied, unless it has been removed.
func (l *hitLog) setNotApplied(seq uint64, reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for back := range len(l.ring) {
		h := &l.ring[(l.oldest+len(l.ring)-1-back)%len(l.ring)]
		if h.Seq <= seq {
			if h.Seq == seq {
				h.NotApplied = reason
			}
			return
		}
	}
}

// after returns the hits with higher numbers, the oldest first.
func (l *hitLog) after(seq uint64) []Hit {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.copyAfter(seq)
}

// afterAndNext returns the hits with higher numbers, and a channel that is closed at the next one.
func (l *hitLog) afterAndNext(seq uint64) ([]Hit, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next == nil {
		l.next = make(chan struct{})
	}
	return l.copyAfter(seq), l.next
}

// copyAfter is after. l.mu is locked.
func (l *hitLog) copyAfter(seq uint64) []Hit {
	n := len(l.ring)
	if l.seq <= seq {
		return nil
	}
	n = int(min(uint64(n), l.seq-seq))
	hits := make([]Hit, 0, n)
	for i := len(l.ring) - n; i < len(l.ring); i++ {
		hits = append(hits, l.ring[(l.oldest+i)%len(l.ring)])
	}
	return hits
}

// reset removes all hits. Numbers go on.
func (l *hitLog) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ring, l.oldest = nil, 0
}
