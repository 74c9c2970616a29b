package faults

import (
	"slices"

	"example.com/fakeapi/internal/requestinfo"
)

// tristate is the result of evaluating a predicate of which some facts are unknown.
type tristate uint8

const (
	no tristate = iota
	maybe
	yes
)

// partialEval evaluates p for op when some facts are unknown. It does not count as an evaluation.
// State is always unknown.
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

// requestFacts are all facts except phase, verb and state.
const requestFacts = factResource | factNamespace | factName | factClient | factQuery | factCode | factFrame | factWebhook

// matchingVerbs returns the verbs with which p can match in a phase. "" stands for requests that
// are not resource requests.
func matchingVerbs(p Pred, phase Phase) []string {
	var verbs []string
	for _, verb := range append(slices.Clone(verbNames), "") {
		watching := verb == requestinfo.Watch
		if phase == Stream && !watching || phase == Committed && watching {
			continue
		}
		if matchesWebhooks(p) && (watching || verb == requestinfo.List) {
			continue // these are not admitted, and calls for conversion have no verb
		}
		if partialEval(p, Op{Phase: phase, Verb: verb}, requestFacts) != no {
			verbs = append(verbs, verb)
		}
	}
	return verbs
}

// matchingPhases returns the phases in which p can match.
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

// selectsPhase reports whether a condition selects its phases.
func selectsPhase(p Pred) bool { return p.facts()&(factPhase|factCode|factFrame) != 0 }

// unknownFacts returns the facts of a later phase that are unknown when the request arrives.
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
