package perturb

import "example.com/fakeapi/scenario"

// crash ends a controller at one of its writes, before the write is executed or after it. A process
// that dies after it has received the response is in the same state as one that dies before.
type crash struct {
	*place
	committed bool
}

func crashKind() Kind {
	return Kind{
		Name:      "crash",
		Imitates:  "the process is killed at a write (out of memory, an eviction, a lost node), before it is executed or with the response on its way, and starts again",
		Catalogue: []int{53, 54, 55},
		find: func(r *reference, full bool) (all []perturbation) {
			for _, p := range r.writes(full) {
				all = append(all, crash{p, true}, crash{p, false})
			}
			return all
		},
	}
}

func (c crash) kind() string         { return "crash" }
func (c crash) cost() int            { return 0 }
func (c crash) tolerance() tolerance { return tolerance{} }

func (c crash) where() string {
	if c.committed {
		return "after " + c.String()
	}
	return "before " + c.String()
}

func (c crash) additions() additions {
	during := "before"
	if c.committed {
		during = "committed"
	}
	return additions{
		before: append([]scenario.Step{rule(c.when(during), "hang")}, atHit(scenario.CrashClient(c.client), runAgain(c.client))...),
		rules:  []string{ruleName},
	}
}
