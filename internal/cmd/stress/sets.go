package stress

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/fakeapi/faults"
)

// Set is a set of faults for one run of a command.
type Set struct {
	Name    string
	Summary string // one line
	// Rules are the fault rules as text, one per line, as FAKEAPI_FAULTS accepts them; "" for none.
	Rules string
	// WatchCacheDelay is the value of FAKEAPI_WATCH_CACHE_DELAY; 0 for none.
	WatchCacheDelay time.Duration
	// NeedsRetries reports whether tests survive the set only if their own requests are repeated.
	NeedsRetries bool
}

// None is the name of the run without faults.
const None = "none"

// Options are the parameters of the sets.
type Options struct {
	// Seed is the seed of all random conditions.
	Seed uint64
	// UserAgent is the beginning of the user agent of controllers whose writes of all objects may
	// fail; "" if it is not known.
	UserAgent string
}

// builtinGroups has the path prefixes of the API groups of a cluster itself. Tests write the status
// of their objects, because no controller does.
const builtinGroups = "/apis/admissionregistration.k8s.io/, /apis/apiextensions.k8s.io/, /apis/apiregistration.k8s.io/, /apis/apps/, " +
	"/apis/autoscaling/, /apis/batch/, /apis/certificates.k8s.io/, /apis/coordination.k8s.io/, /apis/discovery.k8s.io/, /apis/events.k8s.io/, " +
	"/apis/flowcontrol.apiserver.k8s.io/, /apis/networking.k8s.io/, /apis/node.k8s.io/, /apis/policy/, /apis/rbac.authorization.k8s.io/, " +
	"/apis/resource.k8s.io/, /apis/scheduling.k8s.io/, /apis/storage.k8s.io/"

// expiryCounts are the events at which watches expire: many at the beginning, when a suite starts
// its controllers, and fewer later, because client-go waits longer after each failure of a watch.
func expiryCounts() []int { return []int{2, 5, 11, 23, 47, 95, 191, 383} }

// Sets returns the sets of faults in the order in which they run. Those that need retries come
// last.
func Sets(o Options) []Set {
	// controllerWrites are writes that usually controllers make, and not tests.
	controllerWrites := "verb(update, patch) && resource(*/status) && path(/apis/) && !path(" + builtinGroups + ")"
	leases := "verb(update) && resource(leases.coordination.k8s.io)"
	const changes = "event(ADDED, MODIFIED, DELETED) && !initialEvents"
	const requests = "verb(get, list, create, update, patch, delete, deletecollection)"
	chance := func(p float64) string { return fmt.Sprintf("chance(%v, %d)", p, o.Seed) }

	conflicts := []string{
		"first-conflict: when " + controllerWrites + " && first(1) do status(409)",
		"conflict: when " + controllerWrites + " && every(2) do status(409)",
		"lease-conflict: when " + leases + " && every(4) do status(409)",
	}
	lost := []string{
		"first-lost-status: when " + controllerWrites + " && during(committed) && first(1) do reset",
		"lost-status: when " + controllerWrites + " && during(committed) && every(2) do reset",
		"lost-event: when verb(create, patch) && resource(events., events.events.k8s.io) && during(committed) && every(3) do reset",
		"lost-lease: when " + leases + " && during(committed) && every(5) do reset",
	}
	if o.UserAgent != "" {
		agent := fmt.Sprintf("userAgent(%q)", o.UserAgent)
		conflicts = append(conflicts, "agent-conflict: when "+agent+" && verb(update) && !resource(*/status) && "+chance(0.3)+" do status(409)")
		lost = append(lost, "agent-lost: when "+agent+" && verb(create, update, patch, delete) && !resource(*/status) && during(committed) && "+chance(0.2)+" do reset")
	}

	cuts := []string{
		"drop-bookmarks: when event(BOOKMARK) && !initialEventsEnd do drop",
		"end: when " + changes + " && every(4) do end",
	}
	for _, n := range []int{3, 12, 40, 150} {
		cuts = append(cuts, fmt.Sprintf("cut-%d: when %s && nth(%d) do reset", n, changes, n))
	}
	expiries := []string{
		"continue: when verb(list) && query(continue) && every(2) do status(410)",
		"expire-other: when " + changes + " && !query(allowWatchBookmarks) && every(3) do error(410)", // no informers
	}
	for _, n := range expiryCounts() {
		expiries = append(expiries, fmt.Sprintf("expire-%d: when %s && nth(%d) do error(410)", n, changes, n))
	}
	var errors []string
	for i, code := range []int{429, 500, 503, 504} {
		errors = append(errors, fmt.Sprintf("error-%d: when %s && every(%d) do status(%d, retryAfter(1s))", code, requests, []int{31, 47, 71, 97}[i], code))
	}

	set := func(name, summary string, rules ...string) Set {
		return Set{Name: name, Summary: summary, Rules: strings.Join(rules, "\n")}
	}
	harsh := func(name, summary string, rules ...string) Set {
		s := set(name, summary, rules...)
		s.NeedsRetries = true
		return s
	}
	return []Set{
		set("watch-cuts", "watches end, and some break off, in the middle of changes; there are no bookmarks", cuts...),
		set("expiries", "the history of watches and of continue tokens expires: 410, after which clients list again", expiries...),
		set("conflicts", "409 for the status of custom resources, and for Leases", conflicts...),
		set("latency", "20 to 100 ms for each request, 1 to 20 ms for each event",
			fmt.Sprintf("latency: when during(before) do delay(20ms), jitter(80ms, %d)", o.Seed),
			fmt.Sprintf("watch-latency: when during(stream) && !initialEvents do delay(1ms), jitter(19ms, %d)", o.Seed)),
		set("lost-replies", "the status of custom resources, Events and Leases are written, and the connection breaks before the response", lost...),
		set("server-errors", "429, 500, 503 and 504 with Retry-After for every kind of request, which client-go repeats", errors...),
		{
			Name: "stale", Summary: "watches, and so the caches of clients, are 300 ms behind the objects",
			WatchCacheDelay: 300 * time.Millisecond,
		},
		harsh("all-conflicts", "409 for updates of all objects", "conflict: when verb(update) && "+chance(0.3)+" do status(409)"),
		harsh("all-lost-replies", "writes of all objects whose response is lost",
			"lost: when verb(create, update, patch, delete) && during(committed) && "+chance(0.2)+" do reset"),
		harsh("all-errors", "500 and 503 without Retry-After, which clients do not repeat",
			"error-500: when "+requests+" && "+chance(0.05)+" do status(500)", "error-503: when "+requests+" && every(23) do status(503)"),
	}
}

// Select returns the sets with these names, or without names all that do not need retries. An
// unknown name is an error.
func Select(sets []Set, names []string, all bool) ([]Set, error) {
	var known []string
	for _, s := range sets {
		known = append(known, s.Name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("%q is none of %s", name, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(sets, func(s Set) bool {
		if len(names) > 0 {
			return !slices.Contains(names, s.Name)
		}
		return s.NeedsRetries && !all
	}), nil
}

// Validate returns an error if the rules of a set are invalid, as with a user agent that is none.
func (s Set) Validate() error {
	_, err := faults.ParseText(s.Rules)
	return err
}
