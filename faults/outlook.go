package faults

import (
	"slices"

	"example.com/fakeapi/internal/requestinfo"
)

// prospect is what can be said about a predicate before all facts are known.
type prospect uint8

const (
	never prospect = iota
	perhaps
	surely
)

// outlook tells whether p will match op when some of its facts are unknown. It
// counts nothing: history is always unknown.
func outlook(p Pred, op Op, unknown facts) prospect {
	switch p := p.(type) {
	case *andPred:
		best := surely
		for _, part := range p.parts {
			best = min(best, outlook(part, op, unknown))
		}
		return best
	case *orPred:
		best := never
		for _, part := range p.parts {
			best = max(best, outlook(part, op, unknown))
		}
		return best
	case *notPred:
		return surely - outlook(p.of, op, unknown)
	}
	if p.needs()&(unknown|factHistory) != 0 {
		return perhaps
	}
	if p.Eval(op) {
		return surely
	}
	return never
}

// everything is all that a request can bring along but verb and phase.
const everything = factResource | factNamespace | factName | factClient | factQuery | factCode | factFrame

// verbsMatching lists the verbs with which p can match in a phase; "" stands for
// requests that are not for objects.
func verbsMatching(p Pred, phase Phase) []string {
	var verbs []string
	for _, verb := range append(slices.Clone(verbNames), "") {
		watching := verb == requestinfo.Watch
		if phase == Stream && !watching || phase == Committed && watching {
			continue
		}
		if outlook(p, Op{Phase: phase, Verb: verb}, everything) != never {
			verbs = append(verbs, verb)
		}
	}
	return verbs
}

// phasesMatching gives the phases in which p can match at all.
func phasesMatching(p Pred) phases {
	found := noPhase
	for _, phase := range allPhases.list() {
		if len(verbsMatching(p, phase)) > 0 {
			found |= only(phase)
		}
	}
	if p.needs()&factFrame != 0 {
		found &= only(Stream)
	}
	if p.needs()&factCode != 0 {
		found &= only(Committed)
	}
	return found
}

// namesPhase reports whether a condition says when it is meant.
func namesPhase(p Pred) bool { return p.needs()&(factPhase|factCode|factFrame) != 0 }

// unknownIn is what a request does not tell, on arrival, about a later phase of
// its own.
func unknownIn(phase Phase, op Op) facts {
	switch phase {
	case Committed:
		return factCode
	case Stream:
		unknown := factFrame
		if op.Namespace == "" {
			unknown |= factNamespace
		}
		if op.Name == "" {
			unknown |= factName
		}
		return unknown
	}
	return 0
}
