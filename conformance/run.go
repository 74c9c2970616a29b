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

// cleanupTimeout limits the clean-up of one case. It is independent of the timeout of the case, and
// the clean-up runs even if the case was cancelled.
const cleanupTimeout = 30 * time.Second

// Run runs each case as a subtest, and has cleaned up when it returns. A skipped case is a skipped
// subtest with a reason. An invalid configuration fails the test. Run starts subtests, so it cannot
// be used in a testing/synctest bubble; use [Check] there.
func Run(t *testing.T, c Config) {
	t.Helper()
	r, err := newRun(c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { // not t.Cleanup, because the caller may close the server with defer
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

// Check runs the cases without a testing.T. It returns an error that joins all failures, or nil.
func Check(ctx context.Context, c Config) error {
	report, err := Execute(ctx, c)
	return errors.Join(err, report.Err())
}

// Execute runs the selected cases one after the other and returns their results. It returns an
// error if the configuration is invalid or ctx ends; the report then has the results so far, and
// the remaining cases as skipped. Failures of cases are only in the report, see [Report.Err].
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

// run is the state that the cases of a run share: the configuration, the ID and the CRDs. Cases run
// one after the other, so it needs no lock.
type run struct {
	config Config
	id     string // part of all names, so that concurrent runs do not collide

	namespaces      int       // number of namespaces, for their names
	crds            int       // number of CRDs of single cases, for their groups
	crdBasic        *crdBasic // nil until a case uses it
	hasCRDScale     bool      // whether crdScale was created
	crdData         *crdData  // nil until a case uses it
	hasCRDLimit     bool      // whether the CRD of limitCRs was created
	shared          *session  // tracks objects that are deleted after the last case
	pendingDeletion []string  // paths of CRDs that were deleted and may still exist

	expired map[string]expiredPage // by kind, created by the first case that uses it

	webhookServer   *webhookServer // nil until a case uses it
	webhookErr      error          // why it cannot be used, which skips or fails the cases
	markerNamespace *admission     // nil until a case about admission policies uses it
	markerPolicies  int            // number of marker policies, for their names
	rbac            *rbacSupport   // nil until a case about RBAC is run
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

// close deletes what the cases share, and returns an error for each object that could not be
// deleted.
func (r *run) close(ctx context.Context) []error {
	ctx, cancel := context.WithTimeout(withCleanup(ctx), cleanupTimeout)
	defer cancel()
	left := r.shared.cleanup(ctx)
	left = append(left, r.waitForCRDRemoval(ctx)...)
	if r.webhookServer != nil {
		r.webhookServer.close()
	}
	return left
}

// runCase runs one case and its clean-up.
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

// setOutcome sets the outcome from the error of a check under ctx. A cancelled case is skipped.
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
