package differential

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/fakeapi/internal/cmd/httpdiff"
)

// finding is the first difference of a sequence.
type finding struct {
	step        int // its index
	differences httpdiff.Differences
	signature   string
}

// Times for reading watches at the end of a sequence: the least time in which no event arrives, and
// the longest time until both servers have sent the same number of events.
const (
	quietTime   = 60 * time.Millisecond
	longestWait = 3 * time.Second
)

// sequenceRun runs the steps of a sequence on both sides.
type sequenceRun struct {
	sides [2]*client
	steps []Step
	done  int // steps that were sent
	found []finding
}

// openWatch is a watch that both sides have accepted.
type openWatch struct {
	step    int
	streams [2]*stream
}

// run runs the steps, each on both sides at the same time. It ends at the first difference that
// isListed does not report, and at one of the status code, because the servers have different
// objects then.
func (r *sequenceRun) run(ctx context.Context, isListed func(signature string) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer r.remove(context.WithoutCancel(ctx))
	if err := r.createNamespaces(ctx); err != nil {
		return err
	}
	compared := newComparison()
	var watches []openWatch
	for i, s := range r.steps {
		if s.isCachedRead() {
			time.Sleep(cacheDelay)
		}
		answers := r.send(ctx, s)
		if err := ctx.Err(); err != nil {
			return err
		}
		r.done++
		compared.request(r.sides[0].memory.body(s))
		d := compared.responses(answers[0], answers[1])
		if r.add(i, d, isListed) {
			return nil
		}
		if answers[0].stream != nil && answers[1].stream != nil {
			watches = append(watches, openWatch{i, [2]*stream{answers[0].stream, answers[1].stream}})
		}
	}
	for _, w := range watches {
		waitForEvents(w.streams)
		if r.add(w.step, compared.streams(w.streams[0], w.streams[1]), isListed) {
			return nil
		}
	}
	return nil
}

// cacheDelay is the time after which the watch cache of a server has the last write.
const cacheDelay = 30 * time.Millisecond

// isCachedRead reports whether the response may come from a watch cache, which may be behind the
// last write.
func (s Step) isCachedRead() bool {
	return slices.ContainsFunc(s.Query, func(option string) bool { return strings.HasPrefix(option, "resourceVersion=") })
}

// add adds the differences of a step and reports whether the sequence ends there.
func (r *sequenceRun) add(step int, d httpdiff.Differences, isListed func(string) bool) bool {
	if len(d) == 0 {
		return false
	}
	text := signature(r.steps[step], d)
	r.found = append(r.found, finding{step, d, text})
	return d[0].At == "code" || !isListed(text)
}

// send sends a step to both sides.
func (r *sequenceRun) send(ctx context.Context, s Step) (answers [2]*response) {
	var both sync.WaitGroup
	for i, side := range r.sides {
		both.Go(func() { answers[i] = side.send(ctx, s) })
	}
	both.Wait()
	return answers
}

// waitForEvents waits until both streams have the same number of events and nothing arrives.
func waitForEvents(streams [2]*stream) {
	start, changed := time.Now(), time.Now()
	last := -1
	for time.Since(start) < longestWait {
		left, leftEnded := streams[0].events()
		right, rightEnded := streams[1].events()
		if total := len(left) + len(right); total != last {
			last, changed = total, time.Now()
		}
		if len(left) == len(right) && leftEnded == rightEnded && time.Since(changed) >= quietTime {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// createNamespaces creates the namespaces of the sequence. It sends the requests even if ctx is
// done: a server may handle a cancelled one after the namespace was to be removed.
func (r *sequenceRun) createNamespaces(ctx context.Context) error {
	for _, side := range r.sides {
		body := jsonText(object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": side.names["ns"]}})
		answer := side.send(context.WithoutCancel(ctx), Step{Method: "POST", Path: "/api/v1/namespaces", ContentType: "application/json", Body: body})
		if answer.code != http.StatusCreated {
			return fmt.Errorf("%s: creating a namespace: %s", side.side.Name, answer.summary())
		}
	}
	return nil
}

// remove removes the objects of the sequence and its namespaces. Finalizers are removed first. What
// fails is left to the removal of the namespaces and of the definition.
func (r *sequenceRun) remove(ctx context.Context) {
	collections := map[string]bool{}
	for _, s := range r.steps {
		if before, rest, ok := strings.Cut(s.Path, "/namespaces/{ns}/"); ok {
			resource, _, _ := strings.Cut(rest, "/")
			collections[before+"/namespaces/{ns}/"+resource] = true
		}
	}
	for _, side := range r.sides {
		for _, collection := range sortedKeys(collections) {
			side.removeAll(ctx, collection)
		}
		side.send(ctx, Step{Method: "DELETE", Path: "/api/v1/namespaces/{ns}"})
	}
}

// removeAll removes the objects of a collection.
func (c *client) removeAll(ctx context.Context, collection string) {
	var list struct {
		Items []struct {
			Metadata struct {
				Name       string   `json:"name"`
				Finalizers []string `json:"finalizers"`
			} `json:"metadata"`
		} `json:"items"`
	}
	answer := c.send(ctx, Step{Method: "GET", Path: collection})
	if json.Unmarshal(answer.body, &list) != nil || len(list.Items) == 0 {
		return
	}
	c.send(ctx, Step{Method: "DELETE", Path: collection, Query: []string{"gracePeriodSeconds=0", "propagationPolicy=Background"}})
	for _, one := range list.Items {
		if len(one.Metadata.Finalizers) > 0 {
			c.send(ctx, Step{
				Method: "PATCH", Path: collection + "/" + one.Metadata.Name, ContentType: "application/json-patch+json",
				Body: `[{"op": "remove", "path": "/metadata/finalizers"}]`,
			})
		}
	}
}
