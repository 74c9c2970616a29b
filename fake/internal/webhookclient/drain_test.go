package webhookclient

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Drain closes the connections when the last call has ended, also one that was still being dialed
// then, because the call used another one.
func TestDrain(t *testing.T) {
	for name, dialedAfterDrain := range map[string]bool{"before": false, "after": true} {
		t.Run(name, func(t *testing.T) {
			dialed, release := make(chan struct{}), make(chan struct{})
			var far net.Conn
			transport := New(Network{Dial: func(context.Context, string, string) (near net.Conn, err error) {
				close(dialed)
				<-release
				near, far = net.Pipe()
				return near, far.SetReadDeadline(time.Now().Add(time.Minute))
			}}, "")
			defer transport.Close()
			end := transport.BeginCall()
			ended := make(chan error)
			go func() {
				_, err := transport.DialContext(t.Context(), "tcp", "a:1")
				ended <- err
			}()
			<-dialed
			if !dialedAfterDrain {
				close(release)
				require.NoError(t, <-ended)
			}
			transport.Drain()
			end()
			if dialedAfterDrain {
				close(release)
				require.NoError(t, <-ended)
			}
			_, err := far.Read(make([]byte, 1))
			require.ErrorIs(t, err, io.EOF)
		})
	}
}
