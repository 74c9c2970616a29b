package scenario

import (
	"context"
	"fmt"
	"time"
)

// Advance lets time pass, in which the server and clients do their work. In virtual time it takes
// only as long as that work.
func Advance(d time.Duration) Step { return advance{d} }

type advance struct{ d time.Duration }

func (kinds) Advance() stepKind {
	return stepKind{"advance DURATION", parseAdvance}
}

func parseAdvance(a *args) (Step, error) {
	d, err := a.duration(1)
	if err != nil {
		return nil, err
	}
	_, err = a.words(0, 0)
	return advance{d}, err
}

func (s advance) String() string { return "advance " + s.d.String() }

func (s advance) Run(ctx context.Context, e *Env) error { return e.sleep(ctx, s.d) }

func (s advance) simplifications() []Step {
	return shorterDurations(s.d, func(d time.Duration) Step { return advance{d} })
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pollInterval is the time between two attempts of Eventually and Always.
const pollInterval = time.Second

// Eventually repeats a step every second until it passes, for at most d. The transcript has only
// the last attempt and the number of attempts.
func Eventually(d time.Duration, step Step) Step { return eventually{d, step} }

type eventually struct {
	d    time.Duration
	step Step
}

func (kinds) Eventually() stepKind {
	return stepKind{"eventually DURATION STEP", parseEventually}
}

func parseEventually(a *args) (Step, error) {
	d, err := a.duration(1)
	if err != nil {
		return nil, err
	}
	step, err := a.parser.parseStep(a.rest)
	return eventually{d, step}, err
}

func (s eventually) String() string { return "eventually " + s.d.String() + " " + s.step.String() }

func (s eventually) inner() Step { return s.step }

func (s eventually) Run(ctx context.Context, e *Env) error {
	end := time.Now().Add(s.d)
	for attempts := 1; ; attempts++ {
		mark := e.log.mark()
		err := s.step.Run(ctx, e)
		if err == nil {
			if attempts > 1 {
				e.Note("attempt %d passed", attempts)
			}
			return nil
		}
		left := time.Until(end)
		if left <= 0 || ctx.Err() != nil {
			return fmt.Errorf("attempt %d, after %v: %w", attempts, s.d-left, err)
		}
		e.log.rewind(mark)
		if err := e.sleep(ctx, min(pollInterval, left)); err != nil {
			return err
		}
		e.waitIdle()
	}
}

// The duration stays the same, because a correct client may need it.
func (s eventually) simplifications() []Step {
	return simplifyInner(s.step, func(step Step) Step { return eventually{s.d, step} })
}

// Always repeats a step every second for d, and fails if one attempt fails. The transcript has only
// the last attempt.
func Always(d time.Duration, step Step) Step { return always{d, step} }

type always struct {
	d    time.Duration
	step Step
}

func (kinds) Always() stepKind {
	return stepKind{"always DURATION STEP", parseAlways}
}

func parseAlways(a *args) (Step, error) {
	d, err := a.duration(1)
	if err != nil {
		return nil, err
	}
	step, err := a.parser.parseStep(a.rest)
	return always{d, step}, err
}

func (s always) String() string { return "always " + s.d.String() + " " + s.step.String() }

func (s always) inner() Step { return s.step }

func (s always) Run(ctx context.Context, e *Env) error {
	end := time.Now().Add(s.d)
	for {
		mark := e.log.mark()
		if err := s.step.Run(ctx, e); err != nil {
			return fmt.Errorf("after %v: %w", s.d-time.Until(end), err)
		}
		left := time.Until(end)
		if left <= 0 {
			return nil
		}
		e.log.rewind(mark)
		if err := e.sleep(ctx, min(pollInterval, left)); err != nil {
			return err
		}
		e.waitIdle()
	}
}

// The duration stays the same, because the next step begins at its end.
func (s always) simplifications() []Step {
	return simplifyInner(s.step, func(step Step) Step { return always{s.d, step} })
}
