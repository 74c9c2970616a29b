package convergence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/fakeapi/internal/dev/verify/harness"
)

// informer is an informer whose network connects it to the server or to the replica.
type informer struct {
	shared  cache.SharedIndexInformer
	network *harness.Network

	mu          sync.Mutex
	rng         *rand.Rand
	handled     map[string]string // resourceVersion by name, as the handlers saw it
	newest      map[string]uint64 // the newest resourceVersion that the handlers saw of a name
	regressions []string          // objects that were older than one seen before
}

func newInformer(e *environment, rng *rand.Rand) *informer {
	v := &informer{rng: rng, handled: map[string]string{}, newest: map[string]uint64{}}
	config := e.srv.RESTConfig()
	dials := []func(context.Context, string, string) (net.Conn, error){config.Dial, e.replica.RESTConfig().Dial}
	names := []string{"dial server", "dial replica"}
	config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		v.mu.Lock()
		target := v.rng.IntN(len(dials))
		end := connectionErrors()[v.rng.IntN(len(connectionErrors()))]
		v.mu.Unlock()
		e.counter.Add(names[target])
		conn, err := dials[target](ctx, network, address)
		return errorConn{conn, end}, err
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return countingTransport{next, e.counter} })
	v.network = harness.NewNetwork(config)
	factory := informers.NewSharedInformerFactoryWithOptions(kubernetes.NewForConfigOrDie(config), 0, informers.WithNamespace("default"))
	v.shared = factory.Core().V1().ConfigMaps().Informer()
	_, err := v.shared.AddEventHandler(v.handlers())
	require.NoError(e.t, err)
	// Watches are expected to end with errors, which are not logged.
	factory.StartWithContext(klog.NewContext(e.t.Context(), klog.Logger{}))
	e.t.Cleanup(factory.Shutdown)
	return v
}

// connectionErrors returns the errors with which a connection can fail: it was closed by the
// client, as Network does, or by the server, with or without a reset.
func connectionErrors() []error { return []error{net.ErrClosed, io.EOF, syscall.ECONNRESET} }

// errorConn is a connection that returns closeError once it is closed.
type errorConn struct {
	net.Conn
	closeError error
}

func (c errorConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if errors.Is(err, net.ErrClosed) {
		err = c.closeError
	}
	return n, err
}

// countingTransport counts the lists and watches that are answered.
type countingTransport struct {
	next    http.RoundTripper
	counter *harness.Counter
}

func (w countingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := w.next.RoundTrip(r)
	switch q := r.URL.Query(); {
	case err != nil: // the network is disconnected
	case q.Get("watch") == "":
		w.counter.Add("listed")
	case q.Get("sendInitialEvents") != "":
		w.counter.Add("streamed a list")
	default:
		w.counter.Add("resumed")
	}
	return resp, err
}

// handlers returns event handlers that update handled.
func (i *informer) handlers() cache.ResourceEventHandlerFuncs {
	put := func(obj any) {
		cm := obj.(*corev1.ConfigMap)
		rev, _ := strconv.ParseUint(cm.ResourceVersion, 10, 64) // 0 shows up as a difference
		i.mu.Lock()
		defer i.mu.Unlock()
		if rev < i.newest[cm.Name] {
			i.regressions = append(i.regressions, fmt.Sprintf("%s: handlers saw %d after %d\n", cm.Name, rev, i.newest[cm.Name]))
		}
		i.newest[cm.Name] = max(i.newest[cm.Name], rev)
		i.handled[cm.Name] = cm.ResourceVersion
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    put,
		UpdateFunc: func(_, obj any) { put(obj) },
		DeleteFunc: func(obj any) {
			key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
			if err != nil {
				panic(err) // cannot occur with objects of an informer
			}
			_, name, _ := cache.SplitMetaNamespaceKey(key)
			i.mu.Lock()
			defer i.mu.Unlock()
			delete(i.handled, name)
		},
	}
}

func (i *informer) handledState() (versions map[string]string, older string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return maps.Clone(i.handled), strings.Join(i.regressions, "")
}

// cachedVersions returns the resourceVersion of each ConfigMap in the store of an informer, by
// name.
func cachedVersions(informer cache.SharedIndexInformer) map[string]string {
	m := map[string]string{}
	for _, obj := range informer.GetStore().List() {
		cm := obj.(*corev1.ConfigMap)
		m[cm.Name] = cm.ResourceVersion
	}
	return m
}
