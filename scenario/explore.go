package scenario

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// Explore runs the scenarios that g makes of count seeds from first on, each as
// [Run] does. The first that fails is shrunk, and ends the test with a message
// that has the file that shows the failure again; a test can keep it for [RunDir].
// It takes the place of a fuzz test for a client:
//
//	func TestMyControllerSurvives(t *testing.T) {
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

// Finding is a scenario that fails, found at random and shrunk.
type Finding struct {
	// Seed is the seed that it comes from.
	Seed uint64
	// GeneratedSteps is the number of steps that the generator made of it.
	GeneratedSteps int
	// Steps are what is left of these.
	Steps []Step
	// Text is the file of Steps.
	Text string
	// Err says how Steps fail, with the transcript.
	Err error
}

// String is the whole message.
func (f *Finding) String() string {
	return fmt.Sprintf("scenario: seed %d fails. Of %d steps %d are needed; this is the file that shows it:\n\n%s\n%v",
		f.Seed, f.GeneratedSteps, len(f.Steps), f.Text, f.Err)
}

// Search is [Explore] without a test: it gives the first scenario that fails,
// shrunk, or nil. An error says why a scenario cannot be made.
//
// Only what Search is asked to make up is shrunk, not g.Setup, and what is expected
// in the end follows from what is left. A smaller scenario counts if it fails at
// the same sort of step. With a client that is itself random, or has several
// goroutines, a failure may depend on more than the steps; the file then fails
// now and then.
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

// tryScript plays a script on its own server.
func tryScript(config Config, s script) error {
	_, err := playInBubble(config, s)
	return err
}

// shrink makes the finding out of a story that fails as was seen.
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
	f.Err = tryScript(config, s)
	return nil
}

// dropExpectations leaves out expectations, from step number from on, that are
// met anyway.
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

// sameStepType reports whether two runs failed at the same sort of step.
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
