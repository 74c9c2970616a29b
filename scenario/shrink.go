package scenario

import "slices"

// Shrink makes a scenario that fails smaller: it leaves steps out, as long as
// fails says that what is left fails still, and then makes steps simpler: shorter
// times, smaller objects, simpler rules. fails gets whole scenarios, a few hundred
// at most, and must say the same of the same steps. What it should look for is the
// same failure, not just any. Steps that do not fail come back as they are.
//
// What is proposed makes sense if steps did: a watch, an object or a namespace
// that a step is about is there as it was for this step; no rule is in force that was
// not, and no server is down, or wrong in another way, that was not; and what was done
// to clients and replicas stays. An expectation is left out or stays as it is, but for
// fields that are not compared any more; the times of [Eventually] and [Always] stay.
// The same steps and answers give the same result.
func Shrink(steps []Step, fails func([]Step) bool) []Step {
	return shrink(steps, fails, shrinkRuns).steps()
}

// shrinkRuns is how often Shrink asks.
const shrinkRuns = 500

// numbered is a step that knows the number it had before anything was left out.
type numbered struct {
	Step
	n int
}

type candidate []numbered

func (c candidate) steps() []Step {
	var steps []Step
	for _, s := range c {
		steps = append(steps, s.Step)
	}
	return steps
}

// shrinker is one run of Shrink.
type shrinker struct {
	original account
	fails    func([]Step) bool
	left     int // runs
	best     candidate
}

func shrink(steps []Step, fails func([]Step) bool, runs int) candidate {
	s := &shrinker{fails: fails, left: runs}
	for i, step := range steps {
		s.best = append(s.best, numbered{step, i})
	}
	s.original = accountOf(s.best)
	if !s.ask(s.best) {
		return s.best
	}
	for changed := true; changed && s.left > 0; {
		changed = s.leaveOut()
		changed = s.simplify() || changed
	}
	return s.best
}

// ask runs a candidate.
func (s *shrinker) ask(c candidate) bool {
	if s.left == 0 {
		return false
	}
	s.left--
	return s.fails(c.steps())
}

// take makes a candidate the best so far, if it is valid and fails.
func (s *shrinker) take(c candidate) bool {
	c, valid := s.original.repaired(c)
	if !valid || slices.EqualFunc(c, s.best, same) || !s.ask(c) {
		return false
	}
	s.best = c
	return true
}

func same(a, b numbered) bool {
	return a.n == b.n && a.String() == b.String() && slices.Equal(filesOf(a.Step), filesOf(b.Step))
}

// leaveOut leaves out parts of the steps: first half of them, then a quarter, down
// to single ones, as long as that helps (delta debugging: Zeller and Hildebrandt,
// "Simplifying and Isolating Failure-Inducing Input", 2002; only complements
// are tried, since a few steps alone seldom are a scenario).
func (s *shrinker) leaveOut() (changed bool) {
	for size := (len(s.best) + 1) / 2; size > 0; {
		helped := false
		// From the end: what depends on other steps is behind them.
		for from := len(s.best) - size; from > -size; from -= size {
			from, to := max(from, 0), min(from+size, len(s.best))
			if from < to && s.take(slices.Concat(s.best[:from], s.best[to:])) {
				helped = true
			}
		}
		changed = changed || helped
		if !helped || size > 1 {
			size /= 2
		}
	}
	return changed
}

// simplify makes single steps simpler.
func (s *shrinker) simplify() (changed bool) {
	for i := 0; i < len(s.best); i++ {
		for s.simplifyAt(i) {
			changed = true
		}
	}
	return changed
}

func (s *shrinker) simplifyAt(i int) bool {
	if i >= len(s.best) {
		return false
	}
	from, ok := s.best[i].Step.(simplifier)
	if !ok {
		return false
	}
	for _, step := range from.simplifications() {
		c := slices.Clone(s.best)
		c[i].Step = step
		if s.take(c) {
			return true
		}
	}
	return false
}

// simplifier is a step that can be made simpler without being another: an
// expectation stays no harder to meet.
type simplifier interface {
	// simplifications gives steps to try, the simplest first. Whoever takes one of them
	// again and again comes to an end.
	simplifications() []Step
}
