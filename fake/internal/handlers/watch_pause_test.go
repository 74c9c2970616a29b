package handlers

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/internal/requestinfo"
)

// watchResponse is the response of a watch. Its first write waits until open is closed.
type watchResponse struct {
	http.ResponseWriter
	open <-chan struct{}

	mu     sync.Mutex
	writes []int // the number of events in each
}

func (w *watchResponse) Write(p []byte) (int, error) {
	<-w.open
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes = append(w.writes, bytes.Count(p, []byte("\n")))
	return w.ResponseWriter.Write(p)
}

func (w *watchResponse) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// startWatches opens watches of a resource until ctx is done, and returns their responses.
func startWatches(ctx context.Context, a *API, resource string, n int, open <-chan struct{}) []*watchResponse {
	responses := make([]*watchResponse, n)
	for i := range responses {
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/v1/"+resource+"?watch=1&resourceVersion="+a.store.Revision().String(), nil)
		w := &watchResponse{ResponseWriter: httptest.NewRecorder(), open: open}
		responses[i] = w
		go a.Serve(w, r, requestinfo.New(r))
	}
	synctest.Wait()
	return responses
}

// startBehind opens watches of ConfigMaps that are behind: the first event was written alone, the
// next two together.
func startBehind(t *testing.T, ctx context.Context, a *API, n int) []*watchResponse {
	open := make(chan struct{})
	watches := startWatches(ctx, a, "configmaps", n, open)
	createConfigMaps(t, a, 1)
	createConfigMaps(t, a, 2)
	close(open)
	synctest.Wait()
	requireWrites(t, watches, 1, 2)
	return watches
}

func createConfigMaps(t *testing.T, a *API, n int) {
	for range n {
		body := fmt.Sprintf(`{"metadata":{"name":"at-%d"}}`, a.store.Revision())
		r := httptest.NewRequest(http.MethodPost, "/api/v1/namespaces/default/configmaps", strings.NewReader(body))
		w := httptest.NewRecorder()
		a.Serve(w, r, requestinfo.New(r))
		require.Equal(t, http.StatusCreated, w.Code, w.Body)
	}
	synctest.Wait()
}

// requireWrites checks how many events each write to each response had.
func requireWrites(t *testing.T, responses []*watchResponse, want ...int) {
	t.Helper()
	for _, w := range responses {
		w.mu.Lock()
		got := slices.Clone(w.writes)
		w.mu.Unlock()
		require.Equal(t, want, got)
	}
}

func TestWatchPausesWhileBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTestAPIWith(t, Settings{WatchPauses: true, WatchTimeout: time.Hour})
		ctx, cancel := context.WithCancel(t.Context())
		watches := startBehind(t, ctx, a, 20)
		pause := func() {
			time.Sleep(20 * pausePerWatch)
			synctest.Wait()
		}

		createConfigMaps(t, a, 1)
		createConfigMaps(t, a, 2)
		requireWrites(t, watches, 1, 2)
		pause()
		requireWrites(t, watches, 1, 2, 3)

		createConfigMaps(t, a, 1)
		requireWrites(t, watches, 1, 2, 3)
		pause()
		requireWrites(t, watches, 1, 2, 3, 1)

		// An event was alone in a pause: the watches are not behind any more.
		createConfigMaps(t, a, 1)
		requireWrites(t, watches, 1, 2, 3, 1, 1)

		cancel()
		synctest.Wait()
		require.Empty(t, a.watches.counts)
	})
}

func TestWatchEndsInPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTestAPIWith(t, Settings{WatchPauses: true, WatchTimeout: time.Hour})
		ctx, cancel := context.WithCancel(t.Context())
		startBehind(t, ctx, a, 20)
		createConfigMaps(t, a, 1)
		cancel()
		synctest.Wait()
		require.Empty(t, a.watches.counts)
	})
}

// The watches of another collection do not count.
func TestWatchDoesNotPause(t *testing.T) {
	for name, test := range map[string]struct {
		pauses  bool
		watches int
	}{
		"few watches": {true, manyWatches - 1},
		"not enabled": {false, 20},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newTestAPIWith(t, Settings{WatchPauses: test.pauses, WatchTimeout: time.Hour})
				ctx, cancel := context.WithCancel(t.Context())
				startWatches(ctx, a, "secrets", 20, nil)
				startWatches(ctx, a, "namespaces/other/configmaps", 20, nil)
				watches := startBehind(t, ctx, a, test.watches)
				createConfigMaps(t, a, 1)
				createConfigMaps(t, a, 1)
				requireWrites(t, watches, 1, 2, 1, 1)
				cancel()
				synctest.Wait()
			})
		})
	}
}

func TestPauseAfterWrite(t *testing.T) {
	require.Zero(t, pauseAfterWrite(manyWatches-1))
	require.Equal(t, manyWatches*pausePerWatch, pauseAfterWrite(manyWatches))
	require.Equal(t, 5*time.Millisecond, pauseAfterWrite(100))
	require.Equal(t, maxPause, pauseAfterWrite(10_000))
}
