package aggregator

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"example.com/fakeapi/fake/internal/certs"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/webhookclient"
	"example.com/fakeapi/memstore"
)

// Writer is the part of the API that writes the status. handlers.API implements it.
type Writer interface {
	// ChangeByServer changes the object under a key as a PUT request of the server itself does, if it
	// has the uid.
	ChangeByServer(ctx context.Context, res *resource.Resource, key, uid, subresource string, change func(runtime.Object)) error
	// Now returns the current time of the server.
	Now() time.Time
}

// Aggregator has the aggregated APIs of a store. It is safe for concurrent use.
type Aggregator struct {
	store     *memstore.Store
	writer    Writer
	transport *webhookclient.Transport
	services  atomic.Pointer[services]

	// mu guards the fields below.
	mu        sync.Mutex
	backends  map[backendKey]*backend
	documents map[string]*documents // by the names of APIServices
}

// New returns the aggregator of a store, which calls the other servers over network.
func New(store *memstore.Store, writer Writer, network webhookclient.Network) *Aggregator {
	return &Aggregator{
		store: store, writer: writer, transport: webhookclient.New(network, ""),
		backends: make(map[backendKey]*backend), documents: make(map[string]*documents),
	}
}

// Close closes the connections to the other servers.
func (a *Aggregator) Close() { a.transport.Close() }

// backendKey is what the connections to a server depend on.
type backendKey struct {
	namespace, name, caBundle string
	insecure                  bool
}

// backend has the connections to a server.
type backend struct {
	// http is for requests, upgrade for those that leave HTTP, which HTTP/2 cannot.
	http, upgrade *http.Transport
}

// maxBackends is the number of servers whose connections are kept.
const maxBackends = 64

// backend returns the connections to the server of an APIService.
func (a *Aggregator) backend(spec *apiregistrationv1.APIServiceSpec) (*backend, error) {
	key := backendKey{spec.Service.Namespace, spec.Service.Name, string(spec.CABundle), spec.InsecureSkipTLSVerify}
	a.mu.Lock()
	defer a.mu.Unlock()
	if b := a.backends[key]; b != nil {
		return b, nil
	}
	config, err := tlsConfig(key)
	if err != nil {
		return nil, err
	}
	if len(a.backends) == maxBackends {
		for _, b := range a.backends {
			b.closeIdle()
		}
		clear(a.backends)
	}
	b := &backend{http: a.newTransport(config), upgrade: a.newTransport(config)}
	b.http.ForceAttemptHTTP2, b.upgrade.DisableCompression = true, true
	a.backends[key] = b
	return b, nil
}

func (a *Aggregator) newTransport(config *tls.Config) *http.Transport {
	return &http.Transport{
		DialContext: a.transport.DialContext, TLSClientConfig: config.Clone(),
		TLSHandshakeTimeout: 10 * time.Second, MaxIdleConnsPerHost: 25, IdleConnTimeout: 90 * time.Second,
	}
}

// tlsConfig returns the TLS configuration for a server, whose certificate is that of its Service.
// The client certificate is that of the front proxy.
func tlsConfig(key backendKey) (*tls.Config, error) {
	proxy, err := certs.NewFrontProxy()
	if err != nil {
		return nil, err
	}
	config := &tls.Config{
		ServerName: key.name + "." + key.namespace + ".svc", MinVersion: tls.VersionTLS12,
		InsecureSkipVerify: key.insecure, Certificates: []tls.Certificate{proxy.Certificate},
	}
	if key.caBundle != "" {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM([]byte(key.caBundle)) {
			return nil, errors.New("unable to load root certificates: unable to parse bytes as PEM block")
		}
	}
	return config, nil
}

func (b *backend) closeIdle() {
	b.http.CloseIdleConnections()
	b.upgrade.CloseIdleConnections()
}
