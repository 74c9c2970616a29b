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
	armed atomic.Pointer[armory] // nil when there are no rules

	mu   sync.Mutex // serialises changes of armed
	hits hitLog
}

// armory is an immutable list of rules with their live conditions.
type armory struct{ rules []*armedRule }

type armedRule struct {
	rule   Rule
	when   Pred
	do     []Effect
	phases phases
	fired  atomic.Int64 // how often it was applied
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
	added := make([]*armedRule, 0, len(rules))
	for _, r := range rules {
		in, err := r.phases()
		if err != nil {
			return nil, fmt.Errorf("fault rule %q: %w", r.label(), err)
		}
		r.Do = slices.Clone(r.Do)
		added = append(added, &armedRule{rule: r, when: r.condition().arm(now), do: armEffects(r.Do), phases: in})
	}
	s.change(func(old []*armedRule) []*armedRule { return append(old, added...) })
	return func() {
		s.change(func(old []*armedRule) []*armedRule {
			return slices.DeleteFunc(old, func(a *armedRule) bool { return slices.Contains(added, a) })
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
func (s *Set) Clear() { s.change(func([]*armedRule) []*armedRule { return nil }) }

// Rules gives the rules in the order in which they were added, with the counts
// they were configured with.
func (s *Set) Rules() []Rule {
	var rules []Rule
	for _, a := range s.load().all() {
		r := a.rule
		r.Do = slices.Clone(r.Do)
		rules = append(rules, r)
	}
	return rules
}

// Hits gives the latest hits, at most 1024, the oldest first.
func (s *Set) Hits() []Hit { return s.hits.list() }

// change puts what f makes of a copy of the rules in their place.
func (s *Set) change(f func([]*armedRule) []*armedRule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rules := f(slices.Clone(s.load().all()))
	if len(rules) == 0 {
		s.armed.Store(nil)
		return
	}
	s.armed.Store(&armory{rules})
}

func (s *Set) load() *armory { return s.armed.Load() }

// armEffects gives copies with histories of their own.
func armEffects(do []Effect) []Effect {
	armed := slices.Clone(do)
	for i, e := range armed {
		if with, ok := e.(armedEffect); ok {
			armed[i] = with.arm()
		}
	}
	return armed
}

// strike asks the rules about op and lets the effects of those that match act,
// through apply.
func (x *exchange) strike(rules *armory, op Op, apply func(Effect) outcome) outcome {
	for _, a := range rules.all() {
		if !a.phases.has(op.Phase) || !a.when.Eval(op) {
			continue
		}
		a.fired.Add(1)
		seq := x.set.hits.add(&a.rule, op, "")
		for _, e := range a.do {
			o := apply(e)
			if x.excuse != "" {
				a.fired.Add(-1)
				x.set.hits.excuse(seq, x.excuse)
				x.excuse = ""
			}
			if o != proceed {
				return o
			}
		}
	}
	return proceed
}

// miss records that rules which could match a watch cannot be applied to it.
func (s *Set) miss(rules *armory, op Op, why string) {
	for _, a := range rules.all() {
		if a.couldMatch(op.Phase, op) {
			s.hits.add(&a.rule, op, why)
		}
	}
}

// all gives the rules; an armory that is nil has none.
func (a *armory) all() []*armedRule {
	if a == nil {
		return nil
	}
	return a.rules
}

// couldMatch reports whether a rule could match a later phase of a request.
func (a *armory) couldMatch(phase Phase, op Op) bool {
	return slices.ContainsFunc(a.all(), func(r *armedRule) bool { return r.couldMatch(phase, op) })
}

// couldMatchNames lists the rules of couldMatch.
func (a *armory) couldMatchNames(phase Phase, op Op) []string {
	var names []string
	for _, r := range a.all() {
		if r.couldMatch(phase, op) {
			names = append(names, r.rule.label())
		}
	}
	return names
}

func (a *armedRule) couldMatch(phase Phase, op Op) bool {
	op.Phase = phase
	return a.phases.has(phase) && outlook(a.when, op, unknownIn(phase, op)) != never
}
