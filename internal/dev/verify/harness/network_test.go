package harness_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	fakeapi "example.com/fakeapi/fake"
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

func TestDisconnectClosesConnectionsAndRefusesDials(t *testing.T) {
	for name, opts := range map[string][]fakeapi.Option{"TCP": nil, "in memory": {fakeapi.WithInMemoryNetwork()}} {
		t.Run(name, func(t *testing.T) {
			config := fakeapi.Start(t, opts...).RESTConfig()
			network := harness.NewNetwork(config)
			client, err := rest.HTTPClientFor(config)
			require.NoError(t, err)
			defer client.CloseIdleConnections()
			watch, err := client.Get(config.Host + "/api/v1/namespaces?watch=true")
			require.NoError(t, err)
			defer watch.Body.Close()
			require.Equal(t, http.StatusOK, watch.StatusCode)

			network.Disconnect()
			_, err = io.ReadAll(watch.Body)
			require.Error(t, err, "the watch was not closed")
			_, err = client.Get(config.Host + "/api")
			require.ErrorContains(t, err, "the network is disconnected")
			require.Equal(t, 1, network.RefusedDials())

			network.Restore()
			response, err := client.Get(config.Host + "/api")
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
		})
	}
}
