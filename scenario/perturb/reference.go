package perturb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
	"example.com/fakeapi/scenario"
)

// reference is what happens without a perturbation.
type reference struct {
	*result
	config     *Config
	normalizer *normalizer
	// settleTime is the time from the last step of the workload to the end.
	settleTime time.Duration
	requests   []*place
	events     []*place
	lifetimes  []*instance
	// byStep reports for each of the lifetimes whether a step has created the object.
	byStep []bool
	// deletions has how often each object was deleted until the end of each phase.
	deletions map[objectKey][]int
	// present has the phases at whose end an object existed.
	present map[objectKey][]bool
	// most has how many objects existed at a time, of names with a pattern.
	most map[objectKey]int
	// created has how often objects were created.
	created map[objectKey]int
}

// place is a request or an event of a watch in the reference.
type place struct {
	client, verb           string
	group, resource        string // resource with its subresource
	namespace, name, event string
	// nth is its number among those that are equal in the fields above.
	nth   int
	phase int
	// at is the time since the controllers were run.
	at    time.Duration
	order uint64
	// write is true for a request that has changed something.
	write bool
	// initial is true for an event before the watch had sent its initial events.
	initial bool
	key     objectKey
}

// groupResource returns the resource with its group, as in rules.
func (p *place) groupResource() string {
	resource, sub, _ := strings.Cut(p.resource, "/")
	if p.group != "" {
		resource += "." + p.group
	}
	if sub != "" {
		resource += "/" + sub
	}
	return resource
}

// String describes the place: "update of configmaps default/a by c (number 2)".
func (p *place) String() string {
	object := p.groupResource()
	if p.name != "" {
		object += " " + strings.TrimPrefix(p.namespace+"/"+p.name, "/")
	} else if p.namespace != "" {
		object += " in " + p.namespace
	}
	if p.event != "" {
		return fmt.Sprintf("%s event %d of %s for %s", p.event, p.nth, object, p.client)
	}
	return fmt.Sprintf("%s %d of %s by %s", p.verb, p.nth, object, p.client)
}

// newReference runs the undisturbed workload several times, with other seeds, times and revisions,
// and with latency, and learns what differs by chance.
func newReference(ctx context.Context, config *Config) (*reference, error) {
	n, err := newNormalizer(config.Ignore)
	if err != nil {
		return nil, err
	}
	later := time.Hour + 17*time.Minute + 3*time.Second
	if config.RealTime {
		later = time.Second
	}
	shift := []scenario.Step{
		scenario.Advance(later),
		scenario.Patch(scenario.Ref{Kind: "namespace", Name: "kube-public"}, types.MergePatchType, `{"metadata":{"annotations":{"perturb":"a"}}}`),
		scenario.Patch(scenario.Ref{Kind: "namespace", Name: "kube-public"}, types.MergePatchType, `{"metadata":{"annotations":{"perturb":null}}}`),
	}
	plays := []play{
		{seed: config.Seed, timeline: true},
		{seed: config.Seed},
		{seed: config.Seed + 1, before: shift, reverse: true},
		{seed: config.Seed + 2, perturbed: latency{}},
	}
	results := make([]*result, len(plays))
	inParallel(config.Parallel, len(plays), func(i int) {
		p := plays[i]
		p.config, p.normalizer = config, n
		results[i] = p.run(ctx)
	})
	for _, r := range results {
		if r.err != nil {
			return nil, fmt.Errorf("perturb: the undisturbed run fails: %w", r.err)
		}
		if len(r.panics) > 0 {
			return nil, fmt.Errorf("perturb: the undisturbed run panics: %s", r.panics[0])
		}
		if !r.quiet {
			return nil, errors.New("perturb: the undisturbed run is not quiet at the end; objects that always change can be listed in Config.Ignore")
		}
	}
	for _, r := range results[1:] {
		if err := n.learn(results[0].changeLog, r.changeLog); err != nil {
			return nil, err
		}
	}
	first := results[0]
	n.base = map[objectKey]string{}
	for _, c := range first.changes {
		if c.revision <= first.baseline {
			n.base[c.key()] = n.text(c.after, first.names())
		}
	}
	first.final = first.normalized()
	r := &reference{result: first, config: config, normalizer: n}
	r.settleTime = first.end.Sub(first.phases[len(first.phases)-1])
	r.addRequests()
	r.addEvents()
	r.addObjects(results)
	return r, nil
}

// phaseAt returns the phase of a time.
func (r *result) phaseAt(at time.Time) int {
	n := 0
	for i, begin := range r.phases {
		if !at.Before(begin) {
			n = i
		}
	}
	return n
}

// placeKey has the fields by which a rule selects a place.
type placeKey struct{ client, verb, group, resource, namespace, name, event string }

func (p *place) selector() placeKey {
	return placeKey{p.client, p.verb, p.group, p.resource, p.namespace, p.name, p.event}
}

// addRequests adds the requests of the controllers.
func (r *reference) addRequests() {
	counts := map[placeKey]int{}
	for i, q := range r.requestLog.requests {
		if q.Verb == "" {
			continue // discovery
		}
		p := &place{
			client: q.client, verb: q.Verb, group: q.Group, resource: q.Resource, namespace: q.Namespace, name: q.Name,
			phase: r.phaseAt(q.begin), at: q.begin.Sub(r.begin), order: uint64(i), write: q.isWrite(),
		}
		if q.Subresource != "" {
			p.resource += "/" + q.Subresource
		}
		p.key = objectKey{resourceText(q.Op), q.Namespace, q.Name}
		counts[p.selector()]++
		p.nth = counts[p.selector()]
		r.requests = append(r.requests, p)
	}
}

func resourceText(op faults.Op) string {
	return schema.GroupResource{Group: op.Group, Resource: op.Resource}.String()
}

// addEvents adds the events that the controllers have received.
func (r *reference) addEvents() {
	type sent struct {
		fakeapi.Frame
		op       faults.Op
		client   string
		position int
		initial  bool
	}
	var frames []sent
	for _, x := range r.timeline.Exchanges {
		if r.config.Controllers[x.UserAgent] == nil || x.Verb != "watch" {
			continue
		}
		u, err := url.Parse(x.Path)
		if err != nil {
			continue
		}
		op := faults.NewOp(&http.Request{Method: x.Method, URL: u})
		initial := op.Query.Get("sendInitialEvents") == "true"
		for i, f := range x.Frames {
			initial = initial && f.Type != "BOOKMARK"
			frames = append(frames, sent{f, op, x.UserAgent, i, initial})
		}
	}
	slices.SortStableFunc(frames, func(a, b sent) int { return cmp.Compare(a.Order, b.Order) })
	counts := map[placeKey]int{}
	for i, f := range frames {
		if f.Type == "" || f.Type == "ERROR" {
			continue
		}
		p := &place{
			client: f.client, verb: "watch", group: f.op.Group, resource: f.op.Resource, namespace: f.Namespace, name: f.Name, event: f.Type,
			phase: r.phaseAt(f.Time), at: f.Time.Sub(r.begin), order: uint64(i), initial: f.initial,
		}
		p.key = objectKey{resourceText(f.op), f.Namespace, f.Name}
		counts[p.selector()]++
		p.nth = counts[p.selector()]
		r.events = append(r.events, p)
	}
}

// addObjects adds the lifetimes of objects, and what the oracles count.
func (r *reference) addObjects(all []*result) {
	r.lifetimes = r.instances()
	for _, i := range r.lifetimes {
		r.byStep = append(r.byStep, i.created != nil && r.createdByStep(i))
	}
	phases := len(r.phases)
	r.deletions, r.present = map[objectKey][]int{}, map[objectKey][]bool{}
	for _, i := range r.lifetimes {
		key := r.normalizer.patternKey(i.last)
		if r.deletions[key] == nil {
			r.deletions[key], r.present[key] = make([]int, phases), make([]bool, phases)
		}
		for phase := range phases {
			if i.deleted != nil && i.deleted.phase <= phase {
				r.deletions[key][phase]++
			}
			if (i.created == nil || i.created.phase <= phase) && (i.deleted == nil || i.deleted.phase > phase) {
				r.present[key][phase] = true
			}
		}
	}
	r.most, r.created = map[objectKey]int{}, map[objectKey]int{}
	for _, other := range all {
		for key, n := range mostAtOnce(other.instances(), r.normalizer) {
			r.most[key] = max(r.most[key], n)
		}
		for key, n := range creations(other.instances(), r.normalizer) {
			r.created[key] = max(r.created[key], n)
		}
	}
}

// creations returns how often objects were created, by the patterns of their names.
func creations(all []*instance, n *normalizer) map[objectKey]int {
	counts := map[objectKey]int{}
	for _, i := range all {
		if i.created != nil {
			counts[n.patternKey(i.last)]++
		}
	}
	return counts
}

// mostAtOnce returns how many objects existed at a time at most and were not being deleted, by the
// patterns of their names and by owner.
func mostAtOnce(all []*instance, n *normalizer) map[objectKey]int {
	most := map[objectKey]int{}
	for _, i := range all {
		if i.created == nil {
			continue
		}
		key, count := n.patternKey(i.last), 0
		for _, other := range all {
			begun := other.created == nil || other.created.revision <= i.created.revision
			ended := other.deleted != nil && other.deleted.revision < i.created.revision
			if begun && !ended && n.patternKey(other.last) == key && sameOwner(i.last, other.last) {
				count++
			}
		}
		most[key] = max(most[key], count)
	}
	return most
}

func sameOwner(a, b *object) bool {
	x, y := a.owners(), b.owners()
	return len(x) == len(y) && (len(x) == 0 || x[0] == y[0])
}
