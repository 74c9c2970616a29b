package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/version"
)

// cleanupTimeout limits the clean-up of one case. It is independent of the timeout of the case, and
// the clean-up runs even if the case was cancelled.
const cleanupTimeout = 30 * time.Second

// Run runs each case as a subtest, as many at a time as [Config].Parallel says, and has cleaned up
// when it returns. A skipped case is a skipped subtest with a reason. An invalid configuration
// fails the test. The run also ends a while before the deadline of the test binary. Run starts
// subtests, so it cannot be used in a testing/synctest bubble; use [Check] there.
func Run(t *testing.T, c Config) {
	t.Helper()
	r, err := newRun(c)
	if err != nil {
		t.Fatal(err)
	}
	if deadline, ok := t.Deadline(); ok {
		r.config.RunTimeout = min(r.config.RunTimeout, beforeDeadline(time.Until(deadline)))
	}
	ctx, cancel := r.limit(t.Context())
	defer cancel()
	defer func() { // not t.Cleanup, because the caller may close the server with defer
		if err := leftovers("the run", r.close(context.WithoutCancel(ctx))); err != nil {
			t.Error(err)
		}
	}()
	cases := r.config.SelectedCases()
	r.schedule(cases, func(i int) {
		t.Run(cases[i].ID, func(t *testing.T) {
			got := r.runCase(ctx, i+1, cases[i])
			if err := got.err(); err != nil {
				t.Error(err)
			}
			if got.Outcome == Skipped {
				t.Skip(got.Reason)
			}
		})
	})
	if ctx.Err() != nil {
		t.Error(context.Cause(ctx))
	}
}

// beforeDeadline returns how long a run may take if the test binary ends after remaining: there
// must be time for the clean-up.
func beforeDeadline(remaining time.Duration) time.Duration {
	return max(remaining-responseTimeout-2*cleanupTimeout, remaining*3/4)
}

// Check runs the cases without a testing.T. It returns an error that joins all failures, or nil.
func Check(ctx context.Context, c Config) error {
	report, err := Execute(ctx, c)
	return errors.Join(err, report.Err())
}

// Execute runs the selected cases, as many at a time as [Config].Parallel says, and returns their
// results. It returns an error if the configuration is invalid, ctx ends, or [Config].RunTimeout is
// over; the report then has the results so far, and the remaining cases as skipped. Failures of
// cases are only in the report, see [Report.Err].
func Execute(ctx context.Context, c Config) (Report, error) {
	r, err := newRun(c)
	if err != nil {
		return Report{}, err
	}
	ctx, cancel := r.limit(ctx)
	defer cancel()
	report := Report{RunID: r.id, Server: r.serverVersion(ctx), Started: time.Now()}
	cases := r.config.SelectedCases()
	report.Results = make([]Result, len(cases))
	r.schedule(cases, func(i int) { report.Results[i] = r.runCase(ctx, i+1, cases[i]) })
	report.Leftovers = r.close(context.WithoutCancel(ctx))
	report.Duration = time.Since(report.Started)
	return report, context.Cause(ctx)
}

// run is the state that the cases of a run share: the configuration, the ID, the CRDs and so on.
type run struct {
	config Config
	id     string   // part of all names, so that concurrent runs do not collide
	shared *session // tracks objects that are deleted after the last case

	crdBasic        *shared[crdBasic]
	crdData         *shared[crdData]
	crdScale        *shared[collection]
	crdLimit        *shared[collection]
	webhook         *shared[webhookStart]
	markerNamespace *shared[*admission] // of the cases about admission policies
	rbacMissing     *shared[string]     // why the cases about RBAC cannot judge the server, or ""

	// expired has the expired lists by kind. Only cases that run alone use them.
	expired map[string]expiredPage

	callbacks sync.Mutex // held during Config.CaseStarted and Config.CaseFinished

	mu              sync.Mutex // guards the fields below
	sessions        []*session // sessions of what cases share, in the order of their creation
	pendingDeletion []string   // paths of CRDs that were deleted and may still exist
}

func newRun(c Config) (*run, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &run{
		config: c, id: c.RunID, expired: map[string]expiredPage{},
		crdBasic: newShared[crdBasic](), crdData: newShared[crdData](), crdScale: newShared[collection](), crdLimit: newShared[collection](),
		webhook: newShared[webhookStart](), markerNamespace: newShared[*admission](), rbacMissing: newShared[string](),
	}
	r.shared = r.sharedSession("shared")
	return r, nil
}

// sharedSession returns the session of that name for what cases share. Its objects are deleted
// after the last case.
func (r *run) sharedSession(name string) *session {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.sessions {
		if s.name == name {
			return s
		}
	}
	s := &session{run: r, name: name}
	r.sessions = append(r.sessions, s)
	return s
}

// close deletes what the cases share, and returns an error for each object that could not be
// deleted. It is called after the last case.
func (r *run) close(ctx context.Context) (left []error) {
	ctx, cancel := context.WithTimeout(withCleanup(ctx), cleanupTimeout)
	defer cancel()
	for _, s := range slices.Backward(r.sessions) {
		left = append(left, s.cleanup(ctx)...)
	}
	left = append(left, r.waitForCRDRemoval(ctx)...)
	if server := r.webhook.value.server; server != nil {
		server.close()
	}
	return left
}

// runCase runs one case and its clean-up. The number of the case is part of the names of its
// objects.
func (r *run) runCase(ctx context.Context, number int, one Case) (result Result) {
	result = Result{Case: one, Outcome: Passed}
	defer func() { notify(r, r.config.CaseFinished, result) }()
	if reason := r.config.SkipReason(one); reason != "" {
		result.Outcome, result.Reason = Skipped, reason
		return result
	}
	if ctx.Err() != nil {
		result.setNotReached(ctx)
		return result
	}
	notify(r, r.config.CaseStarted, one)
	start := time.Now()
	s := &session{run: r, name: strconv.Itoa(number)}
	ctx = withCase(ctx, one)
	result.setOutcome(ctx, s.runCheck(ctx, one))
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	result.Leftovers = s.cleanup(after)
	result.Duration = time.Since(start)
	return result
}

// notify calls a callback of the configuration, unless it is nil.
func notify[T any](r *run, callback func(T), value T) {
	if callback != nil {
		r.callbacks.Lock()
		defer r.callbacks.Unlock()
		callback(value)
	}
}

// setOutcome sets the outcome from the error of a check under ctx. A cancelled case is skipped.
func (r *Result) setOutcome(ctx context.Context, err error) {
	var skip skipError
	switch {
	case errors.As(err, &skip):
		r.Outcome, r.Reason = Skipped, skip.reason
	case err != nil && ctx.Err() != nil && !isRunTimeout(ctx):
		r.Outcome, r.Reason = Skipped, "the run was cancelled in the middle of it: "+context.Cause(ctx).Error()
	case err != nil:
		r.Outcome, r.Err = Failed, err
	}
}

// runCheck runs the check of a case with its timeout. A panic is a failure of the case, because the
// check may not have expected the response.
func (s *session) runCheck(ctx context.Context, one Case) (err error) {
	timeout := s.run.config.Timeout + one.takes
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("the case did not end within %v", timeout))
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the case panicked: %v", p)
		}
	}()
	err = one.check(ctx, s)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w (%w)", err, context.Cause(ctx))
	}
	return err
}

// serverVersion returns the gitVersion of the server for the report, or "".
func (r *run) serverVersion(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, r.config.Timeout)
	defer cancel()
	answer, err := r.shared.do(ctx, get("/version"), code(http.StatusOK))
	if err != nil {
		return ""
	}
	var v version.Info
	if err := answer.decode(&v); err != nil {
		return ""
	}
	return v.GitVersion
}
