package faults

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/fakeapi/internal/requestinfo"
)

// matcher compares a field of an Op with a list of values.
type matcher struct {
	kind   *matcherKind
	values []string
}

type matcherKind struct {
	name  string
	read  facts
	match func(op Op, word string) bool
	check func(word string) error
}

func (m *matcher) Eval(op Op) bool {
	for _, w := range m.values {
		if m.kind.match(op, w) {
			return true
		}
	}
	return false
}

func (m *matcher) String() string             { return callText(m.kind.name, quoteAll(m.values)...) }
func (m *matcher) facts() facts               { return m.kind.read }
func (m *matcher) newInstance(time.Time) Pred { return m }

func (m *matcher) check() error {
	if len(m.values) == 0 {
		return errors.New(m.kind.name + " needs at least one value")
	}
	for _, w := range m.values {
		if err := m.kind.check(w); err != nil {
			return err
		}
	}
	return nil
}

// newMatcher returns a matcher for values of any string type.
func newMatcher[S ~string](kind *matcherKind, words []S) Pred {
	m := &matcher{kind, make([]string, len(words))}
	for i, w := range words {
		m.values[i] = string(w)
	}
	return m
}

// verbNames are the verbs of rules, in the order in which errors list them.
var verbNames = []string{
	requestinfo.Get, requestinfo.List, requestinfo.Watch, requestinfo.Create, requestinfo.Update,
	requestinfo.Patch, requestinfo.Delete, requestinfo.DeleteCollection,
}

// Verb matches resource requests with one of the verbs get, list, watch, create, update, patch,
// delete and deletecollection. Discovery and health checks are not resource requests; match them
// with [Path].
func Verb(verbs ...string) Pred { return newMatcher(verbKind, verbs) }

var verbKind = &matcherKind{"verb", factVerb,
	func(op Op, w string) bool { return op.Verb == w },
	func(w string) error { return checkOneOf("verb", w, verbNames) }}

// Resource matches requests for one of the resources. A resource is a plural name: "pods" is in any
// group, "deployments.apps" in the group after the dot, and "events." with a trailing dot in the
// core group. A subresource follows a slash, as in "pods/status"; the plural alone does not match
// it. A "*" matches any plural or any subresource: "*/scale", "pods/*".
func Resource(resources ...string) Pred { return newMatcher(resourceKind, resources) }

var resourceKind = &matcherKind{"resource", factResource, matchesResource, checkResource}

func matchesResource(op Op, w string) bool {
	if op.Resource == "" {
		return false
	}
	target, sub, _ := strings.Cut(w, "/")
	if sub != op.Subresource && (sub != "*" || op.Subresource == "") {
		return false
	}
	plural, group, grouped := strings.Cut(target, ".")
	return (plural == "*" || plural == op.Resource) && (!grouped || group == op.Group)
}

func checkResource(w string) error {
	target, sub, slash := strings.Cut(w, "/")
	plural, _, _ := strings.Cut(target, ".")
	if plural == "" || slash && (sub == "" || strings.Contains(sub, "/")) {
		return fmt.Errorf("%q is not a resource: expected PLURAL[.GROUP][/SUBRESOURCE], for instance deployments.apps/scale", w)
	}
	return nil
}

// Namespace matches operations in one of the namespaces. A trailing "*" matches any suffix. A
// request for all namespaces has no namespace, but the frames of a watch have the namespaces of
// their objects.
func Namespace(namespaces ...string) Pred { return newMatcher(namespaceKind, namespaces) }

var namespaceKind = &matcherKind{"namespace", factNamespace,
	func(op Op, w string) bool { return op.Namespace != "" && matchesPattern(w, op.Namespace) },
	checkNotEmpty("namespace")}

// Name matches operations on objects with one of the names. A trailing "*" matches any suffix. See
// [Op] for the operations that have a name.
func Name(names ...string) Pred { return newMatcher(nameKind, names) }

var nameKind = &matcherKind{"name", factName,
	func(op Op, w string) bool { return op.Name != "" && matchesPattern(w, op.Name) },
	checkNotEmpty("name")}

// UserAgent matches requests whose User-Agent starts with one of the prefixes.
func UserAgent(prefixes ...string) Pred { return newMatcher(userAgentKind, prefixes) }

var userAgentKind = &matcherKind{"userAgent", factClient,
	func(op Op, w string) bool { return strings.HasPrefix(op.UserAgent, w) },
	checkNotEmpty("prefix")}

// Path matches requests whose URL path starts with one of the prefixes, including requests that are
// not resource requests: "/readyz", or "/apis" for discovery and resources of named groups.
func Path(prefixes ...string) Pred { return newMatcher(pathKind, prefixes) }

var pathKind = &matcherKind{"path", factClient,
	func(op Op, w string) bool { return strings.HasPrefix(op.Path, w) },
	func(w string) error {
		if !strings.HasPrefix(w, "/") {
			return fmt.Errorf("%q is not a path: expected one that starts with /", w)
		}
		return nil
	}}

// matchesPattern reports whether s matches pattern, in which a trailing "*" matches any suffix.
func matchesPattern(pattern, s string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(s, prefix)
	}
	return pattern == s
}

func checkNotEmpty(what string) func(string) error {
	return func(w string) error {
		if w == "" {
			return errors.New("an empty " + what + " matches nothing")
		}
		return nil
	}
}

func checkOneOf(what, w string, known []string) error {
	if slices.Contains(known, w) {
		return nil
	}
	return fmt.Errorf("unknown %s %q; known: %s", what, w, strings.Join(known, ", "))
}
