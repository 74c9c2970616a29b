package faults

import "slices"

// Remove takes out the rules of a name, and tells how many there were. Hits stay.
func (s *Set) Remove(name string) (removed int) {
	s.update(func(rules []*activeRule) []*activeRule {
		before := len(rules)
		rules = slices.DeleteFunc(rules, func(a *activeRule) bool { return a.rule.Name == name })
		removed = before - len(rules)
		return rules
	})
	return removed
}
