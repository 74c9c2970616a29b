package conformance

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"example.com/fakeapi/internal/printable"
)

// Outcome is the outcome of a case.
type Outcome string

// The outcomes of cases.
const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Skipped Outcome = "skipped"
)

// Result is the result of one case.
type Result struct {
	// Case is the case.
	Case Case
	// Outcome is the outcome of the case.
	Outcome Outcome
	// Reason states why the case was skipped. It is empty for other outcomes.
	Reason string
	// NotReached reports whether the case was skipped because the run ended before it began.
	NotReached bool
	// Err contains the request, the expectation and the response of a failed case. It is nil for
	// other outcomes.
	Err error
	// Leftovers has an error for each object that the clean-up of the case could not delete.
	Leftovers []error
	// Duration is the duration of the case with its clean-up.
	Duration time.Duration
}

// Report has the results of a run.
type Report struct {
	// RunID is that of the configuration. It is part of the names of all created objects.
	RunID string
	// Started is the time when the first case began.
	Started time.Time
	// Duration is the duration of the run with its clean-up.
	Duration time.Duration
	// Server is the gitVersion of the server from /version, or "".
	Server string
	// Results has one entry for each selected case, sorted by ID.
	Results []Result
	// Leftovers has an error for each object that the clean-up after all cases could not delete.
	Leftovers []error
}

// Count returns the number of cases with an outcome.
func (r Report) Count(o Outcome) int {
	n := 0
	for _, one := range r.Results {
		if one.Outcome == o {
			n++
		}
	}
	return n
}

// Err returns an error that joins all failures and leftovers, or nil. Skipped cases are not errors.
func (r Report) Err() error {
	var all []error
	for _, one := range r.Results {
		all = append(all, one.err())
	}
	all = append(all, leftovers("the run", r.Leftovers))
	return errors.Join(all...)
}

// err returns the error of a result: its failure and its leftovers.
func (r Result) err() error {
	left := leftovers(r.Case.ID, r.Leftovers)
	if r.Err == nil {
		return left
	}
	return errors.Join(fmt.Errorf("%s [%s] %s\n\t%w\n\twhy: %s\n\tsource: %s",
		r.Case.ID, r.Case.Level, r.Case.Title, r.Err, r.Case.Why, r.Case.Source), left)
}

func leftovers(of string, errs []error) error {
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("%s could not clean up: %w", of, errors.Join(errs...))
}

// WriteTo writes the report as text: a line for each case, the failures, and a summary. Control
// characters in it are escaped. It implements [io.WriterTo].
func (r Report) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	for _, one := range r.Results {
		fmt.Fprintf(&b, "%-7s %-20s %-6s %8s  %s\n", one.Outcome, one.Case.ID, one.Case.Level, one.Duration.Round(time.Millisecond), one.Case.Title)
		if one.Reason != "" {
			fmt.Fprintf(&b, "\treason: %s\n", one.Reason)
		}
		if err := one.err(); err != nil {
			fmt.Fprintf(&b, "\t%s\n", strings.ReplaceAll(err.Error(), "\n", "\n\t"))
		}
	}
	if err := leftovers("the run", r.Leftovers); err != nil {
		fmt.Fprintln(&b, err)
	}
	if r.Server != "" {
		fmt.Fprintf(&b, "server %s: ", r.server())
	}
	fmt.Fprintf(&b, "%d passed, %d failed, %d skipped\n", r.Count(Passed), r.Count(Failed), r.Count(Skipped))
	n, err := io.WriteString(w, printable.Text(b.String()))
	return int64(n), err
}
