package conformance

import (
	"encoding/json"
	"io"
	"time"
)

// ReportJSON is the JSON encoding of a report.
type ReportJSON struct {
	// Server is the gitVersion of the server, or "".
	Server string `json:"server"`
	// Run is the ID of the run.
	Run string `json:"run"`
	// Started is the time when the first case began.
	Started time.Time `json:"started"`
	// Seconds is the duration of the run.
	Seconds float64 `json:"seconds"`
	// Passed, Failed and Skipped count the cases by outcome.
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
	// Tallies has the same counts by group and level.
	Tallies []TallyJSON `json:"tallies"`
	// Cases has all selected cases, sorted by ID.
	Cases []CaseJSON `json:"cases"`
	// Leftovers has an error for each object that the clean-up after all cases could not delete.
	Leftovers []string `json:"leftovers,omitempty"`
}

// TallyJSON counts the outcomes of the cases of a group and a level.
type TallyJSON struct {
	// Group is the letters of the rules, and Title the title of the group.
	Group string `json:"group"`
	Title string `json:"title"`
	// Level is MUST, SHOULD or MAY.
	Level string `json:"level"`
	// Passed, Failed and Skipped count the cases by outcome.
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
}

// CaseJSON is the result of a case.
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
	// Reason states why the case was skipped. Error contains the request, the expectation and the
	// response of a failed case.
	Reason string `json:"reason,omitempty"`
	Error  string `json:"error,omitempty"`
	// NotReached is true if the case was skipped because the run ended before it began.
	NotReached bool `json:"notReached,omitempty"`
	// Seconds is the duration of the case with its clean-up.
	Seconds float64 `json:"seconds"`
	// Leftovers has an error for each object that the clean-up of the case could not delete.
	Leftovers []string `json:"leftovers,omitempty"`
}

// WriteJSON writes the report as an indented [ReportJSON]. It returns errors of w.
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
		Why: r.Case.Why, Source: r.Case.Source, Outcome: r.Outcome, Reason: r.Reason, NotReached: r.NotReached, Seconds: r.Duration.Seconds(),
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
