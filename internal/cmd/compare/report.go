package compare

import (
	"strings"

	"example.com/fakeapi/conformance"
	"example.com/fakeapi/internal/cmd/httpdiff"
)

// Verdict says what became of a case.
type Verdict string

// The verdicts.
const (
	Same      Verdict = "same"
	Different Verdict = "different"
	LeftOnly  Verdict = "left only"  // it was skipped on the right
	RightOnly Verdict = "right only" // it was skipped on the left
	Neither   Verdict = "neither"    // it was skipped on both sides
)

// Verdicts are all of them, in the order of reports.
func Verdicts() []Verdict { return []Verdict{Same, Different, LeftOnly, RightOnly, Neither} }

// Report is what a comparison found.
type Report struct {
	// Left and Right are the two sides.
	Left  Endpoint `json:"left"`
	Right Endpoint `json:"right"`
	// Cases are those of the suite that were selected, or the recorded ones, in their order.
	Cases []Case `json:"cases"`
}

// Endpoint is one side.
type Endpoint struct {
	// Name is what the command line calls it.
	Name string `json:"name"`
	// Server is the gitVersion that it gives at /version, or "".
	Server string `json:"server,omitempty"`
	// Leftovers are what could not be removed.
	Leftovers []string `json:"leftovers,omitempty"`
}

// Case is what became of one case on both sides.
type Case struct {
	// ID is that of the case of the suite, or the name of the recording. Rule is the number of its rule, or the family of the recording.
	ID   string `json:"id"`
	Rule string `json:"rule"`
	// Level is that of the case, "" for a recording. Title is what it is about.
	Level string `json:"level,omitempty"`
	Title string `json:"title"`
	// Verdict sums it up.
	Verdict Verdict `json:"verdict"`
	// Left and Right are how the case ended there: passed, failed or skipped, and why. They are empty for a recording.
	Left  Outcome `json:"leftOutcome,omitzero"`
	Right Outcome `json:"rightOutcome,omitzero"`
	// Exchanges is how many were compared, Differing those of them that differ.
	Exchanges int        `json:"exchanges"`
	Differing []Exchange `json:"differing,omitempty"`
	// Error is why the comparison ended before the case did.
	Error string `json:"error,omitempty"`

	left []string // what could not be removed
}

// Outcome is how a case ended on one side.
type Outcome struct {
	Outcome conformance.Outcome `json:"outcome"`
	// Reason is why it was skipped, or what failed.
	Reason string `json:"reason,omitempty"`
}

// Exchange is a request whose answers differ, or a place where other requests were made.
type Exchange struct {
	// Number counts the exchanges of the case that were compared, from 1.
	Number int `json:"number"`
	// Request is the method and the path, with symbols.
	Request string `json:"request"`
	// Later: another exchange of the case differed before, so that this may only be what came of it.
	Later bool `json:"later,omitempty"`
	// Differences are what is not the same. At "request" are those of the requests themselves, and the case is not compared any further.
	Differences httpdiff.Differences `json:"differences"`
}

// Count says how many cases have a verdict.
func (r *Report) Count(v Verdict) int {
	n := 0
	for _, one := range r.Cases {
		if one.Verdict == v {
			n++
		}
	}
	return n
}

// Clean reports whether nothing was left behind on either side.
func (r *Report) Clean() bool { return len(r.Left.Leftovers)+len(r.Right.Leftovers) == 0 }

// Group is the letters in front of the number of the rule, or all of it if it has none.
func (c Case) Group() string {
	group, _, _ := strings.Cut(c.Rule, "-")
	return group
}
