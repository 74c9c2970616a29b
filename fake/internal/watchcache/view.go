package watchcache

import (
	"time"

	"example.com/fakeapi/memstore"
)

// View is the state of the store that reads from the watch cache see. That of a replica can be
// behind the store.
type View interface {
	// View returns the visible state.
	View() memstore.View
	// Revision returns the revision of View.
	Revision() memstore.Revision
	// Until returns what can make rev visible, which it is not now.
	Until(rev memstore.Revision) Changes
}

// Changes are the events that can make a revision visible. A reader waits for the first of them and
// then reads the View again.
type Changes struct {
	// View is closed when the View itself changes, and Store when the store does. A nil channel
	// makes no difference.
	View, Store <-chan struct{}
	// Delay is the time after which the revision is visible without any change; 0 if it never is.
	Delay time.Duration
}

// currentView is the View of all of a store.
type currentView struct{ *memstore.Store }

func (v currentView) Until(memstore.Revision) Changes { return Changes{Store: NextWrite(v.Store)} }

// NextWrite returns a channel that is closed after the next write to store.
func NextWrite(store *memstore.Store) <-chan struct{} {
	cursor, err := store.Watch("", store.Revision())
	if err != nil { // the store was restored or compacted after the call of Revision
		now := make(chan struct{})
		close(now)
		return now
	}
	return cursor.Ready()
}

// NewTimer returns a channel that receives once after d, or never if d is 0. stop releases the
// timer.
func NewTimer(d time.Duration) (fired <-chan time.Time, stop func()) {
	if d <= 0 {
		return nil, func() {}
	}
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}
