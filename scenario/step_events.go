package scenario

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Event is an event that a watch has received.
type Event struct {
	// Type is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR, or END for the end of the stream. In an
	// expectation it may be "...", for any number of events.
	Type string
	// Name is the name of the object, or NAMESPACE/NAME in a watch of all namespaces. For ERROR it
	// is the reason of the Status, or its code. The other types have no name.
	Name string
}

// anyEvents matches any number of events.
const anyEvents = "..."

// streamEnd is the type of the event that ends a stream.
const streamEnd = "END"

// eventHasName reports for each type whether its events have a name.
var eventHasName = map[string]bool{"ADDED": true, "MODIFIED": true, "DELETED": true, "ERROR": true, "BOOKMARK": false, streamEnd: false, anyEvents: false}

// String returns "TYPE NAME".
func (e Event) String() string {
	if e.Name == "" {
		return quote(e.Type)
	}
	return quote(e.Type) + " " + quote(e.Name)
}

// ExpectEvents expects exactly the given events of a watch, in this order, since it was opened or
// its events were last expected. Bookmarks are ignored unless events has one. Without events it
// expects that the watch has received none. For an event among others use "... DELETED a ...".
func ExpectEvents(watch string, events ...Event) Step {
	return expectEvents{watch, cloneSlice(events)}
}

type expectEvents struct {
	watch  string
	events []Event
}

func (kinds) ExpectEvents() stepKind {
	return stepKind{"expect events WATCH [EVENT ...]", parseExpectEvents}
}

func parseExpectEvents(a *args) (Step, error) {
	words, err := a.words(1, -1)
	if err != nil {
		return nil, err
	}
	s := expectEvents{watch: words[0]}
	for words = words[1:]; len(words) > 0; words = words[1:] {
		e := Event{Type: words[0]}
		has, known := eventHasName[e.Type]
		if !known {
			return nil, fmt.Errorf("expected ADDED, MODIFIED, DELETED, ERROR, BOOKMARK, END or ..., found %q", e.Type)
		}
		if has {
			if len(words) < 2 || words[1] == "" {
				return nil, fmt.Errorf("expected a name after %s", e.Type)
			}
			e.Name, words = words[1], words[1:]
		}
		s.events = append(s.events, e)
	}
	return s, nil
}

func (s expectEvents) String() string {
	return joinWords("expect events", quote(s.watch), eventsText(s.events))
}

func eventsText(events []Event) string {
	texts := make([]string, len(events))
	for i, e := range events {
		texts[i] = e.String()
	}
	return strings.Join(texts, " ")
}

func (s expectEvents) Run(_ context.Context, e *Env) error {
	stream, ok := e.streams.find(s.watch)
	if !ok {
		return fmt.Errorf("there is no watch %q", s.watch)
	}
	e.waitIdle()
	bookmarks := slices.ContainsFunc(s.events, isBookmark)
	var saw []Event
	all := stream.since(stream.expected)
	for _, r := range all {
		if bookmarks || !isBookmark(r.Event) {
			saw = append(saw, r.Event)
		}
	}
	if !matchEvents(s.events, saw) {
		return mismatch{"of watch " + s.watch + " [" + eventsText(s.events) + "]", "[" + eventsText(saw) + "]"}
	}
	stream.expected += len(all)
	return nil
}

// matchEvents reports whether the events match the expected ones.
func matchEvents(want, saw []Event) bool {
	w, lastAny, resume := 0, -1, 0 // resume is where lastAny, the latest "..." in want, ends
	for n := 0; n < len(saw); {
		switch {
		case w < len(want) && want[w].Type == anyEvents:
			lastAny, resume = w, n
			w++
		case w < len(want) && want[w] == saw[n]:
			w++
			n++
		case lastAny >= 0: // "..." includes one more
			resume++
			w, n = lastAny+1, resume
		default:
			return false
		}
	}
	for w < len(want) && want[w].Type == anyEvents {
		w++
	}
	return w == len(want)
}

func isBookmark(e Event) bool { return e.Type == "BOOKMARK" }
