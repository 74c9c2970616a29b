package faults

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Set is a changing collection of rules that a [Handler] obeys. The zero value
// is empty and ready. It is safe for concurrent use; while it is empty it costs
// a request one atomic load.
//
// Rules are asked in the order in which they were added. All that match act, up
// to the first that leaves nothing to act on; the ones behind that are not asked
// and count nothing.
type Set struct {
	snapshot atomic.Pointer[ruleSnapshot] // nil when there are no rules

	mu   sync.Mutex // serialises changes of armed
	hits hitLog
}

// ruleSnapshot is an immutable list of rules with their live conditions.
type ruleSnapshot struct{ rules []*activeRule }

type activeRule struct {
	rule    Rule
	when    Pred
	do      []Effect
	phases  phaseSet
	applied atomic.Int64 // how often it was applied
}

// Add arms rules, all of them or, with an error, none. Counts and clocks of
// their conditions begin now. remove takes exactly these rules out again; it may
// be called more than once.
//
// A request that has arrived is asked about the rules again in each phase, so a
// new rule also hits running watches. Whether an answer is held back for the
// Committed phase is decided when its request arrives.
func (s *Set) Add(rules ...Rule) (remove func(), err error) {
	now := time.Now()
	added := make([]*activeRule, 0, len(rules))
	for _, r := range rules {
		in, err := r.activePhases()
		if err != nil {
			return nil, fmt.Errorf("fault rule %q: %w", r.label(), err)
		}
		r.Do = slices.Clone(r.Do)
		added = append(added, &activeRule{rule: r, when: r.condition().newInstance(now), do: newEffectInstances(r.Do), phases: in})
	}
	s.update(func(old []*activeRule) []*activeRule { return append(old, added...) })
	return func() {
		s.update(func(old []*activeRule) []*activeRule {
			return slices.DeleteFunc(old, func(a *activeRule) bool { return slices.Contains(added, a) })
		})
	}, nil
}

// AddText arms the rules of a text, as [ParseAll] reads it.
func (s *Set) AddText(text string) (remove func(), err error) {
	rules, err := ParseAll(text)
	if err != nil {
		return nil, err
	}
	return s.Add(rules...)
}

// Clear takes out all rules. Hits stay.
func (s *Set) Clear() { s.update(func([]*activeRule) []*activeRule { return nil }) }

// Rules gives the rules in the order in which they were added, with the counts
// they were configured with.
func (s *Set) Rules() []Rule {
	var rules []Rule
	for _, a := range s.rules().list() {
		r := a.rule
		r.Do = slices.Clone(r.Do)
		rules = append(rules, r)
	}
	return rules
}

// Hits gives the latest hits, at most 1024, the oldest first.
func (s *Set) Hits() []Hit { return s.hits.list() }

// update puts what f makes of a copy of the rules in their place.
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

// newEffectInstances gives copies with histories of their own.
func newEffectInstances(do []Effect) []Effect {
	armed := slices.Clone(do)
	for i, e := range armed {
		if with, ok := e.(statefulEffect); ok {
			armed[i] = with.newInstance()
		}
	}
	return armed
}

// applyRules asks the rules about op and lets the effects of those that match act,
// through apply.
func (x *exchange) applyRules(rules *ruleSnapshot, op Op, apply func(Effect) outcome) outcome {
	for _, a := range rules.list() {
		if !a.phases.has(op.Phase) || !a.when.Eval(op) {
			continue
		}
		a.applied.Add(1)
		seq := x.set.hits.add(&a.rule, op, "")
		for _, e := range a.do {
			o := apply(e)
			if x.notApplied != "" {
				a.applied.Add(-1)
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

// recordNotApplied records that rules which could match a watch cannot be applied to it.
func (s *Set) recordNotApplied(rules *ruleSnapshot, op Op, why string) {
	for _, a := range rules.list() {
		if a.couldMatch(op.Phase, op) {
			s.hits.add(&a.rule, op, why)
		}
	}
}

// list gives the rules; an armory that is nil has none.
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

// couldMatchNames lists the rules of couldMatch.
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
	return a.phases.has(phase) && partialEval(a.when, op, unknownFacts(phase, op)) != no
}
