package webhookclient

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const unreachable = "network is unreachable: only loopback addresses are called without WithRemoteWebhooks (fakeapi serve --allow-remote-webhooks)"

// Without AllowRemote and without a Dialer, only loopback addresses are dialed.
func TestLoopbackOnly(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, listener.Close()) }()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)

	n := New(Network{}, "hook")
	defer n.Close()
	for _, host := range []string{"127.0.0.1", "localhost"} {
		conn, err := n.DialContext(t.Context(), "tcp", net.JoinHostPort(host, port))
		require.NoError(t, err, host)
		require.NoError(t, conn.Close())
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, host := range []string{"127.8.9.1", "::1"} {
		_, err := n.DialContext(canceled, "tcp", net.JoinHostPort(host, port))
		require.ErrorContains(t, err, "operation was canceled", host)
	}
	remote := New(Network{AllowRemote: true}, "hook")
	defer remote.Close()
	ownDialer := New(Network{Dial: func(_ context.Context, _, address string) (net.Conn, error) {
		return nil, errors.New("dialed " + address)
	}}, "hook")
	defer ownDialer.Close()
	for _, host := range []string{"10.0.0.1", "192.0.2.1", "0.0.0.0", "2001:db8::1", "::ffff:10.0.0.1", "hook.example.com", "hook.default.svc", "localhost.example.com", "127.0.0.1.example.com"} {
		address := net.JoinHostPort(host, "443")
		_, err := n.DialContext(t.Context(), "tcp", address)
		require.EqualError(t, err, "dial tcp: address "+address+": "+unreachable)
		var dialError *net.OpError
		require.ErrorAs(t, err, &dialError)
		_, err = remote.DialContext(canceled, "tcp", address)
		require.ErrorContains(t, err, "operation was canceled", host)
		_, err = ownDialer.DialContext(t.Context(), "tcp", address)
		require.EqualError(t, err, "dialed "+address)
	}
}

// roundTripper is a function that is an http.RoundTripper.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Intercept gets the name of the webhook, and its context ends with the response or with Close.
func TestIntercept(t *testing.T) {
	var name string
	var ctx context.Context
	failure := error(nil)
	network := Network{Intercept: func(webhook string, r *http.Request, next http.RoundTripper) (*http.Response, error) {
		name, ctx = webhook, r.Context()
		if failure != nil {
			return nil, failure
		}
		return next.RoundTrip(r)
	}}
	next := roundTripper(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("body"))}, nil
	})
	for fixed, want := range map[string]string{"crd": "crd", "": "from context"} {
		n := New(network, fixed)
		call := func() (*http.Response, error) {
			return n.withIntercept(next).RoundTrip(httptest.NewRequestWithContext(WithName(t.Context(), "from context"), "POST", "https://hook/", nil))
		}
		response, err := call()
		require.NoError(t, err)
		require.Equal(t, want, name)
		require.NoError(t, ctx.Err())
		content, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.Equal(t, "body", string(content))
		require.NoError(t, response.Body.Close())
		require.ErrorIs(t, ctx.Err(), context.Canceled)

		_, err = call()
		require.NoError(t, err)
		require.NoError(t, ctx.Err())
		n.Close()
		<-ctx.Done()
		require.Equal(t, errClosed, context.Cause(ctx))

		failure = errors.New("refused")
		_, err = call()
		require.Equal(t, failure, err)
		require.ErrorIs(t, ctx.Err(), context.Canceled)
		failure = nil
	}
}

// Without Intercept the requests are not wrapped.
func TestNoIntercept(t *testing.T) {
	n := New(Network{}, "hook")
	defer n.Close()
	next := http.DefaultTransport
	require.Equal(t, next, n.withIntercept(next))
}

// Calls of the port 443 of the Service default/kubernetes are answered by Self, if it is set.
func TestSelf(t *testing.T) {
	answer := func(name string) roundTripper {
		return func(*http.Request) (*http.Response, error) { return nil, errors.New(name) }
	}
	services := func(namespace, name string, port int32) (string, error) {
		return net.JoinHostPort(name, strconv.Itoa(int(port))), nil
	}
	for _, test := range []struct {
		namespace, name string
		port            int
		self            http.RoundTripper
		want            string
	}{
		{"default", "kubernetes", 443, answer("self"), "self"},
		{"default", "kubernetes", 443, nil, "service"},
		{"default", "kubernetes", 8443, answer("self"), "service"},
		{"default", "hook", 443, answer("self"), "service"},
		{"other", "kubernetes", 443, answer("self"), "service"},
	} {
		n := New(Network{Services: services, Self: test.self}, "hook")
		config, err := n.AuthenticationInfoResolver(nil).ClientConfigForService(test.name, test.namespace, test.port)
		require.NoError(t, err)
		r := httptest.NewRequestWithContext(t.Context(), "POST", "https://hook/", nil)
		_, err = config.WrapTransport(answer("service")).RoundTrip(r)
		require.EqualError(t, err, test.want, "%s/%s:%d", test.namespace, test.name, test.port)
		n.Close()
	}
}
