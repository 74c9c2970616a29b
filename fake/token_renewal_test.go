package fakeapi_test

import (
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/dev/verify/harness"
)

// writeTokenFile writes the token file of a client, as a kubelet does for a pod.
func writeTokenFile(t *testing.T, path, token string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(token), 0o600))
}

// countUnauthorized counts the 401 responses of a client. It fails the test if a response is not
// HTTP/2.
func countUnauthorized(t *testing.T, config *rest.Config) *atomic.Int32 {
	var n atomic.Int32
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripperFunc(func(r *http.Request) (*http.Response, error) {
			resp, err := next.RoundTrip(r)
			if err == nil && resp.ProtoMajor != 2 {
				t.Errorf("%s %s: the response is %s", r.Method, r.URL, resp.Proto)
			}
			if err == nil && resp.StatusCode == http.StatusUnauthorized {
				n.Add(1)
			}
			return resp, err
		})
	})
	return &n
}

// After the token of an informer has expired, its watch continues until it ends. Then its requests
// return 401 until the token file has a new token. In the end the informer is equal to the store.
func TestInformerRenewsToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithTokens(
			fakeapi.Token{Value: "bob-1", User: "bob"}, expiring(annToken, 5*time.Minute)))
		client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
		write := func(name string) {
			_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), configMap(name, "1"), metav1.CreateOptions{})
			require.NoError(t, err)
		}
		writeTokenFile(t, file, "ann-1")
		config := srv.RESTConfigWithToken("")
		config.BearerTokenFile = file
		refused := countUnauthorized(t, config)
		network := harness.NewNetwork(config)
		var s handlerLog
		informer := startInformer(t, config, &s)

		time.Sleep(4*time.Minute + 30*time.Second)
		network.BreakConnections() // so that a new watch starts, which lasts at least five minutes
		time.Sleep(time.Minute)
		write("after-expiry")
		synctest.Wait()
		require.Contains(t, cachedVersions(informer), "after-expiry")
		require.Zero(t, refused.Load())

		time.Sleep(15 * time.Minute)
		write("missed")
		time.Sleep(time.Minute)
		require.NotContains(t, cachedVersions(informer), "missed")
		require.NotZero(t, refused.Load())

		require.NoError(t, srv.AddToken(fakeapi.Token{Value: "ann-2", User: "ann"}))
		writeTokenFile(t, file, "ann-2")
		time.Sleep(3 * time.Minute) // the file is read once a minute, and reflectors back off
		synctest.Wait()
		require.Equal(t, serverVersions(t, client), cachedVersions(informer))
	})
}

// A RetryWatcher resumes after retriable errors. A 401 is not one; the watcher returns it and ends.
func TestRetryWatcherWithExpiredToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithTokens(expiring(annToken, 10*time.Minute)))
		config := srv.RESTConfig()
		network := harness.NewNetwork(config)
		maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
		source := &cache.ListWatch{WatchFuncWithContext: maps.Watch}
		w, err := watchtools.NewRetryWatcherWithContext(t.Context(), srv.ResourceVersion(), source)
		require.NoError(t, err)
		defer w.Stop()
		for _, name := range []string{"a", "b", "c"} {
			require.NoError(t, srv.Load(configMap(name, "1")))
			require.Equal(t, watch.Added, (<-w.ResultChan()).Type)
			time.Sleep(3 * time.Minute)
			network.BreakConnections()
		}
		time.Sleep(time.Minute) // it watches again, and its token expires
		require.NoError(t, srv.Load(configMap("one-more", "1")))
		require.Equal(t, watch.Added, (<-w.ResultChan()).Type)
		network.BreakConnections()
		event := <-w.ResultChan()
		require.Equal(t, watch.Error, event.Type)
		require.EqualValues(t, 401, event.Object.(*metav1.Status).Code)
		require.Equal(t, metav1.StatusReasonUnauthorized, event.Object.(*metav1.Status).Reason)
		_, open := <-w.ResultChan()
		require.False(t, open)
	})
}
