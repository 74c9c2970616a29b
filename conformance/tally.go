package conformance

// Tally counts the outcomes of the cases of a group and a level.
type Tally struct {
	// Group is the group of the cases, see [Case.Group] and [GroupTitle].
	Group string
	// Level is the level of the cases.
	Level Level
	// Passed, Failed and Skipped count the cases by outcome.
	Passed, Failed, Skipped int
}

// add counts a result.
func (t *Tally) add(o Outcome) {
	switch o {
	case Passed:
		t.Passed++
	case Failed:
		t.Failed++
	case Skipped:
		t.Skipped++
	}
}

// Tallies counts the results by group and level. Groups are in the order of rules.md, and levels
// from MUST to MAY. Tallies without results are omitted.
func (r Report) Tallies() []Tally {
	var all []Tally
	for _, g := range groups {
		for _, level := range []Level{Must, Should, May} {
			t := Tally{Group: g.name, Level: level}
			for _, one := range r.Results {
				if one.Case.Level == level && one.Case.Group() == g.name {
					t.add(one.Outcome)
				}
			}
			if t.Passed+t.Failed+t.Skipped > 0 {
				all = append(all, t)
			}
		}
	}
	return all
}

// LevelTally counts the results of a level. The Group of the tally is "".
func (r Report) LevelTally(level Level) Tally {
	t := Tally{Level: level}
	for _, one := range r.Results {
		if one.Case.Level == level {
			t.add(one.Outcome)
		}
	}
	return t
}

// section has the results of a group, for reports.
type section struct {
	group
	results []Result
}

// sections returns the results by group, in the order of rules.md. Groups without results are
// omitted.
func (r Report) sections() []section {
	var all []section
	for _, g := range groups {
		s := section{group: g}
		for _, one := range r.Results {
			if one.Case.Group() == g.name {
				s.results = append(s.results, one)
			}
		}
		if len(s.results) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// count returns the number of results with an outcome.
func (s section) count(o Outcome) int { return Report{Results: s.results}.Count(o) }
