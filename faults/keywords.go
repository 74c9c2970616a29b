package faults

import (
	"math"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// predicates are the predicates of conditions by name. A new predicate needs a file, a line here,
// cases in testdata, and a row in doc.go.
var predicates = map[string]func(*args) Pred{
	"after":            func(a *args) Pred { return After(a.durationArg()) },
	"always":           func(a *args) Pred { a.checkNoArgs(); return Always() },
	"chance":           parseChance,
	"code":             parseMatcher(codeKind, "code(CODE, ...)"),
	"during":           parseMatcher(duringKind, "during(PHASE, ...)"),
	"event":            parseMatcher(eventKind, "event(TYPE, ...)"),
	"every":            func(a *args) Pred { return Every(a.integerArg()) },
	"first":            func(a *args) Pred { return First(a.integerArg()) },
	"initialEvents":    func(a *args) Pred { a.checkNoArgs(); return InitialEvents() },
	"initialEventsEnd": func(a *args) Pred { a.checkNoArgs(); return InitialEventsEnd() },
	"name":             parseMatcher(nameKind, "name(NAME, ...)"),
	"namespace":        parseMatcher(namespaceKind, "namespace(NAMESPACE, ...)"),
	"nth":              func(a *args) Pred { return Nth(a.integerArg()) },
	"path":             parseMatcher(pathKind, "path(PREFIX, ...)"),
	"query":            parseQuery,
	"resource":         parseMatcher(resourceKind, "resource(PLURAL[.GROUP][/SUBRESOURCE], ...)"),
	"userAgent":        parseMatcher(userAgentKind, "userAgent(PREFIX, ...)"),
	"verb":             parseMatcher(verbKind, "verb(VERB, ...)"),
	"webhook":          parseMatcher(webhookKind, "webhook(NAME, ...)"),
}

// effects are the effects by name. A new effect needs a type with a method for each phase that it
// supports, a line here, cases in testdata, and a row in doc.go.
var effects = map[string]func(*args) Effect{
	"allow":         func(a *args) Effect { a.checkNoArgs(); return Allow() },
	"delay":         func(a *args) Effect { return Delay(a.durationArg()) },
	"deny":          func(a *args) Effect { return Deny(a.stringArg()) },
	"drop":          func(a *args) Effect { a.checkNoArgs(); return Drop() },
	"duplicate":     func(a *args) Effect { a.checkNoArgs(); return Duplicate() },
	"end":           func(a *args) Effect { a.checkNoArgs(); return End() },
	"error":         func(a *args) Effect { return ErrorEvent(parseStatus(a)) },
	"forbid":        func(a *args) Effect { a.checkNoArgs(); return Forbid() },
	"goaway":        func(a *args) Effect { a.checkNoArgs(); return GoAway() },
	"hang":          func(a *args) Effect { a.checkNoArgs(); return Hang() },
	"header":        parseHeader(SetHeader),
	"ignore":        func(a *args) Effect { return Ignore(a.values(1, -1, "ignore(PARAMETER, ...)")...) },
	"inject":        func(a *args) Effect { return Inject(a.stringArg()) },
	"jitter":        parseJitter,
	"lateHeader":    func(a *args) Effect { a.checkNoArgs(); return LateHeader() },
	"overwrite":     parseOverwrite,
	"patch":         func(a *args) Effect { return Patch(a.stringArg()) },
	"raw":           parseRaw,
	"redirect":      func(a *args) Effect { return Redirect(a.stringArg()) },
	"remove":        func(a *args) Effect { return RemoveField(a.stringArg()) },
	"reorder":       func(a *args) Effect { a.checkNoArgs(); return Reorder() },
	"requestHeader": parseHeader(SetRequestHeader),
	"reset":         func(a *args) Effect { a.checkNoArgs(); return Reset() },
	"set":           parseSet,
	"skew":          func(a *args) Effect { return Skew(a.durationArg()) },
	"status":        func(a *args) Effect { return Reply(parseStatus(a)) },
	"throttle":      parseThrottle,
	"truncate":      func(a *args) Effect { return Truncate(a.integerArg()) },
	"warn":          func(a *args) Effect { return Warn(a.values(1, -1, "warn(TEXT, ...)")...) },
}

func parseMatcher(kind *matcherKind, usage string) func(*args) Pred {
	return func(a *args) Pred {
		values := a.values(1, -1, usage)
		for i, v := range values {
			if err := kind.check(v); err != nil {
				a.setError(a.token(i), "%v", err)
			}
		}
		return newMatcher(kind, values)
	}
}

func (a *args) integerArg() int {
	a.values(1, 1, a.call.name.text+"(NUMBER)")
	if a.err != nil {
		return 0
	}
	return a.parseInteger(a.token(0))
}

func (a *args) durationArg() time.Duration {
	a.values(1, 1, a.call.name.text+"(DURATION)")
	if a.err != nil {
		return 0
	}
	return a.parseDuration(a.token(0))
}

func parseChance(a *args) Pred {
	v := a.values(2, 2, "chance(PROBABILITY, SEED)")
	p, err := strconv.ParseFloat(v[0], 64)
	if err != nil {
		a.setError(a.token(0), "expected a probability from 0 to 1, found %q", v[0])
	}
	return Chance(p, a.parseSeed(a.token(1)))
}

func parseQuery(a *args) Pred {
	v := a.values(1, -1, "query(PARAMETER, VALUE, ...)")
	return Query(v[0], v[1:]...)
}

const statusUsage = "CODE, REASON, MESSAGE, and then options"

// parseStatus parses code, reason, message and the options that statusText prints.
func parseStatus(a *args) metav1.Status {
	values, options := a.valuesAndOptions(3, statusUsage)
	s := metav1.Status{Code: clampInt32(a.parseInteger(values[0]))}
	if len(values) > 1 {
		s.Reason = metav1.StatusReason(values[1].text)
	}
	if len(values) > 2 {
		s.Message = values[2].text
	}
	var d metav1.StatusDetails
	for _, o := range options {
		parseOption, ok := statusOptions[o.name.text]
		if !ok {
			a.setError(o.name, "unknown option %q; known: %s", o.name.text, sortedNames(statusOptions))
			return s
		}
		inner := a.optionArgs(o)
		parseOption(inner, &s, &d)
		a.takeError(inner)
	}
	s.Details = &d
	return s
}

// statusOptions are the options of status and error.
var statusOptions = map[string]func(*args, *metav1.Status, *metav1.StatusDetails){
	"cause": func(a *args, _ *metav1.Status, d *metav1.StatusDetails) {
		v := append(a.values(2, 3, "cause(TYPE, MESSAGE, FIELD)"), "")
		d.Causes = append(d.Causes, metav1.StatusCause{Type: metav1.CauseType(v[0]), Message: v[1], Field: v[2]})
	},
	"continue": func(a *args, s *metav1.Status, _ *metav1.StatusDetails) { s.Continue = a.stringArg() },
	"group":    func(a *args, _ *metav1.Status, d *metav1.StatusDetails) { d.Group = a.stringArg() },
	"kind":     func(a *args, _ *metav1.Status, d *metav1.StatusDetails) { d.Kind = a.stringArg() },
	"name":     func(a *args, _ *metav1.Status, d *metav1.StatusDetails) { d.Name = a.stringArg() },
	"retryAfter": func(a *args, _ *metav1.Status, d *metav1.StatusDetails) {
		wait := a.durationArg()
		if wait%time.Second != 0 {
			a.setError(a.token(0), "expected whole seconds, found %s", wait)
		}
		d.RetryAfterSeconds = clampInt32(int(wait / time.Second))
	},
	"uid": func(a *args, _ *metav1.Status, d *metav1.StatusDetails) { d.UID = types.UID(a.stringArg()) },
}

func (a *args) stringArg() string { return a.values(1, 1, a.call.name.text+"(VALUE)")[0] }

// clampInt32 limits n to the range of int32. Values out of range are rejected by check.
func clampInt32(n int) int32 { return int32(max(min(n, math.MaxInt32), math.MinInt32)) }
