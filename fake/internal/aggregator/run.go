package aggregator

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"

	"example.com/fakeapi/fake/internal/resource/builtin"
	"example.com/fakeapi/memstore"
)

// The times between checks: of a server without changes, and after the first failures.
const (
	resyncInterval = 30 * time.Second
	firstRetry     = 5 * time.Millisecond
)

// checked is an APIService that is checked.
type checked struct {
	// inputs are those of the last check that was started, condition is the result of the last one.
	inputs    *inputs
	condition apiregistrationv1.APIServiceCondition
	uid       string
	// isRunning reports whether a check runs, isWritten whether its result is in the store.
	isRunning, isWritten bool
	due                  time.Time
	failures             int
}

// result is the result of a check.
type result struct {
	name, uid string
	condition apiregistrationv1.APIServiceCondition
	isFailed  bool
}

// Run checks the availability of the servers until ctx ends, and returns when no check runs any
// more.
func (a *Aggregator) Run(ctx context.Context) {
	r := runner{aggregator: a, checked: make(map[string]*checked), results: make(chan result)}
	defer r.wait()
	for ctx.Err() == nil {
		wake := r.watch()
		r.startChecks(ctx)
		r.waitFor(ctx, wake)
	}
}

// waitFor waits for a write, for the result of a check, for the next check, or for the end of ctx.
func (r *runner) waitFor(ctx context.Context, wake [3]<-chan struct{}) {
	var due <-chan time.Time
	if at, ok := r.nextCheck(); ok {
		timer := time.NewTimer(time.Until(at))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-wake[0]:
	case <-wake[1]:
	case <-wake[2]:
	case <-due:
	case result := <-r.results:
		r.finish(ctx, result)
	case <-ctx.Done():
	}
}

// runner is the state of Run.
type runner struct {
	aggregator *Aggregator
	checked    map[string]*checked // by the names of APIServices
	cursors    [3]*memstore.Cursor
	results    chan result
	running    int
}

// wait waits for the checks that run.
func (r *runner) wait() {
	for ; r.running > 0; r.running-- {
		<-r.results
	}
}

// watch returns channels that are closed by the next write of an APIService, a Service or an
// EndpointSlice. Without APIServices that lead to other servers, only the first one is not nil.
func (r *runner) watch() (wake [3]<-chan struct{}) {
	for i, prefix := range [...]string{apiServicesPrefix, servicesPrefix, endpointSlicesPrefix} {
		if i > 0 && len(r.aggregator.current().sorted) == 0 {
			r.cursors[i] = nil
			continue
		}
		wake[i] = r.watchPrefix(i, prefix)
	}
	return wake
}

// watchPrefix skips the events of a prefix, and returns the channel that the next one closes. What
// has changed is seen in the state.
func (r *runner) watchPrefix(i int, prefix string) <-chan struct{} {
	store := r.aggregator.store
	events := make([]*memstore.Event, 16)
	for {
		if r.cursors[i] == nil {
			cursor, err := store.Watch(prefix, store.Revision())
			if err != nil { // the store was just restored
				continue
			}
			r.cursors[i] = cursor
		}
		n, err := r.cursors[i].Next(events)
		switch {
		case err != nil: // the store was restored, or history has dropped the events
			r.cursors[i] = nil
		case n == 0:
			return r.cursors[i].Ready()
		}
	}
}

// startChecks starts the checks of APIServices that are new or have changed, and those that are
// due.
func (r *runner) startChecks(ctx context.Context) {
	a := r.aggregator
	view := a.store.View()
	all := a.current()
	for name := range r.checked {
		if !slices.ContainsFunc(all.sorted, func(s *APIService) bool { return s.Name == name }) {
			delete(r.checked, name)
		}
	}
	for _, s := range all.unavailable { // a webhook may refuse it
		_ = a.writeCondition(ctx, result{name: s.Name, uid: string(s.UID), condition: helper.NewLocalAvailableAPIServiceCondition()})
	}
	for _, s := range all.sorted {
		in := inputsOf(view, s)
		c := r.checked[s.Name]
		if c == nil || c.uid != string(s.UID) {
			c = &checked{uid: string(s.UID)}
			r.checked[s.Name] = c
		}
		current := helper.GetAPIServiceConditionByType(s.APIService, apiregistrationv1.Available)
		isChanged := c.inputs == nil || !c.inputs.equals(in) || c.isWritten && (current == nil || !c.describes(current))
		if c.isRunning || !isChanged && time.Now().Before(c.due) {
			continue
		}
		c.inputs, c.isRunning = in, true
		r.running++
		go func() {
			condition, isFailed := a.check(ctx, s, in)
			r.results <- result{s.Name, string(s.UID), condition, isFailed}
		}()
	}
}

// describes reports whether the result of the last check is a stored condition.
func (c *checked) describes(stored *apiregistrationv1.APIServiceCondition) bool {
	return c.condition.Status == stored.Status && c.condition.Reason == stored.Reason && c.condition.Message == stored.Message
}

// finish writes the result of a check, and sets the time of the next one.
func (r *runner) finish(ctx context.Context, result result) {
	r.running--
	c := r.checked[result.name]
	if c == nil || c.uid != result.uid || ctx.Err() != nil {
		return
	}
	c.isRunning, c.condition = false, result.condition
	c.isWritten = r.aggregator.writeCondition(ctx, result) == nil // a webhook may refuse it
	if result.isFailed || !c.isWritten {
		c.due = time.Now().Add(min(firstRetry<<min(c.failures, 20), resyncInterval))
		c.failures++
		return
	}
	c.due, c.failures = time.Now().Add(resyncInterval), 0
}

// writeCondition writes the condition Available, if it is another one.
func (a *Aggregator) writeCondition(ctx context.Context, result result) error {
	res := builtin.Table().Lookup(apiregistrationv1.GroupName, "v1", "apiservices")
	return a.writer.ChangeByServer(ctx, res, apiServicesPrefix+result.name, result.uid, "status", func(obj runtime.Object) {
		result.condition.LastTransitionTime = metav1.NewTime(a.writer.Now().Truncate(time.Second))
		helper.SetAPIServiceCondition(obj.(*apiregistrationv1.APIService), result.condition)
	})
}

// nextCheck returns the time of the next check that does not wait for a change. ok is false if
// there is none.
func (r *runner) nextCheck() (at time.Time, ok bool) {
	for _, c := range r.checked {
		if !c.isRunning && (!ok || c.due.Before(at)) {
			at, ok = c.due, true
		}
	}
	return at, ok
}
