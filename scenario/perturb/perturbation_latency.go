package perturb

import "example.com/fakeapi/scenario"

// latency delays requests and events by random times. A reference run has it, so that what depends
// on their order is learned.
type latency struct{}

func (latency) kind() string         { return "latency" }
func (latency) where() string        { return "all requests" }
func (latency) cost() int            { return 0 }
func (latency) tolerance() tolerance { return tolerance{} }

// additions returns rules that do not delay discovery, which controller-runtime waits for with a
// mutex. A goroutine that waits for that mutex would keep virtual time from passing.
func (latency) additions() additions {
	const verbs = "verb(get, list, watch, create, update, patch, delete, deletecollection)"
	return additions{before: []scenario.Step{
		namedRule("latency", verbs+" && during(before) && !userAgent(scenario)", "jitter(20ms, 1)"),
		namedRule("events", "verb(watch) && during(stream) && !userAgent(scenario)", "jitter(20ms, 2)"),
	}}
}
