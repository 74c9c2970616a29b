package faults

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/watch"
)

// During matches operations in one of the phases. A rule without it is active in the first phase
// that its condition can match in and its effects support; see the package documentation.
func During(in ...Phase) Pred {
	words := make([]string, len(in))
	for i, p := range in {
		words[i] = p.String()
	}
	return newMatcher(duringKind, words)
}

var duringKind = &matcherKind{"during", factPhase,
	func(op Op, w string) bool { return op.Phase.String() == w },
	func(w string) error { return checkOneOf("phase", w, phaseNames[:]) }}

// eventNames are the event types of watches (WA-02).
var eventNames = []string{
	string(watch.Added), string(watch.Modified), string(watch.Deleted), string(watch.Bookmark), string(watch.Error),
}

// Event matches frames of a watch by event type: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR. A
// rule with Event is active in the Stream phase.
func Event(types ...watch.EventType) Pred { return newMatcher(eventKind, types) }

var eventKind = &matcherKind{"event", factFrame,
	func(op Op, w string) bool { return string(op.Event) == w },
	func(w string) error { return checkOneOf("event type", w, eventNames) }}

// Code matches responses by their HTTP status code, for instance 201. A rule with Code is active in
// the Committed phase.
func Code(codes ...int) Pred {
	words := make([]string, len(codes))
	for i, c := range codes {
		words[i] = strconv.Itoa(c)
	}
	return newMatcher(codeKind, words)
}

var codeKind = &matcherKind{"code", factCode,
	func(op Op, w string) bool { return strconv.Itoa(op.Code) == w },
	func(w string) error {
		if c, err := strconv.Atoi(w); err != nil || c < 100 || c > 599 || strconv.Itoa(c) != w {
			return fmt.Errorf("%q is not an HTTP status code: expected a number from 100 to 599", w)
		}
		return nil
	}}

// Query matches requests by a parameter of the URL. With values, the first value of the parameter
// must be one of them. Without, it must be present and not empty: Query("continue") matches the
// further pages of a list.
func Query(key string, values ...string) Pred {
	return &queryPred{key, append([]string(nil), values...)}
}

type queryPred struct {
	key    string
	values []string
}

func (p *queryPred) Eval(op Op) bool {
	given := op.Query[p.key]
	if len(given) == 0 {
		return false
	}
	if len(p.values) == 0 {
		return given[0] != ""
	}
	return slices.Contains(p.values, given[0])
}

func (p *queryPred) String() string {
	return callText("query", append([]string{quote(p.key)}, quoteAll(p.values)...)...)
}
func (p *queryPred) facts() facts               { return factQuery }
func (p *queryPred) check() error               { return checkNotEmpty("parameter")(p.key) }
func (p *queryPred) newInstance(time.Time) Pred { return p }

// InitialEventsEnd matches the frame that ends the initial events of a watch, a bookmark with the
// annotation k8s.io/initial-events-end (BM-06). A rule with InitialEventsEnd is active in the
// Stream phase.
func InitialEventsEnd() Pred { return initialEventsEnd }

var initialEventsEnd = &nullaryPred{"initialEventsEnd", factFrame, func(op Op) bool { return op.InitialEventsEnd }}

// InitialEvents matches the initial events of a streaming list, which is a watch with
// sendInitialEvents=true and allowWatchBookmarks=true, up to the bookmark of InitialEventsEnd. A
// rule that is added while they are sent does not recognize them. A rule with InitialEvents is
// active in the Stream phase.
func InitialEvents() Pred { return initialEvents }

var initialEvents = &nullaryPred{"initialEvents", factFrame, func(op Op) bool { return op.InitialEvents }}

// Always matches everything. It is the condition of a rule without a condition.
func Always() Pred { return always }

var always = &nullaryPred{"always", 0, func(Op) bool { return true }}

// nullaryPred is a predicate without arguments.
type nullaryPred struct {
	name string
	read facts
	eval func(Op) bool
}

func (b *nullaryPred) Eval(op Op) bool            { return b.eval(op) }
func (b *nullaryPred) String() string             { return b.name }
func (b *nullaryPred) facts() facts               { return b.read }
func (b *nullaryPred) check() error               { return nil }
func (b *nullaryPred) newInstance(time.Time) Pred { return b }
