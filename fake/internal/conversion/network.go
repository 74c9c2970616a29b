package conversion

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
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

// network is the way to the webhook of one converter. It knows its connections, so
// that none outlives the converter.
type network struct {
	dial     Dialer
	services ServiceResolver
	open     context.Context // ends with close
	close    context.CancelFunc
}

func newNetwork(dial Dialer, services ServiceResolver) *network {
	if dial == nil {
		dial = (&net.Dialer{Timeout: connectTime, KeepAlive: keepAlive}).DialContext
	}
	if services == nil {
		services = noServices
	}
	n := &network{dial: dial, services: services}
	n.open, n.close = context.WithCancel(context.Background())
	return n
}

// noServices fails as the look-up of a name that no DNS server knows does.
func noServices(namespace, name string, _ int32) (string, error) {
	return "", &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{
		Err: "no such host", Name: name + "." + namespace + ".svc", IsNotFound: true,
	}}
}

// ResolveEndpoint makes a webhook.ServiceResolver of the network.
func (n *network) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	address, err := n.services(namespace, name, port)
	if err != nil {
		return nil, err
	}
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, fmt.Errorf("service %s/%s: %w", namespace, name, err)
	}
	return &url.URL{Scheme: "https", Host: address}, nil
}

// configs makes the library's clients use the network. What it would look for
// itself, credentials of a pod for the service kubernetes.default, a test double
// does not have.
func (n *network) configs(webhook.AuthenticationInfoResolver) webhook.AuthenticationInfoResolver {
	config := func() (*rest.Config, error) {
		return &rest.Config{
			UserAgent: userAgent,
			Timeout:   callTimeout,
			Dial:      n.connect,
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

// connect dials, and gives up when the network closes.
func (n *network) connect(ctx context.Context, network, address string) (net.Conn, error) {
	if n.open.Err() != nil {
		return nil, errClosed
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(n.open, cancel)()
	conn, err := n.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	forget := context.AfterFunc(n.open, func() { _ = conn.Close() })
	return &connection{Conn: conn, forget: forget}, nil
}

// connection tells the network when it is closed.
type connection struct {
	net.Conn
	forget func() bool
}

func (c *connection) Close() error {
	c.forget()
	return c.Conn.Close()
}
