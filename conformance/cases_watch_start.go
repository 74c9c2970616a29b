package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docWatchTable = "Kubernetes API Concepts, resourceVersion parameter, watch"

// watchStartCases returns the cases about the start of watches and their errors (WA).
func watchStartCases() []Case {
	return slices.Concat(
		onBoth(Case{
			ID: "WA-05", Level: Must, Title: "a watch without resourceVersion begins with ADDED for all existing objects",
			Why:    "a client without a list gets its state this way",
			Source: docWatchTable,
		}, checkInitialState("?watch=true")),
		onBoth(Case{
			ID: "WA-06", Level: Must, Title: "a watch at resourceVersion 0 begins with ADDED for the objects of any known state",
			Why:    "a client without a list gets its state this way at low cost",
			Source: docWatchTable,
		}, checkInitialState("?watch=true&resourceVersion=0")),
		onBoth(Case{
			ID: "WA-07", Level: Must, Title: "a watch at resourceVersion N begins exactly after N",
			Why:    "a missed or repeated event corrupts a cache",
			Source: docWatchTable,
		}, func(ctx context.Context, s *session, c collection) error {
			var versions []string
			for _, name := range []string{"a", "b", "c"} {
				made, err := c.create(ctx, c.object(name))
				if err != nil {
					return err
				}
				versions = append(versions, made.ResourceVersion)
			}
			w, err := c.watch(ctx, "?watch=true&resourceVersion="+versions[0])
			if err != nil {
				return err
			}
			defer w.close()
			if err := w.wantAt("ADDED", "b", versions[1]); err != nil {
				return err
			}
			return w.wantAt("ADDED", "c", versions[2])
		}),
		onBoth(Case{
			ID: "WA-08", Level: Should, Title: "the initial ADDED events are ordered by name",
			Why:    "clients must not rely on the order of their resourceVersions",
			Source: "kubernetes issue 74022; apiserver storage/cacher",
		}, func(ctx context.Context, s *session, c collection) error {
			for _, name := range []string{"c", "a", "b"} {
				if _, err := c.create(ctx, c.object(name)); err != nil {
					return err
				}
			}
			return expectAddedThenEnd(ctx, c, "?watch=true&timeoutSeconds=3", "a", "b", "c")
		}),
		onBoth(Case{
			ID: "WA-18/before", Level: Must, Title: "errors before the start of the stream are plain HTTP errors",
			Why:    "a client must not have to decode a stream to detect them",
			Source: "apiserver handlers/get.go",
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expect(ctx, get(c.path()+"?watch=true&timeoutSeconds=1&labelSelector=)("),
				failure{code: 400, reason: metav1.StatusReasonBadRequest}.check)
		}),
		onBoth(Case{
			ID: "WA-18/after", Level: Must, Title: "errors after the start of the stream are ERROR events with a Status",
			Why:    "the status code has already been sent",
			Source: "apiserver handlers/watch.go", alone: true,
		}, func(ctx context.Context, s *session, c collection) error {
			_, err := expectExpiredWatch(ctx, s, c)
			return err
		}),
		onBoth(Case{
			ID: "WA-19", Level: Must, Title: "a watch from a compacted resourceVersion is answered 200 with one ERROR event: 410 Expired",
			Why:    "informers then list again",
			Source: "apiserver storage/cacher and handlers/watch.go", alone: true,
		}, func(ctx context.Context, s *session, c collection) error {
			status, err := expectExpiredWatch(ctx, s, c)
			if err != nil {
				return err
			}
			want := failure{code: 410, reason: metav1.StatusReasonExpired, contains: "too old resource version: 1 ("}
			if err := want.match(status); err != nil {
				return fmt.Errorf("watch of %s: %w", c.path(), err)
			}
			return nil
		}),
		onBoth(Case{
			ID: "WA-20", Level: Must, Title: "the stream ends after an ERROR event, whatever changes later",
			Why:    "later events would be applied to an incomplete state",
			Source: "Kubernetes API Concepts, 410 Gone responses", alone: true,
		}, checkEndAfterError),
		onBoth(Case{
			ID: "WA-21", Level: Must, Title: "a watch from an unreached resourceVersion sends nothing, and no error",
			Why:    "the client may have read the resourceVersion from another replica",
			Source: docWatchTable,
		}, checkFutureWatch),
		onBoth(Case{
			ID: "WA-22", Level: Must, Title: "a watch from a resourceVersion that is not a number fails with 500 and no reason",
			Why:    "kube-apiserver answers this instead of 400 as for lists",
			Source: "apiserver pkg/storage",
		}, func(ctx context.Context, s *session, c collection) error {
			return checkInvalidReadVersions(ctx, s, c.path()+"?watch=true&timeoutSeconds=1&")
		}),
		onBoth(Case{
			ID: "WA-23", Level: Must, Title: "resourceVersionMatch on a watch is invalid without sendInitialEvents",
			Why:    "an older server would ignore the parameter",
			Source: docListOptions,
		}, checkMatchOfWatch),
		[]Case{{
			ID: "WA-29", Level: Must, Title: "a watch of a type that does not support it is not allowed",
			Why:    "an informer must fail immediately instead of waiting forever",
			Source: "apiserver handlers/get.go", check: checkUnwatchable,
		}},
	)
}

// checkMatchOfWatch sends the only value that watches support, and another one, which is a second
// cause.
func checkMatchOfWatch(ctx context.Context, s *session, c collection) error {
	const text = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
	other := failure{
		code: 422, reason: metav1.StatusReasonInvalid, details: listOptionsDetails(),
		causes: []metav1.StatusCause{
			{Type: metav1.CauseTypeForbidden, Field: "resourceVersionMatch", Message: text},
			{Type: metav1.CauseTypeFieldValueNotSupported, Field: "resourceVersionMatch", Message: `Unsupported value: "Exact": supported values: "NotOlderThan"`},
		},
	}
	for match, want := range sortedByKey(map[string]failure{
		"NotOlderThan": invalidListOption("resourceVersionMatch", metav1.CauseTypeForbidden, text), "Exact": other,
	}) {
		query := "?watch=true&timeoutSeconds=1&resourceVersionMatch=" + match
		if err := checkInvalidQueries([]string{query, query + "&resourceVersion=1"}, want)(ctx, s, c); err != nil {
			return err
		}
	}
	return nil
}

func checkInitialState(query string) collectionCheck {
	return func(ctx context.Context, _ *session, c collection) error {
		for _, name := range []string{"a", "b"} {
			if _, err := c.create(ctx, c.object(name)); err != nil {
				return err
			}
		}
		w, err := c.watch(ctx, query)
		if err != nil {
			return err
		}
		defer w.close()
		if err := w.wantAdded("a", "b"); err != nil {
			return err
		}
		changed, err := c.annotate(ctx, "a", "1")
		if err != nil {
			return err
		}
		return w.wantAt("MODIFIED", "a", changed.ResourceVersion)
	}
}

// openExpiredWatch opens a watch from resourceVersion 1, after the server compacted it if that is
// possible.
func openExpiredWatch(ctx context.Context, s *session, c collection) (*watcher, error) {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return nil, err
	}
	if expire := s.run.config.ExpireWatches; expire != nil {
		if err := expire(ctx); err != nil {
			return nil, fmt.Errorf("Config.ExpireWatches: %w", err)
		}
	}
	return c.watch(ctx, "?watch=true&timeoutSeconds=5&resourceVersion=1")
}

// firstError reads the ERROR event of a watch from an expired resourceVersion.
func firstError(s *session, w *watcher) (metav1.Status, error) {
	e, err := w.next()
	if err != nil {
		return metav1.Status{}, err
	}
	if e.Type == "ADDED" && s.run.config.ExpireWatches == nil {
		return metav1.Status{}, s.skipf("the server still has resourceVersion 1; it needs a server with a longer history, or Config.ExpireWatches")
	}
	return w.statusOf(e)
}

// wantError waits for an ERROR event.
func (w *watcher) wantError() (metav1.Status, error) {
	e, err := w.next()
	if err != nil {
		return metav1.Status{}, fmt.Errorf("expected ERROR: %w", err)
	}
	return w.statusOf(e)
}

// statusOf decodes the Status of an ERROR event.
func (w *watcher) statusOf(e event) (metav1.Status, error) {
	var status metav1.Status
	if e.Type != "ERROR" {
		return status, w.errorf("expected ERROR, got %v", e)
	}
	if err := json.Unmarshal(e.Object, &status); err != nil {
		return status, w.errorf("expected a Status in the ERROR event: %w", err)
	}
	if status.Kind != "Status" || status.APIVersion != "v1" || status.Status != metav1.StatusFailure {
		return status, w.errorf("expected a v1 Status with Failure in the ERROR event, got %s", excerpt(e.Object))
	}
	return status, nil
}

func expectExpiredWatch(ctx context.Context, s *session, c collection) (metav1.Status, error) {
	w, err := openExpiredWatch(ctx, s, c)
	if err != nil {
		return metav1.Status{}, err
	}
	defer w.close()
	status, err := firstError(s, w)
	if err != nil {
		return status, err
	}
	return status, w.wantEnd()
}

func checkEndAfterError(ctx context.Context, s *session, c collection) error {
	w, err := openExpiredWatch(ctx, s, c)
	if err != nil {
		return err
	}
	defer w.close()
	if _, err := firstError(s, w); err != nil {
		return err
	}
	if _, err := c.annotate(ctx, "a", "1"); err != nil {
		return err
	}
	return w.wantEnd()
}

func checkFutureWatch(ctx context.Context, _ *session, c collection) error {
	l, err := c.list(ctx, "")
	if err != nil {
		return err
	}
	at, err := unreachedVersion(l.Metadata.ResourceVersion)
	if err != nil {
		return err
	}
	w, err := c.watch(ctx, "?watch=true&timeoutSeconds=2&resourceVersion="+at)
	if err != nil {
		return err
	}
	defer w.close()
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	return w.wantEnd()
}

func checkUnwatchable(ctx context.Context, s *session) error {
	resp, err := s.do(ctx, get("/api/v1"), code(200))
	if err != nil {
		return err
	}
	var found metav1.APIResourceList
	if err := resp.decode(&found); err != nil {
		return err
	}
	for _, r := range found.APIResources {
		if !r.Namespaced && slices.Contains(r.Verbs, "list") && !slices.Contains(r.Verbs, "watch") {
			return s.expect(ctx, get("/api/v1/"+r.Name+"?watch=true&timeoutSeconds=1"),
				failure{code: 405, reason: metav1.StatusReasonMethodNotAllowed}.check)
		}
	}
	return s.skipf("all resources of /api/v1 with the verb list have the verb watch")
}
