package conformance

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// streamErrorCases returns the cases about streaming lists that fail (SI-05, SI-06, SI-09, SI-11,
// SI-12, SI-15).
func streamErrorCases() []Case {
	const contradiction = "the client relies on a guarantee that it does not get"
	noMatch := invalidListOption("resourceVersionMatch", metav1.CauseTypeForbidden,
		"sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")
	return slices.Concat(
		onBoth(Case{
			ID: "SI-05", Level: Must, Title: "sendInitialEvents without resourceVersionMatch is invalid",
			Why: contradiction, Source: docListOptions,
		}, checkInvalidStreams(noMatch,
			"?watch=true&timeoutSeconds=1&sendInitialEvents=true", "?watch=true&timeoutSeconds=1&sendInitialEvents=true&allowWatchBookmarks=true",
			"?watch=true&timeoutSeconds=1&sendInitialEvents=false", "?watch=true&timeoutSeconds=1&sendInitialEvents=true&resourceVersion=1")),
		onBoth(Case{
			ID: "SI-06", Level: Must, Title: "sendInitialEvents with another resourceVersionMatch is invalid for two reasons",
			Why: contradiction, Source: docListOptions,
		}, withWatchList(checkOtherMatches)),
		onBoth(Case{
			ID: "SI-09", Level: Must, Title: "a streaming list at an unreached resourceVersion starts, and then fails with an ERROR event: 504 Timeout",
			Why:    "clients distinguish a server that lags from one that fails",
			Source: docStreams + "; " + docCacher,
		}, func(ctx context.Context, s *session, c collection) error {
			_, err := openFutureStream(ctx, s, c)
			return err
		}),
		onBoth(Case{
			ID: "SI-11/continue", Level: Must, Title: "a streaming list with continue is invalid",
			Why:    "a watch cannot start in the middle of a list",
			Source: docListOptions,
		}, withWatchList(checkInvalidWithToken([]string{"&timeoutSeconds=1&" + streamingList[len("?"):]},
			invalidListOption("resourceVersionMatch", metav1.CauseTypeForbidden, "resourceVersionMatch is forbidden when continue is provided")))),
		onBoth(Case{
			ID: "SI-12", Level: Must, Title: "a server with streaming lists disabled rejects them",
			Why:    "reflectors fall back to list and watch",
			Source: docListOptions,
		}, checkWatchListDisabled),
		onBoth(Case{
			ID: "SI-15", Level: Must, Title: "a sendInitialEvents that is not a boolean means true",
			Why:    "the client would wait for the end of initial events forever",
			Source: "apimachinery ParseBool conversion",
		}, checkUnparsableFlag(noMatch)),
	)
}

// checkInvalidStreams is checkInvalidQueries for servers with streaming lists.
func checkInvalidStreams(want failure, queries ...string) collectionCheck {
	return withWatchList(checkInvalidQueries(queries, want))
}

func checkOtherMatches(ctx context.Context, s *session, c collection) error {
	for _, match := range []string{"Exact", "Nonsense"} {
		want := failure{
			code: 422, reason: metav1.StatusReasonInvalid, details: listOptionsDetails(),
			causes: []metav1.StatusCause{
				{Type: metav1.CauseTypeForbidden, Field: "resourceVersionMatch", Message: "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"},
				{
					Type: metav1.CauseTypeFieldValueNotSupported, Field: "resourceVersionMatch",
					Message: fmt.Sprintf(`Unsupported value: %q: supported values: "NotOlderThan"`, match),
				},
			},
		}
		query := "?watch=true&timeoutSeconds=1&resourceVersionMatch=" + match + "&sendInitialEvents="
		if err := checkInvalidQueries([]string{query + "true", query + "true&resourceVersion=1", query + "false"}, want)(ctx, s, c); err != nil {
			return err
		}
	}
	return nil
}

// withWatchList returns a check that is skipped on servers without streaming lists.
func withWatchList(check collectionCheck) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		if err := s.skipWithoutWatchList(ctx, c); err != nil {
			return err
		}
		return check(ctx, s, c)
	}
}

// openFutureStream opens a streaming list at a resourceVersion that the server has not reached, and
// returns it after the ERROR event and the end of the stream.
func openFutureStream(ctx context.Context, s *session, c collection) (*watcher, error) {
	l, err := c.list(ctx, "")
	if err != nil {
		return nil, err
	}
	at, err := unreachedVersion(l.Metadata.ResourceVersion)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	w, err := s.watchList(ctx, c, "&timeoutSeconds=20&resourceVersion="+at)
	if err != nil {
		return nil, err
	}
	defer w.close()
	status, err := w.wantError()
	if err != nil {
		return w, err
	}
	want := failure{
		code: 504, reason: metav1.StatusReasonTimeout, contains: "Too large resource version: " + at + ", current: ",
		details: &metav1.StatusDetails{RetryAfterSeconds: 1},
		causes:  []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"}},
	}
	if err := want.match(status); err != nil {
		return w, w.errorf("%w", err)
	}
	if waited := time.Since(start); waited > 10*time.Second {
		return w, w.errorf("expected the ERROR event after about 3 s, got it after %v", waited)
	}
	return w, w.wantEnd()
}

func checkWatchListDisabled(ctx context.Context, s *session, c collection) error {
	if w, err := c.watch(ctx, streamingList+"&timeoutSeconds=1"); err == nil {
		w.close()
		return s.skipWithFeature(WatchList, "the server has streaming lists")
	}
	return s.expect(ctx, get(c.path()+streamingList+"&timeoutSeconds=1"),
		invalidListOption("sendInitialEvents", metav1.CauseTypeForbidden, watchListDisabled).check)
}

func checkUnparsableFlag(noMatch failure) collectionCheck {
	return onStreamingList("", func(ctx context.Context, c collection, _ *watcher) error {
		const flag = "?watch=true&timeoutSeconds=3&sendInitialEvents=maybe"
		if err := c.s.expect(ctx, get(c.path()+flag), noMatch.check); err != nil {
			return err
		}
		return expectAddedThenEnd(ctx, c, flag+"&resourceVersionMatch=NotOlderThan", "a", "b")
	})
}
