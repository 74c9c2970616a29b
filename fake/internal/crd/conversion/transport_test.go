package conversion

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/fakeapi/fake/internal/webhookclient"
)

// closedPort returns an address on loopback without a listener.
func closedPort(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return listener.Addr().String()
}

func service(port *int32, bundle []byte) *apiextensionsv1.WebhookClientConfig {
	return &apiextensionsv1.WebhookClientConfig{CABundle: bundle, Service: &apiextensionsv1.ServiceReference{
		Namespace: "default", Name: "conv", Path: new("/from/here"), Port: port,
	}}
}

// A service is called by its name and with the certificate of that name, at the address that the
// resolver returns for each call.
func TestService(t *testing.T) {
	for _, port := range []*int32{nil, new(int32(8443))} {
		want := int32(443)
		if port != nil {
			want = *port
		}
		host := make(chan string, 1)
		client, address := startOnLoopback(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			host <- r.Host + r.URL.Path + " " + r.Proto
			newWebhook(nil, nil).ServeHTTP(w, r)
		}))
		var known atomic.Bool
		crd := newCRD(service(port, client.CABundle))
		c := newConverter(t, crd, nil, func(namespace, name string, port int32) (string, error) {
			require.Equal(t, "default", namespace)
			require.Equal(t, "conv", name)
			require.Equal(t, want, port)
			if !known.Load() {
				return "", errors.New(`service "conv" not found`)
			}
			return address, nil
		})
		authority := net.JoinHostPort("conv.default.svc", map[bool]string{true: "443", false: "8443"}[port == nil])
		_, err := convertOne(t, c, newWidget(v1, "a"), "v2")
		require.EqualError(t, err, failedPrefix+`Post "https://`+authority+`/from/here?timeout=30s": service "conv" not found`)
		known.Store(true)
		_, err = convertOne(t, c, newWidget(v1, "a"), "v2")
		require.NoError(t, err)
		require.Equal(t, authority+"/from/here HTTP/1.1", <-host)
		require.Equal(t, port, crd.Spec.Conversion.Webhook.ClientConfig.Service.Port, "the CustomResourceDefinition is unchanged")
	}
}

// Without a resolver the call fails as if the name were not in DNS, which is not queried.
func TestNoServices(t *testing.T) {
	c := newConverter(t, newCRD(service(nil, nil)), nil, nil)
	_, err := convertOne(t, c, newWidget(v1, "a"), "v2")
	require.EqualError(t, err, failedPrefix+`Post "https://conv.default.svc:443/from/here?timeout=30s": dial tcp: lookup conv.default.svc: no such host`)

	c = newConverter(t, newCRD(service(nil, nil)), nil, func(string, string, int32) (string, error) { return "no-port", nil })
	_, err = convertOne(t, c, newWidget(v1, "a"), "v2")
	require.ErrorContains(t, err, "service default/conv: address no-port: missing port in address")
}

// neverRespond reads the request and does not respond.
func neverRespond(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// timeoutPattern matches the error. The client and the request have timers with the same timeout,
// and the first to fire determines the text.
const timeoutPattern = `(net/http: request canceled( while waiting for connection)?|context deadline exceeded)( \(Client\.Timeout exceeded while awaiting headers\))?`

// In virtual time a call ends after 30 seconds.
func TestTimeout(t *testing.T) {
	for _, where := range []string{"answer", "dial"} {
		t.Run(where, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, dial := startInMemory(t, http.HandlerFunc(neverRespond))
				if where == "dial" {
					dial = dialBlocking
				}
				c := newConverter(t, newCRD(client), dial, nil)
				begin := time.Now()
				_, err := convertOne(t, c, newWidget(v1, "a"), "v2")
				require.Error(t, err)
				require.Regexp(t, `^`+failedPrefix+`Post "`+hookURL+`\?timeout=30s": `+timeoutPattern+`$`, err.Error())
				require.Equal(t, 30*time.Second, time.Since(begin))
			})
		})
	}
}

// dialBlocking blocks until its context is done.
func dialBlocking(ctx context.Context, _, _ string) (net.Conn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// A response with Retry-After is retried, as by client-go.
func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		client, dial := startInMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if calls.Add(1) < 3 {
				w.Header().Set("Retry-After", "5")
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			newWebhook(nil, nil).ServeHTTP(w, r)
		}))
		begin := time.Now()
		_, err := convertOne(t, newConverter(t, newCRD(client), dial, nil), newWidget(v1, "a"), "v2")
		require.NoError(t, err)
		require.EqualValues(t, 3, calls.Load())
		require.Equal(t, 10*time.Second, time.Since(begin))
	})
}

// Close ends calls at once and leaves no connection. The synctest bubble checks that no goroutine
// remains.
func TestClose(t *testing.T) {
	for _, where := range []string{"idle", "in a call", "in a dial"} {
		t.Run(where, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var open, calls atomic.Int64
				client, dial := startInMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if calls.Add(1) > 1 {
						neverRespond(w, r)
						return
					}
					newWebhook(nil, nil).ServeHTTP(w, r)
				}))
				dial = countConnections(dial, &open)
				if where == "in a dial" {
					dial = dialBlocking
				}
				begin := time.Now()
				c := newConverter(t, newCRD(client), dial, nil)
				if where != "in a dial" {
					_, err := convertOne(t, c, newWidget(v1, "a"), "v2")
					require.NoError(t, err)
					require.EqualValues(t, 1, open.Load(), "one idle connection")
				}
				if where == "idle" {
					c.Close()
				} else {
					requireCloseEnds(t, c)
				}
				c.Close()
				synctest.Wait()
				require.Zero(t, open.Load())
				_, err := convertOne(t, c, newWidget(v1, "a"), "v2")
				require.EqualError(t, err, failedPrefix+`Post "`+hookURL+`?timeout=30s": the server is shutting down and does not call webhooks`)
				require.Zero(t, time.Since(begin))
			})
		})
	}
}

// requireCloseEnds closes a converter during a conversion.
func requireCloseEnds(t *testing.T, c *Converter) {
	ended := make(chan error, 1)
	go func() {
		_, err := c.Convert(t.Context(), []*unstructured.Unstructured{newWidget(v1, "a")}, "v2")
		ended <- err
	}()
	synctest.Wait()
	require.Empty(t, ended, "the conversion is in progress")
	c.Close()
	require.ErrorContains(t, <-ended, failedPrefix+`Post "`+hookURL)
}

// countConnections counts the open connections of a dialer.
func countConnections(dial webhookclient.Dialer, open *atomic.Int64) webhookclient.Dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		open.Add(1)
		return &closeCounter{Conn: conn, open: open}, nil
	}
}

// closeCounter is a connection that counts itself while it is open.
type closeCounter struct {
	net.Conn
	open   *atomic.Int64
	closed atomic.Bool
}

func (c *closeCounter) Close() error {
	if !c.closed.Swap(true) {
		c.open.Add(-1)
	}
	return c.Conn.Close()
}

// A drained converter still converts, and keeps no connection open.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, dial := startInMemory(t, newWebhook(nil, nil))
		var open atomic.Int64
		c := newConverter(t, newCRD(client), func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err == nil {
				open.Add(1)
				conn = closeNotifier{conn, sync.OnceFunc(func() { open.Add(-1) })}
			}
			return conn, err
		}, nil)
		_, err := convertOne(t, c, newWidget(v1, "a"), "v2")
		require.NoError(t, err)
		synctest.Wait()
		require.EqualValues(t, 1, open.Load(), "one idle connection")
		c.Drain()
		require.Zero(t, open.Load())
		_, err = convertOne(t, c, newWidget(v1, "a"), "v2")
		require.NoError(t, err)
		synctest.Wait()
		require.Zero(t, open.Load())
	})
}

// closeNotifier is a connection that calls onClose.
type closeNotifier struct {
	net.Conn
	onClose func()
}

func (c closeNotifier) Close() error {
	c.onClose()
	return c.Conn.Close()
}
