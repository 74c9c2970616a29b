package conversion

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/rest"
)

const (
	// callTimeout is the timeout of a call including its response, as for all webhooks of a real
	// server (webhook.setGlobalDefaults).
	callTimeout = 30 * time.Second

	// userAgent is the User-Agent of a real server in calls of conversion webhooks too.
	userAgent = "kube-apiserver-admission"

	// connectTime and keepAlive are those of client-go's transports.
	connectTime = 30 * time.Second
	keepAlive   = 30 * time.Second
)

// errClosed is returned for a connection after Close.
var errClosed = errors.New("the server is shutting down and does not call conversion webhooks")

// Dialer opens a connection. Its signature is that of net.Dialer.DialContext.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// ServiceResolver returns the address, host and port, of a Service. It is called for every call of
// a webhook. Its error is a part of the message that the client of the API gets. A kube-apiserver
// reports an unknown Service as `service "NAME" not found`.
type ServiceResolver func(namespace, name string, port int32) (address string, err error)

// transport calls the webhook of one converter. It tracks its connections, so that none remains
// open after close.
type transport struct {
	dial     Dialer
	services ServiceResolver
	ctx      context.Context // done after close
	close    context.CancelFunc

	// mu guards the fields below.
	mu       sync.Mutex
	calls    int // in progress
	draining bool
	conns    map[*connection]bool // open connections, idle or not
}

func newTransport(dial Dialer, services ServiceResolver) *transport {
	if dial == nil {
		dial = (&net.Dialer{Timeout: connectTime, KeepAlive: keepAlive}).DialContext
	}
	if services == nil {
		services = noServices
	}
	n := &transport{dial: dial, services: services, conns: make(map[*connection]bool)}
	n.ctx, n.close = context.WithCancel(context.Background())
	return n
}

// noServices returns the error of a look-up of a name that is not in DNS.
func noServices(namespace, name string, _ int32) (string, error) {
	return "", &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{
		Err: "no such host", Name: name + "." + namespace + ".svc", IsNotFound: true,
	}}
}

// ResolveEndpoint implements webhook.ServiceResolver.
func (n *transport) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	address, err := n.services(namespace, name, port)
	if err != nil {
		return nil, err
	}
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, fmt.Errorf("service %s/%s: %w", namespace, name, err)
	}
	return &url.URL{Scheme: "https", Host: address}, nil
}

// authenticationInfoResolver makes the library's clients use the transport. The library would
// otherwise read the credentials of a Pod for the service kubernetes.default.
func (n *transport) authenticationInfoResolver(webhook.AuthenticationInfoResolver) webhook.AuthenticationInfoResolver {
	config := func() (*rest.Config, error) {
		return &rest.Config{
			UserAgent: userAgent,
			Timeout:   callTimeout,
			Dial:      n.dialContext,
			// No proxy. Because Proxy is a function, client-go does not keep the transport in its
			// cache, where it would remain after close.
			Proxy: func(*http.Request) (*url.URL, error) { return nil, nil },
		}, nil
	}
	return &webhook.AuthenticationInfoResolverDelegator{
		ClientConfigForFunc:        func(string) (*rest.Config, error) { return config() },
		ClientConfigForServiceFunc: func(string, string, int) (*rest.Config, error) { return config() },
	}
}

// dialContext dials, and is canceled by close.
func (n *transport) dialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if n.ctx.Err() != nil {
		return nil, errClosed
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(n.ctx, cancel)()
	conn, err := n.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: conn, transport: n}
	n.mu.Lock()
	n.conns[c] = true
	c.stopAfterFunc = context.AfterFunc(n.ctx, func() { _ = c.Close() })
	n.mu.Unlock()
	return c, nil
}

// beginCall counts a call and returns a function that ends it.
func (n *transport) beginCall() (end func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls++
	return func() {
		n.mu.Lock()
		n.calls--
		unused := n.unusedConnections()
		n.mu.Unlock()
		closeConnections(unused)
	}
}

// drain closes the connections when no call is in progress. Later calls use connections of their
// own.
func (n *transport) drain() {
	n.mu.Lock()
	n.draining = true
	unused := n.unusedConnections()
	n.mu.Unlock()
	closeConnections(unused)
}

// unusedConnections returns the connections that can be closed. The caller holds mu.
func (n *transport) unusedConnections() []*connection {
	if !n.draining || n.calls > 0 {
		return nil
	}
	return slices.Collect(maps.Keys(n.conns))
}

func closeConnections(connections []*connection) {
	for _, c := range connections {
		_ = c.Close()
	}
}

// connection removes itself from its transport when it is closed.
type connection struct {
	net.Conn
	transport     *transport
	stopAfterFunc func() bool // guarded by transport.mu
}

func (c *connection) Close() error {
	c.transport.mu.Lock()
	delete(c.transport.conns, c)
	stopAfterFunc := c.stopAfterFunc
	c.transport.mu.Unlock()
	stopAfterFunc()
	return c.Conn.Close()
}
