package fakeapi_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
)

// startWithTimeline returns a server and its timeline after a watch, a create, a failed list and a
// delete whose event breaks the watch.
func startWithTimeline(t *testing.T, opts ...fakeapi.Option) (*fakeapi.Server, fakeapi.Timeline) {
	srv := fakeapi.Start(t, append(opts, fakeapi.WithInMemoryNetwork(), fakeapi.WithSeed(1))...)
	config := srv.RESTConfig()
	config.UserAgent = "ann/v1 (test)"
	maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
	w, err := maps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: srv.ResourceVersion()})
	require.NoError(t, err)
	defer w.Stop()
	go func() {
		for range w.ResultChan() {
		}
	}()
	_, err = srv.Faults().AddText("busy: when verb(list) && first(1) do status(503)\ngone: when event(DELETED) do error(410, Expired)")
	require.NoError(t, err)
	time.Sleep(time.Second)
	_, err = maps.Create(t.Context(), configMap("a", "1"), metav1.CreateOptions{})
	require.NoError(t, err)
	synctest.Wait()
	_, err = maps.List(t.Context(), metav1.ListOptions{})
	require.Error(t, err)
	time.Sleep(500 * time.Millisecond)
	require.NoError(t, maps.Delete(t.Context(), "a", metav1.DeleteOptions{}))
	synctest.Wait()
	return srv, srv.Timeline()
}

func TestTimeline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, got := startWithTimeline(t)
		const maps = "/api/v1/namespaces/default/configmaps"
		require.Equal(t, strings.TrimPrefix(`
   +0.000s #1 ann/v1 watch `+maps+`?resourceVersion=1004&watch=true -> 200 in 1.5s
   +1.000s #2 ann/v1 create `+maps+` -> 201 rv=1005
   +1.000s     #1 ADDED default/a rv=1005
   +1.000s #3 ann/v1 list `+maps+` -> 503 ServiceUnavailable
   +1.000s   ! busy: before list configmaps in default: status(503)
   +1.500s #4 ann/v1 delete `+maps+`/a -> 200
   +1.500s     #1 ERROR Expired
   +1.500s   ! gone: stream watch configmaps DELETED a in default: error(410, Expired)
`, "\n"), got.String())

		require.Equal(t, 1500*time.Millisecond, got.End.Sub(got.Begin))
		watch, create := got.Exchanges[0], got.Exchanges[1]
		require.Equal(t, "application/vnd.kubernetes.protobuf", watch.Frames[0].Body.ContentType)
		require.Equal(t, "application/vnd.kubernetes.protobuf", create.Request.ContentType)
		require.Contains(t, string(create.Request.Data), "k8s\x00")
		require.Less(t, create.Request.Size, create.Response.Size)
		require.Empty(t, watch.Response.Data)
	})
}

func TestWithoutTimeline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, got := startWithTimeline(t, fakeapi.WithoutTimeline())
		require.Empty(t, got.Exchanges)
		require.Len(t, got.Hits, 2)
	})
}

// Replicas and forks have timelines of their own.
func TestTimelinesOfReplicasAndForks(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	replica, err := srv.Replica(fakeapi.WithInMemoryNetwork())
	require.NoError(t, err)
	fork, err := srv.Fork(fakeapi.WithInMemoryNetwork())
	require.NoError(t, err)
	defer func() { require.NoError(t, fork.Close()) }()
	for server, path := range map[*fakeapi.Server]string{srv: "/livez", replica.Server: "/readyz", fork: "/healthz"} {
		code, _, _ := send(t, server, http.MethodGet, path, "", nil)
		require.Equal(t, 200, code)
		got := server.Timeline().Exchanges
		require.Len(t, got, 1)
		require.Equal(t, path, got[0].Path)
	}
}

// A long text omits its middle and the middle of long paths.
func TestLongTimelineAsText(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	long := fakeapi.Timeline{Begin: start, ExchangesDropped: 3}
	for i := range 1000 {
		long.Exchanges = append(long.Exchanges, fakeapi.Exchange{
			Seq: uint64(i + 4), Begin: start.Add(time.Duration(i) * time.Second), Method: "GET", Path: "/" + strings.Repeat("x", i),
		})
	}
	for i := range 30 {
		long.Exchanges[0].Frames = append(long.Exchanges[0].Frames, fakeapi.Frame{Time: start, Type: "ADDED", ResourceVersion: string(rune('A' + i))})
	}
	long.Hits = []faults.Hit{{Time: start.Add(time.Hour), Op: faults.Op{Path: "/"}}}
	text := long.String()
	lines := strings.Split(strings.TrimSpace(text), "\n")
	require.Len(t, lines, 501)
	require.Equal(t, "... 3 older requests forgotten ...", lines[0])
	require.Equal(t, "   +0.000s #4 - GET / -> no answer open", lines[1])
	require.Equal(t, "   +0.000s     #4 ADDED rv=A", lines[2])
	require.Equal(t, "                #4 ... 18 more ...", lines[8])
	require.Equal(t, "   +0.000s     #4 ADDED rv=^", lines[14])
	require.Equal(t, "... 515 lines left out ...", lines[100])
	require.Contains(t, lines[499], "xxx...xxx")
	require.Less(t, len(lines[499]), 250)
	require.Contains(t, lines[500], "+3600.000s   ! before request /")
}
