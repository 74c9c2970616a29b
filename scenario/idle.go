package scenario

import (
	"context"
	"time"

	fakeapi "example.com/fakeapi/fake"
)

// In real time it is not visible that the server and the clients wait for time to pass, only that
// there is no activity.
const (
	// idleWindow is the time without activity after which a run is idle.
	idleWindow = 50 * time.Millisecond
	// maxActiveRequest is the time for which a request without a response counts as activity. After
	// that it waits for time to pass, such as the delay of a fault rule. The first write to a
	// server may take half of it on a busy machine.
	maxActiveRequest = time.Second
	// maxIdleWait limits the wait for a client that is never idle.
	maxIdleWait = 3 * time.Second
)

// waitIdle waits until there was no request and no write for idleWindow.
func (m *trafficMonitor) waitIdle(ctx context.Context, server *fakeapi.Server) {
	ctx, cancel := context.WithTimeout(ctx, maxIdleWait)
	defer cancel()
	for {
		activity, revision := m.activityCount(), server.ResourceVersion()
		if sleep(ctx, idleWindow) != nil {
			return
		}
		if m.activityCount() == activity && server.ResourceVersion() == revision && !m.hasActiveRequests() {
			return
		}
	}
}

func (m *trafficMonitor) activityCount() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.activity
}

// hasActiveRequests reports whether a request waits for its response, for less than
// maxActiveRequest.
func (m *trafficMonitor) hasActiveRequests() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, since := range m.open {
		if time.Since(since) < maxActiveRequest {
			return true
		}
	}
	return false
}
