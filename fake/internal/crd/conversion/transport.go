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
	// callTimeout is how long one call may last, with its answer: what the real
	// server gives all its webhooks (webhook.setGlobalDefaults).
	callTimeout = 30 * time.Second

	// userAgent is what the real server calls itself to conversion webhooks too.
	userAgent = "kube-apiserver-admission"

	// connectTime and keepAlive are those of client-go's transports.
	connectTime = 30 * time.Second
	keepAlive   = 30 * time.Second
)

// errClosed is the answer to who wants a connection after Close.
var errClosed = errors.New("the server is shutting down: its conversion webhooks are not called any more")

// Dialer opens a connection; the signature is that of net.Dialer.DialContext.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// ServiceResolver gives the address, host and port, at which a Service is reached.
// It is asked for every call. Its error is what the caller of the API reads behind
// the name of the webhook: a kube-apiserver that knows no such Service says
// `service "NAME" not found`.
type ServiceResolver func(namespace, name string, port int32) (address string, err error)

// transport is the way to the webhook of one converter. It knows its connections, so
// that none outlives the converter.
type transport struct {
	dial     Dialer
	services ServiceResolver
	ctx      context.Context // ends with close
	close    context.CancelFunc

	// mu guards all below.
	mu       sync.Mutex
	calls    int // under way
	draining bool
	conns    map[*connection]bool // open connections, whether or not a call uses them
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

// noServices fails as the look-up of a name that no DNS server knows does.
func noServices(namespace, name string, _ int32) (string, error) {
	return "", &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{
		Err: "no such host", Name: name + "." + namespace + ".svc", IsNotFound: true,
	}}
}

// ResolveEndpoint makes a webhook.ServiceResolver of the network.
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

// authenticationInfoResolver makes the library's clients use the network. What it would look for
// itself, credentials of a pod for the service kubernetes.default, a test double
// does not have.
func (n *transport) authenticationInfoResolver(webhook.AuthenticationInfoResolver) webhook.AuthenticationInfoResolver {
	config := func() (*rest.Config, error) {
		return &rest.Config{
			UserAgent: userAgent,
			Timeout:   callTimeout,
			Dial:      n.dialContext,
			// No proxy. Because it is a function, client-go also keeps the transport
			// out of the cache of the process, where it would outlive the converter.
			Proxy: func(*http.Request) (*url.URL, error) { return nil, nil },
		}, nil
	}
	return &webhook.AuthenticationInfoResolverDelegator{
		ClientConfigForFunc:        func(string) (*rest.Config, error) { return config() },
		ClientConfigForServiceFunc: func(string, string, int) (*rest.Config, error) { return config() },
	}
}

// dialContext dials, and gives up when the network closes.
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

// beginCall notes a call, and gives what notes its end.
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

// drain closes the connections as soon as no call is under way. Later calls have theirs
// for themselves.
func (n *transport) drain() {
	n.mu.Lock()
	n.draining = true
	unused := n.unusedConnections()
	n.mu.Unlock()
	closeConnections(unused)
}

// unusedConnections are the connections that nobody needs any more. The caller holds mu.
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

// connection tells the network when it is closed.
type connection struct {
	net.Conn
	transport     *transport
	stopAfterFunc func() bool // guarded by the network's mu
}

func (c *connection) Close() error {
	c.transport.mu.Lock()
	delete(c.transport.conns, c)
	stopAfterFunc := c.stopAfterFunc
	c.transport.mu.Unlock()
	stopAfterFunc()
	return c.Conn.Close()
}
