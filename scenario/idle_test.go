package scenario

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fakeapi "example.com/fakeapi/fake"
)

// A run is idle when nothing was sent or written for a while and no recent request is open. The
// wait is limited.
func TestWaitIdle(t *testing.T) {
	for name, test := range map[string]struct {
		// during is what happens at the same time, with an open request and the server.
		during func(request *trackedRequest, server *fakeapi.Server)
		want   time.Duration
	}{
		"request that ends": {func(request *trackedRequest, _ *fakeapi.Server) {
			time.Sleep(120 * time.Millisecond)
			request.complete()
		}, 200 * time.Millisecond},
		"request that waits": {func(*trackedRequest, *fakeapi.Server) {}, maxActiveRequest},
		"body that is written": {func(request *trackedRequest, _ *fakeapi.Server) {
			request.complete()
			for range 10 {
				time.Sleep(idleWindow - time.Millisecond)
				_, _ = request.Write([]byte("a"))
			}
		}, 550 * time.Millisecond},
		"store that is written": {func(request *trackedRequest, server *fakeapi.Server) {
			request.complete()
			for i := range 10 {
				time.Sleep(idleWindow - time.Millisecond)
				_ = server.Load(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a" + strconv.Itoa(i), Namespace: "default"}})
			}
		}, 550 * time.Millisecond},
		"client that is never idle": {func(request *trackedRequest, _ *fakeapi.Server) {
			for range 100 {
				time.Sleep(idleWindow - time.Millisecond)
				_, _ = request.Write([]byte("a"))
			}
		}, maxIdleWait},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
				m := newTrafficMonitor(nil, Config{})
				request := m.track(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/a", nil), nil)
				defer request.finish()
				var active sync.WaitGroup
				defer active.Wait()
				active.Go(func() { test.during(request, server) })
				begin := time.Now()
				m.waitIdle(t.Context(), server)
				require.Equal(t, test.want, time.Since(begin))
			})
		})
	}
}
