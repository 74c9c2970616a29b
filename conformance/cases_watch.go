package conformance

import (
	"context"
	"slices"
	"strconv"
	"time"
)

const docWatch = "Kubernetes API Concepts, Efficient detection of changes"

// watchCases returns the cases about the events of watches (WA).
func watchCases() []Case {
	return slices.Concat(
		onBoth(Case{
			ID: "WA-01/headers", Level: Must, Title: "the headers of a watch are sent before its first event",
			Why:    "a client must know that the watch has started before it acts",
			Source: docWatch + "; apiserver handlers/watch.go",
		}, func(ctx context.Context, s *session, c collection) error {
			l, err := c.list(ctx, "")
			if err != nil {
				return err
			}
			// watch waits for the headers of the response, and no event is sent before the create.
			w, err := c.watch(ctx, "?watch=true&resourceVersion="+l.Metadata.ResourceVersion)
			if err != nil {
				return err
			}
			defer w.close()
			if r := w.response; r.ProtoMajor == 1 && !slices.Contains(r.TransferEncoding, "chunked") {
				return w.errorf("expected Transfer-Encoding chunked, got %q and Content-Length %d", r.TransferEncoding, r.ContentLength)
			}
			if _, err := c.create(ctx, c.object("a")); err != nil {
				return err
			}
			return w.wantAdded("a")
		}),
		onBoth(Case{
			ID: "WA-01/objects", Level: Must, Title: "events contain the complete object, with kind and apiVersion, as in GET",
			Why:    "informers serve reads from watch events",
			Source: docWatch,
		}, checkWholeObjects),
		onBoth(Case{
			ID: "WA-02", Level: Must, Title: "events are ADDED, MODIFIED, DELETED, BOOKMARK or ERROR",
			Why:    "clients end a watch at an event of an unknown type",
			Source: docWatch,
		}, checkEventTypes),
		onBoth(Case{
			ID: "WA-03", Level: Must, Title: "a watch from N sends every change after N, in order, and none before",
			Why:    "caches follow the server by it",
			Source: docWatch,
		}, checkEveryChange),
		onBoth(Case{
			ID: "WA-04", Level: Must, Title: "resourceVersions on a stream never decrease",
			Why:    "clients resume from the last resourceVersion",
			Source: docWatch + "; apiserver storage/cacher",
		}, checkVersionsNeverDecrease),
		onBoth(Case{
			ID: "WA-16", Level: Must, Title: "timeoutSeconds ends the stream without ERROR",
			Why:    "clients resume the watch instead of listing again",
			Source: docWatch,
		}, checkTimeoutSeconds),
		onBoth(Case{
			ID: "WA-24", Level: Must, Title: "two watches send the same changes in the same order",
			Why:    "replicas of a controller must reach the same state",
			Source: docWatch,
		}, checkSameOrder),
		onBoth(Case{
			ID: "WA-25", Level: Must, Title: "a watch from a recent resourceVersion replays the changes since then",
			Why:    "clients resume after a broken connection",
			Source: "Kubernetes API Concepts; apiserver storage/cacher/watch_cache.go",
		}, checkReplay),
		[]Case{onSecrets(Case{
			ID: "WA-25/window", Level: Must, Title: "a watch from a resourceVersion of more than a minute ago replays the changes since then",
			Why:    "clients resume after a failure of the network",
			Source: "apiserver storage/cacher/watch_cache.go", takes: historyWindow,
		}, checkHistoryWindow)},
		[]Case{onSecrets(Case{
			ID: "WA-38", Level: Should, Title: "a watch may last longer than the one minute of other requests",
			Why:    "clients would restart their watches every minute",
			Source: "apiserver server/filters/longrunning.go", takes: longWatchDuration,
		}, func(ctx context.Context, s *session, c collection) error {
			start := time.Now()
			w, err := watchFromNow(ctx, c, "&timeoutSeconds="+strconv.Itoa(int(longWatchDuration.Seconds())))
			if err != nil {
				return err
			}
			defer w.close()
			if err := w.wantEnd(); err != nil {
				return err
			}
			if took := time.Since(start); took < longWatchDuration-time.Second {
				return w.errorf("expected the stream to end after %v, it ended after %v", longWatchDuration, took)
			}
			return nil
		})},
		onBoth(Case{
			ID: "WA-40", Level: Should, Title: "two changes in quick succession are two events",
			Why:    "tests and audits count events",
			Source: docWatch,
		}, checkTwoQuickChanges),
		[]Case{onSecrets(Case{
			ID: "WA-28", Level: Must, Title: "a watch across namespaces sends the events of the watches of each namespace",
			Why:    "one informer for all namespaces must see what single ones see",
			Source: docURIs,
		}, checkWatchAcrossNamespaces)},
	)
}

// longWatchDuration is longer than the time limit of kube-apiserver for requests that are not
// watches.
const longWatchDuration = 70 * time.Second

// watchFromNow opens a watch from the current state of the collection.
func watchFromNow(ctx context.Context, c collection, parameters string) (*watcher, error) {
	l, err := c.list(ctx, "")
	if err != nil {
		return nil, err
	}
	return c.watch(ctx, "?watch=true&resourceVersion="+l.Metadata.ResourceVersion+parameters)
}

func checkWholeObjects(ctx context.Context, s *session, c collection) error {
	w, err := watchFromNow(ctx, c, "")
	if err != nil {
		return err
	}
	defer w.close()
	made, err := s.do(ctx, post(c.path(), c.object("a").withLabel("k", "v")), code(201))
	if err != nil {
		return err
	}
	e, err := w.want("ADDED", "a")
	if err != nil {
		return err
	}
	if !equalJSON(made.body, e.Object) {
		return w.errorf("expected the object %s, got %s", excerpt(made.body), excerpt(e.Object))
	}
	return nil
}

// createChangeDelete creates an object, changes it that many times, and deletes it.
func createChangeDelete(ctx context.Context, c collection, name string, changes int) error {
	if _, err := c.create(ctx, c.object(name)); err != nil {
		return err
	}
	for step := range changes {
		if _, err := c.annotate(ctx, name, strconv.Itoa(step)); err != nil {
			return err
		}
	}
	return c.delete(ctx, name)
}

// checkEventTypes makes the changes before the watch, because a slow server may not complete them
// before its timeout.
func checkEventTypes(ctx context.Context, _ *session, c collection) error {
	l, err := c.list(ctx, "")
	if err != nil {
		return err
	}
	if err := createChangeDelete(ctx, c, "a", 1); err != nil {
		return err
	}
	w, err := c.watch(ctx, "?watch=true&allowWatchBookmarks=true&timeoutSeconds=3&resourceVersion="+l.Metadata.ResourceVersion)
	if err != nil {
		return err
	}
	defer w.close()
	all, err := w.readAll()
	if err != nil {
		return err
	}
	var changes []string
	for _, e := range all {
		switch e.Type {
		case "ADDED", "MODIFIED", "DELETED":
			changes = append(changes, e.Type)
		case "BOOKMARK":
		default:
			return w.errorf("expected no event of type %s", e.Type)
		}
	}
	if want := []string{"ADDED", "MODIFIED", "DELETED"}; !slices.Equal(changes, want) {
		return w.errorf("expected the changes %v, got %v", want, changes)
	}
	return nil
}

func checkEveryChange(ctx context.Context, _ *session, c collection) error {
	if err := createChangeDelete(ctx, c, "before", 1); err != nil {
		return err
	}
	start, err := c.create(ctx, c.object("a"))
	if err != nil {
		return err
	}
	changed, err := c.annotate(ctx, "a", "1")
	if err != nil {
		return err
	}
	w, err := c.watch(ctx, "?watch=true&resourceVersion="+start.ResourceVersion)
	if err != nil {
		return err
	}
	defer w.close()
	made, err := c.create(ctx, c.object("b"))
	if err != nil {
		return err
	}
	again, err := c.annotate(ctx, "a", "2")
	if err != nil {
		return err
	}
	if err := c.delete(ctx, "b"); err != nil {
		return err
	}
	if err := w.wantAt("MODIFIED", "a", changed.ResourceVersion); err != nil {
		return err
	}
	if err := w.wantAt("ADDED", "b", made.ResourceVersion); err != nil {
		return err
	}
	if err := w.wantAt("MODIFIED", "a", again.ResourceVersion); err != nil {
		return err
	}
	_, err = w.want("DELETED", "b")
	return err
}

func checkVersionsNeverDecrease(ctx context.Context, _ *session, c collection) error {
	w, err := watchFromNow(ctx, c, "")
	if err != nil {
		return err
	}
	defer w.close()
	for _, name := range []string{"b", "a"} {
		if err := createChangeDelete(ctx, c, name, 2); err != nil {
			return err
		}
	}
	last := "0"
	for range 8 {
		e, err := w.next()
		if err != nil {
			return err
		}
		if err := expectNotOlder(e.meta.ResourceVersion, last); err != nil {
			return w.errorf("%w", err)
		}
		last = e.meta.ResourceVersion
	}
	return nil
}

func checkTimeoutSeconds(ctx context.Context, _ *session, c collection) error {
	start := time.Now()
	w, err := watchFromNow(ctx, c, "&timeoutSeconds=1")
	if err != nil {
		return err
	}
	defer w.close()
	if err := w.wantEnd(); err != nil {
		return err
	}
	if took := time.Since(start); took < 900*time.Millisecond || took > 15*time.Second {
		return w.errorf("expected the stream to end after 1 s, it ended after %v", took)
	}
	return nil
}

func checkSameOrder(ctx context.Context, _ *session, c collection) error {
	var views [2][]string
	var watches [2]*watcher
	for i := range watches {
		w, err := watchFromNow(ctx, c, "")
		if err != nil {
			return err
		}
		defer w.close()
		watches[i] = w
	}
	for _, name := range []string{"b", "a", "c"} {
		if err := createChangeDelete(ctx, c, name, 1); err != nil {
			return err
		}
	}
	for i, w := range watches {
		for range 9 {
			if _, err := w.next(); err != nil {
				return err
			}
		}
		views[i] = w.seen
	}
	if !slices.Equal(views[0], views[1]) {
		return watches[1].errorf("expected the same events as of another watch: %v", views[0])
	}
	return nil
}

func checkReplay(ctx context.Context, _ *session, c collection) error {
	l, err := c.list(ctx, "")
	if err != nil {
		return err
	}
	if err := createChangeDelete(ctx, c, "a", 30); err != nil {
		return err
	}
	w, err := c.watch(ctx, "?watch=true&resourceVersion="+l.Metadata.ResourceVersion)
	if err != nil {
		return err
	}
	defer w.close()
	if err := w.wantAdded("a"); err != nil {
		return err
	}
	for range 30 {
		if _, err := w.want("MODIFIED", "a"); err != nil {
			return err
		}
	}
	_, err = w.want("DELETED", "a")
	return err
}

// historyWindow is the time for which the watch cache of kube-apiserver keeps events.
const historyWindow = 75 * time.Second

// checkHistoryWindow makes changes, and resumes from before them after a watch of almost that time.
func checkHistoryWindow(ctx context.Context, _ *session, c collection) error {
	made, err := c.create(ctx, c.object("a"))
	if err != nil {
		return err
	}
	changed, err := c.annotate(ctx, "a", "1")
	if err != nil {
		return err
	}
	const wait = historyWindow - 5*time.Second
	first, err := watchFromNow(ctx, c, "&timeoutSeconds="+strconv.Itoa(int(wait.Seconds())))
	if err != nil {
		return err
	}
	defer first.close()
	if err := first.wantEnd(); err != nil {
		return err
	}
	second, err := c.watch(ctx, "?watch=true&resourceVersion="+made.ResourceVersion)
	if err != nil {
		return err
	}
	defer second.close()
	return second.wantAt("MODIFIED", "a", changed.ResourceVersion)
}

func checkTwoQuickChanges(ctx context.Context, _ *session, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	w, err := watchFromNow(ctx, c, "")
	if err != nil {
		return err
	}
	defer w.close()
	var versions []string
	for step := range 2 {
		changed, err := c.annotate(ctx, "a", strconv.Itoa(step))
		if err != nil {
			return err
		}
		versions = append(versions, changed.ResourceVersion)
	}
	for _, version := range versions {
		if err := w.wantAt("MODIFIED", "a", version); err != nil {
			return err
		}
	}
	return nil
}

func checkWatchAcrossNamespaces(ctx context.Context, s *session, c collection) error {
	other, query, err := createInTwoNamespaces(ctx, c)
	if err != nil {
		return err
	}
	l, err := s.list(ctx, c.allNamespacesPath()+query)
	if err != nil {
		return err
	}
	query += "&watch=true&resourceVersion=" + l.Metadata.ResourceVersion
	var watches []*watcher
	for _, path := range []string{c.allNamespacesPath(), c.path(), other.path()} {
		w, err := s.watch(ctx, get(path+query))
		if err != nil {
			return err
		}
		defer w.close()
		watches = append(watches, w)
	}
	for i, in := range []collection{c, other} {
		changed, err := in.annotate(ctx, "a", "1")
		if err != nil {
			return err
		}
		for _, w := range []*watcher{watches[0], watches[1+i]} {
			if err := w.wantAt("MODIFIED", "a", changed.ResourceVersion); err != nil {
				return err
			}
		}
	}
	return nil
}
