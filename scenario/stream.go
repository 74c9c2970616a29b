package scenario

import (
	"slices"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// streams are the watches that steps have opened, in that order.
type streams []*stream

// stream is one open watch and what came of it.
type stream struct {
	name string
	of   Collection
	stop func()
	done chan struct{} // closed when all events are there

	mu     sync.Mutex // guards events
	events []received

	// expected and told count the events that steps have expected, and that stand
	// in the transcript. Only the goroutine of the steps uses them.
	expected, told int
}

// received is an event with its time, its resourceVersion, and whether it is the
// bookmark that ends the initial events.
type received struct {
	Event
	at       time.Time
	revision string
	initial  bool
}

func (all *streams) find(name string) (*stream, bool) {
	i := slices.IndexFunc(*all, func(s *stream) bool { return s.name == name })
	if i < 0 {
		return nil, false
	}
	return (*all)[i], true
}

// start collects the events of source; stop ends it.
func (all *streams) start(name string, of Collection, source watch.Interface, stop func()) {
	s := &stream{name: name, of: of, stop: stop, done: make(chan struct{})}
	*all = append(*all, s)
	go func() {
		defer close(s.done)
		for event := range source.ResultChan() {
			s.note(s.read(event))
		}
		s.note(received{Event: Event{Type: streamEnd}, at: time.Now()})
	}()
}

func (s *stream) note(r received) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, r)
}

// since gives the events from the n-th on.
func (s *stream) since(n int) []received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events[n:])
}

// read names what has come.
func (s *stream) read(e watch.Event) received {
	r := received{Event: Event{Type: string(e.Type)}, at: time.Now()}
	if e.Type == watch.Error {
		r.Name = reasonOf(e)
		return r
	}
	object, err := meta.Accessor(e.Object)
	if err != nil {
		return r
	}
	r.revision = object.GetResourceVersion()
	r.initial = object.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"
	if e.Type != watch.Bookmark {
		r.Name = s.of.nameOf(object)
	}
	return r
}

// reasonOf is what an ERROR event is called: the reason of its Status, or else
// the code.
func reasonOf(e watch.Event) string {
	status, ok := e.Object.(*metav1.Status)
	switch {
	case !ok:
		return "no Status"
	case status.Reason != "":
		return string(status.Reason)
	}
	return strconv.Itoa(int(status.Code))
}

// String is the line of the transcript.
func (r received) String() string {
	text := r.Event.String()
	if r.revision != "" {
		text += " @" + r.revision
	}
	if r.initial {
		text += " (end of the initial events)"
	}
	return text
}
