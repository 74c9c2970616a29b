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
	mu   sync.Mutex // guards ring and seq
	ring []Hit
	seq  uint64
}

// add adds a hit and returns its number.
func (l *hitLog) add(r *Rule, op Op, notApplied string) uint64 {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seq++
	h := Hit{l.seq, now, *r, op, notApplied}
	if len(l.ring) < maxHits {
		l.ring = append(l.ring, h)
		return l.seq
	}
	l.ring[(l.seq-1)%maxHits] = h
	return l.seq
}

// setNotApplied marks a hit as not applied.
func (l *hitLog) setNotApplied(seq uint64, reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h := &l.ring[(seq-1)%maxHits]; h.Seq == seq { // otherwise it was overwritten
		h.NotApplied = reason
	}
}

func (l *hitLog) list() []Hit {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seq <= maxHits {
		return append([]Hit(nil), l.ring...)
	}
	oldest := l.seq % maxHits
	return append(append([]Hit(nil), l.ring[oldest:]...), l.ring[:oldest]...)
}
