package timeline_test

import (
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// The timeline can be read while requests begin. The race detector finds what is not guarded.
func TestReadWhileRequestsBegin(t *testing.T) {
	r, send := newTestRecorder(func(_ http.ResponseWriter, request *http.Request) { _, _ = io.Copy(io.Discard, request.Body) })
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 200 {
				send(http.MethodPost, "/api/v1/namespaces", "{}")
			}
		})
	}
	done := make(chan struct{})
	go func() {
		group.Wait()
		close(done)
	}()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
			r.Timeline()
		}
	}
	require.Len(t, r.Timeline().Exchanges, 800)
}
