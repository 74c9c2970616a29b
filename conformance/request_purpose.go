package conformance

import (
	"context"
	"sync/atomic"
)

// RequestPurpose says what a request of a run is for. A transport finds it with [RequestPurposeFrom] in the context of the request. It is for those who take
// down what a run sends, and hold it beside another run.
type RequestPurpose struct {
	// Case is the ID of the case that sends it.
	Case string
	// Setup: it only makes what the case needs, such as a namespace or a definition that cases share, or looks whether the server has it.
	Setup bool
	// Cleanup: it removes what the case or the run made.
	Cleanup bool
	// RetryGroup is the number, from 1 within the case, of a series of tries that is repeated until the answer is as expected. Try is the
	// number of the try, from 1. Both are 0 for a request that is sent once. How many tries there are is chance.
	RetryGroup, Attempt int
	// ConcurrentIndex is the number, from 1, of a request that is sent side by side with others, and 0 for one that is sent alone.
	ConcurrentIndex int
}

// RequestPurposeFrom gives the place that the context of a request carries. Requests of no case have the zero Place.
func RequestPurposeFrom(ctx context.Context) RequestPurpose { return purposeFrom(ctx).RequestPurpose }

// casePurpose is what a context holds.
type casePurpose struct {
	RequestPurpose
	retryGroups *atomic.Int64 // how many there were in the case
}

type purposeKey struct{}

func purposeFrom(ctx context.Context) casePurpose {
	p, ok := ctx.Value(purposeKey{}).(casePurpose)
	if !ok {
		p.retryGroups = &atomic.Int64{}
	}
	return p
}

// withCase begins a case.
func withCase(ctx context.Context, one Case) context.Context {
	return context.WithValue(ctx, purposeKey{}, casePurpose{RequestPurpose{Case: one.ID}, &atomic.Int64{}})
}

// with changes the place of what is sent under the context.
func (p casePurpose) with(ctx context.Context, change func(*RequestPurpose)) context.Context {
	change(&p.RequestPurpose)
	return context.WithValue(ctx, purposeKey{}, p)
}

// withSetup is for what only makes, or looks for, what a case needs.
func withSetup(ctx context.Context) context.Context {
	return purposeFrom(ctx).with(ctx, func(p *RequestPurpose) { p.Setup = true })
}

// withCleanup is for what removes it.
func withCleanup(ctx context.Context) context.Context {
	return purposeFrom(ctx).with(ctx, func(p *RequestPurpose) { p.Cleanup = true })
}

// withConcurrentIndex is for one of several requests that are sent side by side.
func withConcurrentIndex(ctx context.Context, index int) context.Context {
	return purposeFrom(ctx).with(ctx, func(p *RequestPurpose) { p.ConcurrentIndex = index })
}

// newRetryGroup gives the contexts for the tries of a new series, one at each call. A series within another is no series of its own.
func newRetryGroup(ctx context.Context) func() context.Context {
	p := purposeFrom(ctx)
	if p.RetryGroup > 0 {
		return func() context.Context { return ctx }
	}
	group, attempt := int(p.retryGroups.Add(1)), 0
	return func() context.Context {
		attempt++
		return p.with(ctx, func(p *RequestPurpose) { p.RetryGroup, p.Attempt = group, attempt })
	}
}
