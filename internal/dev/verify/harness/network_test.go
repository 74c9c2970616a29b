package harness_test

import (
	"context"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"example.com/fakeapi/internal/dev/verify/harness"
)

// A dial that ends after the network was disconnected fails.
func TestDisconnectDuringDial(t *testing.T) {
	dialing, proceed := make(chan struct{}), make(chan struct{})
	config := &rest.Config{Dial: func(context.Context, string, string) (net.Conn, error) {
		close(dialing)
		<-proceed
		client, _ := net.Pipe()
		return client, nil
	}}
	network := harness.NewNetwork(config)
	ended := make(chan error, 1)
	go func() {
		_, err := config.Dial(t.Context(), "tcp", "server:80")
		ended <- err
	}()
	<-dialing
	network.Disconnect()
	close(proceed)
	require.EqualError(t, <-ended, "the network is disconnected")
	require.Zero(t, network.Connections())
}
