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

// Recordings says how recorded exchanges are held against a server.
type Recordings struct {
	// Name is what reports call them.
	Name string
	// Cases are to be played, in this order.
	Cases []golden.Case
	// Skip gives the reason for which a case cannot be played, or "".
	Skip func(golden.Case) string
	// Server is what the right side is called. Open gives a server to play a case on, and what ends it.
	Server string
	Open   func(golden.Case) (player golden.Player, end func(), err error)
	// AtOnce is how many cases are played at a time: one, if all are played on the same server.
	AtOnce int
	// Timeout is how long a case may take on top of what its recording took.
	Timeout time.Duration
	// Began is called when a case is begun, and Ended when it was compared, one call at a time. Either may be nil.
	Began func(golden.Case)
	Ended func(Case)
}

// Compare plays the recordings. The error is that of a context that ended; the report then holds what was done.
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

// one plays a case.
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
