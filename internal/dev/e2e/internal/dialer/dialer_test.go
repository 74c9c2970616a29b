package dialer_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/dev/e2e/internal/dialer"
)

func TestCutClosesConnectionsAndRefusesDials(t *testing.T) {
	for name, opts := range map[string][]fakeapi.Option{"TCP": nil, "in memory": {fakeapi.WithInMemoryNetwork()}} {
		t.Run(name, func(t *testing.T) {
			cfg := fakeapi.Start(t, opts...).RESTConfig()
			network := dialer.Wrap(cfg)
			client, err := rest.HTTPClientFor(cfg)
			require.NoError(t, err)
			defer client.CloseIdleConnections()
			watch, err := client.Get(cfg.Host + "/api/v1/namespaces?watch=true")
			require.NoError(t, err)
			defer watch.Body.Close()
			require.Equal(t, http.StatusOK, watch.StatusCode)

			network.Cut()
			_, err = io.ReadAll(watch.Body)
			require.Error(t, err, "the watch was not closed")
			_, err = client.Get(cfg.Host + "/api")
			require.ErrorContains(t, err, "the client is disconnected")
			require.Equal(t, 1, network.RefusedDials())

			network.Restore()
			answer, err := client.Get(cfg.Host + "/api")
			require.NoError(t, err)
			require.NoError(t, answer.Body.Close())
		})
	}
}
