package conformance

// Tally counts how the cases of a group and a level ended.
type Tally struct {
	// Group is that of the cases, see [Case.Group] and [GroupTitle].
	Group string
	// Level is that of the cases.
	Level Level
	// Passed, Failed and Skipped are how many ended so.
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

// Tallies counts the results by group and level: the groups in the order of rules.md, in each MUST first. What has no results is left out.
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

// LevelTally counts the results of a level. The Group of what it gives is "".
func (r Report) LevelTally(level Level) Tally {
	t := Tally{Level: level}
	for _, one := range r.Results {
		if one.Case.Level == level {
			t.add(one.Outcome)
		}
	}
	return t
}

// section is a group with its results, for the reports.
type section struct {
	group
	results []Result
}

// sections deals the results out by group, in the order of rules.md. Groups without results are left out.
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

// count says how many results of the section ended so.
func (s section) count(o Outcome) int { return Report{Results: s.results}.Count(o) }
