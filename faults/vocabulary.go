package faults

import (
	"math"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// predicates are the words that a condition is made of. A new predicate is its
// own file, a line here, cases in testdata, and a row in doc.go.
var predicates = map[string]func(*args) Pred{
	"after":            func(a *args) Pred { return After(a.oneDuration()) },
	"always":           func(a *args) Pred { a.none(); return Always() },
	"chance":           parseChance,
	"code":             words(codeKind, "code(CODE, ...)"),
	"during":           words(duringKind, "during(PHASE, ...)"),
	"event":            words(eventKind, "event(TYPE, ...)"),
	"every":            func(a *args) Pred { return Every(a.oneInteger()) },
	"first":            func(a *args) Pred { return First(a.oneInteger()) },
	"initialEventsEnd": func(a *args) Pred { a.none(); return InitialEventsEnd() },
	"name":             words(nameKind, "name(NAME, ...)"),
	"namespace":        words(namespaceKind, "namespace(NAMESPACE, ...)"),
	"nth":              func(a *args) Pred { return Nth(a.oneInteger()) },
	"path":             words(pathKind, "path(PREFIX, ...)"),
	"query":            parseQuery,
	"resource":         words(resourceKind, "resource(PLURAL[.GROUP][/SUBRESOURCE], ...)"),
	"userAgent":        words(agentKind, "userAgent(PREFIX, ...)"),
	"verb":             words(verbKind, "verb(VERB, ...)"),
}

// effects are the words for what is done. A new effect is its own type with a
// method for each phase it fits, and otherwise like a predicate.
var effects = map[string]func(*args) Effect{
	"delay":         func(a *args) Effect { return Delay(a.oneDuration()) },
	"drop":          func(a *args) Effect { a.none(); return Drop() },
	"duplicate":     func(a *args) Effect { a.none(); return Duplicate() },
	"end":           func(a *args) Effect { a.none(); return End() },
	"error":         func(a *args) Effect { return ErrorEvent(parseStatus(a)) },
	"goaway":        func(a *args) Effect { a.none(); return GoAway() },
	"hang":          func(a *args) Effect { a.none(); return Hang() },
	"header":        parseHeader(SetHeader),
	"ignore":        func(a *args) Effect { return Ignore(a.values(1, -1, "ignore(PARAMETER, ...)")...) },
	"inject":        func(a *args) Effect { return Inject(a.oneText()) },
	"jitter":        parseJitter,
	"lateHeader":    func(a *args) Effect { a.none(); return LateHeader() },
	"overwrite":     parseOverwrite,
	"raw":           parseRaw,
	"redirect":      func(a *args) Effect { return Redirect(a.oneText()) },
	"remove":        func(a *args) Effect { return RemoveField(a.oneText()) },
	"reorder":       func(a *args) Effect { a.none(); return Reorder() },
	"requestHeader": parseHeader(SetRequestHeader),
	"reset":         func(a *args) Effect { a.none(); return Reset() },
	"set":           parseSet,
	"skew":          func(a *args) Effect { return Skew(a.oneDuration()) },
	"status":        func(a *args) Effect { return Reply(parseStatus(a)) },
	"throttle":      parseThrottle,
	"truncate":      func(a *args) Effect { return Truncate(a.oneInteger()) },
	"warn":          func(a *args) Effect { return Warn(a.values(1, -1, "warn(TEXT, ...)")...) },
}

func words(kind *matcherKind, usage string) func(*args) Pred {
	return func(a *args) Pred {
		values := a.values(1, -1, usage)
		for i, v := range values {
			if err := kind.valid(v); err != nil {
				a.fail(a.token(i), "%v", err)
			}
		}
		return match(kind, values)
	}
}

func (a *args) oneInteger() int {
	a.values(1, 1, a.call.name.text+"(NUMBER)")
	if a.err != nil {
		return 0
	}
	return a.integer(a.token(0))
}

func (a *args) oneDuration() time.Duration {
	a.values(1, 1, a.call.name.text+"(DURATION)")
	if a.err != nil {
		return 0
	}
	return a.duration(a.token(0))
}

func parseChance(a *args) Pred {
	v := a.values(2, 2, "chance(PROBABILITY, SEED)")
	p, err := strconv.ParseFloat(v[0], 64)
	if err != nil {
		a.fail(a.token(0), "expected a probability from 0 to 1, found %q", v[0])
	}
	return Chance(p, a.seed(a.token(1)))
}

func parseQuery(a *args) Pred {
	v := a.values(1, -1, "query(PARAMETER, VALUE, ...)")
	return Query(v[0], v[1:]...)
}

const statusUsage = "CODE, REASON, MESSAGE, and then options"

// parseStatus reads code, reason and message, and the options that statusText
// prints.
func parseStatus(a *args) metav1.Status {
	values, options := a.split(3, statusUsage)
	s := metav1.Status{Code: clamp(a.integer(values[0]))}
	if len(values) > 1 {
		s.Reason = metav1.StatusReason(values[1].text)
	}
	if len(values) > 2 {
		s.Message = values[2].text
	}
	var d metav1.StatusDetails
	for _, o := range options {
		known, ok := statusOptions[o.name.text]
		if !ok {
			a.fail(o.name, "unknown option %q; known: %s", o.name.text, names(statusOptions))
			return s
		}
		inner := a.option(o)
		known(inner, &s, &d)
		a.adopt(inner)
	}
	s.Details = &d
	return s
}

// statusOptions are what can follow the message of a Status.
var statusOptions = map[string]func(*args, *metav1.Status, *metav1.StatusDetails){
	"cause": func(a *args, _ *metav1.Status, d *metav1.StatusDetails) {
		v := append(a.values(2, 3, "cause(TYPE, MESSAGE, FIELD)"), "")
		d.Causes = append(d.Causes, metav1.StatusCause{Type: metav1.CauseType(v[0]), Message: v[1], Field: v[2]})
	},
	"continue": func(a *args, s *metav1.Status, _ *metav1.StatusDetails) { s.Continue = a.oneText() },
	"group":    func(a *args, _ *metav1.Status, d *metav1.StatusDetails) { d.Group = a.oneText() },
	"kind":     func(a *args, _ *metav1.Status, d *metav1.StatusDetails) { d.Kind = a.oneText() },
	"name":     func(a *args, _ *metav1.Status, d *metav1.StatusDetails) { d.Name = a.oneText() },
	"retryAfter": func(a *args, _ *metav1.Status, d *metav1.StatusDetails) {
		wait := a.oneDuration()
		if wait%time.Second != 0 {
			a.fail(a.token(0), "expected whole seconds, found %s", wait)
		}
		d.RetryAfterSeconds = clamp(int(wait / time.Second))
	},
	"uid": func(a *args, _ *metav1.Status, d *metav1.StatusDetails) { d.UID = types.UID(a.oneText()) },
}

func (a *args) oneText() string { return a.values(1, 1, a.call.name.text+"(VALUE)")[0] }

// clamp fits n into the field; what is out of bounds is refused by the check.
func clamp(n int) int32 { return int32(max(min(n, math.MaxInt32), math.MinInt32)) }
