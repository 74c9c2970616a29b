package perturb

import (
	"strconv"

	"example.com/fakeapi/scenario"
)

// crash ends a controller at one of its writes, before the write is executed or after it. A process
// that dies after it has received the response is in the same state as one that dies before.
type crash struct {
	*place
	committed bool
	// until is the phase at whose begin the controller is run again, or 0 for at once.
	until int
	quiet []perturbation
}

func crashKind() Kind {
	return Kind{
		Name:      "crash",
		Imitates:  "the process is killed at a write (out of memory, an eviction, a lost node), before it is executed or with the response on its way, and starts again at once or later",
		Catalogue: []int{53, 54, 55},
		find: func(r *reference, full bool) (all []perturbation) {
			for _, p := range r.writes(full) {
				all = append(all, crash{p, true, 0, nil}, crash{p, false, 0, nil})
				for _, until := range r.returns(p) {
					all = append(all, crash{p, true, until, []perturbation{downtime{p.client, p.phase, until}, downtime{p.client, p.phase + 1, until}}})
				}
			}
			return all
		},
	}
}

// returns returns the phases at whose begin a controller that crashes at a write is run again,
// after the next step of the workload at the earliest.
func (r *reference) returns(p *place) []int {
	end := len(r.phases) - 1
	switch {
	case p.phase == 0 || p.phase+2 > end:
		return nil
	case p.phase+2 == end:
		return []int{end}
	}
	return []int{p.phase + 2, end}
}

func (c crash) kind() string         { return "crash" }
func (c crash) cost() int            { return 0 }
func (c crash) tolerance() tolerance { return tolerance{quiet: c.quiet} }

func (c crash) where() string {
	text := "before "
	if c.committed {
		text = "after "
	}
	text += c.String()
	if c.until > 0 {
		text += ", run again before step " + strconv.Itoa(c.until)
	}
	return text
}

func (c crash) additions() additions {
	during := "before"
	if c.committed {
		during = "committed"
	}
	a := additions{before: []scenario.Step{rule(c.when(during), "hang")}, rules: []string{ruleName}}
	if c.until > 0 {
		a.before = append(a.before, atHit(scenario.CrashClient(c.client))...)
		a.at = map[int][]scenario.Step{c.until: {runController(c.client)}}
		return a
	}
	a.before = append(a.before, atHit(scenario.CrashClient(c.client), runController(c.client))...)
	return a
}
