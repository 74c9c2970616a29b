package perturb

import (
	"errors"
	"slices"

	"example.com/fakeapi/scenario"
)

// script is the file of a finding: the steps of a run, and expectations in place of the oracles.
type script struct {
	// before are the steps until the controllers have been run.
	before []scriptStep
	// phases are the steps of the workload, each with its pause.
	phases [][]scriptStep
	// after are the steps of the perturbation at the end of the workload, and the expectations.
	after []scriptStep
}

// scriptStep is a step of a script.
type scriptStep struct {
	scenario.Step
	perturbs bool // it is one of the perturbation
}

// newScript returns the script of a perturbation, which may be nil.
func (s *search) newScript(p perturbation, expect []scenario.Step) script {
	added := additions{}
	if p != nil {
		added = p.additions()
	}
	c := s.config
	normal := func(steps ...scenario.Step) (all []scriptStep) {
		for _, step := range steps {
			all = append(all, scriptStep{step, false})
		}
		return all
	}
	perturbing := func(steps []scenario.Step) (all []scriptStep) {
		for _, step := range steps {
			all = append(all, scriptStep{step, true})
		}
		return all
	}
	result := script{before: slices.Concat(normal(c.Setup...), perturbing(added.before), normal(c.runSteps(false)...))}
	if c.Pause > 0 {
		result.before = append(result.before, normal(scenario.Advance(c.Pause))...)
	}
	for i, step := range c.Workload {
		phase := append(perturbing(added.at[i+1]), normal(step)...)
		if c.Pause > 0 {
			phase = append(phase, normal(scenario.Advance(c.Pause))...)
		}
		result.phases = append(result.phases, phase)
	}
	result.after = append(perturbing(added.at[len(c.Workload)+1]), normal(expect...)...)
	return result
}

// print returns the text of the script, with or without the perturbation.
func (s script) print(perturbed bool) (string, error) {
	var steps []scenario.Step
	for _, each := range slices.Concat(s.before, slices.Concat(s.phases...), s.after) {
		if perturbed || !each.perturbs {
			steps = append(steps, each.Step)
		}
	}
	return printSteps(steps)
}

// reproduces reports whether a script fails at one of its expectations, and passes without the
// perturbation.
func (s *search) reproduces(g *group, file script) bool {
	if g.oracle == "panic" {
		return true // it would end this process
	}
	text, err := file.print(true)
	if err != nil {
		return false
	}
	failure := (*scenario.Failure)(nil)
	if !errors.As(s.playText(text), &failure) || !slices.ContainsFunc(g.expect, func(e scenario.Step) bool { return e.String() == failure.Step }) {
		return false
	}
	if !g.hasControl() {
		return true
	}
	control, err := file.print(false)
	return err == nil && s.playText(control) == nil
}

// hasControl reports whether the script must pass without the perturbation. Otherwise another
// result is expected without it.
func (g *group) hasControl() bool {
	return g.oracle != "leaders" && g.p != nil && !g.p.tolerance().lasting
}

// playText plays the text of a file with the controllers.
func (s *search) playText(text string) error {
	config := scenario.Config{Seed: s.config.Seed, Clients: s.config.Controllers, Options: s.config.Options}
	if !s.config.RealTime {
		_, err := scenario.Play("finding.txtar", text, config)
		return err
	}
	live, err := scenario.NewLiveRun("finding.txtar", text, config)
	if err != nil {
		return err
	}
	_, err = live.Play(s.ctx, nil)
	return errors.Join(err, live.Close())
}

// shorten removes the steps of the workload that a script does not need. Steps that perturb stay.
// What is expected of the final state is that of the whole workload, of which nothing is removed.
func (s *search) shorten(g *group, file script) script {
	if !g.hasControl() || g.oracle == "state" || g.oracle == "expect" {
		return file
	}
	for i := len(file.phases) - 1; i >= 0; i-- {
		if slices.ContainsFunc(file.phases[i], func(step scriptStep) bool { return step.perturbs }) {
			continue
		}
		shorter := file
		shorter.phases = slices.Delete(slices.Clone(file.phases), i, i+1)
		if s.reproduces(g, shorter) {
			file = shorter
		}
	}
	return file
}
