package perturb

import (
	"context"
	"slices"
	"time"

	"example.com/fakeapi/scenario"
)

// settleStep waits until a run is quiet and, if there is a reference, its state is that of the
// reference.
type settleStep struct {
	p     play
	r     *result
	rules []string // that are awaited
}

const (
	// settlePoll is the time between two looks at the state.
	settlePoll = 5 * time.Second
	// referenceTail is the time at the end of a reference, in which controllers that work from time
	// to time do so.
	referenceTail = 130 * time.Second
	// referenceLimit is the time after which a reference must be quiet.
	referenceLimit = 30 * time.Minute
)

func (settleStep) String() string { return "settle" }

func (s settleStep) Run(ctx context.Context, e *scenario.Env) error {
	begin := time.Now()
	for {
		if err := e.Sleep(ctx, min(settlePoll, s.p.config.Settle/3)); err != nil {
			return err
		}
		now := time.Now()
		quiet := now.Sub(s.lastWrite(begin)) >= s.p.config.Settle
		if s.p.reference == nil {
			tail, limit := referenceTail, referenceLimit
			if s.p.config.RealTime {
				tail, limit = s.p.config.Settle, 3*s.p.config.Recovery
			}
			if quiet && now.Sub(begin) >= tail || now.Sub(begin) >= limit {
				s.finish(now, quiet)
				return nil
			}
			continue
		}
		missed := s.missedRules(e)
		waiting := len(missed) > 0 && now.Sub(begin) < s.p.reference.settleTime+min(time.Minute, s.p.config.Recovery)
		if quiet && !waiting && (s.isTarget(s.r.normalized()) || s.isViolated(now)) || now.Sub(begin) >= s.limit(quiet) {
			s.r.missed = missed
			s.finish(now, quiet)
			return nil
		}
	}
}

// finish records the end of the run.
func (s settleStep) finish(now time.Time, quiet bool) {
	s.r.end, s.r.quiet = now, quiet
	s.r.final = s.r.normalized()
	s.r.tail = s.r.since(now.Add(-s.p.config.tail()))
	s.r.equal = s.isTarget(s.r.final)
}

// isTarget reports whether a state is correct, or may be.
func (s settleStep) isTarget(state normalState) bool {
	return len(s.p.targets) == 0 || slices.ContainsFunc(s.p.targets, state.equal)
}

// isViolated reports whether there is a violation that no more time can undo.
func (s settleStep) isViolated(now time.Time) bool {
	if s.p.isViolated == nil {
		return false
	}
	sofar := s.r.copy()
	sofar.end = now
	return s.p.isViolated(sofar)
}

// limit returns the time after which the run ends in any case. A controller that works from time to
// time may just have written something.
func (s settleStep) limit(quiet bool) time.Duration {
	d := s.p.config.Recovery + s.p.reference.settleTime
	if !quiet {
		d += s.p.config.Recovery
	}
	return d
}

// missedRules returns the rules that were not applied.
func (s settleStep) missedRules(e *scenario.Env) []string {
	missed := slices.Clone(s.rules)
	for _, hit := range e.Server().Faults().Hits() {
		missed = slices.DeleteFunc(missed, func(name string) bool { return name == hit.Rule.Name })
	}
	return missed
}

// lastWrite returns the time of the latest change that is visible after normalization, but at least
// begin.
func (s settleStep) lastWrite(begin time.Time) time.Time {
	if c := s.r.lastEffective(); c != nil && c.at.After(begin) {
		return c.at
	}
	return begin
}
