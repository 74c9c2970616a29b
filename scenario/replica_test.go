package scenario

import (
	"context"
	"net"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

// Replicas share certificates and tokens with the first server, so that a moved client notices only
// its closed connections.
func TestSwitchOverTLS(t *testing.T) {
	config := Config{Clients: badClients(), Options: []fakeapi.Option{fakeapi.WithTokens(fakeapi.Token{Value: "s3cret", User: "ann"})}}
	transcript, failure := playText(t, config, "replica b\nrun polls\nadvance 2s\nswitch polls b\nadvance 2s\n"+
		"on b expect absent cm/a\nexpect requests polls \" 200 on b\" 2\nexpect requests polls \" 200\" 5")
	require.Empty(t, failure)
	require.Contains(t, transcript, "on b expect absent cm/a\n")
}

// A replica has the options of the scenario.
func TestReplicaOptions(t *testing.T) {
	config := Config{Options: []fakeapi.Option{fakeapi.WithBookmarkInterval(7 * time.Second)}}
	_, failure := playText(t, config, "replica b\non b watch w cm\nadvance 6s\nexpect events w BOOKMARK\nadvance 1s\nexpect events w BOOKMARK\n")
	require.Empty(t, failure)
}

// A dial during a switch fails, existing connections are closed by a switch, and connections closed
// by the client are removed.
func TestBalancer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		one, two := &apiServer{name: "one", server: server}, &apiServer{name: "two", server: server}
		b := newBalancer(one)
		c, err := b.dial(t.Context(), "tcp", "x:80")
		require.NoError(t, err)
		late := &balancedConn{Conn: c, balancer: b}
		b.switchTo(two)
		_, err = c.Write([]byte("GET"))
		require.ErrorIs(t, err, net.ErrClosed)
		require.False(t, b.track(late, one))
		c, err = b.dial(t.Context(), "tcp", "x:80")
		require.NoError(t, err)
		require.Len(t, b.conns, 1)
		require.NoError(t, c.Close())
		require.Empty(t, b.conns)
		require.NoError(t, server.Shutdown())
		_, err = b.dial(context.Background(), "tcp", "x:80")
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
	})
}

// Closing the connections at the same time as a switch does not undo the switch.
func TestBalancerClosesDuringSwitch(t *testing.T) {
	one, two := &apiServer{name: "one"}, &apiServer{name: "two"}
	for range 1000 {
		b := newBalancer(one)
		closing := make(chan struct{})
		var closer sync.WaitGroup
		closer.Go(func() {
			close(closing)
			for range 100 {
				b.closeConns()
			}
		})
		<-closing
		b.switchTo(two)
		closer.Wait()
		require.Same(t, two, b.current())
	}
}
