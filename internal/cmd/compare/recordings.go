package compare

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"example.com/fakeapi/internal/cmd/golden"
)

// Recordings configures the comparison of recorded exchanges with a server.
type Recordings struct {
	// Name is the name of the recordings in reports.
	Name string
	// Cases are replayed in this order.
	Cases []golden.Case
	// Skip returns the reason why a case cannot be replayed, or "".
	Skip func(golden.Case) string
	// Server is the name of the right side in reports. Open returns a player for a case and a
	// function that releases its server.
	Server string
	Open   func(golden.Case) (player golden.Player, end func(), err error)
	// AtOnce is the number of cases replayed at a time. It must be 1 if all are replayed on the
	// same server.
	AtOnce int
	// Timeout is how long a case may take in addition to the time its recording took.
	Timeout time.Duration
	// Began is called before a case is replayed, and Ended with its result. Calls do not overlap.
	// Either may be nil.
	Began func(golden.Case)
	Ended func(Case)
}

// Compare replays the recordings. The error is the cause of a canceled context; the report then has
// the cases compared so far.
func (r Recordings) Compare(ctx context.Context) (*Report, error) {
	report := &Report{Left: Endpoint{Name: r.Name}, Right: Endpoint{Name: r.Server}, Cases: make([]Case, len(r.Cases))}
	turns := make(chan struct{}, r.AtOnce)
	var running sync.WaitGroup
	var mu sync.Mutex // guards Began, Ended and the leftovers
	for i, c := range r.Cases {
		turns <- struct{}{}
		running.Go(func() {
			defer func() { <-turns }()
			if r.Began != nil {
				mu.Lock()
				r.Began(c)
				mu.Unlock()
			}
			found := r.one(ctx, c)
			report.Cases[i] = found
			mu.Lock()
			defer mu.Unlock()
			report.Right.Leftovers = append(report.Right.Leftovers, found.left...)
			if r.Ended != nil {
				r.Ended(found)
			}
		})
	}
	running.Wait()
	return report, context.Cause(ctx)
}

// one replays a case.
func (r Recordings) one(ctx context.Context, c golden.Case) Case {
	found := Case{ID: c.Name, Rule: c.Group, Title: strings.TrimSpace(c.Desc), Verdict: LeftOnly}
	if found.Right.Reason = r.Skip(c); found.Right.Reason != "" {
		return found
	}
	if ctx.Err() != nil {
		found.Right.Reason = "the comparison was interrupted"
		return found
	}
	player, end, err := r.Open(c)
	if err != nil {
		found.Verdict, found.Error = Different, err.Error()
		return found
	}
	defer end()
	limit := r.Timeout + time.Duration(c.TookMs)*time.Millisecond
	limited, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it did not end within %v", limit))
	defer cancel()
	result := player.Play(limited, c)
	for _, left := range result.Leftovers {
		found.left = append(found.left, c.Name+": "+left)
	}
	found.Verdict = Same
	for _, step := range result.Steps {
		if !step.Setup {
			found.Exchanges++
		}
		if len(step.Differences) > 0 {
			later := len(found.Differing) > 0
			found.Differing = append(found.Differing, Exchange{Number: step.Number, Request: step.Name, Later: later, Differences: step.Differences})
		}
	}
	if result.Err != nil {
		found.Error = cmp.Or(context.Cause(limited), result.Err).Error()
	}
	if !result.Same() {
		found.Verdict = Different
	}
	return found
}
