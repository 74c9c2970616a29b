package mutants

import (
	"slices"
	"strings"
)

// Mutant is one way to break the server.
type Mutant struct {
	// Rule is the rule of the conformance suite that it breaks above all: "WA-12".
	Rule string
	// Name tells it from the others of the rule, in words with dashes.
	Name string
	// Breaks says what the broken server does, in one sentence.
	Breaks string
	// File is the source that is changed, from the root of the module.
	File string
	// Old stands exactly once in the file, in the body of a function; New is what a broken server has there.
	Old, New string
	// Groups are the groups of rules whose cases may notice, besides that of Rule.
	Groups []string
}

// ID names the mutant: the rule, a slash and the name.
func (m Mutant) ID() string { return m.Rule + "/" + m.Name }

// Group is the group of rules that the mutant is counted in: the letters of its rule.
func (m Mutant) Group() string {
	group, _, _ := strings.Cut(m.Rule, "-")
	return group
}

// All gives every mutant, in the order of the tables. The slice is the caller's own.
func All() []Mutant {
	return slices.Concat(
		objects(), writes(), reads(), watches(), selectors(), patches(), applies(),
		deletions(), subresources(), representations(), answers(), definitions(),
	)
}
