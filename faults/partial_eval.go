package faults

import (
	"slices"

	"example.com/fakeapi/internal/requestinfo"
)

// tristate is what can be said about a predicate before all facts are known.
type tristate uint8

const (
	no tristate = iota
	maybe
	yes
)

// partialEval tells whether p will match op when some of its facts are unknown. It
// counts nothing: history is always unknown.
func partialEval(p Pred, op Op, unknown facts) tristate {
	switch p := p.(type) {
	case *andPred:
		result := yes
		for _, part := range p.parts {
			result = min(result, partialEval(part, op, unknown))
		}
		return result
	case *orPred:
		result := no
		for _, part := range p.parts {
			result = max(result, partialEval(part, op, unknown))
		}
		return result
	case *notPred:
		return yes - partialEval(p.pred, op, unknown)
	}
	if p.facts()&(unknown|factState) != 0 {
		return maybe
	}
	if p.Eval(op) {
		return yes
	}
	return no
}

// requestFacts is all that a request can bring along but verb and phase.
const requestFacts = factResource | factNamespace | factName | factClient | factQuery | factCode | factFrame

// matchingVerbs lists the verbs with which p can match in a phase; "" stands for
// requests that are not for objects.
func matchingVerbs(p Pred, phase Phase) []string {
	var verbs []string
	for _, verb := range append(slices.Clone(verbNames), "") {
		watching := verb == requestinfo.Watch
		if phase == Stream && !watching || phase == Committed && watching {
			continue
		}
		if partialEval(p, Op{Phase: phase, Verb: verb}, requestFacts) != no {
			verbs = append(verbs, verb)
		}
	}
	return verbs
}

// matchingPhases gives the phases in which p can match at all.
func matchingPhases(p Pred) phaseSet {
	found := noPhases
	for _, phase := range allPhases.list() {
		if len(matchingVerbs(p, phase)) > 0 {
			found |= phaseSetOf(phase)
		}
	}
	if p.facts()&factFrame != 0 {
		found &= phaseSetOf(Stream)
	}
	if p.facts()&factCode != 0 {
		found &= phaseSetOf(Committed)
	}
	return found
}

// selectsPhase reports whether a condition says when it is meant.
func selectsPhase(p Pred) bool { return p.facts()&(factPhase|factCode|factFrame) != 0 }

// unknownFacts is what a request does not tell, on arrival, about a later phase of
// its own.
func unknownFacts(phase Phase, op Op) facts {
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
