package handlers

import (
	"context"
	"time"

	"example.com/fakeapi/fake/internal/watchcache"
)

// lastBookmarkLead is how long before the end of a watch its last bookmark is sent.
const lastBookmarkLead = 2 * time.Second

// bookmarkSchedule has the times at which the bookmarks of a watch are due: at an interval, and
// shortly before the end, so that a client can continue there (BM-08).
type bookmarkSchedule struct {
	regular, last <-chan time.Time
	stop          func()
	end           time.Time // zero for a watch without an end
}

// newBookmarkSchedule returns the schedule of a watch that ends with ctx. Without bookmarks none
// are due.
func newBookmarkSchedule(ctx context.Context, bookmarks bool, interval time.Duration) *bookmarkSchedule {
	if !bookmarks {
		return &bookmarkSchedule{stop: func() {}}
	}
	ticker := time.NewTicker(interval)
	s := &bookmarkSchedule{regular: ticker.C, stop: ticker.Stop}
	if deadline, ok := ctx.Deadline(); ok {
		last, stop := watchcache.NewTimer(time.Until(deadline) - lastBookmarkLead)
		s.last, s.end = last, deadline
		s.stop = func() {
			ticker.Stop()
			stop()
		}
	}
	return s
}

// isPastLast reports whether the last bookmark has been due. Later ones are not sent.
func (s *bookmarkSchedule) isPastLast() bool {
	return !s.end.IsZero() && time.Until(s.end) < lastBookmarkLead
}
