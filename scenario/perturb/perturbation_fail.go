package perturb

import (
	"slices"

	"example.com/fakeapi/scenario"
)

// failure is a way in which a request fails once.
type failure struct {
	name string
	// during is the phase of the rule.
	during, effect string
	// verbs are those for which the failure exists, or nil for all.
	verbs []string
}

// failures returns the ways in which requests fail.
func failures() []failure {
	write := []string{"create", "update", "patch", "delete", "deletecollection"}
	return []failure{
		{"lost reply", "committed", "reset", write},
		{"lost reply 504", "committed", "status(504)", write},
		{"lost request", "before", "reset", nil},
		{"conflict", "before", "status(409)", []string{"update"}},
		{"500", "before", "status(500)", nil},
		{"504", "before", "status(504)", nil},
		{"429", "before", "status(429, TooManyRequests, \"\", retryAfter(1s))", nil},
	}
}

// fail fails a request once.
type fail struct {
	*place
	failure
}

func failKind() Kind {
	return Kind{
		Name:      "fail",
		Imitates:  "a request fails once: a conflict, an overloaded or unavailable API server or etcd, a broken connection before or after the request is executed",
		Catalogue: []int{51, 53, 54, 55, 57, 85, 88, 91},
		find: func(r *reference, full bool) (all []perturbation) {
			for _, p := range slices.Concat(r.writes(full), r.others(full), r.openings(full)) {
				for _, f := range failures() {
					if f.verbs == nil || slices.Contains(f.verbs, p.verb) {
						all = append(all, fail{p, f})
					}
				}
			}
			return all
		},
	}
}

func (f fail) kind() string         { return "fail" }
func (f fail) where() string        { return f.failure.name + ": " + f.String() }
func (f fail) tolerance() tolerance { return tolerance{} }

func (f fail) cost() int {
	switch {
	case f.during == "committed":
		return 1
	case f.effect == "status(500)" || f.failure.name == "conflict":
		return 1
	}
	return 4
}

func (f fail) additions() additions {
	return additions{before: []scenario.Step{rule(f.when(f.during), f.effect)}, rules: []string{ruleName}}
}
