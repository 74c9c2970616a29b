package controllers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// Writer is the part of the API that the controllers write with; verbs.API is one
// and says what the methods do.
type Writer interface {
	// DeleteKey deletes the object under a key as a DELETE request would.
	DeleteKey(res *resource.Resource, key string, opts *metav1.DeleteOptions) error
	// ChangeKey changes the object under a key, if it has the uid, as a patch would.
	ChangeKey(res *resource.Resource, key, uid, subresource string, do func(runtime.Object)) error
	// Now is the time that it goes by.
	Now() time.Time
}

// maxAttempts is how often one Settle looks at the same object or namespace. No
// honest work comes near it: two who undo each other's writes do.
const maxAttempts = 1000

// livelockPause is how long Run leaves those alone who have kept Settle from an end.
const livelockPause = time.Second

// Controllers is the controllers of one store. Make it with New. Its methods may be
// called from any goroutine.
type Controllers struct {
	store  *memstore.Store
	table  func() *resource.Table
	writer Writer
	kinds  *resourceIndex
	// wakeups has an element when those who sleep are to look again.
	wakeups chan struct{}

	// mu is held by the one who works. It guards all below.
	mu     sync.Mutex
	cursor *memstore.Cursor // nil before the first look at everything
	events []*memstore.Event

	graph graph
	// queue are the keys of objects to look at, each once, and queued the same as a set.
	queue  []string
	queued map[string]bool
	// ending are the namespaces that are on their way out, those that are true to be
	// looked at.
	ending    map[string]bool
	deadlines deadlines

	looks map[string]int // of the current Settle

	// emptying tells that a namespace is ending; pending counts the events that woke
	// nobody. Writers read them, see concerns.
	emptying atomic.Bool
	pending   atomic.Int64
}

// New makes the controllers of a store, which serves what table gives. They do nothing before Settle or Run.
func New(store *memstore.Store, table func() *resource.Table, writer Writer) *Controllers {
	return &Controllers{
		store: store, table: table, writer: writer, kinds: newKinds(table),
		events: make([]*memstore.Event, 256), wakeups: make(chan struct{}, 1),
	}
}

// Run keeps the store settled until ctx ends.
func (m *Controllers) Run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := m.RunUntilIdle(ctx); errors.Is(err, errLivelock) {
			m.wait(ctx, nil, livelockPause)
			continue
		}
		wake, after := m.nextWake()
		m.wait(ctx, wake, after)
	}
}

// Wake has Run look again, as Now has leapt.
func (m *Controllers) Wake() {
	select {
	case m.wakeups <- struct{}{}:
	default: // it is going to
	}
}

// wait waits for a write, a time that passes (0: none does), Look, or the end of ctx.
func (m *Controllers) wait(ctx context.Context, wake <-chan struct{}, after time.Duration) {
	var ring <-chan time.Time
	if after > 0 {
		timer := time.NewTimer(after)
		defer timer.Stop()
		ring = timer.C
	}
	select {
	case <-wake:
	case <-ring:
	case <-m.wakeups:
	case <-ctx.Done():
	}
}

// nextWake tells what to wait for after a Settle: a write, or the next deadline, 0 if
// there is none.
func (m *Controllers) nextWake() (wake <-chan struct{}, after time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cursor == nil { // ctx has ended before the first look
		return nil, 0
	}
	if at, ok := m.deadlines.first(); ok {
		after = max(at.Sub(m.writer.Now()), time.Nanosecond)
	}
	m.emptying.Store(len(m.ending) > 0)
	m.pending.Store(0)
	return m.cursor.ReadyFor(m.isRelevant), after
}

// errLivelock is what Settle wraps when there seems to be no end.
var errLivelock = errors.New("the controllers do not come to rest")

// RunUntilIdle does all that there is to do at this moment, and all that comes of it.
// It does not wait for deadlines. What fails is left as it is until something
// happens to it, and does not stop the rest; the error names it. Another error
// is that of ctx, or that the same object comes up for ever.
func (m *Controllers) RunUntilIdle(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.looks = nil
	var failed []error
	for {
		if err := ctx.Err(); err != nil {
			return errors.Join(append(failed, err)...)
		}
		m.readEvents()
		what, work := m.nextWork()
		if work == nil {
			return errors.Join(failed...)
		}
		if m.exceededLimit(what) {
			m.cursor = nil // the work that was taken is found again
			return errors.Join(append(failed, fmt.Errorf("%w: %s", errLivelock, what))...)
		}
		switch err := work(); {
		case apierrors.IsConflict(err):
			m.enqueue(what) // an object that has changed meanwhile: look again
		case err != nil && !apierrors.IsNotFound(err):
			failed = append(failed, fmt.Errorf("%s: %w", what, err))
		}
	}
}

// exceededLimit notes a look at something and reports whether it was one too many.
func (m *Controllers) exceededLimit(what string) bool {
	if m.looks == nil {
		m.looks = make(map[string]int)
	}
	m.looks[what]++
	return m.looks[what] > maxAttempts
}

// nextWork takes the next piece of work: an object, else a pod whose time is over, else
// a namespace, as these are looked through as a whole; nil if there is nothing to do.
func (m *Controllers) nextWork() (what string, work func() error) {
	if len(m.queue) > 0 {
		what, m.queue = m.queue[0], m.queue[1:]
		delete(m.queued, what)
		return what, func() error { return m.reconcile(what) }
	}
	if due, ok := m.deadlines.due(m.writer.Now()); ok {
		return due.key, func() error { return m.deletePod(due) }
	}
	if len(m.ending) == 0 {
		return "", nil
	}
	for _, name := range slices.Sorted(maps.Keys(m.ending)) {
		if m.ending[name] {
			m.ending[name] = false
			return namespaceKey(name), func() error { return m.deleteNamespaceContent(name) }
		}
	}
	return "", nil
}

// enqueue puts the key of an object into the queue, once. A namespace is to be
// emptied as well, if it is ending.
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
