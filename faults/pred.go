package faults

import "time"

// Pred is a condition on an operation. Predicates are created by the functions of this package, and
// [Parse] reads the text that String returns.
//
// A predicate is safe for concurrent use. The predicates that count ([Nth], [First], [Every],
// [Chance]) have state. Adding a rule to a [Set] copies its predicates with new state, so a
// predicate can be used in many rules.
type Pred interface {
	// Eval reports whether op matches. A predicate that counts counts each call.
	Eval(op Op) bool
	// String returns the text form. It has the configured count, not the remaining one.
	String() string

	// facts returns the facts of an Op that the predicate uses.
	facts() facts
	// check returns an error if an argument is invalid.
	check() error
	// newInstance returns a copy with new state that starts now.
	newInstance(now time.Time) Pred
}

// facts is a set of properties of an operation that may be unknown.
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
	// factWebhook is the webhook that is called. A rule whose condition uses it matches calls of
	// webhooks only, and other rules match none.
	factWebhook
	// factState is the state of the predicate: counts, random sequences and time.
	factState
)
