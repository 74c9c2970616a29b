package scenario

import (
	"context"
	"time"

	fakeapi "example.com/fakeapi/fake"
)

// In real time nobody can tell that server and clients wait for the clock. What can
// be seen is that nothing moves.
const (
	// idleWindow is how long nothing must have moved.
	idleWindow = 50 * time.Millisecond
	// maxActiveRequest is how long a request without an answer counts as something that
	// moves; after that it waits for the clock: a fault rule delays it. The first write
	// to a server may take half of that on a busy machine.
	maxActiveRequest = time.Second
	// maxIdleWait is how long a client that never rests is waited for.
	maxIdleWait = 3 * time.Second
)

// waitIdle waits until nothing has moved on the wire, and in the server, for a while.
func (w *trafficMonitor) waitIdle(ctx context.Context, server *fakeapi.Server) {
	ctx, cancel := context.WithTimeout(ctx, maxIdleWait)
	defer cancel()
	for {
		moved, revision := w.activityCount(), server.ResourceVersion()
		if sleep(ctx, idleWindow) != nil {
			return
		}
		if w.activityCount() == moved && server.ResourceVersion() == revision && !w.hasActiveRequests() {
			return
		}
	}
}

func (w *trafficMonitor) activityCount() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.activity
}

// hasActiveRequests tells whether a request was not answered yet and will be soon.
func (w *trafficMonitor) hasActiveRequests() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, since := range w.open {
		if time.Since(since) < maxActiveRequest {
			return true
		}
	}
	return false
}
