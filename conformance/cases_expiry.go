package conformance

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// expiryCases returns the cases about compacted states (EX-01, EX-04, EX-05).
func expiryCases() []Case {
	return slices.Concat(
		onBoth(Case{
			ID: "EX-01", Level: Must, Title: "lists and watches at a compacted resourceVersion fail with the reason Expired and the code 410",
			Why:    "clients list again because of this reason; Gone has another meaning",
			Source: "apimachinery api/errors; Kubernetes API Concepts, 410 Gone responses", alone: true,
		}, func(ctx context.Context, s *session, c collection) error {
			if err := checkExpiredList("?resourceVersion=1&resourceVersionMatch=Exact")(ctx, s, c); err != nil {
				return err
			}
			status, err := expectExpiredWatch(ctx, s, c)
			if err != nil {
				return err
			}
			return failure{code: 410, reason: metav1.StatusReasonExpired}.match(status)
		}),
		onBoth(Case{
			ID: "EX-04", Level: Must, Title: "reads of the current state work as before after a compaction",
			Why:    "compactions are regular, and may only affect reads of old states",
			Source: docUnavailable, alone: true,
		}, checkReadsAfterCompaction),
		onBoth(Case{
			ID: "EX-05", Level: Must, Title: "a running watch that is up to date survives a compaction",
			Why:    "every informer would otherwise list again every five minutes",
			Source: "apiserver storage/etcd3 and storage/cacher", alone: true,
		}, func(ctx context.Context, s *session, c collection) error {
			w, err := watchFromNow(ctx, c, "")
			if err != nil {
				return err
			}
			defer w.close()
			if _, err := c.create(ctx, c.object("a")); err != nil {
				return err
			}
			if err := w.wantAdded("a"); err != nil {
				return err
			}
			if err := s.compact(ctx); err != nil {
				return err
			}
			changed, err := c.annotate(ctx, "a", "1")
			if err != nil {
				return err
			}
			return w.wantAt("MODIFIED", "a", changed.ResourceVersion)
		}),
	)
}

// checkReadsAfterCompaction reads a, b, c, cc and e, which are older than the compaction, in all
// ways that return the current state.
func checkReadsAfterCompaction(ctx context.Context, s *session, c collection) error {
	p, err := s.expiredPage(ctx, c)
	if err != nil {
		return err
	}
	all := append([]string{"a", "b"}, p.remaining...)
	old := p.first.Metadata.ResourceVersion
	for _, query := range []string{
		"", "?resourceVersion=" + p.newE, "?resourceVersion=" + old, "?resourceVersionMatch=NotOlderThan&resourceVersion=" + old,
	} {
		l, err := p.list(ctx, query)
		if err != nil {
			return err
		}
		if err := l.expectLastPage(all...); err != nil {
			return err
		}
	}
	pages, err := p.listPages(ctx, 2, "")
	if err != nil {
		return err
	}
	if err := expectAllPages(pages, all...); err != nil {
		return err
	}
	return s.expect(ctx, get(p.item("e")), code(200), field(p.newE, "metadata", "resourceVersion"))
}

// timeoutCases returns the cases about timeouts and retry delays (EX-06, EX-08, EX-11).
func timeoutCases() []Case {
	return slices.Concat(
		onBoth(Case{
			ID: "EX-06", Level: Must, Title: "a response has Retry-After if and only if its Status has retryAfterSeconds, with the same number",
			Why:    "some clients read the header, others the Status",
			Source: "apiserver handlers/responsewriters",
		}, checkRetryAfter),
		onBoth(Case{
			ID: "EX-08", Level: Must, Title: "a request that exceeds its timeout parameter is answered 504 Timeout",
			Why:    "a client must not wait longer than its timeout",
			Source: "apiserver server/filters/timeout.go",
		}, checkTimeout),
		onBoth(Case{
			ID: "EX-11", Level: Must, Title: "a stream that fails has retryAfterSeconds in its ERROR event, not in a header",
			Why:    "the headers have already been sent",
			Source: "apiserver handlers/watch.go",
		}, func(ctx context.Context, s *session, c collection) error {
			w, err := openFutureStream(ctx, s, c) // it expects retryAfterSeconds in the event
			if err != nil {
				return err
			}
			if got := w.response.Header.Get("Retry-After"); got != "" {
				return w.errorf("expected no header Retry-After, got %q", got)
			}
			return nil
		}),
	)
}

// checkRetryAfter sends requests that fail in several ways. A client may retry a create with
// generateName, and a read of a state that the server has not reached: it has a retry delay unless
// the server knows that it does not lag. The other responses must not have one.
func checkRetryAfter(ctx context.Context, s *session, c collection) error {
	made, err := c.create(ctx, c.object("a").withMeta("generateName", "a-"))
	if err != nil {
		return err
	}
	at, err := unreachedVersion(made.ResourceVersion)
	if err != nil {
		return err
	}
	for _, one := range []struct {
		call   call
		code   int
		delays []int32
	}{
		{get(c.item("absent")), 404, []int32{0}},
		{post(c.path(), c.object("a")), 409, []int32{0}},
		{post(c.path(), c.object("a").withMeta("generateName", "a-")), 409, []int32{1}},
		{post(c.path(), c.object("")), 422, []int32{0}},
		{get(c.path() + "?limit=abc"), 400, []int32{0}},
		{get(c.path() + "?resourceVersion=" + at), 504, []int32{0, 1}},
	} {
		r, err := s.do(ctx, one.call, code(one.code))
		if err != nil {
			return err
		}
		var status metav1.Status
		if err := r.decode(&status); err != nil {
			return err
		}
		delay, want := int32(0), ""
		if hasRetryDelay(status) {
			delay = status.Details.RetryAfterSeconds
			want = strconv.Itoa(int(delay))
		}
		if !slices.Contains(one.delays, delay) {
			return r.errorf("expected retryAfterSeconds %s in the details, got %d", strings.Trim(fmt.Sprint(one.delays), "[]"), delay)
		}
		if got := r.header.Get("Retry-After"); got != want {
			return r.errorf("expected the header Retry-After %q as in the details, got %q", want, got)
		}
	}
	return nil
}

// checkTimeout reads at a resourceVersion that the server has not reached, with a shorter timeout
// than the server waits.
func checkTimeout(ctx context.Context, s *session, c collection) error {
	l, err := c.list(ctx, "")
	if err != nil {
		return err
	}
	at, err := unreachedVersion(l.Metadata.ResourceVersion)
	if err != nil {
		return err
	}
	r, err := s.do(ctx, get(c.path()+"?timeout=20ms&resourceVersion="+at), code(504))
	if err != nil {
		return err
	}
	var status metav1.Status
	if err := r.decode(&status); err != nil {
		return err
	}
	if strings.Contains(status.Message, "Too large resource version") && !hasRetryDelay(status) {
		return s.skipf("the server does not wait for a resourceVersion that it has not reached, as one without a watch cache (RS-06)")
	}
	const want = "Timeout: request did not complete within the allotted timeout"
	if status.Reason != metav1.StatusReasonTimeout || status.Message != want || status.Code != 504 || status.Status != metav1.StatusFailure {
		return r.errorf("expected a Status with the reason Timeout and %q", want)
	}
	// This Status is not written with the negotiated encoding.
	if err := r.expect(mediaType("text/plain")); err != nil {
		return err
	}
	if got := r.header.Get("Retry-After"); got != "" {
		return r.errorf("expected no header Retry-After, got %q", got)
	}
	return nil
}

// hasRetryDelay reports whether a Status has retryAfterSeconds.
func hasRetryDelay(status metav1.Status) bool {
	return status.Details != nil && status.Details.RetryAfterSeconds > 0
}
