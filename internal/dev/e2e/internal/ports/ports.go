// Package ports chooses the ports of environments of envtest, which would take ones that the system
// gives to outgoing connections.
package ports

import (
	"fmt"
	"net/url"
	"strconv"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"example.com/fakeapi/internal/dev/freeport"
)

const host = "127.0.0.1"

// Choose sets the ports of environments. Those that start at the same time need one call.
func Choose(t testing.TB, environments ...*envtest.Environment) {
	t.Helper()
	free := freeport.Choose(t, 3*len(environments))
	for i, e := range environments {
		server := e.ControlPlane.GetAPIServer()
		server.SecureServing.Address, server.SecureServing.Port = host, strconv.Itoa(free[3*i])
		e.ControlPlane.Etcd = &envtest.Etcd{URL: &url.URL{Scheme: "http", Host: fmt.Sprintf("%s:%d", host, free[3*i+1])}}
		e.ControlPlane.Etcd.Configure().Set("listen-peer-urls", "http://"+host+":0")
		e.WebhookInstallOptions.LocalServingHost, e.WebhookInstallOptions.LocalServingPort = host, free[3*i+2]
	}
}

// ChooseWebhook sets the port of the webhooks of a test.
func ChooseWebhook(t testing.TB, o *envtest.WebhookInstallOptions) {
	t.Helper()
	o.LocalServingHost, o.LocalServingPort = host, freeport.Choose(t, 1)[0]
}
