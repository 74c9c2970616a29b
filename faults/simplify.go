package faults

import (
	"net/http"
	"slices"
	"time"
)

// Simplifications returns valid rules that are simpler than r, the simplest first: with fewer
// effects, fewer predicates, smaller counts or shorter times. They are candidates when shrinking a
// failing test. userAgent and path stay, so that a rule applies to the same client, and webhook, so
// that it does not apply to requests. A rule with an effect that clients may not recover from, such
// as a dropped or edited frame or a 404, keeps its whole condition, because the effect must not
// apply to more operations. Repeated simplification ends.
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

// simplerConditions returns conditions with one predicate removed or simplified.
func (r Rule) simplerConditions() (simpler []Pred) {
	parts := []Pred{r.condition()}
	if and, ok := parts[0].(*andPred); ok {
		parts = and.parts
	}
	harmless := !slices.ContainsFunc(r.Do, func(e Effect) bool { return !isRetryable(e) })
	for i, p := range parts {
		if p == always || p.facts()&(factClient|factWebhook) != 0 {
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

// simplerPreds returns predicates with a smaller count or with fewer values.
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

// isRetryable reports whether a client can recover from an effect on any operation: the client
// receives an error that it retries, or a correct response.
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

// simplerEffect returns a delay of a second for a longer or more complex delay, and nil for all
// other effects.
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
