package scenario

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.com/fakeapi/faults"
)

// Fault adds a fault rule to the server. Counters in its condition start at zero. The user agent of
// the steps' requests is "scenario", of their watches "scenario/NAME", and of a client under test
// its name.
func Fault(rule faults.Rule) Step { return fault{rule} }

type fault struct{ rule faults.Rule }

func (kinds) Fault() stepKind {
	return stepKind{"fault RULE", parseFault}
}

func parseFault(a *args) (Step, error) {
	rule, err := faults.Parse(strings.TrimSpace(a.rest))
	if syntax := (*faults.SyntaxError)(nil); errors.As(err, &syntax) {
		return nil, fmt.Errorf("column %d of the rule: %s", syntax.Column, syntax.Message)
	}
	if err != nil {
		return nil, err
	}
	if err := rule.Validate(); err != nil {
		return nil, err
	}
	return fault{rule}, nil
}

func (s fault) String() string { return "fault " + s.rule.String() }

func (s fault) Run(_ context.Context, e *Env) error {
	_, err := e.Server().Faults().Add(s.rule)
	return err
}

func (s fault) simplifications() []Step {
	var steps []Step
	for _, rule := range s.rule.Simplifications() {
		steps = append(steps, fault{rule})
	}
	return steps
}

// ClearFaults removes all rules of the server.
func ClearFaults() Step { return clearFaults{} }

type clearFaults struct{}

func (kinds) ClearFaults() stepKind {
	return stepKind{"clear faults", parseBare(ClearFaults())}
}

func (clearFaults) String() string { return "clear faults" }

func (clearFaults) Run(_ context.Context, e *Env) error {
	e.Server().Faults().Clear()
	return nil
}

// ClearFault removes the rules with a name, of which there must be at least one.
func ClearFault(name string) Step { return clearFault{name} }

type clearFault struct{ name string }

func (kinds) ClearFault() stepKind {
	return stepKind{"clear fault NAME", parseClearFault}
}

func parseClearFault(a *args) (Step, error) {
	name, err := parseName(a, "a rule")
	return clearFault{name}, err
}

func (s clearFault) String() string { return "clear fault " + quote(s.name) }

func (s clearFault) Run(_ context.Context, e *Env) error {
	set := e.Server().Faults()
	if set.Remove(s.name) > 0 {
		return nil
	}
	var names []string
	for _, rule := range set.Rules() {
		names = append(names, rule.Name)
	}
	return mismatch{"a rule " + quote(s.name), listOrNone(names)}
}

// ExpectHits expects how many times the rules with a name were applied since the beginning of the
// scenario, on all servers.
func ExpectHits(rule string, count Count) Step { return expectHits{rule, count} }

type expectHits struct {
	rule  string
	count Count
}

func (kinds) ExpectHits() stepKind {
	return stepKind{"expect hits RULE COUNT", parseExpectHits}
}

func parseExpectHits(a *args) (Step, error) {
	words, err := a.words(2, 2)
	if err != nil {
		return nil, err
	}
	n, err := parseCount(words[1])
	return expectHits{words[0], n}, err
}

func (s expectHits) String() string {
	return "expect hits " + quote(s.rule) + " " + s.count.String()
}

func (s expectHits) Run(_ context.Context, e *Env) error {
	e.waitIdle()
	e.readHits()
	if e.hits.lost > 0 {
		return fmt.Errorf("too many hits within one step: %d are not counted", e.hits.lost)
	}
	if saw := e.hits.byRule[s.rule]; !s.count.matches(saw) {
		return mismatch{fmt.Sprintf("%s hits of rule %s", s.count, s.rule), strconv.Itoa(saw)}
	}
	return nil
}

// hits counts the hits of rules. Rule sets forget old hits, so they must be read regularly.
type hits struct {
	byRule     map[string]int
	unreported []serverHit            // not yet in the transcript
	last       map[*faults.Set]uint64 // Seq of the latest hit
	lost       uint64                 // forgotten by the rule set before they were read
}

// serverHit is a hit and the label of its server.
type serverHit struct {
	faults.Hit
	server string
}

// String returns the line of the transcript.
func (a serverHit) String() string {
	if a.server == "" {
		return "fault " + a.Hit.String()
	}
	return "fault " + a.Hit.String() + " on " + a.server
}

func newHits() hits { return hits{byRule: map[string]int{}, last: map[*faults.Set]uint64{}} }

// readHits reads the new hits of all servers.
func (e *Env) readHits() {
	for _, s := range e.servers {
		e.hits.readFrom(s.server.Faults(), s.label())
	}
}

// readFrom reads the new hits of a rule set.
func (h *hits) readFrom(set *faults.Set, at string) {
	for _, hit := range set.Hits() {
		if hit.Seq <= h.last[set] {
			continue
		}
		h.lost += hit.Seq - h.last[set] - 1
		h.last[set] = hit.Seq
		h.unreported = append(h.unreported, serverHit{hit, at})
		if hit.NotApplied == "" {
			h.byRule[hit.Rule.Name]++
		}
	}
}

// takeUnreported returns the new hits in an order that does not depend on the scheduling of
// goroutines: by time, then other hits before those of streams, which are sorted by user agent.
func (h *hits) takeUnreported() []serverHit {
	taken := h.unreported
	h.unreported = nil
	stream := func(hit serverHit) string {
		if hit.Op.Phase == faults.Stream {
			return hit.Op.UserAgent
		}
		return ""
	}
	slices.SortStableFunc(taken, func(a, b serverHit) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(stream(a), stream(b)))
	})
	return taken
}
