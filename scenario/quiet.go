package scenario

import (
	"context"
	"time"

	fakeapi "example.com/fakeapi/fake"
)

// In real time nobody can tell that server and clients wait for the clock. What can
// be seen is that nothing moves.
const (
	// quietFor is how long nothing must have moved.
	quietFor = 50 * time.Millisecond
	// patientFor is how long a request without an answer counts as something that
	// moves; after that it waits for the clock: a fault rule delays it. The first write
	// to a server may take half of that on a busy machine.
	patientFor = time.Second
	// settleFor is how long a client that never rests is waited for.
	settleFor = 3 * time.Second
)

// settle waits until nothing has moved on the wire, and in the server, for a while.
func (w *wire) settle(ctx context.Context, server *fakeapi.Server) {
	ctx, cancel := context.WithTimeout(ctx, settleFor)
	defer cancel()
	for {
		moved, revision := w.motion(), server.ResourceVersion()
		if sleep(ctx, quietFor) != nil {
			return
		}
		if w.motion() == moved && server.ResourceVersion() == revision && !w.busy() {
			return
		}
	}
}

func (w *wire) motion() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.moved
}

// busy tells whether a request was not answered yet and will be soon.
func (w *wire) busy() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, since := range w.open {
		if time.Since(since) < patientFor {
			return true
		}
	}
	return false
}
