package perturb

import (
	"fmt"
	"time"

	"example.com/fakeapi/scenario"
)

// loops finds controllers that write or send requests without end.
func (j *judgment) loops() (all []violation) {
	if j.got.end.IsZero() {
		return nil
	}
	all = append(all, j.busy()...)
	// There is no change if the run was shorter than Config.Settle.
	if last := j.got.lastEffective(); last != nil && len(all) == 0 && !j.got.quiet && !j.tolerance.foreign {
		key := j.r.normalizer.patternKey(last.object())
		all = append(all, violation{oracle: "loop", subject: key.String(),
			text: fmt.Sprintf("expected no more changes %v after the workload; saw that %s still changes", j.total(), key)})
	}
	return all
}

// busy finds controllers that send many more requests than in the reference when all is done. If
// the leader may be another one, all controllers together are compared.
func (j *judgment) busy() (all []violation) {
	if j.tolerance.instances || j.r.electsLeader() {
		saw, reference := sum(j.got.tail), sum(j.r.tail)
		if saw <= max(4*reference, reference+20) {
			return nil
		}
		return []violation{{oracle: "loop", subject: "all controllers",
			text: fmt.Sprintf("expected about %d requests in %v when all is done, as in the reference; saw %d", reference, j.r.config.tail(), saw)}}
	}
	for _, client := range j.r.config.controllerNames() {
		saw, reference := j.got.tail[client], j.r.tail[client]
		switch {
		case saw > max(3*reference, reference+8):
			limit := max(3*reference, reference+8)
			all = append(all, violation{
				oracle: "loop", subject: client,
				text:   fmt.Sprintf("expected about %d requests of %s in %v when all is done, as in the reference; saw %d\n%s", reference, client, j.r.config.tail(), saw, j.lastRequests(client)),
				expect: []scenario.Step{scenario.Advance(j.total()), scenario.ExpectRequestsIn(j.r.config.tail(), client, "", scenario.AtMost(limit))},
			})
		}
	}
	return all
}

// electsLeader reports whether several controllers elect one that works, which any perturbation may
// change.
func (r *reference) electsLeader() bool {
	candidates := map[string]bool{}
	for _, p := range r.requests {
		if p.resource == "leases" {
			candidates[p.client] = true
		}
	}
	return len(candidates) > 1
}

func sum(counts map[string]int) (total int) {
	for _, n := range counts {
		total += n
	}
	return total
}

// lastRequests returns the last requests of a client.
func (j *judgment) lastRequests(client string) string {
	const most = 6
	text := ""
	n := 0
	for i := len(j.got.requests) - 1; i >= 0 && n < most; i-- {
		if q := j.got.requests[i]; q.client == client {
			text = fmt.Sprintf("%9v  %s: %d\n", q.begin.Sub(j.got.begin), q.Op, q.code) + text
			n++
		}
	}
	return text
}

// answers finds controllers that get many more refusals than in the reference.
func (j *judgment) answers() (all []violation) {
	const most = 60
	for _, code := range []int{403, 409, 422} {
		for _, client := range j.r.config.controllerNames() {
			saw, reference := countCode(j.got.requests, client, code), countCode(j.r.requestLog.requests, client, code)
			// A run that is longer has more of those that the reference always has.
			if saw <= most || saw <= 3*reference+most || float64(saw) <= 3*float64(reference)*j.longer()+most {
				continue
			}
			all = append(all, violation{
				oracle: fmt.Sprintf("answers %d", code), subject: client,
				text:   fmt.Sprintf("expected about %d answers %d for %s, as in the reference; saw %d\n%s", reference, code, client, saw, j.lastRequests(client)),
				expect: []scenario.Step{scenario.Advance(j.total()), scenario.ExpectRequests(client, fmt.Sprintf(" %d", code), scenario.AtMost(3*reference+most))},
			})
		}
	}
	return all
}

// longer returns how many times longer than the reference the run was.
func (j *judgment) longer() float64 {
	return float64(j.got.end.Sub(j.got.begin)) / float64(max(j.r.end.Sub(j.r.begin), time.Second))
}

func countCode(requests []*request, client string, code int) int {
	n := 0
	for _, q := range requests {
		if q.client == client && q.code == code {
			n++
		}
	}
	return n
}

// leaderGrace is how long after another instance became leader a request of the previous one may
// still arrive.
const leaderGrace = 2 * time.Second

// leaders finds instances that write although another one has their lease.
func (j *judgment) leaders() []violation {
	for _, lost := range j.takeovers() {
		for _, q := range j.got.requests {
			if q.client != lost.client || !q.isMutating() || q.Resource == "leases" || q.Resource == "events" ||
				q.begin.Before(lost.at.Add(leaderGrace)) || !lost.until.IsZero() && q.begin.After(lost.until) {
				continue
			}
			return []violation{{
				oracle: "leaders", subject: lost.client,
				text: fmt.Sprintf("expected no write of %s after %s has become leader, %v after the start; saw %s at %v",
					lost.client, lost.by, lost.at.Sub(j.got.begin), q.Op, q.begin.Sub(j.got.begin)),
				expect: j.expectNoWrites(lost.client, q.Verb),
			}}
		}
	}
	return nil
}

// method returns the HTTP method of a verb, as it is in lines of requests.
func method(verb string) string {
	switch verb {
	case "create":
		return "POST "
	case "update":
		return "PUT "
	case "patch":
		return "PATCH "
	}
	return "DELETE "
}

// expectNoWrites returns steps that expect no writes of an instance that has lost its lease.
func (j *judgment) expectNoWrites(client, verb string) []scenario.Step {
	return []scenario.Step{scenario.ExpectRequestsIn(30*time.Second, client, method(verb), scenario.Exactly(0))}
}

// takeover is the time in which a client is not leader any more.
type takeover struct {
	client, by string
	at, until  time.Time
}

// takeovers returns the changes of the holders of leases.
func (j *judgment) takeovers() (all []takeover) {
	holders := map[objectKey]string{} // clients
	for _, c := range j.got.changes {
		if c.key().resource != "leases.coordination.k8s.io" || c.after == nil {
			continue
		}
		writer := ""
		for _, q := range j.got.requests {
			if q.isWrite() && q.mayHaveMade(c) {
				writer = q.client
			}
		}
		previous := holders[c.key()]
		if writer == "" || writer == previous {
			continue
		}
		for i := range all {
			if all[i].client == writer && all[i].until.IsZero() {
				all[i].until = c.at
			}
		}
		if previous != "" && holder(c.before) != "" && holder(c.before) != holder(c.after) {
			all = append(all, takeover{client: previous, by: writer, at: c.at})
		}
		holders[c.key()] = writer
	}
	return all
}

// holder returns the identity of the holder of a lease.
func holder(o *object) string {
	if o == nil {
		return ""
	}
	spec, _ := o.fields["spec"].(map[string]any)
	identity, _ := spec["holderIdentity"].(string)
	return identity
}

// invariants finds violated invariants.
func (j *judgment) invariants() (all []violation) {
	for _, invariant := range j.r.config.Invariants {
		if text := j.got.violated[invariant.Name]; text != "" && j.r.violated[invariant.Name] == "" {
			all = append(all, violation{oracle: "invariant", subject: invariant.Name, text: text})
		}
	}
	return all
}

// expectations finds expectations of Config.Expect that fail.
func (j *judgment) expectations() []violation {
	if j.got.expect == nil || j.p != nil && (j.r.expect != nil || !j.got.equal) {
		return nil // it is a violation of the reference, or follows from the final state
	}
	return []violation{{oracle: "expect", subject: j.got.expect.Step, text: j.got.expect.Cause.Error(), expect: j.r.config.Expect}}
}
