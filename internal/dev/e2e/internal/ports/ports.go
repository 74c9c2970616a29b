// Package ports chooses the ports of programs that listen on them later.
package ports

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

const host = "127.0.0.1"

// chosen has the ports that Free has returned in this process.
var chosen sync.Map

// Free returns a port on which nothing listens. It is below those that the system gives to outgoing
// connections, which could have it before a program listens on it.
func Free(t testing.TB) int {
	t.Helper()
	for range 100 {
		port := 20_000 + rand.IntN(12_000)
		if _, again := chosen.LoadOrStore(port, true); again {
			continue
		}
		if l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port))); err == nil {
			require.NoError(t, l.Close())
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// Choose sets the ports of an environment. The environment itself would take ones that the system
// gives to outgoing connections.
func Choose(t testing.TB, e *envtest.Environment) {
	t.Helper()
	server := e.ControlPlane.GetAPIServer()
	server.SecureServing.Address, server.SecureServing.Port = host, strconv.Itoa(Free(t))
	e.ControlPlane.Etcd = &envtest.Etcd{URL: &url.URL{Scheme: "http", Host: fmt.Sprintf("%s:%d", host, Free(t))}}
	e.ControlPlane.Etcd.Configure().Set("listen-peer-urls", "http://"+host+":0")
	ChooseWebhook(t, &e.WebhookInstallOptions)
}

// ChooseWebhook sets the port of the webhooks of a test.
func ChooseWebhook(t testing.TB, o *envtest.WebhookInstallOptions) {
	t.Helper()
	o.LocalServingHost, o.LocalServingPort = host, Free(t)
}
