package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// The stages of cases. Webhooks and policies of a case apply to its own objects only; if the server
// is wrong about that, other cases about them fail, but no further ones.
const (
	webhookStage = "webhooks"
	policyStage  = "policies"
)

// schedule calls do with the index of each case. Cases of one stage run as many at a time as the
// configuration says, those that wait for minutes first. Without parallelism, the cases run in
// their order.
func (r *run) schedule(cases []Case, do func(i int)) {
	if r.config.Parallel == 1 {
		for i := range cases {
			do(i)
		}
		return
	}
	stages := map[string][]int{}
	for i, one := range cases {
		stage := one.stage
		if one.alone {
			stage = one.ID
		}
		stages[stage] = append(stages[stage], i)
	}
	for _, stage := range slices.Sorted(maps.Keys(stages)) {
		queue := stages[stage]
		slices.SortStableFunc(queue, func(a, b int) int { return cmp.Compare(cases[b].takes, cases[a].takes) })
		r.runBeside(queue, do)
	}
}

// runBeside calls do with each index, in parallel.
func (r *run) runBeside(queue []int, do func(i int)) {
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(r.config.Parallel, len(queue)) {
		workers.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for _, i := range queue {
		next <- i
	}
	close(next)
	workers.Wait()
}

// runTimeout is the cause of the end of a run after Config.RunTimeout.
type runTimeout struct{ after time.Duration }

// Error returns the text of the limit.
func (e runTimeout) Error() string { return fmt.Sprintf("the run did not end within %v", e.after) }

// limit returns a context that ends after Config.RunTimeout.
func (r *run) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	after := r.config.RunTimeout
	return context.WithTimeoutCause(ctx, after, runTimeout{after})
}

// isRunTimeout reports whether ctx has ended because of Config.RunTimeout.
func isRunTimeout(ctx context.Context) bool { return errors.As(context.Cause(ctx), &runTimeout{}) }

// setNotReached sets the outcome of a case that was not started before ctx ended.
func (r *Result) setNotReached(ctx context.Context) {
	r.Outcome, r.NotReached = Skipped, true
	r.Reason = "the run was cancelled: " + context.Cause(ctx).Error()
	if isRunTimeout(ctx) {
		r.Reason = "not reached: " + context.Cause(ctx).Error()
	}
}
