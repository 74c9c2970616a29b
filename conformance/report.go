package conformance

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Outcome is how a case ended.
type Outcome string

// The outcomes.
const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Skipped Outcome = "skipped"
)

// Result is what became of one case.
type Result struct {
	// Case is the case that was run.
	Case Case
	// Outcome says how it ended.
	Outcome Outcome
	// Reason says why a case was skipped. It is empty for the other outcomes.
	Reason string
	// Err says what a failed case saw, and what it expected. It is nil for the other outcomes.
	Err error
	// Leftovers are the errors of the clean-up: what the case may have left behind on the server.
	Leftovers []error
	// Duration is how long the case took, clean-up included.
	Duration time.Duration
}

// Report is what became of a run.
type Report struct {
	// RunID is that of the configuration: it is in the names of what this run created.
	RunID string
	// Started is when the first case began.
	Started time.Time
	// Duration is how long the run took, clean-up included.
	Duration time.Duration
	// Server is the gitVersion that the server gives at /version, or "" if it gives none.
	Server string
	// Results holds one entry for each selected case, sorted by ID.
	Results []Result
	// Leftovers are the errors of the last clean-up, after all cases.
	Leftovers []error
}

// Count says how many cases ended so.
func (r Report) Count(o Outcome) int {
	n := 0
	for _, one := range r.Results {
		if one.Outcome == o {
			n++
		}
	}
	return n
}

// Err joins the failures, and what could not be cleaned up. It is nil if no case failed and nothing was left behind;
// skipped cases are no error.
func (r Report) Err() error {
	var all []error
	for _, one := range r.Results {
		all = append(all, one.err())
	}
	all = append(all, leftovers("the run", r.Leftovers))
	return errors.Join(all...)
}

// err is what the result adds to the error of a run.
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

// WriteTo prints the report as text: a line for each case, what failed ones saw, and a summary. It implements [io.WriterTo].
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
		fmt.Fprintf(&b, "server %s: ", r.Server)
	}
	fmt.Fprintf(&b, "%d passed, %d failed, %d skipped\n", r.Count(Passed), r.Count(Failed), r.Count(Skipped))
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}
