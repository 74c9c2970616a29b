package conformance

import (
	"context"
	"errors"
	"io"
	"time"
)

// checkResumeAtBookmark resumes from a bookmark of another stream, and expects exactly the later
// changes.
func checkResumeAtBookmark(ctx context.Context, s *session, c collection) error {
	if err := s.skipWithoutWatchList(ctx, c); err != nil {
		return err
	}
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	first, err := c.watch(ctx, streamingList)
	if err != nil {
		return err
	}
	defer first.close()
	bookmark, err := first.wantInitialEvents("a")
	if err != nil {
		return err
	}
	made, err := c.create(ctx, c.object("b"))
	if err != nil {
		return err
	}
	changed, err := c.annotate(ctx, "a", "1")
	if err != nil {
		return err
	}
	second, err := c.watch(ctx, "?watch=true&allowWatchBookmarks=true&resourceVersion="+bookmark.meta.ResourceVersion)
	if err != nil {
		return err
	}
	defer second.close()
	if err := second.wantAt("ADDED", "b", made.ResourceVersion); err != nil {
		return err
	}
	return second.wantAt("MODIFIED", "a", changed.ResourceVersion)
}

// checkBookmarkBeforeDeadline watches up to three times, because a busy machine may delay a
// bookmark until the watch ends.
func checkBookmarkBeforeDeadline(ctx context.Context, _ *session, c collection) (err error) {
	for _, name := range []string{"a", "b", "c"} {
		if err = expectBookmarkBeforeDeadline(ctx, c, name); err == nil {
			return nil
		}
	}
	return err
}

// expectBookmarkBeforeDeadline creates an object during a watch of four seconds. It measures from
// the bookmark to the end of the watch: a busy machine delays both.
func expectBookmarkBeforeDeadline(ctx context.Context, c collection, name string) error {
	start := time.Now()
	w, err := watchFromNow(ctx, c, "&allowWatchBookmarks=true&timeoutSeconds=4")
	if err != nil {
		return err
	}
	defer w.close()
	made, err := c.create(ctx, c.object(name))
	if err != nil {
		return err
	}
	if err := w.wantAdded(name); err != nil {
		return err
	}
	var bookmarked time.Time
	for {
		e, err := w.next()
		switch {
		case errors.Is(err, io.EOF) && bookmarked.IsZero():
			return w.errorf("expected a bookmark about 2 s before the end of a watch of 4 s, got none")
		case errors.Is(err, io.EOF):
			if before := time.Since(bookmarked); before < 500*time.Millisecond {
				return w.errorf("expected a bookmark about 2 s before the end of a watch of 4 s, got it %v before", before)
			}
			return nil
		case err != nil:
			return err
		}
		if e.Type != "BOOKMARK" || e.endsInitialEvents() {
			return w.errorf("expected a BOOKMARK that ends no initial events, got %v annotated %v", e, e.meta.Annotations)
		}
		if err := expectNotOlder(e.meta.ResourceVersion, made.ResourceVersion); err != nil {
			return w.errorf("expected a bookmark that is not older than the events: %w", err)
		}
		if bookmarked.IsZero() && time.Since(start) > 500*time.Millisecond { // a server may send more bookmarks
			bookmarked = time.Now()
		}
	}
}

// checkPeriodicBookmarks watches for 90 s: one bookmark is due after a minute, and at least one at
// the end.
func checkPeriodicBookmarks(ctx context.Context, _ *session, c collection) error {
	start := time.Now()
	w, err := watchFromNow(ctx, c, "&allowWatchBookmarks=true&timeoutSeconds=90")
	if err != nil {
		return err
	}
	defer w.close()
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	var came []time.Duration
	for {
		e, err := w.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if e.Type == "BOOKMARK" {
			came = append(came, time.Since(start).Round(100*time.Millisecond))
		}
	}
	minute := func(at time.Duration) bool { return at >= 50*time.Second && at <= 75*time.Second }
	end := func(at time.Duration) bool { return at >= 85*time.Second }
	if len(came) < 2 || !minute(came[0]) || !end(came[1]) {
		return w.errorf("expected bookmarks after about 60 s and 88 s, got them after %v", came)
	}
	return nil
}

// checkBookmarkNotAhead compares the bookmark before the end of a watch with the current
// resourceVersion.
func checkBookmarkNotAhead(ctx context.Context, s *session, c collection) error {
	w, err := watchFromNow(ctx, c, "&allowWatchBookmarks=true&timeoutSeconds=12")
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
	e, err := w.next()
	if errors.Is(err, io.EOF) {
		return s.skipf("the server sent no bookmark before the end of a watch of 12 s")
	}
	if err != nil {
		return err
	}
	if e.Type != "BOOKMARK" {
		return w.errorf("expected a BOOKMARK, got %v", e)
	}
	now, err := c.list(ctx, "")
	if err != nil {
		return err
	}
	if err := expectNotOlder(now.Metadata.ResourceVersion, e.meta.ResourceVersion); err != nil {
		return w.errorf("expected the current state not to be older than the bookmark: %w", err)
	}
	return nil
}
