package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/version"
)

// cleanupTimeout bounds the clean-up of one case. It is counted apart from the case, and runs even if that was cancelled.
const cleanupTimeout = 30 * time.Second

// Run checks the server with one subtest per case, and has removed everything when it returns. A case that is skipped is a skipped test
// with its reason; a configuration that cannot be used ends the test. Since it makes subtests, it cannot run inside a testing/synctest bubble: use [Check] there.
func Run(t *testing.T, c Config) {
	t.Helper()
	r, err := newRun(c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { // no t.Cleanup: the caller may close the server by defer
		if err := leftovers("the run", r.close(context.WithoutCancel(t.Context()))); err != nil {
			t.Error(err)
		}
	}()
	for _, one := range r.config.SelectedCases() {
		t.Run(one.ID, func(t *testing.T) {
			got := r.runCase(t.Context(), one)
			if err := got.err(); err != nil {
				t.Error(err)
			}
			if got.Outcome == Skipped {
				t.Skip(got.Reason)
			}
		})
	}
}

// Check checks the server outside of go test. The error joins every failure, and is nil if there was none.
func Check(ctx context.Context, c Config) error {
	report, err := Execute(ctx, c)
	return errors.Join(err, report.Err())
}

// Execute runs the selected cases one after the other and reports on each. The error is about the run itself: a configuration
// that cannot be used, or a context that ended (the report then holds what was done, and the rest as skipped). Cases that fail are
// in the report only, see [Report.Err].
func Execute(ctx context.Context, c Config) (Report, error) {
	r, err := newRun(c)
	if err != nil {
		return Report{}, err
	}
	report := Report{RunID: r.id, Server: r.serverVersion(ctx), Started: time.Now()}
	for _, one := range r.config.SelectedCases() {
		report.Results = append(report.Results, r.runCase(ctx, one))
	}
	report.Leftovers = r.close(context.WithoutCancel(ctx))
	report.Duration = time.Since(report.Started)
	return report, context.Cause(ctx)
}

// run is what the cases of one run share: the configuration, a name of its own, and the custom resource definition.
// Cases run one after the other, so nothing in it is locked.
type run struct {
	config Config
	id     string // part of every name the run gives, so that two runs do not meet

	namespaces      int       // how many were made, for their names
	crds            int       // how many cases made, for their groups
	crdBasic        *crdBasic // nil until a case asks for it
	hasCRDScale     bool      // whether the custom resource with subresources was installed
	crdData         *crdData  // nil until a case asks for it
	shared          *session  // owns what outlives a case
	pendingDeletion []string  // paths of definitions that were deleted, which takes a server a while

	expired map[string]expiredPage // by kind, from the first case that asks for it
}

func newRun(c Config) (*run, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &run{config: c, id: c.RunID, expired: map[string]expiredPage{}}
	r.shared = &session{run: r}
	return r, nil
}

// close removes what the cases shared, and says what could not be removed.
func (r *run) close(ctx context.Context) []error {
	ctx, cancel := context.WithTimeout(withCleanup(ctx), cleanupTimeout)
	defer cancel()
	left := r.shared.cleanup(ctx)
	return append(left, r.waitForCRDRemoval(ctx)...)
}

// runCase runs one case, cleans up after it, and says what happened.
func (r *run) runCase(ctx context.Context, one Case) (result Result) {
	result = Result{Case: one, Outcome: Passed}
	if r.config.CaseFinished != nil {
		defer func() { r.config.CaseFinished(result) }()
	}
	if reason := r.config.SkipReason(one); reason != "" {
		result.Outcome, result.Reason = Skipped, reason
		return result
	}
	if ctx.Err() != nil {
		result.Outcome, result.Reason = Skipped, "the run was cancelled: "+context.Cause(ctx).Error()
		return result
	}
	if r.config.CaseStarted != nil {
		r.config.CaseStarted(one)
	}
	start := time.Now()
	s := &session{run: r}
	ctx = withCase(ctx, one)
	result.setOutcome(ctx, s.runCheck(ctx, one))
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	result.Leftovers = s.cleanup(after)
	result.Duration = time.Since(start)
	return result
}

// setOutcome takes in the error of a check under ctx. A case that was cut off says nothing about the server.
func (r *Result) setOutcome(ctx context.Context, err error) {
	var skip skipError
	switch {
	case errors.As(err, &skip):
		r.Outcome, r.Reason = Skipped, skip.reason
	case err != nil && ctx.Err() != nil:
		r.Outcome, r.Reason = Skipped, "the run was cancelled in the middle of it: "+context.Cause(ctx).Error()
	case err != nil:
		r.Outcome, r.Err = Failed, err
	}
}

// runCheck runs the case under its deadline. A panic of a case that met an answer it never thought of is a failure like any other.
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

// serverVersion asks the server for its name, for the report. No answer is no failure here.
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
