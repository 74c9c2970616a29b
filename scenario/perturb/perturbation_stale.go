package perturb

import (
	"strconv"
	"time"

	"example.com/fakeapi/scenario"
)

// stale crashes a controller at a time and starts it again on a replica that is frozen at an
// earlier state. The replica has no streaming lists, whose initial state is always current.
type stale struct {
	client string
	// frozen is the write at which the replica is frozen: a place, or the begin of a phase.
	frozen      *place
	frozenPhase int
	// restarted is the phase at whose begin the controller is started on the replica.
	restarted int
	last      bool // restarted is the end of the workload
}

// staleFor is how long the replica stays behind after the controller was started on it.
const staleFor = 5 * time.Second

func staleKind() Kind {
	return Kind{
		Name:      "stale",
		Imitates:  "a restarted controller is connected to an API server that is behind, and acts on an earlier state; with client-go on servers without streaming lists, or lists at resourceVersion 0",
		Catalogue: []int{45, 46, 47},
		find:      findStale,
	}
}

func findStale(r *reference, full bool) (all []perturbation) {
	end := len(r.phases) - 1
	for _, client := range r.config.controllerNames() {
		for restarted := 1; restarted <= end; restarted++ {
			if at, ok := r.returned[client]; ok && at.Before(r.phases[restarted]) {
				continue
			}
			if !full && restarted != end && len(r.phases) > 6 {
				continue
			}
			for phase := range restarted {
				all = append(all, stale{client: client, frozenPhase: phase, restarted: restarted, last: restarted == end})
			}
			for _, p := range r.writes(false) {
				if p.phase < restarted {
					all = append(all, stale{client: client, frozen: p, restarted: restarted, last: restarted == end})
				}
			}
		}
	}
	return all
}

func (s stale) kind() string         { return "stale" }
func (s stale) cost() int            { return 1 }
func (s stale) tolerance() tolerance { return tolerance{stale: true} }

func (s stale) where() string {
	at := "step " + strconv.Itoa(s.frozenPhase)
	if s.frozen != nil {
		at = s.frozen.String()
	}
	return "at " + at + ", " + s.client + " restarted before step " + strconv.Itoa(s.restarted)
}

func (s stale) additions() additions {
	const replica = "behind"
	a := additions{at: map[int][]scenario.Step{}}
	a.before = append(a.before, scenario.Replica(replica, scenario.Current()), scenario.On(replica, scenario.Feature("WatchList", false)))
	switch {
	case s.frozen != nil:
		// The state before the write: what the write reacts to is visible, and its result is not.
		a.before = append(a.before, rule(s.frozen.when("before"), "delay(1ms)"))
		a.before = append(a.before, atHit(scenario.Freeze(replica))...)
		a.rules = []string{ruleName}
	case s.frozenPhase == 0:
		a.before = append(a.before, scenario.Freeze(replica))
	default:
		a.at[s.frozenPhase] = append(a.at[s.frozenPhase], scenario.Freeze(replica))
	}
	a.at[s.restarted] = append(a.at[s.restarted],
		scenario.CrashClient(s.client),
		scenario.RunClientWith(s.client, scenario.RunOptions{On: replica, RestartAfter: restartAfter}),
		scenario.Advance(staleFor),
		scenario.CatchUp(replica),
	)
	return a
}
