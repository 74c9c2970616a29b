package handlers

import (
	"context"
	"time"
)

// lastBookmark is how long before the end of a watch its last bookmark comes.
const lastBookmark = 2 * time.Second

// schedule is when the bookmarks of a watch are due: at an interval, and once more
// shortly before the end, so that a client can go on from there (BM-08).
type schedule struct {
	regular, last <-chan time.Time
	stop          func()
	end           time.Time // zero for a watch that has none
}

// newSchedule makes the schedule of a watch that ends with ctx. Nothing is ever
// due if there are to be no bookmarks.
func newSchedule(ctx context.Context, bookmarks bool, interval time.Duration) *schedule {
	if !bookmarks {
		return &schedule{stop: func() {}}
	}
	ticker := time.NewTicker(interval)
	s := &schedule{regular: ticker.C, stop: ticker.Stop}
	if deadline, ok := ctx.Deadline(); ok {
		last, stop := alarm(time.Until(deadline) - lastBookmark)
		s.last, s.end = last, deadline
		s.stop = func() {
			ticker.Stop()
			stop()
		}
	}
	return s
}

// over reports whether the last bookmark has been due: a regular one that comes
// behind it is left out.
func (s *schedule) over() bool { return !s.end.IsZero() && time.Until(s.end) < lastBookmark }
