package operator_test

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/dev/e2e/internal/poll"
	"example.com/fakeapi/internal/dev/e2e/internal/ports"
	"example.com/fakeapi/internal/dev/e2e/internal/server"
	hostingwebhook "example.com/fakeapi/internal/dev/e2e/operator/internal/webhook/v1"
)

// webhookEnv is a testEnv in which envtest has installed the CRD and the webhook configurations of
// the operator, and has made certificates.
type webhookEnv struct {
	*testEnv
	hooks    envtest.WebhookInstallOptions
	warnings *warnings
}

// newWebhookEnv returns a webhookEnv. The webhooks are not served.
func newWebhookEnv(t *testing.T, config *rest.Config) *webhookEnv {
	t.Helper()
	w := &webhookEnv{warnings: &warnings{}}
	config.WarningHandlerWithContext = w.warnings
	w.testEnv = newTestEnv(t, config)
	env := &envtest.Environment{
		UseExistingCluster:    new(true),
		Config:                config,
		Scheme:                w.scheme,
		CRDDirectoryPaths:     []string{filepath.Join("config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
		WebhookInstallOptions: envtest.WebhookInstallOptions{Paths: []string{filepath.Join("config", "webhook")}},
	}
	ports.ChooseWebhook(t, &env.WebhookInstallOptions)
	_, err := env.Start()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, env.Stop()) })
	t.Cleanup(w.uninstall)
	w.hooks = env.WebhookInstallOptions
	t.Cleanup(func() { // envtest does not delete them
		for _, c := range w.hooks.MutatingWebhooks {
			require.NoError(t, w.Delete(context.WithoutCancel(t.Context()), c))
		}
		for _, c := range w.hooks.ValidatingWebhooks {
			require.NoError(t, w.Delete(context.WithoutCancel(t.Context()), c))
		}
	})
	return w
}

// webhookServer returns a webhook server at the address of the configurations.
func (w *webhookEnv) webhookServer() webhook.Server {
	return webhook.NewServer(webhook.Options{Host: w.hooks.LocalServingHost, Port: w.hooks.LocalServingPort, CertDir: w.hooks.LocalServingCertDir})
}

// manageWebhooks returns a manager with the controller and the webhooks of the operator. The caller
// starts it.
func (w *webhookEnv) manageWebhooks(server webhook.Server) ctrl.Manager {
	w.t.Helper()
	mgr := w.manage(func(o *ctrl.Options) { o.WebhookServer = server })
	require.NoError(w.t, hostingwebhook.SetupSiteWebhookWithManager(mgr))
	return mgr
}

// withWebhooks returns a webhookEnv with a running operator.
func withWebhooks(t *testing.T) *webhookEnv {
	t.Helper()
	w := newWebhookEnv(t, server.Start(t))
	w.runInBackground(w.manageWebhooks(w.webhookServer()).Start)
	w.waitForWebhooks()
	return w
}

// waitForWebhooks waits until the webhook server accepts connections.
func (w *webhookEnv) waitForWebhooks() {
	w.t.Helper()
	address := net.JoinHostPort(w.hooks.LocalServingHost, strconv.Itoa(w.hooks.LocalServingPort))
	poll.UntilNoError(w.t, func(ctx context.Context) error {
		conn, err := (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return conn.Close()
	})
}

// withWebhooksInMemory is like withWebhooks in a synctest bubble. wrap, if it is not nil, wraps the
// handler of the webhook server.
func withWebhooksInMemory(t *testing.T, wrap func(http.Handler) http.Handler) *webhookEnv {
	t.Helper()
	listener := newMemoryListener()
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithWebhookDialer(listener.DialContext))
	w := newWebhookEnv(t, srv.RESTConfig())
	handler := w.runInMemory()
	if wrap != nil {
		handler = wrap(handler)
	}
	serveInMemory(t, listener, handler, w.hooks.LocalServingCertDir)
	return w
}

// runInMemory starts the operator and returns the handler of its webhooks. The webhook server does
// not listen itself.
func (w *webhookEnv) runInMemory() http.Handler {
	w.t.Helper()
	handler := http.NewServeMux()
	w.runInBackground(w.manageWebhooks(webhook.NewServer(webhook.Options{Port: -1, WebhookMux: handler})).Start)
	return handler
}

// serveInMemory serves a handler with the certificate of envtest until the test ends.
func serveInMemory(t *testing.T, listener net.Listener, handler http.Handler, certDir string) {
	t.Helper()
	s := &http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0)}
	ended := make(chan error, 1)
	go func() {
		ended <- s.ServeTLS(listener, filepath.Join(certDir, "tls.crt"), filepath.Join(certDir, "tls.key"))
	}()
	t.Cleanup(func() {
		require.NoError(t, s.Close())
		require.ErrorIs(t, <-ended, http.ErrServerClosed)
	})
}

// onBothNetworks runs a test over TCP, and in memory on virtual time.
func onBothNetworks(t *testing.T, test func(t *testing.T, w *webhookEnv)) {
	t.Run("TCP", func(t *testing.T) { test(t, withWebhooks(t)) })
	t.Run("in memory", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { test(t, withWebhooksInMemory(t, nil)) })
	})
}

// warnings collects the texts of warnings.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (w *warnings) HandleWarningHeaderWithContext(_ context.Context, code int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if code == http.StatusOK+99 {
		w.texts = append(w.texts, text)
	}
}

// during returns the warnings of the requests of do.
func (w *warnings) during(do func()) []string {
	w.take()
	do()
	return w.take()
}

func (w *warnings) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	texts := slices.Clone(w.texts)
	w.texts = nil
	return texts
}

// memoryListener is a net.Listener whose connections are pipes.
type memoryListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once

	mu sync.Mutex
	// addresses are those that were dialed.
	addresses []string
}

func newMemoryListener() *memoryListener {
	return &memoryListener{conns: make(chan net.Conn), done: make(chan struct{})}
}

// Accept implements net.Listener.
func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *memoryListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr implements net.Listener.
func (l *memoryListener) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "memory"} }

// DialContext connects to the listener. Its signature is that of net.Dialer.DialContext.
func (l *memoryListener) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	l.mu.Lock()
	l.addresses = append(l.addresses, address)
	l.mu.Unlock()
	near, far := net.Pipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-l.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// dialed returns the addresses that were dialed.
func (l *memoryListener) dialed() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(l.addresses)))
}
