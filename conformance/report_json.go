package conformance

import (
	"encoding/json"
	"io"
	"time"
)

// ReportJSON is the form of a report that [Report.WriteJSON] writes.
type ReportJSON struct {
	// Server is the gitVersion of the server, "" if it gives none.
	Server string `json:"server"`
	// Run is the five random characters in the names of what the run created.
	Run string `json:"run"`
	// Started is when the first case began.
	Started time.Time `json:"started"`
	// Seconds is how long the run took.
	Seconds float64 `json:"seconds"`
	// Passed, Failed and Skipped are how many cases ended so.
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
	// Tallies are the same by group and level.
	Tallies []TallyJSON `json:"tallies"`
	// Cases are all that were selected, sorted by ID.
	Cases []CaseJSON `json:"cases"`
	// Leftovers say what the run may have left behind on the server after all cases.
	Leftovers []string `json:"leftovers,omitempty"`
}

// TallyJSON counts how the cases of a group and a level ended.
type TallyJSON struct {
	// Group is the letters in front of the rules' numbers, and Title what they are about.
	Group string `json:"group"`
	Title string `json:"title"`
	// Level is MUST, SHOULD or MAY.
	Level string `json:"level"`
	// Passed, Failed and Skipped are how many ended so.
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
}

// CaseJSON is what became of a case.
type CaseJSON struct {
	// ID, Rule, Group, Level, Title, Why and Source are those of the [Case].
	ID     string `json:"id"`
	Rule   string `json:"rule"`
	Group  string `json:"group"`
	Level  string `json:"level"`
	Title  string `json:"title"`
	Why    string `json:"why"`
	Source string `json:"source"`
	// Outcome is "passed", "failed" or "skipped".
	Outcome Outcome `json:"outcome"`
	// Reason says why it was skipped, Error what a failed one expected and saw.
	Reason string `json:"reason,omitempty"`
	Error  string `json:"error,omitempty"`
	// Seconds is how long it took, clean-up included.
	Seconds float64 `json:"seconds"`
	// Leftovers say what it may have left behind on the server.
	Leftovers []string `json:"leftovers,omitempty"`
}

// WriteJSON writes the report as one [ReportJSON], indented. The errors are those of w.
func (r Report) WriteJSON(w io.Writer) error {
	out := ReportJSON{
		Server: r.Server, Run: r.RunID, Started: r.Started, Seconds: r.Duration.Seconds(),
		Passed: r.Count(Passed), Failed: r.Count(Failed), Skipped: r.Count(Skipped),
		Tallies: []TallyJSON{}, Cases: []CaseJSON{}, Leftovers: texts(r.Leftovers),
	}
	for _, t := range r.Tallies() {
		out.Tallies = append(out.Tallies, TallyJSON{t.Group, GroupTitle(t.Group), t.Level.String(), t.Passed, t.Failed, t.Skipped})
	}
	for _, one := range r.Results {
		out.Cases = append(out.Cases, one.json())
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(out)
}

func (r Result) json() CaseJSON {
	c := CaseJSON{
		ID: r.Case.ID, Rule: r.Case.Rule(), Group: r.Case.Group(), Level: r.Case.Level.String(), Title: r.Case.Title,
		Why: r.Case.Why, Source: r.Case.Source, Outcome: r.Outcome, Reason: r.Reason, Seconds: r.Duration.Seconds(),
		Leftovers: texts(r.Leftovers),
	}
	if r.Err != nil {
		c.Error = r.Err.Error()
	}
	return c
}

func texts(errs []error) (all []string) {
	for _, err := range errs {
		all = append(all, err.Error())
	}
	return all
}
