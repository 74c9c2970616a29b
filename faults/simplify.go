package faults

import (
	"net/http"
	"slices"
	"time"
)

// Simplifications gives rules that say less than this one, the simplest first: fewer
// effects, fewer conditions, smaller counts, shorter times. They are what a
// failing test can be tried with again. They are valid, and about no other
// client: userAgent stays. A rule keeps all of its conditions if it does what clients
// may not survive when it happens elsewhere, or more often: withhold a frame, edit
// it, answer 404. Whoever takes one of them again and again comes to an end.
func (r Rule) Simplifications() []Rule {
	var all []Rule
	add := func(simpler Rule) {
		if simpler.Validate() == nil {
			all = append(all, simpler)
		}
	}
	for i := range r.Do {
		if len(r.Do) > 1 {
			add(Rule{r.Name, r.When, slices.Concat(r.Do[:i], r.Do[i+1:])})
		}
	}
	for _, when := range r.simplerConditions() {
		add(Rule{r.Name, when, r.Do})
	}
	for i, e := range r.Do {
		if simpler := simplerEffect(e); simpler != nil {
			do := slices.Clone(r.Do)
			do[i] = simpler
			add(Rule{r.Name, r.When, do})
		}
	}
	return all
}

// simplerConditions leave out one part of the condition, or make one smaller.
func (r Rule) simplerConditions() (simpler []Pred) {
	parts := []Pred{r.condition()}
	if and, ok := parts[0].(*andPred); ok {
		parts = and.parts
	}
	harmless := !slices.ContainsFunc(r.Do, func(e Effect) bool { return !isRetryable(e) })
	for i, p := range parts {
		if p == always || p.facts()&factClient != 0 {
			continue
		}
		if harmless {
			simpler = append(simpler, And(slices.Concat(parts[:i], parts[i+1:])...))
		}
		for _, less := range simplerPreds(p) {
			changed := slices.Clone(parts)
			changed[i] = less
			simpler = append(simpler, And(changed...))
		}
	}
	return simpler
}

// simplerPreds gives predicates with a smaller count, or with fewer words.
func simplerPreds(p Pred) (less []Pred) {
	switch p := p.(type) {
	case *counter:
		if p.n > 1 {
			less = append(less, &counter{kind: p.kind, n: 1})
		}
		if p.n > 3 {
			less = append(less, &counter{kind: p.kind, n: p.n / 2})
		}
	case *matcher:
		for i := 0; i < len(p.values) && len(p.values) > 1; i++ {
			less = append(less, &matcher{p.kind, slices.Concat(p.values[:i], p.values[i+1:])})
		}
	}
	return less
}

// isRetryable reports whether a client can survive an effect whatever it is
// done to: it is told that something went wrong, or nothing did.
func isRetryable(e Effect) bool {
	code := 0
	switch e := e.(type) {
	case delay, *jitter, throttle, reset, truncate, end, goAway:
		return true
	case reply:
		code = int(e.status.Code)
	case errorEvent:
		code = int(e.status.Code)
	case raw:
		code = e.code
	}
	return code == http.StatusTooManyRequests || code >= http.StatusInternalServerError
}

// simplerEffect is a delay of a second instead of what takes longer or is more
// complicated; nil for all else.
func simplerEffect(e Effect) Effect {
	const short = time.Second
	switch e := e.(type) {
	case delay:
		if e.d <= short {
			return nil
		}
	case *jitter, throttle:
	default:
		return nil
	}
	return Delay(short)
}
