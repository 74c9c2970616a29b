package perturb

import (
	"context"
	"errors"
	"slices"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/scenario"
)

// play is one run of the workload.
type play struct {
	config     *Config
	normalizer *normalizer
	seed       uint64
	// perturbed has the added steps; nil for none.
	perturbed perturbation
	// reference is the undisturbed run, or nil if this is one.
	reference *reference
	// targets are the final states that are correct. If there are none in a perturbed run, it is
	// not known which are.
	targets []normalState
	// isViolated, if not nil, reports whether there is a violation that no more time can undo, so
	// that the run need not go on.
	isViolated func(*result) bool
	// before are steps that are run before the record begins, to change times and resourceVersions.
	before []scenario.Step
	// reverse runs the controllers in the reverse order.
	reverse bool
	// timeline records the timeline.
	timeline bool
	// afterRun, if not nil, is called at the end.
	afterRun func(server *fakeapi.Server)
}

// result is what happened in a run.
type result struct {
	*requestLog
	*changeLog
	targets  []normalState
	begin    time.Time // when the controllers were run
	end      time.Time
	timeline fakeapi.Timeline
	// phases has the times at which the phases began.
	phases []time.Time
	// quiet is false if the controllers still wrote at the end.
	quiet bool
	// equal is true if the state was one of the targets, or there were none.
	equal bool
	final normalState
	// tail has the number of requests at the end, by client.
	tail map[string]int
	// missed are the rules of the perturbation that were not applied.
	missed []string
	// expect is the first expectation of Config.Expect that failed, and err another error.
	expect *scenario.Failure
	err    error
}

// copy returns a copy with what was recorded until now, so that oracles can read it while the
// run goes on.
func (r *result) copy() *result {
	c := *r
	c.requestLog, c.changeLog = r.requestLog.copy(), r.changeLog.copy()
	return &c
}

// run runs the workload on a new server.
func (p play) run(ctx context.Context) *result {
	r := &result{targets: p.targets, requestLog: &requestLog{returned: map[string]time.Time{}}, changeLog: newChangeLog(p.normalizer, p.config.Invariants)}
	clients := map[string]scenario.Client{}
	for name, c := range p.config.Controllers {
		clients[name] = r.wrap(c)
	}
	options := p.config.Options
	if !p.timeline {
		options = append(append([]fakeapi.Option(nil), options...), fakeapi.WithoutTimeline())
	}
	r.learning = p.reference == nil
	config := scenario.Config{Seed: p.seed, Clients: clients, Options: options}
	config.AfterRun = func(server *fakeapi.Server, err error) {
		if p.timeline {
			r.timeline = server.Timeline()
		}
		if p.afterRun != nil {
			p.afterRun(server)
		}
	}
	err := p.play(ctx, config, p.steps(r))
	r.err = err
	if failure := (*scenario.Failure)(nil); errors.As(err, &failure) && !r.end.IsZero() && failure.Step != "" {
		r.expect, r.err = failure, nil
	}
	return r
}

// play plays steps in virtual or real time.
func (p play) play(ctx context.Context, config scenario.Config, steps []scenario.Step) error {
	if !p.config.RealTime {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, err := scenario.PlaySteps(config, steps...)
		return err
	}
	live, err := scenario.NewLiveRunOfSteps(config, steps...)
	if err != nil {
		return err
	}
	_, err = live.Play(ctx, nil)
	return errors.Join(err, live.Close())
}

// steps returns the steps of a run that records into r.
func (p play) steps(r *result) []scenario.Step {
	added := additions{}
	if p.perturbed != nil {
		added = p.perturbed.additions()
	}
	var steps []scenario.Step
	steps = append(steps, p.before...)
	steps = append(steps, recordStep{r})
	steps = append(steps, p.config.Setup...)
	steps = append(steps, beginStep{r})
	steps = append(steps, added.before...)
	steps = append(steps, p.config.runSteps(p.reverse)...)
	for i := range len(p.config.Workload) + 1 {
		if i > 0 {
			steps = append(steps, phaseStep{r, i})
			steps = append(steps, added.at[i]...)
			steps = append(steps, p.config.Workload[i-1])
		}
		if p.config.Pause > 0 {
			steps = append(steps, scenario.Advance(p.config.Pause))
		}
	}
	steps = append(steps, phaseStep{r, len(p.config.Workload) + 1})
	steps = append(steps, added.at[len(p.config.Workload)+1]...)
	steps = append(steps, settleStep{p, r, added.rules})
	return append(steps, p.config.Expect...)
}

// runSteps returns the steps that run the controllers.
func (c *Config) runSteps(reverse bool) []scenario.Step {
	var steps []scenario.Step
	for _, name := range c.controllerNames() {
		steps = append(steps, runController(name))
	}
	if reverse {
		slices.Reverse(steps)
	}
	return steps
}

// recordStep begins to record changes and requests.
type recordStep struct{ r *result }

// String returns the name of the step.
func (recordStep) String() string { return "record" }

// Run begins to record, and waits until the recording has begun.
func (s recordStep) Run(ctx context.Context, e *scenario.Env) error {
	server := e.Server()
	s.r.requestLog.mu.Lock()
	s.r.server = server
	s.r.requestLog.mu.Unlock()
	s.r.baseline = revision(server)
	go func() {
		if err := server.EachChange(ctx, "0", s.r.changeLog.add); err != nil {
			utilruntime.HandleError(err)
		}
	}()
	return e.Sleep(ctx, 0)
}

// beginStep is the step before the controllers are run.
type beginStep struct{ r *result }

// String returns the name of the step.
func (beginStep) String() string { return "begin" }

// Run notes the time.
func (s beginStep) Run(context.Context, *scenario.Env) error {
	s.r.begin = time.Now()
	s.r.phases = append(s.r.phases, s.r.begin)
	return nil
}

// phaseStep begins a phase.
type phaseStep struct {
	r *result
	n int
}

// String returns the name of the step.
func (phaseStep) String() string { return "phase" }

// Run notes the time and begins the phase.
func (s phaseStep) Run(context.Context, *scenario.Env) error {
	s.r.phases = append(s.r.phases, time.Now())
	s.r.beginPhase(s.n)
	return nil
}
