package controllers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/recordcache"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// Writer is the part of the API that the controllers write with. handlers.API implements it.
type Writer interface {
	// DeleteKey deletes the object under a key as a DELETE request of user does.
	DeleteKey(ctx context.Context, user authenticationv1.UserInfo, res *resource.Resource, key string, opts *metav1.DeleteOptions) error
	// ChangeKey changes the object under a key as a patch by user does, if it has the uid.
	ChangeKey(ctx context.Context, user authenticationv1.UserInfo, res *resource.Resource, key, uid, subresource string, do func(runtime.Object)) error
	// ApplyKey sets members of the object under a key as an apply by user with force does, if it has
	// the uid.
	ApplyKey(ctx context.Context, user authenticationv1.UserInfo, res *resource.Resource, key, uid, manager string, members map[string]any) error
	// ApplyStatus sets the status of the object under a key as an apply with force does, if it has the
	// uid.
	ApplyStatus(res *resource.Resource, key, uid, manager string, status map[string]any) error
	// Now returns the current time of the server.
	Now() time.Time
}

// TypeChecker returns warnings for the expressions of a policy.
type TypeChecker func(*admissionregistrationv1.ValidatingAdmissionPolicy) []admissionregistrationv1.ExpressionWarning

// maxAttempts is how often one RunUntilIdle examines the same object or namespace. Only writers
// that undo each other's writes reach it.
const maxAttempts = 1000

// livelockPause is how long Run waits before it examines objects again that exceeded maxAttempts.
const livelockPause = time.Second

// Controllers is the controllers of one store. Its methods may be called from any goroutine.
type Controllers struct {
	store          *memstore.Store
	table          func() *resource.Table
	writer         Writer
	resources      *resourceIndex
	namespaceDelay time.Duration
	checkTypes     TypeChecker
	unavailable    func() []schema.GroupVersion

	// wakeups has an element if Run is to examine the store again.
	wakeups chan struct{}

	// working has an element while the controllers work. It is a lock of all fields below: a channel,
	// because a goroutine of a synctest bubble that waits for a mutex keeps time from passing, which a
	// webhook may wait for.
	working chan struct{}

	cursor *memstore.Cursor // nil before buildGraph
	events []*memstore.Event

	graph graph
	// queue has the keys of the objects to examine, each once. queued has the same keys as a set.
	queue  []string
	queued map[string]bool
	// ending has the terminating namespaces.
	ending    map[string]*endingNamespace
	deadlines deadlines
	quotas    quotaNamespaces
	// aggregated has the ClusterRoles with an aggregationRule by their keys.
	aggregated map[string]*aggregatedRole
	// clusterRoles has decoded ClusterRoles.
	clusterRoles *recordcache.Cache[*rbacv1.ClusterRole]
	// inUse has the keys of deleted objects that stay while they are in use.
	inUse map[string]bool
	// retries has the work that has failed since it last succeeded.
	retries retries

	attempts map[string]int // by the description of the work, in the current RunUntilIdle

	// emptying is true while a namespace is terminating, hasQuotas while there are ResourceQuotas,
	// hasInUse while inUse is not empty, hasAggregated while aggregated is not empty. pending counts
	// the events that did not wake Run. Writers read them, see isRelevant.
	emptying, hasQuotas, hasInUse, hasAggregated atomic.Bool
	pending                                      atomic.Int64
}

// New returns the controllers of a store that serves the types of table. They do nothing before Run
// or RunUntilIdle. namespaceDelay is how long Run leaves a deleted namespace as it is. checkTypes
// checks new and changed ValidatingAdmissionPolicies. unavailable returns the groups and versions
// of aggregated API servers that are not available.
func New(store *memstore.Store, table func() *resource.Table, writer Writer, namespaceDelay time.Duration, checkTypes TypeChecker, unavailable func() []schema.GroupVersion) *Controllers {
	return &Controllers{
		store: store, table: table, writer: writer, resources: newResourceIndex(table),
		namespaceDelay: namespaceDelay, checkTypes: checkTypes, unavailable: unavailable,
		retries: retries{}, clusterRoles: recordcache.New[*rbacv1.ClusterRole](),
		events: make([]*memstore.Event, 256), wakeups: make(chan struct{}, 1), working: make(chan struct{}, 1),
	}
}

// Run processes events of the store until ctx ends.
func (m *Controllers) Run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := m.runQueue(ctx, false); errors.Is(err, errLivelock) {
			m.wait(ctx, nil, livelockPause)
			continue
		}
		wake, after := m.nextWake(ctx)
		m.wait(ctx, wake, after)
	}
}

// Wake makes Run examine deadlines again, because Now has changed.
func (m *Controllers) Wake() {
	select {
	case m.wakeups <- struct{}{}:
	default: // a wake-up is pending already
	}
}

// wait waits for a write, for a duration (0: none), for Wake, or for the end of ctx.
func (m *Controllers) wait(ctx context.Context, wake <-chan struct{}, after time.Duration) {
	var due <-chan time.Time
	if after > 0 {
		timer := time.NewTimer(after)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-wake:
	case <-due:
	case <-m.wakeups:
	case <-ctx.Done():
	}
}

// nextWake returns what to wait for when the queue is empty: a write, and the time to the next
// deadline, 0 if there is none.
func (m *Controllers) nextWake(ctx context.Context) (wake <-chan struct{}, after time.Duration) {
	if !m.lock(ctx) {
		return nil, 0
	}
	defer m.unlock()
	if m.cursor == nil { // ctx ended before buildGraph
		return nil, 0
	}
	now := m.writer.Now()
	if at, ok := m.deadlines.first(); ok {
		after = max(at.Sub(now), time.Nanosecond)
	}
	if left, ok := m.retries.first(); ok && (after == 0 || left < after) {
		after = left
	}
	for _, ns := range m.ending {
		if left := max(ns.due.Sub(now), time.Nanosecond); ns.examine && (after == 0 || left < after) {
			after = left
		}
	}
	m.emptying.Store(len(m.ending) > 0)
	m.pending.Store(0)
	return m.cursor.ReadyFor(m.isRelevant), after
}

// errLivelock is wrapped by the error of RunUntilIdle if an object exceeds maxAttempts.
var errLivelock = errors.New("the controllers do not become idle")

// RunUntilIdle processes the queue until it is empty, including what the controllers' own writes
// add to it. It does not wait for deadlines, and empties deleted namespaces at once. An object that
// fails does not stop the others and is named in the error. It is examined again by the next call,
// or by Run after some time. Other errors are that of ctx and errLivelock.
func (m *Controllers) RunUntilIdle(ctx context.Context) error { return m.runQueue(ctx, true) }

// runQueue is RunUntilIdle if skipDelay is true, and leaves namespaces and retries that are not due
// otherwise.
func (m *Controllers) runQueue(ctx context.Context, skipDelay bool) error {
	if !m.lock(ctx) {
		return ctx.Err()
	}
	defer m.unlock()
	m.attempts = nil
	var failed []error
	m.retries.queue(skipDelay)
	for {
		if err := ctx.Err(); err != nil {
			return errors.Join(append(failed, err)...)
		}
		m.readEvents()
		w, ok := m.nextWork(skipDelay)
		if !ok {
			return errors.Join(failed...)
		}
		if !w.isEndless && m.exceededLimit(w.what) {
			m.cursor = nil // the graph is built again, so that no work is lost
			return errors.Join(append(failed, fmt.Errorf("%w: %s", errLivelock, w.what))...)
		}
		before := m.store.Revision()
		switch err := w.do(ctx); {
		case err == nil, apierrors.IsNotFound(err):
			delete(m.retries, w.what)
		case apierrors.IsConflict(err) && m.store.Revision() != before:
			w.again() // the object has changed meanwhile: examine it again
		default:
			m.retries.add(w)
			failed = append(failed, fmt.Errorf("%s: %w", w.what, err))
		}
	}
}

// lock waits until the caller may use the guarded fields. It returns false if ctx ends before.
func (m *Controllers) lock(ctx context.Context) bool {
	select {
	case m.working <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (m *Controllers) unlock() { <-m.working }

// work is one step of a controller.
type work struct {
	// what describes the work, for instance by the key of an object.
	what string
	do   func(context.Context) error
	// again makes nextWork return the work again.
	again func()
	// isEndless reports whether the work does not count for maxAttempts, because clients that write
	// all the time are no reason to stop.
	isEndless bool
}

// exceededLimit counts an attempt and reports whether there were more than maxAttempts.
func (m *Controllers) exceededLimit(what string) bool {
	if m.attempts == nil {
		m.attempts = make(map[string]int)
	}
	m.attempts[what]++
	return m.attempts[what] > maxAttempts
}

// nextWork returns the next work: an object in the queue, else a pod whose grace period is over,
// else a terminating namespace, which is due unless skipDelay is true, else an aggregated
// ClusterRole, else a namespace with quotas. ok is false if there is none.
func (m *Controllers) nextWork(skipDelay bool) (w work, ok bool) {
	if len(m.queue) > 0 {
		var key string
		key, m.queue = m.queue[0], m.queue[1:]
		delete(m.queued, key)
		return work{
			what: key, again: func() { m.enqueue(key) },
			do: func(ctx context.Context) error { return m.reconcile(ctx, key) },
		}, true
	}
	if due, ok := m.deadlines.due(m.writer.Now()); ok {
		return work{
			what: "removal of " + due.key, again: func() { m.deadlines.push(due) },
			do: func(ctx context.Context) error { return m.deletePod(ctx, due) },
		}, true
	}
	for _, name := range slices.Sorted(maps.Keys(m.ending)) {
		if ns := m.ending[name]; ns.examine && (skipDelay || !ns.due.After(m.writer.Now())) {
			ns.examine = false
			return work{
				what: namespaceContent(name), again: func() { m.examineNamespace(name) },
				do: func(ctx context.Context) error { return m.deleteNamespaceContent(ctx, name) },
			}, true
		}
	}
	if w, ok := m.nextAggregationWork(); ok {
		return w, true
	}
	return m.nextQuotaWork()
}

// enqueue adds the key of an object to the queue, once.
func (m *Controllers) enqueue(key string) {
	if m.queued[key] {
		return
	}
	if m.queued == nil {
		m.queued = make(map[string]bool)
	}
	m.queued[key] = true
	m.queue = append(m.queue, key)
}
