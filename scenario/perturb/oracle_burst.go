package perturb

import (
	"fmt"
	"time"
)

// maxBurst is the number of requests that a controller may send at one time. A scenario ends with
// an error at a higher number, since virtual time would not pass.
const maxBurst = 4000

// burst returns a client that has sent requests without a pause, and when, or "".
func (r *result) burst() (client string, at time.Time) {
	counts := map[string]int{}
	last := time.Time{}
	for _, q := range r.requestLog.requests {
		if q.begin.After(last) {
			clear(counts)
			last = q.begin
		}
		if counts[q.client]++; counts[q.client] > maxBurst {
			return q.client, last
		}
	}
	return "", time.Time{}
}

// bursts finds controllers that send requests without a pause, which ends a run before its end.
func (j *judgment) bursts() []violation {
	client, at := j.got.burst()
	if client == "" {
		return nil
	}
	return []violation{{oracle: "loop", subject: client,
		text: fmt.Sprintf("expected %s to pause; saw more than %d requests %v after the start, such as\n%s",
			client, maxBurst, at.Sub(j.got.begin), j.lastRequests(client))}}
}
