package handlers

import (
	"context"
	"time"

	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/memstore"
)

// Horizon is how far a front door sees. Reads of "any" or "not older than"
// state and watches are served from what it shows, as an API server serves them
// from its watch cache; quorum reads and writes go to the store itself.
type Horizon interface {
	// View is the state that is seen.
	View() memstore.View
	// Revision is the newest revision that is seen: View's, at that moment.
	Revision() memstore.Revision
	// Until tells what to wait for before looking again for a revision that is
	// not seen yet.
	Until(rev memstore.Revision) News
}

// News is what may bring a revision into view, whichever comes first.
type News struct {
	// Moved closes when the horizon has changed, Written when the store has; nil
	// for one that makes no difference.
	Moved, Written <-chan struct{}
	// After is when time alone will have done it; 0 for never.
	After time.Duration
}

// open is the horizon of a front door that sees everything at once.
type open struct{ *memstore.Store }

func (o open) Until(memstore.Revision) News { return News{Written: NextWrite(o.Store)} }

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

// await waits until a revision is seen from a horizon, for FutureWait at most;
// then it is the 504 of RS-05. A request that has less time than that ends as one
// whose time is over (EX-08).
func (a *API) await(ctx context.Context, most time.Duration, from Horizon, rev memstore.Revision) error {
	if rev <= from.Revision() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, min(most, a.settings.FutureWait))
	defer cancel()
	for {
		news := from.Until(rev)
		if rev <= from.Revision() { // it came before the wait for it began
			return nil
		}
		ring, stop := alarm(news.After)
		select {
		case <-news.Moved:
		case <-news.Written:
		case <-ring:
		case <-ctx.Done():
			stop()
			if most < a.settings.FutureWait {
				return status.RequestTimeout
			}
			return status.TooLargeResourceVersion(uint64(rev), uint64(from.Revision()))
		}
		stop()
	}
}

// alarm rings once after a duration, or never for 0. Stop it.
func alarm(d time.Duration) (ring <-chan time.Time, stop func()) {
	if d <= 0 {
		return nil, func() {}
	}
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}
