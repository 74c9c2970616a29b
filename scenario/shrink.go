package scenario

import (
	"reflect"
	"slices"
	"time"
)

// Shrink returns a smaller scenario that still fails. It removes steps by delta debugging, and then
// replaces steps by simpler ones: shorter times, smaller objects, simpler rules. It repeats both
// until neither helps.
//
// fails reports whether a scenario fails. Shrink calls it at most 500 times, with whole scenarios,
// and keeps only candidates for which it returns true. fails must look for the original failure
// and not for any: a candidate may lack a step that others need, such as the watch of an
// [ExpectEvents], and then fails at another step. fails must return the same for the same steps.
// If it returns false for steps, Shrink returns them unchanged.
//
// Expectations do not become harder to meet, and the times of [Eventually] and [Always] stay the
// same.
func Shrink(steps []Step, fails func([]Step) bool) []Step {
	s := &shrinker{fails: fails, left: maxShrinkRuns, best: steps}
	if !s.run(steps) {
		return steps
	}
	for changed := true; changed && s.left > 0; {
		changed = s.removeSteps()
		changed = s.simplifySteps() || changed
	}
	return s.best
}

// maxShrinkRuns limits how often Shrink calls fails.
const maxShrinkRuns = 500

// shrinker is the state of one call of Shrink.
type shrinker struct {
	fails func([]Step) bool
	left  int    // remaining runs
	best  []Step // the smallest scenario so far that fails
}

// run reports whether a candidate fails.
func (s *shrinker) run(candidate []Step) bool {
	if s.left == 0 {
		return false
	}
	s.left--
	return s.fails(candidate)
}

// try makes a candidate the best scenario if it fails, and reports whether it does.
func (s *shrinker) try(candidate []Step) bool {
	if hasFileConflict(candidate) || !s.run(candidate) {
		return false
	}
	s.best = candidate
	return true
}

// removeSteps removes parts of the steps, first half of them, then a quarter, down to single steps,
// and reports whether it removed any (delta debugging: Zeller and Hildebrandt, "Simplifying and
// Isolating Failure-Inducing Input", 2002). It tries only complements, because a few steps alone
// are rarely a scenario.
func (s *shrinker) removeSteps() (changed bool) {
	for size := (len(s.best) + 1) / 2; size > 0; {
		removed := false
		// From the end, because steps depend on earlier ones.
		for from := len(s.best) - size; from > -size; from -= size {
			from, to := max(from, 0), min(from+size, len(s.best))
			if from < to && s.try(slices.Concat(s.best[:from], s.best[to:])) {
				removed = true
			}
		}
		changed = changed || removed
		if !removed || size > 1 {
			size /= 2
		}
	}
	return changed
}

// simplifySteps replaces single steps by simpler ones and reports whether it replaced any.
func (s *shrinker) simplifySteps() (changed bool) {
	for i := range s.best {
		for s.simplifyStep(i) {
			changed = true
		}
	}
	return changed
}

func (s *shrinker) simplifyStep(i int) bool {
	for _, step := range simplifications(s.best[i]) {
		candidate := slices.Clone(s.best)
		candidate[i] = step
		if !reflect.DeepEqual(step, s.best[i]) && s.try(candidate) {
			return true
		}
	}
	return false
}

// simplifier is implemented by steps that can be made simpler.
type simplifier interface {
	// simplifications returns simpler steps of the same kind, the simplest first. Repeated
	// simplification must come to an end. An expectation must not become harder to meet.
	simplifications() []Step
}

// simplifications returns simpler variants of a step, if it has any.
func simplifications(s Step) []Step {
	if s, ok := s.(simplifier); ok {
		return s.simplifications()
	}
	return nil
}

// simplifyInner returns the simplifications of a step inside another one.
func simplifyInner(inner Step, wrap func(Step) Step) (steps []Step) {
	for _, step := range simplifications(inner) {
		steps = append(steps, wrap(step))
	}
	return steps
}

// shorterDurations returns steps with shorter durations than d, but not 0.
func shorterDurations(d time.Duration, step func(time.Duration) Step) (steps []Step) {
	for _, shorter := range []time.Duration{time.Second, (d / 2).Truncate(time.Second)} {
		if shorter > 0 && shorter < d {
			steps = append(steps, step(shorter))
		}
	}
	return steps
}

// hasFileConflict reports whether two steps use different files of the same name, which Print
// rejects.
func hasFileConflict(steps []Step) bool {
	contents := map[string]string{}
	for _, s := range steps {
		for _, f := range filesOf(s) {
			if content, ok := contents[f.name]; ok && content != f.data {
				return true
			}
			contents[f.name] = f.data
		}
	}
	return false
}
