package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	docBookmarks = "Kubernetes API Concepts, Watch bookmarks"
	docCacher    = "apiserver storage/cacher"
)

// bookmarkCases returns the cases about bookmarks (BM). Servers must send only the bookmark that
// ends the initial events; cases that need other bookmarks are skipped if none is sent.
func bookmarkCases() []Case {
	return slices.Concat(
		onBoth(Case{
			ID: "BM-01", Level: Must, Title: "there are no bookmarks without allowWatchBookmarks=true",
			Why:    "older clients end a watch at an event of an unknown type",
			Source: docBookmarks,
		}, checkNoBookmarks),
		onBoth(Case{
			ID: "BM-02", Level: Must, Title: "a bookmark is an object of the watched kind with only a resourceVersion",
			Why:    "typed clients decode it as that kind, and must not treat it as an object",
			Source: docBookmarks,
		}, onBookmarkedStream(func(v bookmarkedStream) error {
			for _, e := range []event{v.first, v.last} {
				if err := v.expectBare(e); err != nil {
					return err
				}
			}
			return nil
		})),
		onBoth(Case{
			ID: "BM-03", Level: Must, Title: "all changes up to the resourceVersion of a bookmark have been sent before it",
			Why:    "the client resumes from it, and would never see skipped changes",
			Source: docBookmarks,
		}, onBookmarkedStream(func(v bookmarkedStream) error {
			if len(v.missed) > 0 {
				return v.errorf("expected the changes at %v before a bookmark at %s", v.missed, v.last.meta.ResourceVersion)
			}
			return nil
		})),
		onBoth(Case{
			ID: "BM-04", Level: Must, Title: "a watch can resume from a bookmark",
			Why:    "this is the purpose of bookmarks",
			Source: docBookmarks,
		}, checkResumeAtBookmark),
		onBoth(Case{
			ID: "BM-06", Level: Must, Title: "the bookmark that ends the initial events is annotated k8s.io/initial-events-end: true",
			Why:    "a reflector treats its state as complete from there on",
			Source: docStreams,
		}, onStreamingList("", func(ctx context.Context, c collection, w *watcher) error {
			if err := w.wantAdded("a", "b"); err != nil {
				return err
			}
			e, err := w.next()
			if err != nil {
				return err
			}
			if want := map[string]string{metav1.InitialEventsAnnotationKey: "true"}; e.Type != "BOOKMARK" || !equality.Semantic.DeepEqual(e.meta.Annotations, want) {
				return w.errorf("expected a BOOKMARK annotated %v, got %v annotated %v", want, e, e.meta.Annotations)
			}
			return nil
		})),
		onBoth(Case{
			ID: "BM-07", Level: Must, Title: "no other bookmark of the stream has that annotation",
			Why:    "a reflector treats a second end of the initial events as an error",
			Source: docStreams + "; " + docCacher,
		}, onBookmarkedStream(func(v bookmarkedStream) error {
			for _, e := range v.events {
				if e.endsInitialEvents() {
					return v.errorf("expected only the first bookmark to be annotated, not the one at %s", e.meta.ResourceVersion)
				}
			}
			return nil
		})),
		onBoth(Case{
			ID: "BM-08/deadline", Level: Should, Title: "a bookmark is sent about two seconds before a watch ends by its timeoutSeconds",
			Why:    "the client resumes from a recent state, even if no objects changed",
			Source: docCacher,
		}, checkBookmarkBeforeDeadline),
		[]Case{onSecrets(Case{
			ID: "BM-08/minute", Level: Should, Title: "a bookmark is sent about once a minute, and the last one about two seconds before the end",
			Why:    "after a broken connection a client replays at most a minute of changes",
			Source: docCacher, takes: 100 * time.Second,
		}, checkPeriodicBookmarks)},
		onBoth(Case{
			ID: "BM-09", Level: Must, Title: "resourceVersions of bookmarks never decrease, and no event that a bookmark covers follows it",
			Why:    "the client resumes from the last bookmark, and would see a change twice or never",
			Source: docBookmarks + "; " + docCacher,
		}, onBookmarkedStream(func(v bookmarkedStream) error {
			last := v.first.meta.ResourceVersion
			for _, e := range v.events {
				if err := expectNotOlder(e.meta.ResourceVersion, last); err != nil {
					return v.errorf("%v came after a bookmark at %s", e, last)
				}
				if e.Type == "BOOKMARK" {
					last = e.meta.ResourceVersion
				} else if e.meta.ResourceVersion == last {
					return v.errorf("%v came after a bookmark with a later resourceVersion", e)
				}
			}
			return nil
		})),
		onBoth(Case{
			ID: "BM-09/ahead", Level: Must, Title: "a bookmark never has a resourceVersion that the server has not reached",
			Why:    "the client resumes from it, and would miss the change that reaches it",
			Source: docBookmarks,
		}, checkBookmarkNotAhead),
		onBoth(Case{
			ID: "BM-10", Level: Must, Title: "without allowWatchBookmarks, a streaming list sends its ADDED events but not the bookmark that ends them",
			Why:    "a client that did not request bookmarks cannot handle them",
			Source: docStreams,
		}, func(ctx context.Context, s *session, c collection) error {
			if err := s.skipWithoutWatchList(ctx, c); err != nil {
				return err
			}
			for _, name := range []string{"a", "b"} {
				if _, err := c.create(ctx, c.object(name)); err != nil {
					return err
				}
			}
			return expectAddedThenEnd(ctx, c, "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=3", "a", "b")
		}),
	)
}

// endsInitialEvents reports whether the event is the bookmark that ends the initial events.
func (e event) endsInitialEvents() bool {
	return e.Type == "BOOKMARK" && e.meta.Annotations[metav1.InitialEventsAnnotationKey] == "true"
}

// checkNoBookmarks watches until a timeout before which a bookmark would be sent.
func checkNoBookmarks(ctx context.Context, _ *session, c collection) error {
	var watches []*watcher
	for _, parameter := range []string{"", "&allowWatchBookmarks=false"} {
		w, err := c.watch(ctx, "?watch=true&timeoutSeconds=12"+parameter)
		if err != nil {
			return err
		}
		defer w.close()
		watches = append(watches, w)
	}
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	for _, w := range watches {
		if err := w.wantAdded("a"); err != nil {
			return err
		}
		if err := w.wantEnd(); err != nil {
			return err
		}
	}
	return nil
}

// bookmarkedStream has the events of a stream with bookmarks: the initial objects a and b, the
// bookmark after them, changes, and a bookmark that covers the changes.
type bookmarkedStream struct {
	*watcher
	c           collection
	first, last event    // the bookmarks
	events      []event  // events after the first bookmark
	writes      []string // resourceVersions of the changes
	missed      []string // resourceVersions of changes that were not sent before the last bookmark
}

// onBookmarkedStream returns a check of a stream of a few seconds in which a bookmark is due. The
// case is skipped if there was none.
func onBookmarkedStream(check func(bookmarkedStream) error) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		if err := s.skipWithoutWatchList(ctx, c); err != nil {
			return err
		}
		for _, name := range []string{"a", "b"} {
			if _, err := c.create(ctx, c.object(name)); err != nil {
				return err
			}
		}
		w, err := c.watch(ctx, streamingList+"&timeoutSeconds=3")
		if err != nil {
			return err
		}
		defer w.close()
		v := bookmarkedStream{watcher: w, c: c}
		if v.first, err = w.wantInitialEvents("a", "b"); err != nil {
			return err
		}
		if err := v.makeChanges(ctx); err != nil {
			return err
		}
		if err := v.readEvents(); err != nil {
			return err
		}
		if v.last.Type == "" {
			return s.skipf("the server sent no bookmark, which is allowed")
		}
		return check(v)
	}
}

func (s *bookmarkedStream) makeChanges(ctx context.Context) error {
	for step, name := range []string{"b", "a", "b"} {
		changed, err := s.c.annotate(ctx, name, strconv.Itoa(step))
		if err != nil {
			return err
		}
		s.writes = append(s.writes, changed.ResourceVersion)
	}
	return nil
}

// readEvents reads events until all changes and a bookmark that covers them were sent, or the
// stream ends.
func (s *bookmarkedStream) readEvents() error {
	missing := slices.Clone(s.writes)
	for s.last.Type == "" || len(missing) > 0 {
		e, err := s.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		s.events = append(s.events, e)
		missing = slices.DeleteFunc(missing, func(version string) bool { return e.Type != "BOOKMARK" && version == e.meta.ResourceVersion })
		if e.Type == "BOOKMARK" && s.last.Type == "" && expectNotOlder(e.meta.ResourceVersion, s.writes[len(s.writes)-1]) == nil {
			s.last, s.missed = e, slices.Clone(missing)
		}
	}
	return nil
}

// expectBare expects a bookmark without fields of an object.
func (s bookmarkedStream) expectBare(e event) error {
	want := metav1.PartialObjectMetadata{}
	want.APIVersion, want.Kind = s.c.apiVersion, s.c.kind
	want.ResourceVersion = e.meta.ResourceVersion
	if e.endsInitialEvents() {
		want.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	}
	if e.meta.ResourceVersion == "" || !equality.Semantic.DeepEqual(e.meta, want) {
		return s.errorf("expected a bookmark of %s %s with a resourceVersion only, got %s", s.c.apiVersion, s.c.kind, excerpt(e.Object))
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(e.Object, &fields); err != nil {
		return s.errorf("expected an object in a bookmark: %w", err)
	}
	for name := range fields {
		if !slices.Contains([]string{"apiVersion", "kind", "metadata"}, name) {
			return s.errorf("expected no field %s in a bookmark, got %s", name, excerpt(e.Object))
		}
	}
	return nil
}
