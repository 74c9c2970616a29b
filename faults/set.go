package faults

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Set is a collection of rules that a [Handler] applies. The zero value is empty and ready to use.
// A Set is safe for concurrent use. An empty Set costs a request one atomic load.
//
// Rules are evaluated in the order in which they were added. The effects of all matching rules are
// applied, up to the first effect that completes the response or the frame. Rules after it are not
// evaluated, so they count nothing.
type Set struct {
	snapshot atomic.Pointer[ruleSnapshot] // nil if there are no rules

	mu   sync.Mutex // serializes changes of snapshot
	hits hitLog
}

// ruleSnapshot is an immutable list of active rules.
type ruleSnapshot struct{ rules []*activeRule }

type activeRule struct {
	rule    Rule
	when    Pred
	do      []Effect
	phases  phaseSet
	webhook bool         // whether the rule matches calls of webhooks, and nothing else
	applied atomic.Int64 // how often the rule was applied
	// optional reports whether MustHit accepts a rule that was never applied.
	optional bool
}

// Add adds rules. If one of them is invalid, it returns an error and adds none. The counts and
// timers of their conditions start now. remove removes these rules; further calls do nothing.
//
// Rules are evaluated in each phase of a request, so new rules also apply to watches that are
// running. Whether a response is buffered for the Committed phase is decided when the request
// arrives.
func (s *Set) Add(rules ...Rule) (remove func(), err error) { return s.add(rules, false) }

// AddOptional is Add for rules that MustHit does not require, because they are not those of the
// test.
func (s *Set) AddOptional(rules ...Rule) (remove func(), err error) { return s.add(rules, true) }

func (s *Set) add(rules []Rule, optional bool) (remove func(), err error) {
	now := time.Now()
	added := make([]*activeRule, 0, len(rules))
	for _, r := range rules {
		in, err := r.activePhases()
		if err != nil {
			return nil, fmt.Errorf("fault rule %q: %w", r.label(), err)
		}
		r.Do = slices.Clone(r.Do)
		added = append(added, &activeRule{
			rule: r, when: r.condition().newInstance(now), do: newEffectInstances(r.Do),
			phases: in, webhook: matchesWebhooks(r.condition()), optional: optional,
		})
	}
	s.update(func(old []*activeRule) []*activeRule { return append(old, added...) })
	return func() {
		s.update(func(old []*activeRule) []*activeRule {
			return slices.DeleteFunc(old, func(a *activeRule) bool { return slices.Contains(added, a) })
		})
	}, nil
}

// AddText parses rules with [ParseAll] and adds them.
func (s *Set) AddText(text string) (remove func(), err error) {
	rules, err := ParseAll(text)
	if err != nil {
		return nil, err
	}
	return s.Add(rules...)
}

// Clear removes all rules. Hits are kept.
func (s *Set) Clear() { s.update(func([]*activeRule) []*activeRule { return nil }) }

// Rules returns the rules in the order in which they were added, with their configured counts.
func (s *Set) Rules() []Rule {
	var rules []Rule
	for _, a := range s.rules().list() {
		r := a.rule
		r.Do = slices.Clone(r.Do)
		rules = append(rules, r)
	}
	return rules
}

// Hits returns the latest hits, at most 1024, oldest first.
func (s *Set) Hits() []Hit { return s.hits.after(0) }

// HitsAfter returns the hits with higher numbers than seq, and a channel that is closed at the next
// hit, so that a test can wait for it:
//
//	for hits, next := set.HitsAfter(0); len(hits) == 0; hits, next = set.HitsAfter(0) {
//		<-next
//	}
func (s *Set) HitsAfter(seq uint64) (hits []Hit, next <-chan struct{}) {
	return s.hits.afterAndNext(seq)
}

// ResetHits removes all hits. Their numbers go on, and the rules and their counts stay.
func (s *Set) ResetHits() { s.hits.reset() }

// OrderHits sets the function that returns the Order of the next hit. It is called while others
// wait, and must return at once.
func (s *Set) OrderHits(next func() uint64) {
	s.hits.mu.Lock()
	defer s.hits.mu.Unlock()
	s.hits.order = next
}

// update replaces the rules by the result of f for a copy of them.
func (s *Set) update(f func([]*activeRule) []*activeRule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rules := f(slices.Clone(s.rules().list()))
	if len(rules) == 0 {
		s.snapshot.Store(nil)
		return
	}
	s.snapshot.Store(&ruleSnapshot{rules})
}

func (s *Set) rules() *ruleSnapshot { return s.snapshot.Load() }

// newEffectInstances returns copies with new state.
func newEffectInstances(do []Effect) []Effect {
	instances := slices.Clone(do)
	for i, e := range instances {
		if stateful, ok := e.(statefulEffect); ok {
			instances[i] = stateful.newInstance()
		}
	}
	return instances
}

// applyRules evaluates the rules for op and calls apply with the effects of those that match.
func (x *exchange) applyRules(rules *ruleSnapshot, op Op, apply func(Effect) outcome) outcome {
	for _, a := range rules.list() {
		if !a.isActive(op) || !a.when.Eval(op) {
			continue
		}
		a.applied.Add(1)
		seq := x.set.hits.add(&a.rule, op, "")
		applied := true
		for _, e := range a.do {
			o := apply(e)
			if x.notApplied != "" {
				if applied {
					a.applied.Add(-1)
					applied = false
				}
				x.set.hits.setNotApplied(seq, x.notApplied)
				x.notApplied = ""
			}
			if o != proceed {
				return o
			}
		}
	}
	return proceed
}

// recordNotApplied adds a hit for each rule that could match a watch but cannot be applied to it.
func (s *Set) recordNotApplied(rules *ruleSnapshot, op Op, reason string) {
	for _, a := range rules.list() {
		if a.couldMatch(op.Phase, op) {
			s.hits.add(&a.rule, op, reason)
		}
	}
}

// list returns the rules. It returns nil for a nil snapshot.
func (a *ruleSnapshot) list() []*activeRule {
	if a == nil {
		return nil
	}
	return a.rules
}

// couldMatch reports whether a rule could match a later phase of a request.
func (a *ruleSnapshot) couldMatch(phase Phase, op Op) bool {
	return slices.ContainsFunc(a.list(), func(r *activeRule) bool { return r.couldMatch(phase, op) })
}

// couldMatchNames returns the names of the rules that could match a later phase of a request.
func (a *ruleSnapshot) couldMatchNames(phase Phase, op Op) []string {
	var names []string
	for _, r := range a.list() {
		if r.couldMatch(phase, op) {
			names = append(names, r.rule.label())
		}
	}
	return names
}

func (a *activeRule) couldMatch(phase Phase, op Op) bool {
	op.Phase = phase
	return a.isActive(op) && partialEval(a.when, op, unknownFacts(phase, op)) != no
}

// isActive reports whether the condition of a is to be evaluated for op.
func (a *activeRule) isActive(op Op) bool {
	return a.phases.has(op.Phase) && a.webhook == (op.Webhook != "")
}

// Remove removes the rules with a name and returns their number. Hits are kept.
func (s *Set) Remove(name string) (removed int) {
	s.update(func(rules []*activeRule) []*activeRule {
		before := len(rules)
		rules = slices.DeleteFunc(rules, func(a *activeRule) bool { return a.rule.Name == name })
		removed = before - len(rules)
		return rules
	})
	return removed
}
