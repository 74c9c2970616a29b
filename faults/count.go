package faults

import (
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"
)

// Nth matches the nth evaluation only. Counting starts at 1 when the rule is added.
func Nth(n int) Pred { return &counter{kind: nthKind, n: n} }

// First matches the first n evaluations.
func First(n int) Pred { return &counter{kind: firstKind, n: n} }

// Every matches every nth evaluation: the nth, the 2nth and so on.
func Every(n int) Pred { return &counter{kind: everyKind, n: n} }

type counter struct {
	kind  *counterKind
	n     int
	evals atomic.Int64
}

type counterKind struct {
	name    string
	matches func(count, n int64) bool
}

var (
	nthKind   = &counterKind{"nth", func(count, n int64) bool { return count == n }}
	firstKind = &counterKind{"first", func(count, n int64) bool { return count <= n }}
	everyKind = &counterKind{"every", func(count, n int64) bool { return count%n == 0 }}
)

func (c *counter) Eval(Op) bool               { return c.n > 0 && c.kind.matches(c.evals.Add(1), int64(c.n)) }
func (c *counter) String() string             { return callText(c.kind.name, strconv.Itoa(c.n)) }
func (c *counter) facts() facts               { return factState }
func (c *counter) newInstance(time.Time) Pred { return &counter{kind: c.kind, n: c.n} }

func (c *counter) check() error {
	if c.n < 1 {
		return fmt.Errorf("%s takes a number of at least 1, not %d", c.kind.name, c.n)
	}
	return nil
}

// Chance matches with probability p, from 0 to 1. Every object (group, resource, namespace and
// name) has its own random sequence, which depends on seed only, so the scheduling of goroutines
// does not change what happens to an object. A Chance uses memory for each object that it was
// evaluated for.
func Chance(p float64, seed uint64) Pred {
	return &chance{p, newRandomSequences(seed)}
}

type chance struct {
	p         float64
	sequences *randomSequences
}

func (c *chance) Eval(op Op) bool { return c.sequences.next(op.objectKey()) < c.p }

func (c *chance) String() string {
	return callText("chance", strconv.FormatFloat(c.p, 'g', -1, 64), strconv.FormatUint(c.sequences.seed, 10))
}
func (c *chance) facts() facts               { return factState }
func (c *chance) newInstance(time.Time) Pred { return Chance(c.p, c.sequences.seed) }

func (c *chance) check() error {
	if c.p >= 0 && c.p <= 1 { // false for NaN
		return nil
	}
	return fmt.Errorf("chance takes a probability from 0 to 1, not %v", c.p)
}

// After matches once d has passed since the rule was added to its set. Not(After(d)) matches until
// then. It uses package time, so it runs on virtual time in a testing/synctest bubble. Outside a
// set, it never matches.
func After(d time.Duration) Pred { return &after{d: d} }

type after struct {
	d     time.Duration
	start time.Time
}

func (a *after) Eval(Op) bool                   { return !a.start.IsZero() && time.Since(a.start) >= a.d }
func (a *after) String() string                 { return callText("after", a.d.String()) }
func (a *after) facts() facts                   { return factState }
func (a *after) newInstance(now time.Time) Pred { return &after{a.d, now} }

func (a *after) check() error {
	if a.d < 0 {
		return errors.New("after takes a non-negative duration")
	}
	return nil
}
