package scenario

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"example.com/fakeapi/faults"
)

// AtHit runs another step as soon as a rule with a name is applied for the first time from now on.
// The step runs when everything else waits for time to pass. So to do something at a certain
// request or event, hold it with hang, or for a millisecond with delay:
//
//	fault write: when userAgent(mine) && verb(update) && nth(2) do hang
//	at hit write crash mine
//	at hit write run mine
//
// Several steps for a rule run in the order in which they were added. If one of them fails, the
// step that was running fails. A rule belongs to one server; for one of a replica use [On].
func AtHit(rule string, step Step) Step { return atHit{rule, step} }

type atHit struct {
	rule string
	step Step
}

func (kinds) AtHit() stepKind {
	return stepKind{"at hit RULE STEP", parseAtHit}
}

func parseAtHit(a *args) (Step, error) {
	rule, err := a.word("the name of a rule")
	if err != nil {
		return nil, err
	}
	step, err := a.parser.parseStep(a.rest)
	return atHit{rule, step}, err
}

func (s atHit) String() string { return "at hit " + quote(s.rule) + " " + s.step.String() }

func (s atHit) inner() Step { return s.step }

func (s atHit) simplifications() []Step {
	return simplifyInner(s.step, func(step Step) Step { return atHit{s.rule, step} })
}

func (s atHit) Run(ctx context.Context, e *Env) error {
	waiting := &hitStep{atHit: s, server: e.current, number: e.hitSteps.added}
	if hits := waiting.faults().Hits(); len(hits) > 0 {
		waiting.hit = hits[len(hits)-1].Seq
	}
	e.hitSteps.added++
	go e.hitSteps.wait(ctx, waiting)
	return nil
}

// hitStep is a step of AtHit.
type hitStep struct {
	atHit
	server *apiServer
	number int // the position among all of them
	// hit is the number of the hit because of which the step is due, and before that of an earlier
	// one.
	hit uint64
}

func (s *hitStep) faults() *faults.Set { return s.server.server.Faults() }

// wasApplied reports whether the effects of the hit were applied. This is known when everything
// else waits for time to pass.
func (s *hitStep) wasApplied() bool {
	hits, _ := s.faults().HitsAfter(s.hit - 1)
	return len(hits) == 0 || hits[0].Seq != s.hit || hits[0].NotApplied == ""
}

// hitSteps are the steps of AtHit that are due. Only the goroutine of the steps uses added, running
// and err.
type hitSteps struct {
	added   int           // how many were added
	running bool          // one of them runs
	err     error         // of the first one that failed
	wake    chan struct{} // receives when one is due; has a buffer of one

	mu  sync.Mutex // guards due
	due []*hitStep
}

// wait waits for the next hit of the rule of a step, after which the step is due, or until ctx
// ends.
func (h *hitSteps) wait(ctx context.Context, s *hitStep) {
	for {
		hits, next := s.faults().HitsAfter(s.hit)
		for _, hit := range hits {
			s.hit = hit.Seq
			if hit.Rule.Name == s.rule {
				h.add(s)
				return
			}
		}
		select {
		case <-next:
		case <-ctx.Done():
			return
		}
	}
}

func (h *hitSteps) add(s *hitStep) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.due = append(h.due, s)
	select {
	case h.wake <- struct{}{}:
	default: // it is awake
	}
}

// take removes the next step and returns it, or nil.
func (h *hitSteps) take() *hitStep {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.due) == 0 {
		return nil
	}
	slices.SortStableFunc(h.due, func(a, b *hitStep) int { return a.number - b.number })
	next := h.due[0]
	h.due = h.due[1:]
	return next
}

// runHitStep runs the next step that is due, unless the rule was not applied, and reports whether
// there was one.
func (e *Env) runHitStep() bool {
	if e.hitSteps.running {
		return false
	}
	next := e.hitSteps.take()
	if next == nil {
		return false
	}
	if !next.wasApplied() {
		go e.hitSteps.wait(e.ctx, next)
		return true
	}
	e.hitSteps.running = true
	defer func() { e.hitSteps.running = false }()
	e.Note("%s", next.String())
	e.addNote(next.String(), false)
	err := e.withServer(next.server, func() error { return e.runStep(e.ctx, next.step) })
	if err != nil && e.hitSteps.err == nil {
		e.hitSteps.err = fmt.Errorf("%s: %w", next, err)
	}
	return true
}

// sleep waits for d or until ctx ends, and runs the steps of AtHit that become due.
func (e *Env) sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	wake := e.hitSteps.wake
	if e.hitSteps.running {
		wake = nil
	}
	for {
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-wake:
			e.waitIdle()
		}
	}
}

// Sleep waits for d or until ctx ends. Steps that are not of this package use it, so that the steps
// of [AtHit] run in the meantime.
func (e *Env) Sleep(ctx context.Context, d time.Duration) error {
	err := e.sleep(ctx, d)
	e.waitIdle()
	return err
}
