package fakeapi

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// The error of wait has the requests that are still running, with their age.
func TestCloseReportsOpenRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f connTracker
		release := make(chan struct{})
		h := f.withRequestTracking(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
		done := make(chan struct{})
		go func() {
			defer close(done)
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/api/v1/pods?watch=1", nil))
		}()
		synctest.Wait()
		err := f.wait(5 * time.Second)
		require.EqualError(t, err, "still open: GET /api/v1/pods?watch=1 (for 5s)")

		waited := make(chan error)
		go func() { waited <- f.wait(5 * time.Second) }()
		time.Sleep(time.Second)
		close(release)
		<-done
		require.NoError(t, <-waited)
		require.NoError(t, f.wait(time.Second))
	})
}
