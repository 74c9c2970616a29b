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

// watchStreams are the watches opened by steps, in this order.
type watchStreams []*watchStream

// watchStream is a watch and the events that it has received.
type watchStream struct {
	name string
	of   Collection
	stop func()
	done chan struct{} // closed after the last event

	mu     sync.Mutex // guards events
	events []receivedEvent

	// expected and reported count the events that steps have expected and that are in the
	// transcript. Only the goroutine of the steps uses them.
	expected, reported int
}

// receivedEvent is an event with its time and its resourceVersion. endsInitial is true for the
// bookmark that ends the initial events.
type receivedEvent struct {
	Event
	at          time.Time
	revision    string
	endsInitial bool
}

func (all *watchStreams) find(name string) (*watchStream, bool) {
	i := slices.IndexFunc(*all, func(s *watchStream) bool { return s.name == name })
	if i < 0 {
		return nil, false
	}
	return (*all)[i], true
}

// start records the events of source. stop must end it.
func (all *watchStreams) start(name string, of Collection, source watch.Interface, stop func()) {
	s := &watchStream{name: name, of: of, stop: stop, done: make(chan struct{})}
	*all = append(*all, s)
	go func() {
		defer close(s.done)
		for event := range source.ResultChan() {
			s.add(s.toEvent(event))
		}
		s.add(receivedEvent{Event: Event{Type: streamEnd}, at: time.Now()})
	}()
}

func (s *watchStream) add(r receivedEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, r)
}

// since returns the events from index n on.
func (s *watchStream) since(n int) []receivedEvent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events[n:])
}

// toEvent converts an event of client-go.
func (s *watchStream) toEvent(e watch.Event) receivedEvent {
	r := receivedEvent{Event: Event{Type: string(e.Type)}, at: time.Now()}
	if e.Type == watch.Error {
		r.Name = reasonOf(e)
		return r
	}
	object, err := meta.Accessor(e.Object)
	if err != nil {
		return r
	}
	r.revision = object.GetResourceVersion()
	r.endsInitial = object.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"
	if e.Type != watch.Bookmark {
		r.Name = s.of.nameOf(object)
	}
	return r
}

// reasonOf returns the reason of the Status of an ERROR event, or its code.
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

// String returns the line of the transcript.
func (r receivedEvent) String() string {
	text := r.Event.String()
	if r.revision != "" {
		text += " @" + r.revision
	}
	if r.endsInitial {
		text += " (end of the initial events)"
	}
	return text
}
