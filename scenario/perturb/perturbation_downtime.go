package perturb

import (
	"strconv"

	"example.com/fakeapi/scenario"
)

// downtime is the quiet form of missed events: the controller does not run from the begin of one
// phase until the begin of another. What it does then, it may also do when it misses the events in
// between.
type downtime struct {
	client   string
	from, to int
}

// downtimes returns the quiet forms of missing an event and what follows until the next phase.
func (r *reference) downtimes(p *place) []perturbation {
	end := len(r.phases) - 1
	if p.phase == 0 || p.phase+1 >= end {
		return nil
	}
	return []perturbation{downtime{p.client, p.phase, p.phase + 2}}
}

func (d downtime) kind() string         { return "downtime" }
func (d downtime) cost() int            { return 0 }
func (d downtime) tolerance() tolerance { return tolerance{} }

func (d downtime) where() string {
	return "of " + d.client + " from step " + strconv.Itoa(d.from) + " to step " + strconv.Itoa(d.to)
}

func (d downtime) additions() additions {
	return additions{at: map[int][]scenario.Step{
		d.from: {scenario.CrashClient(d.client)},
		d.to:   {runController(d.client)},
	}}
}
