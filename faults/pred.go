package faults

import "time"

// Pred is a condition on an operation. The predicates of this package are all
// there are: each of them prints, and what it prints parses back.
//
// A predicate is safe for concurrent use. Those that count ([Nth], [First],
// [Every], [Chance]) keep their count inside; adding a rule to a [Set] gives
// the set a copy that starts from zero, so one value can be used many times.
type Pred interface {
	// Eval reports whether op matches. For a predicate that counts, asking is
	// counting.
	Eval(op Op) bool
	// String gives the text form, always with the count that was configured,
	// never with the one that is left.
	String() string

	// facts says which facts of an Op the predicate reads.
	facts() facts
	// check tells what is wrong with the arguments.
	check() error
	// newInstance gives a copy with a history of its own that begins now.
	newInstance(now time.Time) Pred
}

// facts is a set of things that may or may not be known about an operation.
type facts uint16

const (
	factPhase facts = 1 << iota
	factVerb
	factResource
	factNamespace
	factName
	factClient
	factQuery
	factCode
	factFrame
	// factState is what came before: counts, chance and time.
	factState
)
