package fakeapi_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

// create creates a ConfigMap with a generated name and returns how many calls of webhooks that has
// made.
func (h *webhookServer) create(t *testing.T, srv *fakeapi.Server) int {
	t.Helper()
	h.take()
	requireCode(t, srv, 201, "POST", configMapsPath, `{"metadata":{"generateName":"x"}}`)
	return len(h.take())
}

// A configuration takes effect with the write that stores it, a selected namespace with the write
// that changes its labels.
func TestWebhookTakesEffectAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startWithWebhooks(t)
		require.Zero(t, h.create(t, srv))
		for range 3 {
			requireCode(t, srv, 201, "POST", validatingPath, configuration("v", h.webhook(t, "allow", `"namespaceSelector":{"matchLabels":{"env":"test"}}`)))
			require.Zero(t, h.create(t, srv))
			requireCode(t, srv, 200, "PATCH", "/api/v1/namespaces/default", `{"metadata":{"labels":{"env":"test"}}}`)
			require.Equal(t, 1, h.create(t, srv))
			requireCode(t, srv, 201, "POST", mutatingPath, configuration("m", h.webhook(t, "allow", "")))
			require.Equal(t, 2, h.create(t, srv))
			requireCode(t, srv, 200, "PATCH", "/api/v1/namespaces/default", `{"metadata":{"labels":{"env":null}}}`)
			require.Equal(t, 1, h.create(t, srv))
			requireCode(t, srv, 200, "PATCH", mutatingPath+"/m", configuration("m", h.webhook(t, "allow", ""), h.webhook(t, "allow", `"name":"second.example.com"`)))
			require.Equal(t, 2, h.create(t, srv))
			requireCode(t, srv, 200, "DELETE", validatingPath, "")
			requireCode(t, srv, 200, "DELETE", mutatingPath+"/m", "")
			require.Zero(t, h.create(t, srv))
		}
	})
}

// With WithAdmissionDelay a configuration takes effect when it is old enough, and so does its
// deletion.
func TestWebhookTakesEffectLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startWithWebhooks(t, fakeapi.WithAdmissionDelay(time.Second, 0))
		time.Sleep(time.Minute)
		requireCode(t, srv, 201, "POST", validatingPath, configuration("v", h.webhook(t, "allow", "")))
		require.Zero(t, h.create(t, srv))
		time.Sleep(time.Second - time.Nanosecond)
		require.Zero(t, h.create(t, srv))
		time.Sleep(time.Nanosecond)
		require.Equal(t, 1, h.create(t, srv))
		requireCode(t, srv, 200, "DELETE", validatingPath+"/v", "")
		require.Equal(t, 1, h.create(t, srv))
		time.Sleep(time.Second)
		require.Zero(t, h.create(t, srv))
	})
}

// Webhooks follow the store: a restore brings back the configurations of the snapshot, and a fork
// has those of its server.
func TestWebhooksAfterRestoreAndInForks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startWithWebhooks(t)
		without := srv.Snapshot()
		requireCode(t, srv, 201, "POST", validatingPath, configuration("v", h.webhook(t, "allow", "")))
		with := srv.Snapshot()
		require.Equal(t, 1, h.create(t, srv))
		require.NoError(t, srv.Restore(without, 0))
		require.Zero(t, h.create(t, srv))
		require.NoError(t, srv.Restore(with, 100))
		require.Equal(t, 1, h.create(t, srv))

		fork, err := srv.Fork(fakeapi.WithInMemoryNetwork(), fakeapi.WithWebhookDialer(h.dial))
		require.NoError(t, err)
		defer func() { require.NoError(t, fork.Close()) }()
		require.Equal(t, 1, h.create(t, fork))
		requireCode(t, fork, 200, "DELETE", validatingPath+"/v", "")
		require.Zero(t, h.create(t, fork))
		require.Equal(t, 1, h.create(t, srv), "the server keeps what its fork deletes")
	})
}

// A replica calls the webhooks that its state has. A frozen one does not know later configurations.
func TestWebhooksOfReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startWithWebhooks(t)
		replica, err := srv.Replica(fakeapi.WithInMemoryNetwork())
		require.NoError(t, err)
		requireCode(t, srv, 201, "POST", validatingPath, configuration("v", h.webhook(t, "allow", "")))
		require.Equal(t, 1, h.create(t, replica.Server))
		replica.Freeze()
		requireCode(t, srv, 201, "POST", mutatingPath, configuration("m", h.webhook(t, "allow", "")))
		require.Equal(t, 2, h.create(t, srv))
		require.Equal(t, 1, h.create(t, replica.Server))
		requireCode(t, srv, 200, "DELETE", validatingPath+"/v", "")
		require.Equal(t, 1, h.create(t, srv))
		require.Equal(t, 1, h.create(t, replica.Server), "the deleted one")
		replica.CatchUp()
		require.Equal(t, 1, h.create(t, replica.Server))
		requireCode(t, srv, 200, "DELETE", mutatingPath+"/m", "")
		require.Zero(t, h.create(t, replica.Server))
	})
}

// A webhook can read and write the server during its call, also the object in question: then the
// write conflicts and is repeated.
func TestWebhookUsesServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startWithWebhooks(t, fakeapi.WithObjects(newConfigMap("x")))
		var written atomic.Bool
		h.review("busy", func(request *admissionRequest) *admissionResponse {
			if request.Operation == "UPDATE" && written.CompareAndSwap(false, true) {
				code, _, _ := send(t, srv, "PATCH", configMapsPath+"/x", "application/merge-patch+json", []byte(`{"data":{"webhook":"1"}}`))
				if code != http.StatusOK {
					t.Error(code)
				}
			}
			code, _, _ := send(t, srv, "GET", configMapsPath+"/x", "", nil)
			return &admissionResponse{Allowed: code == http.StatusOK}
		})
		for _, path := range []string{mutatingPath, validatingPath} {
			written.Store(false)
			requireCode(t, srv, 201, "POST", path, configuration("c", h.webhook(t, "busy", "")))
			h.take()
			made := requireCode(t, srv, 200, "PATCH", configMapsPath+"/x", `{"data":{"client":"`+path+`","webhook":null}}`)
			require.NotContains(t, made.Object["data"], "webhook", "the patch is applied to the newer object")
			require.Len(t, h.take(), 3, "the write, the one of the webhook, and the write again")
			requireCode(t, srv, 200, "DELETE", path+"/c", "")
		}
	})
}

// Close ends calls: the write is not committed, and no goroutine and no connection stays, which the
// bubble would report.
func TestCloseDuringWebhookCall(t *testing.T) {
	for _, path := range []string{mutatingPath, validatingPath} {
		synctest.Test(t, func(t *testing.T) {
			srv, h := startWithWebhooks(t)
			h.respond("slow", slowly(time.Hour))
			requireCode(t, srv, 201, "POST", path, configuration("c", h.webhook(t, "slow", `"timeoutSeconds":30`)))
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				r, err := http.NewRequest("POST", srv.URL()+configMapsPath, strings.NewReader(`{"metadata":{"name":"a"}}`))
				if err != nil {
					t.Error(err)
					return
				}
				r.Header.Set("Content-Type", "application/json")
				if resp, err := srv.Client().Do(r); err == nil {
					_ = resp.Body.Close()
					if resp.StatusCode < 400 {
						t.Error(resp.Status)
					}
				}
			}()
			synctest.Wait()
			require.Len(t, h.take(), 1)
			begin := time.Now()
			require.NoError(t, srv.Close())
			require.LessOrEqual(t, time.Since(begin), 5*time.Second)
			<-ended
		})
	}
}

// Configurations can be replaced while they are in use. No call fails, and in the end there is one
// connection for each kind of webhook at most.
func TestReplaceWebhooksDuringCalls(t *testing.T) {
	h := newWebhookServer(t)
	var mu sync.Mutex
	open := 0
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithWebhookDialer(h.counted(&mu, &open)))
	paths := []string{mutatingPath, validatingPath}
	for _, path := range paths {
		requireCode(t, srv, 201, "POST", path, configuration("c", h.webhook(t, "allow", "")))
	}
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	var replacements atomic.Int64
	for range 4 {
		wg.Go(func() {
			for i := 0; (i < 25 || replacements.Load() < 3) && !t.Failed(); i++ {
				code, _, body := send(t, srv, "POST", configMapsPath, "application/json", []byte(`{"metadata":{"generateName":"x"}}`))
				if code != http.StatusCreated {
					t.Errorf("%s", body)
				}
			}
		})
	}
	replaced := make(chan struct{})
	go func() {
		defer close(replaced)
		for n := 0; ctx.Err() == nil; n++ {
			body := configuration("c", h.webhook(t, "allow", fmt.Sprintf(`"timeoutSeconds":%d`, n%20+5)))
			if code, _, response := send(t, srv, "PATCH", paths[n%2]+"/c", "application/merge-patch+json", []byte(body)); code != http.StatusOK {
				t.Errorf("%s", response)
			}
			replacements.Add(1)
		}
	}()
	wg.Wait()
	cancel()
	<-replaced
	require.Greater(t, replacements.Load(), int64(2))
	for _, path := range paths {
		requireCode(t, srv, 200, "DELETE", path+"/c", "")
	}
	requireCode(t, srv, 201, "POST", configMapsPath, `{"metadata":{"generateName":"x"}}`)
	require.Eventually(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return open == 0
	}, time.Minute, time.Millisecond, "the connections of configurations that are gone are closed")
}
