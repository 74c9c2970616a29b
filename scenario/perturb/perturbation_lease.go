package perturb

import (
	"strconv"
	"time"

	"example.com/fakeapi/scenario"
)

// lostLease cuts a leader off from its lease for some time, so that another instance becomes
// leader.
type lostLease struct {
	client string
	// second is true if there is no other instance of the controller, so that one is added.
	second bool
	phase  int
}

// leaseLostFor is how long the lease cannot be renewed.
const leaseLostFor = 90 * time.Second

func leaseKind() Kind {
	return Kind{
		Name:      "lease",
		Imitates:  "the leader cannot renew its lease and another instance takes over, while the first one still runs",
		Catalogue: []int{110, 129},
		find: func(r *reference, full bool) (all []perturbation) {
			leaders := map[string]bool{}
			others := map[string]bool{}
			for _, p := range r.requests {
				if p.resource == "leases" && p.write {
					leaders[p.client] = true
				} else if p.resource == "leases" {
					others[p.client] = true
				}
			}
			second := true
			for client := range others {
				second = second && leaders[client]
			}
			for _, client := range r.config.controllerNames() {
				if !leaders[client] {
					continue
				}
				for phase := 1; phase < len(r.phases); phase++ {
					if full || phase == 1 || phase == len(r.phases)-1 {
						all = append(all, lostLease{client, second, phase})
					}
				}
			}
			return all
		},
	}
}

func (l lostLease) kind() string         { return "lease" }
func (l lostLease) cost() int            { return 0 }
func (l lostLease) tolerance() tolerance { return tolerance{instances: true, stale: true} }
func (l lostLease) where() string {
	return "of " + l.client + " lost before step " + strconv.Itoa(l.phase)
}

// secondName returns the name of a second instance of a client. Rules select clients by the
// beginning of the name.
func secondName(client string) string { return "second-" + client }

// runSecond returns the step that runs a second instance of a client.
func runSecond(client string) scenario.Step {
	return scenario.RunClientWith(secondName(client), scenario.RunOptions{Of: client, RestartAfter: restartAfter})
}

func (l lostLease) additions() additions {
	when := "resource(leases.coordination.k8s.io) && userAgent(" + strconv.Quote(l.client) + ") && during(before) && !after(" + leaseLostFor.String() + ")"
	a := additions{at: map[int][]scenario.Step{l.phase: {rule(when, "hang")}}}
	if l.second {
		a.at[l.phase] = append(a.at[l.phase], runSecond(l.client))
	}
	return a
}

// twin runs a second instance of a controller.
type twin struct {
	client string
	phase  int
}

func twinKind() Kind {
	return Kind{
		Name:      "twin",
		Imitates:  "two instances of a controller that elects no leader run at the same time, as while a Deployment is rolled out",
		Catalogue: []int{46},
		find: func(r *reference, full bool) (all []perturbation) {
			if !full {
				return nil
			}
			for _, client := range r.config.controllerNames() {
				for phase := 1; phase < len(r.phases); phase++ {
					all = append(all, twin{client, phase})
				}
			}
			return all
		},
	}
}

func (t twin) kind() string         { return "twin" }
func (t twin) cost() int            { return 3 }
func (t twin) tolerance() tolerance { return tolerance{instances: true} }
func (t twin) where() string {
	return "of " + t.client + " from step " + strconv.Itoa(t.phase)
}

func (t twin) additions() additions {
	return additions{at: map[int][]scenario.Step{t.phase: {runSecond(t.client)}}}
}
