package conformance

import (
	"context"
	"sync/atomic"
)

// RequestPurpose describes the purpose of a request of the suite. A transport gets it with
// [RequestPurposeFrom] from the context of the request, for example to record a run and compare it
// with another.
type RequestPurpose struct {
	// Case is the ID of the case that sends the request.
	Case string
	// Setup reports whether the request only prepares the case: it creates a namespace or a shared
	// CRD, or looks up whether the server supports something.
	Setup bool
	// Cleanup reports whether the request deletes what the case or the run created.
	Cleanup bool
	// RetryGroup is the number, from 1 within the case, of a group of attempts that are repeated
	// until the response is as expected. Attempt is the number of the attempt, from 1. Both are 0
	// for a request that is sent once. The number of attempts may vary between runs.
	RetryGroup, Attempt int
	// ConcurrentIndex is the number, from 1, of a request that is sent concurrently with others. It
	// is 0 for other requests.
	ConcurrentIndex int
}

// RequestPurposeFrom returns the purpose in the context of a request. It is the zero value for
// requests without a case.
func RequestPurposeFrom(ctx context.Context) RequestPurpose { return purposeFrom(ctx).RequestPurpose }

// casePurpose is the value in a context.
type casePurpose struct {
	RequestPurpose
	retryGroups *atomic.Int64 // number of retry groups of the case
}

type purposeKey struct{}

func purposeFrom(ctx context.Context) casePurpose {
	p, ok := ctx.Value(purposeKey{}).(casePurpose)
	if !ok {
		p.retryGroups = &atomic.Int64{}
	}
	return p
}

// withCase returns a context for the requests of a case.
func withCase(ctx context.Context, one Case) context.Context {
	return context.WithValue(ctx, purposeKey{}, casePurpose{RequestPurpose{Case: one.ID}, &atomic.Int64{}})
}

// with returns a context with a changed purpose.
func (p casePurpose) with(ctx context.Context, change func(*RequestPurpose)) context.Context {
	change(&p.RequestPurpose)
	return context.WithValue(ctx, purposeKey{}, p)
}

// withSetup returns a context for requests that prepare a case.
func withSetup(ctx context.Context) context.Context {
	return purposeFrom(ctx).with(ctx, func(p *RequestPurpose) { p.Setup = true })
}

// withCleanup returns a context for requests of the clean-up.
func withCleanup(ctx context.Context) context.Context {
	return purposeFrom(ctx).with(ctx, func(p *RequestPurpose) { p.Cleanup = true })
}

// withConcurrentIndex returns a context for one of several concurrent requests.
func withConcurrentIndex(ctx context.Context, index int) context.Context {
	return purposeFrom(ctx).with(ctx, func(p *RequestPurpose) { p.ConcurrentIndex = index })
}

// newRetryGroup starts a retry group and returns a function that returns a context for each
// attempt. Attempts within another retry group belong to that group.
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
