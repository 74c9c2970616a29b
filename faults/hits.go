package faults

import (
	"strings"
	"sync"
	"time"
)

// Hit is one application of a rule.
type Hit struct {
	// Seq numbers the hits of a set from 1; a gap at the front shows that older
	// ones were forgotten.
	Seq  uint64
	Time time.Time
	// Rule is the rule as it was added.
	Rule Rule
	// Op is what it matched.
	Op Op
	// NotApplied is "" when the effects were applied; else it says why they could
	// not be, although the rule may have matched.
	NotApplied string
}

// String gives one line, without number and time: the same story prints the same
// hits.
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

// maxHits bounds the memory of a hitLog.
const maxHits = 1024

// hitLog is a ring of the latest hits.
type hitLog struct {
	mu   sync.Mutex // guards all below
	ring []Hit
	seq  uint64
}

// add gives the number of the hit.
func (l *hitLog) add(r *Rule, op Op, missed string) uint64 {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seq++
	h := Hit{l.seq, now, *r, op, missed}
	if len(l.ring) < maxHits {
		l.ring = append(l.ring, h)
		return l.seq
	}
	l.ring[(l.seq-1)%maxHits] = h
	return l.seq
}

// setNotApplied adds to a hit why it was none in the end.
func (l *hitLog) setNotApplied(seq uint64, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h := &l.ring[(seq-1)%maxHits]; h.Seq == seq { // it may be forgotten
		h.NotApplied = why
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
