package fakeapi_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	fakeapi "example.com/fakeapi/fake"
)

// countDials returns a function that returns the number of connections that a client has used.
func countDials(config *rest.Config) func() int {
	var mu sync.Mutex
	conns := map[net.Conn]bool{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripperFunc(func(r *http.Request) (*http.Response, error) {
			trace := &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) {
				mu.Lock()
				defer mu.Unlock()
				conns[i.Conn] = true
			}}
			return next.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
		})
	})
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(conns)
	}
}

// A GOAWAY for every third create and every other watch makes clients and informers change their
// connections, but no request fails (case 93 of the faults).
func TestGoAwayDoesNotStopClients(t *testing.T) {
	for name, opts := range map[string][]fakeapi.Option{"HTTP/2": {fakeapi.WithTLS()}, "HTTP/1.1": nil} {
		t.Run(name, func(t *testing.T) {
			srv := fakeapi.Start(t, opts...)
			_, err := srv.Faults().AddText("when verb(create) && every(3) do goaway\nwhen verb(watch) && every(2) do goaway")
			require.NoError(t, err)
			config := srv.RESTConfig()
			dials := countDials(config)
			var s handlerLog
			informer := startInformer(t, config, &s)
			client := kubernetes.NewForConfigOrDie(config)
			for i := range 30 {
				_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), configMap(fmt.Sprint("n", i), "1"), metav1.CreateOptions{})
				require.NoError(t, err)
			}
			require.Eventually(t, func() bool { return len(s.all()) == 30 }, time.Minute, time.Millisecond)
			require.Equal(t, serverVersions(t, client), cachedVersions(informer))
			require.Greater(t, dials(), 10)
			require.GreaterOrEqual(t, len(srv.Faults().Hits()), 10)
		})
	}
}

// A watch continues after the GOAWAY that came with it. Later requests use another connection.
func TestGoAwayLeavesTheWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithTLS())
		_, err := srv.Faults().AddText("when verb(watch) && first(1) do goaway")
		require.NoError(t, err)
		config := srv.RESTConfig()
		dials := countDials(config)
		var s handlerLog
		startInformer(t, config, &s)
		client := kubernetes.NewForConfigOrDie(config)
		for i := range 4 {
			_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), configMap(fmt.Sprint("n", i), "1"), metav1.CreateOptions{})
			require.NoError(t, err)
			synctest.Wait()
			require.Len(t, s.all(), i+1)
			time.Sleep(time.Minute)
		}
		require.Equal(t, 2, dials())
		require.Len(t, srv.Faults().Hits(), 1)
	})
}

// With WithGoawayChance(1) each request over HTTP/2 has a connection of its own. Requests over
// HTTP/1.1 and to a replica without the option share one.
func TestGoawayChance(t *testing.T) {
	never := fakeapi.Start(t, fakeapi.WithTLS(), fakeapi.WithGoawayChance(0))
	always := fakeapi.Start(t, fakeapi.WithTLS(), fakeapi.WithGoawayChance(1))
	replica, err := always.Replica()
	require.NoError(t, err)
	plain := fakeapi.Start(t, fakeapi.WithGoawayChance(1))
	for srv, want := range map[*fakeapi.Server]int{never: 1, always: 4, replica.Server: 1, plain: 1} {
		config := srv.RESTConfig()
		dials := countDials(config)
		client := kubernetes.NewForConfigOrDie(config)
		list := func() {
			_, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
		}
		for range 4 {
			list()
		}
		// A client may send another request before it has seen the GOAWAY.
		for range 100 {
			if dials() < want {
				list()
			}
		}
		require.Equal(t, want, dials())
	}
	_, err = fakeapi.New(fakeapi.WithGoawayChance(2))
	require.ErrorContains(t, err, "fakeapi: the goaway chance 2 is not from 0 to 1")
}
