// Package webhookclient makes the connections to webhooks, for conversion and for admission, and to
// aggregated API servers. The clients of the API server's library use it.
//
// The library caches its connections in the process, where they would remain open after the server
// is closed, and would not belong to a synctest bubble. A Transport uses the Dialer of its server
// and no proxy. After Close it has no connection and no goroutine.
//
// Without a Dialer only loopback addresses are called, so that tests do not depend on the network.
// Others fail as unreachable, unless Network.AllowRemote is set.
package webhookclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/rest"
)

const (
	// CallTimeout is the timeout of a call including its response, as for all webhooks of a real
	// server (webhook.setGlobalDefaults).
	CallTimeout = 30 * time.Second

	// userAgent is the User-Agent of a real server, in calls of conversion webhooks too.
	userAgent = "kube-apiserver-admission"

	// connectTime and keepAlive are those of client-go's transports.
	connectTime = 30 * time.Second
	keepAlive   = 30 * time.Second
)

// errClosed is returned for a connection after Close.
var errClosed = errors.New("the server is shutting down and does not call webhooks")

// Dialer opens a connection. Its signature is that of net.Dialer.DialContext.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// ServiceResolver returns the address, host and port, of a Service. It is called for every call of
// a webhook. Its error is a part of the message that the client of the API gets. A kube-apiserver
// reports an unknown Service as `service "NAME" not found`.
type ServiceResolver func(namespace, name string, port int32) (address string, err error)

// Network is how webhooks are called. The zero value dials loopback addresses and resolves no
// services.
type Network struct {
	// Dial opens connections. If it is nil, they are opened over the network.
	Dial Dialer
	// AllowRemote allows addresses that are not loopback. It has no effect with Dial.
	AllowRemote bool
	// Services returns the addresses of services. If it is nil, no service can be resolved.
	Services ServiceResolver
	// Self, if it is not nil, has the responses of the API server to what it sends to itself: a
	// kube-apiserver calls a webhook at the port 443 of the Service default/kubernetes so.
	Self http.RoundTripper
	// Intercept, if it is not nil, makes the requests instead of next. webhook is the name of the
	// webhook, or of the CustomResourceDefinition whose objects are converted. The context of the
	// request is also done after Close.
	Intercept func(webhook string, r *http.Request, next http.RoundTripper) (*http.Response, error)
}

// Transport has the connections to webhooks. It tracks them, so that none remains open after Close.
// It implements webhook.ServiceResolver.
type Transport struct {
	network Network
	webhook string          // "" if the contexts of requests have the name
	ctx     context.Context // done after Close
	cancel  context.CancelFunc

	// mu guards the fields below.
	mu       sync.Mutex
	calls    int // in progress
	draining bool
	conns    map[*connection]bool // open connections, idle or not
}

// New returns a Transport of a webhook with a name. If name is "", the contexts of the requests
// have it, see WithName.
func New(network Network, name string) *Transport {
	if network.Dial == nil {
		network.Dial = (&net.Dialer{Timeout: connectTime, KeepAlive: keepAlive}).DialContext
		if !network.AllowRemote {
			network.Dial = onlyLoopback(network.Dial)
		}
	}
	if network.Services == nil {
		network.Services = noServices
	}
	n := &Transport{network: network, webhook: name, conns: make(map[*connection]bool)}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	return n
}

type nameKey struct{}

// WithName returns a context for calls of the webhook with a name.
func WithName(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, nameKey{}, name)
}

// onlyLoopback returns a Dialer that refuses addresses outside of the machine. It does not look up
// names other than localhost.
func onlyLoopback(dial Dialer) Dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err == nil && host != "localhost" && !net.ParseIP(host).IsLoopback() {
			return nil, &net.OpError{Op: "dial", Net: network, Err: &net.AddrError{
				Err: "network is unreachable: only loopback addresses are called without WithRemoteWebhooks (fakeapi serve --allow-remote-webhooks)", Addr: address,
			}}
		}
		return dial(ctx, network, address)
	}
}

// noServices returns the error of a look-up of a name that is not in DNS.
func noServices(namespace, name string, _ int32) (string, error) {
	return "", &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{
		Err: "no such host", Name: name + "." + namespace + ".svc", IsNotFound: true,
	}}
}

// ResolveEndpoint implements webhook.ServiceResolver. It returns the name of the service in the
// cluster. The address is looked up later, for each call that Intercept lets pass.
func (n *Transport) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	return &url.URL{Scheme: "https", Host: net.JoinHostPort(name+"."+namespace+".svc", strconv.Itoa(int(port)))}, nil
}

// service is an http.RoundTripper that sends requests to the address of a service.
type service struct {
	transport       *Transport
	next            http.RoundTripper
	namespace, name string
	port            int32
}

// ServiceAddress returns the address, host and port, of a service.
func (n *Transport) ServiceAddress(namespace, name string, port int32) (string, error) {
	address, err := n.network.Services(namespace, name, port)
	if err != nil {
		return "", err
	}
	if _, _, err := net.SplitHostPort(address); err != nil {
		return "", fmt.Errorf("service %s/%s: %w", namespace, name, err)
	}
	return address, nil
}

// RoundTrip implements http.RoundTripper.
func (s service) RoundTrip(r *http.Request) (*http.Response, error) {
	address, err := s.transport.ServiceAddress(s.namespace, s.name, s.port)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context()) // its Host is the name of the service
	r.URL.Host = address
	return s.next.RoundTrip(r)
}

// WrappedRoundTripper returns the http.RoundTripper that is called in the end, as client-go's own
// wrappers do.
func (s service) WrappedRoundTripper() http.RoundTripper { return s.next }

// AuthenticationInfoResolver makes the library's clients use the Transport. The library would
// otherwise read the credentials of a Pod for the service kubernetes.default. It is a
// webhook.AuthenticationInfoResolverWrapper.
func (n *Transport) AuthenticationInfoResolver(webhook.AuthenticationInfoResolver) webhook.AuthenticationInfoResolver {
	config := func(wrap func(http.RoundTripper) http.RoundTripper) (*rest.Config, error) {
		return &rest.Config{
			UserAgent: userAgent,
			Timeout:   CallTimeout,
			Dial:      n.DialContext,
			// No proxy. Because Proxy is a function, client-go does not keep the Transport in its
			// cache, where it would remain after Close.
			Proxy:         func(*http.Request) (*url.URL, error) { return nil, nil },
			WrapTransport: wrap,
		}, nil
	}
	return &webhook.AuthenticationInfoResolverDelegator{
		ClientConfigForFunc: func(string) (*rest.Config, error) { return config(n.withIntercept) },
		ClientConfigForServiceFunc: func(name, namespace string, port int) (*rest.Config, error) {
			return config(func(next http.RoundTripper) http.RoundTripper {
				if n.network.Self != nil && namespace == metav1.NamespaceDefault && name == "kubernetes" && port == 443 {
					return n.withIntercept(n.network.Self)
				}
				return n.withIntercept(service{n, next, namespace, name, int32(port)})
			})
		},
	}
}

// withIntercept returns next with the Intercept function of the network before it.
func (n *Transport) withIntercept(next http.RoundTripper) http.RoundTripper {
	if n.network.Intercept == nil {
		return next
	}
	return interceptor{n, next}
}

// interceptor is an http.RoundTripper that calls the Intercept function.
type interceptor struct {
	transport *Transport
	next      http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (i interceptor) RoundTrip(r *http.Request) (*http.Response, error) {
	name := i.transport.webhook
	if name == "" {
		name, _ = r.Context().Value(nameKey{}).(string)
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	stop := context.AfterFunc(i.transport.ctx, func() { cancel(errClosed) })
	end := func() { stop(); cancel(nil) }
	response, err := i.transport.network.Intercept(name, r.WithContext(ctx), i.next)
	if err != nil {
		end()
		return nil, err
	}
	response.Body = body{response.Body, end}
	return response, nil
}

// body is the body of a response. It calls end when it is closed.
type body struct {
	io.ReadCloser
	end func()
}

// Close implements io.Closer.
func (b body) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}

// WrappedRoundTripper returns the http.RoundTripper that is called in the end, as client-go's own
// wrappers do.
func (i interceptor) WrappedRoundTripper() http.RoundTripper { return i.next }

// Close cancels calls in progress and closes the connections. Later calls fail.
func (n *Transport) Close() { n.cancel() }

// DialContext dials, and is canceled by Close. The connection is closed by Close, too.
func (n *Transport) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if n.ctx.Err() != nil {
		return nil, errClosed
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(n.ctx, cancel)()
	conn, err := n.network.Dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: conn, transport: n}
	n.mu.Lock()
	n.conns[c] = true
	c.stopAfterFunc = context.AfterFunc(n.ctx, func() { _ = c.Close() })
	// A call can end on another connection than the one that was dialed for it.
	unused := n.unusedConnections()
	n.mu.Unlock()
	closeConnections(unused)
	return c, nil
}

// BeginCall counts a call and returns a function that ends it.
func (n *Transport) BeginCall() (end func()) {
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

// Drain closes the connections when no call is in progress. Later calls use connections of their
// own.
func (n *Transport) Drain() {
	n.mu.Lock()
	n.draining = true
	unused := n.unusedConnections()
	n.mu.Unlock()
	closeConnections(unused)
}

// unusedConnections returns the connections that can be closed. The caller holds mu.
func (n *Transport) unusedConnections() []*connection {
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
	transport     *Transport
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
