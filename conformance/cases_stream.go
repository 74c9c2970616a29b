package conformance

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

const (
	docStreams    = "Kubernetes API Concepts, Streaming lists; KEP-3157"
	streamingList = "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
)

// streamCases returns the cases about streaming lists (SI-01 to SI-04, SI-07, SI-08, SI-10, SI-11,
// SI-13, SI-14).
func streamCases() []Case {
	return slices.Concat(
		onBoth(Case{
			ID: "SI-01", Level: Must, Title: "a streaming list sends ADDED for every object, a bookmark that ends them, then changes",
			Why:    "reflectors build their state from it",
			Source: docStreams,
		}, onStreamingList("", checkInitialEventsThenChanges)),
		onBoth(Case{
			ID: "SI-02", Level: Must, Title: "without resourceVersion, the initial events are not older than the request",
			Why:    "by default a client gets the current state",
			Source: docStreams,
		}, checkRecentStreams),
		onBoth(Case{
			ID: "SI-03", Level: Must, Title: "at resourceVersion 0, the initial events are of any state, and the following events lead to the current one",
			Why:    "informers start from it at low cost",
			Source: docStreams,
		}, checkStaleStream),
		onBoth(Case{
			ID: "SI-04", Level: Must, Title: "at resourceVersion N, the initial events and their bookmark are not older than N",
			Why:    "a client must not get an older state than it has seen",
			Source: docStreams,
		}, func(ctx context.Context, s *session, c collection) error {
			if err := s.skipWithoutWatchList(ctx, c); err != nil {
				return err
			}
			var names []string
			for _, name := range []string{"a", "b", "c"} {
				made, err := c.create(ctx, c.object(name))
				if err != nil {
					return err
				}
				names = append(names, name)
				if err := expectRecentStream(ctx, c, "&resourceVersion="+made.ResourceVersion, made.ResourceVersion, names...); err != nil {
					return err
				}
			}
			return nil
		}),
		onBoth(Case{
			ID: "SI-07", Level: Must, Title: "with sendInitialEvents=false there are no initial events, only later changes",
			Why:    "a client that already has the state does not need it",
			Source: docStreams,
		}, checkNoInitialEvents),
		onBoth(Case{
			ID: "SI-08", Level: Must, Title: "a streaming list of an empty collection sends only the bookmark",
			Why:    "the client would wait for its state forever",
			Source: docStreams,
		}, func(ctx context.Context, s *session, c collection) error {
			w, err := s.watchList(ctx, c, "")
			if err != nil {
				return err
			}
			defer w.close()
			_, err = w.wantInitialEvents()
			return err
		}),
		onBoth(Case{
			ID: "SI-10", Level: Must, Title: "a watch that allows bookmarks, without resourceVersion or at 0, is a streaming list",
			Why:    "kube-apiserver does so since 1.34",
			Source: "apiserver handlers/get.go",
		}, func(ctx context.Context, s *session, c collection) error {
			if err := s.skipWithoutWatchList(ctx, c); err != nil {
				return err
			}
			for _, name := range []string{"a", "b"} {
				if _, err := c.create(ctx, c.object(name)); err != nil {
					return err
				}
			}
			for step, version := range []string{"", "&resourceVersion=0"} {
				if err := checkImplicitStream(ctx, c, "?watch=true&allowWatchBookmarks=true"+version, strconv.Itoa(step)); err != nil {
					return err
				}
			}
			return nil
		}),
		onBoth(Case{
			ID: "SI-11", Level: Must, Title: "a streaming list ignores limit",
			Why:    "a partial state would be treated as complete",
			Source: docStreams,
		}, onStreamingList("&limit=1", func(_ context.Context, _ collection, w *watcher) error {
			_, err := w.wantInitialEvents("a", "b")
			return err
		})),
		onBoth(Case{
			ID: "SI-13", Level: Must, Title: "initial events match the selectors",
			Why:    "events that do not match cost memory and time",
			Source: docStreams,
		}, onFiveObjects(func(ctx context.Context, s *session, c collection) error {
			if err := s.skipWithoutWatchList(ctx, c); err != nil {
				return err
			}
			for selector, names := range sortedByKey(map[string][]string{
				"&labelSelector=app=x": {"a", "c", "e"}, "&labelSelector=app=none": nil, "&fieldSelector=metadata.name=b": {"b"},
			}) {
				if err := expectInitialEvents(ctx, c, streamingList+selector, names...); err != nil {
					return err
				}
			}
			return nil
		})),
		onBoth(Case{
			ID: "SI-14", Level: Must, Title: "the initial events equal the list at the resourceVersion of their bookmark",
			Why:    "caches that are filled by streams and by lists must be equal",
			Source: docStreams,
		}, onStreamingList("", checkStreamEqualsList)),
	)
}

// skipWithoutWatchList skips the case if the server has no streaming lists. Clients use lists then.
func (s *session) skipWithoutWatchList(ctx context.Context, c collection) error {
	w, err := s.watchList(ctx, c, "")
	if err == nil {
		w.close()
	}
	return err
}

// watchListDisabled is the message of servers without streaming lists.
const watchListDisabled = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"

// watchList opens a streaming list, or skips the case if the server has none. The parameters start
// with "&" or are empty.
func (s *session) watchList(ctx context.Context, c collection, parameters string) (*watcher, error) {
	w, err := c.watch(ctx, streamingList+parameters)
	if err != nil && strings.Contains(err.Error(), watchListDisabled) {
		return nil, s.skipWithoutFeature(WatchList, "the server has no streaming lists")
	}
	return w, err
}

// streamCheck checks a streaming list that was opened when the collection had the objects a and b.
type streamCheck func(ctx context.Context, c collection, w *watcher) error

func onStreamingList(parameters string, check streamCheck) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		for _, name := range []string{"a", "b"} {
			if _, err := c.create(ctx, c.object(name)); err != nil {
				return err
			}
		}
		w, err := s.watchList(ctx, c, parameters)
		if err != nil {
			return err
		}
		defer w.close()
		return check(ctx, c, w)
	}
}

// wantInitialEvents waits for the initial events of exactly these objects, and returns the bookmark
// after them.
func (w *watcher) wantInitialEvents(names ...string) (event, error) {
	if err := w.wantAdded(names...); err != nil {
		return event{}, err
	}
	e, err := w.next()
	if err == nil && !e.endsInitialEvents() {
		err = w.errorf("expected the bookmark that ends the initial events, got %v", e)
	}
	return e, err
}

// expectInitialEvents opens a watch and expects only its initial events.
func expectInitialEvents(ctx context.Context, c collection, query string, names ...string) error {
	w, err := c.watch(ctx, query)
	if err != nil {
		return err
	}
	defer w.close()
	_, err = w.wantInitialEvents(names...)
	return err
}

// checkImplicitStream expects the initial events of a and b, and then a change of a, with this
// value of its annotation.
func checkImplicitStream(ctx context.Context, c collection, query, value string) error {
	w, err := c.watch(ctx, query)
	if err != nil {
		return err
	}
	defer w.close()
	if _, err := w.wantInitialEvents("a", "b"); err != nil {
		return err
	}
	changed, err := c.annotate(ctx, "a", value)
	if err != nil {
		return err
	}
	return w.wantAt("MODIFIED", "a", changed.ResourceVersion)
}

func checkInitialEventsThenChanges(ctx context.Context, c collection, w *watcher) error {
	if _, err := w.wantInitialEvents("a", "b"); err != nil {
		return err
	}
	changed, err := c.annotate(ctx, "a", "1")
	if err != nil {
		return err
	}
	if err := w.wantAt("MODIFIED", "a", changed.ResourceVersion); err != nil {
		return err
	}
	if err := c.delete(ctx, "b"); err != nil {
		return err
	}
	_, err = w.want("DELETED", "b")
	return err
}

// expectRecentStream expects a streaming list of these objects, with a bookmark at the
// resourceVersion least or a later one.
func expectRecentStream(ctx context.Context, c collection, parameters, least string, names ...string) error {
	w, err := c.watch(ctx, streamingList+parameters)
	if err != nil {
		return err
	}
	defer w.close()
	bookmark, err := w.wantInitialEvents(names...)
	if err != nil {
		return err
	}
	if err := expectNotOlder(bookmark.meta.ResourceVersion, least); err != nil {
		return w.errorf("the bookmark is too old: %w", err)
	}
	return nil
}

func checkRecentStreams(ctx context.Context, s *session, c collection) error {
	if err := s.skipWithoutWatchList(ctx, c); err != nil {
		return err
	}
	var names []string
	for _, name := range fiveNames {
		made, err := c.create(ctx, c.object(name))
		if err != nil {
			return err
		}
		names = append(names, name)
		if err := expectRecentStream(ctx, c, "", made.ResourceVersion, names...); err != nil {
			return err
		}
	}
	return nil
}

// checkStaleStream applies the events of a streaming list of any state until the current one, and
// compares the result.
func checkStaleStream(ctx context.Context, s *session, c collection) error {
	h, err := c.history(ctx)
	if err != nil {
		return err
	}
	w, err := s.watchList(ctx, c, "&resourceVersion=0")
	if err != nil {
		return err
	}
	defer w.close()
	if _, err := c.create(ctx, c.object("d")); err != nil {
		return err
	}
	state, ended := map[string]string{}, false
	for state["d"] == "" || !ended {
		e, err := w.next()
		if err != nil {
			return err
		}
		switch {
		case e.endsInitialEvents():
			ended = true
		case e.Type == "BOOKMARK":
		case !ended && e.Type != "ADDED":
			return w.errorf("expected only ADDED before the bookmark that ends the initial events, got %v", e)
		case e.Type == "DELETED":
			delete(state, e.meta.Name)
		default:
			state[e.meta.Name] = e.meta.ResourceVersion
		}
	}
	if got := slices.Sorted(maps.Keys(state)); !slices.Equal(got, []string{"a", "b", "c", "d"}) || state["a"] != h.newA {
		return w.errorf("expected a, b, c and d after all events, with a at %s, got %v", h.newA, state)
	}
	return nil
}

func checkNoInitialEvents(ctx context.Context, s *session, c collection) error {
	if err := s.skipWithoutWatchList(ctx, c); err != nil {
		return err
	}
	made, err := c.create(ctx, c.object("a"))
	if err != nil {
		return err
	}
	// A cache that lags would send the object later, and not as an initial event.
	if _, err := c.list(ctx, "?resourceVersionMatch=NotOlderThan&resourceVersion="+made.ResourceVersion); err != nil {
		return err
	}
	const quiet = "?watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan"
	for i, query := range []string{quiet, quiet + "&resourceVersion=0"} {
		w, err := c.watch(ctx, query)
		if err != nil {
			return err
		}
		defer w.close()
		name := fmt.Sprintf("b%d", i)
		if _, err := c.create(ctx, c.object(name)); err != nil {
			return err
		}
		if err := w.wantAdded(name); err != nil {
			return err
		}
	}
	return nil
}

func checkStreamEqualsList(ctx context.Context, c collection, w *watcher) error {
	var streamed []string
	e, err := w.next()
	for ; err == nil && !e.endsInitialEvents(); e, err = w.next() {
		streamed = append(streamed, e.meta.Name+"@"+e.meta.ResourceVersion)
	}
	if err != nil {
		return err
	}
	bookmark := e.meta.ResourceVersion
	if _, err := c.annotate(ctx, "a", "1"); err != nil {
		return err
	}
	l, err := c.list(ctx, "?resourceVersionMatch=Exact&resourceVersion="+bookmark)
	if err != nil {
		return err
	}
	var listed []string
	for _, item := range l.Items {
		listed = append(listed, item.Name+"@"+item.ResourceVersion)
	}
	if !slices.Equal(streamed, listed) {
		return w.errorf("expected initial events as in the list %v at the bookmark's resourceVersion %s", listed, bookmark)
	}
	return nil
}
