package handlers

import (
	"context"
	"time"
)

// lastBookmarkLead is how long before the end of a watch its last bookmark comes.
const lastBookmarkLead = 2 * time.Second

// bookmarkSchedule is when the bookmarks of a watch are due: at an interval, and once more
// shortly before the end, so that a client can go on from there (BM-08).
type bookmarkSchedule struct {
	regular, last <-chan time.Time
	stop          func()
	end           time.Time // zero for a watch that has none
}

// newBookmarkSchedule makes the schedule of a watch that ends with ctx. Nothing is ever
// due if there are to be no bookmarks.
func newBookmarkSchedule(ctx context.Context, bookmarks bool, interval time.Duration) *bookmarkSchedule {
	if !bookmarks {
		return &bookmarkSchedule{stop: func() {}}
	}
	ticker := time.NewTicker(interval)
	s := &bookmarkSchedule{regular: ticker.C, stop: ticker.Stop}
	if deadline, ok := ctx.Deadline(); ok {
		last, stop := newTimer(time.Until(deadline) - lastBookmarkLead)
		s.last, s.end = last, deadline
		s.stop = func() {
			ticker.Stop()
			stop()
		}
	}
	return s
}

// isPastLast reports whether the last bookmark has been due: a regular one that comes
// behind it is left out.
func (s *bookmarkSchedule) isPastLast() bool {
	return !s.end.IsZero() && time.Until(s.end) < lastBookmarkLead
}
