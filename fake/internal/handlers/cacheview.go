package handlers

import (
	"context"
	"time"

	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/memstore"
)

// CacheView is how far a front door sees. Reads of "any" or "not older than"
// state and watches are served from what it shows, as an API server serves them
// from its watch cache; quorum reads and writes go to the store itself.
type CacheView interface {
	// View is the state that is seen.
	View() memstore.View
	// Revision is the newest revision that is seen: View's, at that moment.
	Revision() memstore.Revision
	// Until tells what to wait for before looking again for a revision that is
	// not seen yet.
	Until(rev memstore.Revision) Changes
}

// Changes is what may bring a revision into view, whichever comes first.
type Changes struct {
	// ViewChanged closes when the horizon has changed, Written when the store has; nil
	// for one that makes no difference.
	ViewChanged, StoreChanged <-chan struct{}
	// Delay is when time alone will have done it; 0 for never.
	Delay time.Duration
}

// currentView is the horizon of a front door that sees everything at once.
type currentView struct{ *memstore.Store }

func (o currentView) Until(memstore.Revision) Changes {
	return Changes{StoreChanged: NextWrite(o.Store)}
}

// NextWrite gives a channel that closes when something is written to a store.
func NextWrite(store *memstore.Store) <-chan struct{} {
	cursor, err := store.Watch("", store.Revision())
	if err != nil { // restored or expired in this very moment
		now := make(chan struct{})
		close(now)
		return now
	}
	return cursor.Ready()
}

// waitForRevision waits until a revision is seen from a horizon, for ResourceVersionTimeout at most;
// then it is the 504 of RS-05. A request that has less time than that ends as one
// whose time is over (EX-08).
func (a *API) waitForRevision(ctx context.Context, timeout time.Duration, view CacheView, rev memstore.Revision) error {
	if rev <= view.Revision() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, min(timeout, a.settings.ResourceVersionTimeout))
	defer cancel()
	for {
		changes := view.Until(rev)
		if rev <= view.Revision() { // it came before the wait for it began
			return nil
		}
		fired, stop := newTimer(changes.Delay)
		select {
		case <-changes.ViewChanged:
		case <-changes.StoreChanged:
		case <-fired:
		case <-ctx.Done():
			stop()
			if timeout < a.settings.ResourceVersionTimeout {
				return status.RequestTimeout
			}
			return status.TooLargeResourceVersion(uint64(rev), uint64(view.Revision()))
		}
		stop()
	}
}

// newTimer rings once after a duration, or never for 0. Stop it.
func newTimer(d time.Duration) (fired <-chan time.Time, stop func()) {
	if d <= 0 {
		return nil, func() {}
	}
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}
