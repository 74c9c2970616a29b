package scenario

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// Explore runs the scenarios that g generates for count seeds, starting with first, each as [Run]
// does. It shrinks the first one that fails, and ends the test with a message that has the scenario
// as a file, which can be added to the files of [RunDir]. It can replace a fuzz test of a client:
//
//	func TestMyController(t *testing.T) {
//		scenario.Explore(t, config, generator, 1, 100)
//	}
//
//	func FuzzMyController(f *testing.F) {
//		f.Fuzz(func(t *testing.T, seed uint64) { scenario.Explore(t, config, generator, seed, 1) })
//	}
func Explore(t *testing.T, config Config, g Generator, first uint64, count int) {
	t.Helper()
	found, err := Search(config, g, first, count)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if found != nil {
		t.Fatalf("%s", found)
	}
}

// Finding is a generated scenario that fails, after shrinking.
type Finding struct {
	// Seed is the seed of the scenario.
	Seed uint64
	// GeneratedSteps is the number of steps before shrinking.
	GeneratedSteps int
	// Steps are the remaining steps.
	Steps []Step
	// Text is the file of Steps.
	Text string
	// Err is the error of Steps, with the transcript. If they pass when they are played again, it is
	// that of the generated steps.
	Err error
}

// String returns the message of [Explore].
func (f *Finding) String() string {
	return fmt.Sprintf("scenario: seed %d fails. %d of %d steps remain after shrinking:\n\n%s\n%v",
		f.Seed, len(f.Steps), f.GeneratedSteps, f.Text, f.Err)
}

// Search is [Explore] without a test. It returns the first scenario that fails, after shrinking, or
// nil. It returns an error if a scenario cannot be generated.
//
// Search shrinks the generated steps, but not g.Setup and the step that runs the client. It derives
// the expectations at the end from the remaining steps. A smaller scenario counts if it fails at
// the same kind of step. If the client uses random numbers or several goroutines, a failure may
// depend on more than the steps, and the file may pass sometimes.
func Search(config Config, g Generator, first uint64, count int) (*Finding, error) {
	for seed := first; count > 0; seed, count = seed+1, count-1 {
		body, err := g.body(seed)
		if err != nil {
			return nil, err
		}
		steps, err := g.complete(body)
		if err != nil {
			return nil, err
		}
		if err := tryScript(config, newScript(steps)); err != nil {
			found := &Finding{Seed: seed, GeneratedSteps: len(steps)}
			return found, found.shrink(config, g, body, err)
		}
	}
	return nil, nil
}

// tryScript plays a script on a new server.
func tryScript(config Config, s script) error {
	_, err := playInBubble(config, s)
	return err
}

// shrink sets the fields of f for generated steps that failed with the error seen.
func (f *Finding) shrink(config Config, g Generator, body []Step, seen error) error {
	fails := func(steps []Step) bool { return sameStepType(tryScript(config, newScript(steps)), seen) }
	body = Shrink(body, func(body []Step) bool {
		if !g.runsClient(body) {
			return false
		}
		steps, err := g.complete(body)
		return err == nil && fails(steps)
	})
	steps, err := g.complete(body)
	if err != nil {
		return err
	}
	f.Steps = dropExpectations(steps, len(g.Setup)+len(body), fails)
	if f.Text, err = Print(f.Steps...); err != nil {
		return err
	}
	s, err := parseScript("", f.Text)
	if err != nil {
		return err
	}
	if f.Err = tryScript(config, s); f.Err == nil {
		f.Err = fmt.Errorf("these steps passed when they were played again; at first: %w", seen)
	}
	return nil
}

// dropExpectations removes expectations that are met, starting at index from.
func dropExpectations(steps []Step, from int, fails func([]Step) bool) []Step {
	for i := len(steps) - 1; i >= from; i-- {
		if _, is := steps[i].(eventually); !is {
			continue
		}
		if fewer := slices.Delete(slices.Clone(steps), i, i+1); fails(fewer) {
			steps = fewer
		}
	}
	return steps
}

// sameStepType reports whether two runs failed at steps of the same type.
func sameStepType(a, b error) bool {
	return a != nil && b != nil && failedStepType(a) == failedStepType(b)
}

func failedStepType(err error) string {
	f := (*Failure)(nil)
	if !errors.As(err, &f) {
		return ""
	}
	step := f.step
	for {
		again, is := step.(eventually)
		if !is {
			return fmt.Sprintf("%T", step)
		}
		step = again.step
	}
}
