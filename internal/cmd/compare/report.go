package compare

import (
	"strings"

	"example.com/fakeapi/conformance"
	"example.com/fakeapi/internal/cmd/httpdiff"
)

// Verdict is the result of comparing a case.
type Verdict string

// The verdicts.
const (
	Same      Verdict = "same"
	Different Verdict = "different"
	LeftOnly  Verdict = "left only"  // skipped on the right
	RightOnly Verdict = "right only" // skipped on the left
	Neither   Verdict = "neither"    // skipped on both sides
)

// Verdicts returns all verdicts, in the order of reports.
func Verdicts() []Verdict { return []Verdict{Same, Different, LeftOnly, RightOnly, Neither} }

// Report is the result of a comparison.
type Report struct {
	// Left and Right are the two sides.
	Left  Endpoint `json:"left"`
	Right Endpoint `json:"right"`
	// Cases are those of the suite that were selected, or the recorded ones, in their order.
	Cases []Case `json:"cases"`
}

// Endpoint is one side.
type Endpoint struct {
	// Name is the name of the side on the command line.
	Name string `json:"name"`
	// Server is the gitVersion that the server returns at /version, or "".
	Server string `json:"server,omitempty"`
	// Leftovers are the objects that could not be removed.
	Leftovers []string `json:"leftovers,omitempty"`
}

// Case is the result of one case on both sides.
type Case struct {
	// ID is the ID of the case of the suite, or the name of the recording. Rule is the number of
	// its rule, or the group of the recording.
	ID   string `json:"id"`
	Rule string `json:"rule"`
	// Level is the level of the case, "" for a recording. Title describes it.
	Level string `json:"level,omitempty"`
	Title string `json:"title"`
	// Verdict is the overall result.
	Verdict Verdict `json:"verdict"`
	// Left and Right are the outcomes of the case on each side. They are empty for a recording.
	Left  Outcome `json:"leftOutcome,omitzero"`
	Right Outcome `json:"rightOutcome,omitzero"`
	// Exchanges is the number of exchanges compared. Differing are those that differ.
	Exchanges int        `json:"exchanges"`
	Differing []Exchange `json:"differing,omitempty"`
	// Error is the reason why the comparison ended before the case did.
	Error string `json:"error,omitempty"`

	left []string // objects that could not be removed
}

// Outcome is the result of a case on one side.
type Outcome struct {
	Outcome conformance.Outcome `json:"outcome"`
	// Reason is the reason why the case was skipped or failed.
	Reason string `json:"reason,omitempty"`
}

// Exchange is a request whose responses differ, or the point where the requests differ.
type Exchange struct {
	// Number is the index of the exchange in the case, from 1.
	Number int `json:"number"`
	// Request is the method and the path, with placeholders.
	Request string `json:"request"`
	// Later is true if an earlier exchange of the case differed, so that this difference may be a
	// consequence.
	Later bool `json:"later,omitempty"`
	// Differences are the differences of the exchange. Those at "request" are between the requests;
	// the rest of the case is then not compared.
	Differences httpdiff.Differences `json:"differences"`
}

// Count returns the number of cases with verdict v.
func (r *Report) Count(v Verdict) int {
	n := 0
	for _, one := range r.Cases {
		if one.Verdict == v {
			n++
		}
	}
	return n
}

// Clean reports whether everything was removed on both sides.
func (r *Report) Clean() bool { return len(r.Left.Leftovers)+len(r.Right.Leftovers) == 0 }

// Group returns the letters before the number of the rule, or the whole rule if it has no number.
func (c Case) Group() string {
	group, _, _ := strings.Cut(c.Rule, "-")
	return group
}
