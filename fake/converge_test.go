package fakeapi_test

import (
	"context"
	"errors"
	"flag"
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
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	fakeapi "example.com/fakeapi/fake"
)

// A seed that failed is run again with -converge.first=SEED -converge.seeds=1.
var (
	convergeFirst = flag.Uint64("converge.first", 0, "first seed of TestInformersConverge")
	convergeSeeds = flag.Uint64("converge.seeds", 400, "number of seeds of TestInformersConverge")
)

// Informers whose connections are cut and moved between a server and a replica
// that lies behind, while history is forgotten under them, end equal to the
// store once the trouble is over, and on the way never show an object older than
// they did before: a thousand random troubles of some minutes each.
func TestInformersConverge(t *testing.T) {
	seeds := *convergeSeeds
	if testing.Short() {
		seeds = min(seeds, 100)
	}
	var total tally
	t.Run("seeds", func(t *testing.T) {
		for seed := *convergeFirst; seed < *convergeFirst+seeds; seed++ {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { newTrouble(t, seed, &total).run() })
			})
		}
	})
	if seeds < 100 {
		return // too few for everything to occur
	}
	for _, what := range []string{
		"dial server", "dial replica", "was equal", "was behind", "knew what was gone",
		"streamed a list", "resumed",
	} {
		require.Positive(t, total.of(what), "no informer %s", what)
	}
}

// trouble is one seed: a server, a replica, and informers in between.
type trouble struct {
	t       *testing.T
	seed    uint64
	rng     *rand.Rand
	total   *tally
	srv     *fakeapi.Server
	replica *fakeapi.Replica
	client  kubernetes.Interface
	victims []*victim
	serial  int
}

func newTrouble(t *testing.T, seed uint64, total *tally) *trouble {
	rng := rand.New(rand.NewPCG(seed, 4))
	x := &trouble{t: t, seed: seed, rng: rng, total: total}
	x.srv = fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithSeed(seed),
		fakeapi.WithBookmarkInterval(time.Duration(1+rng.IntN(60))*time.Second))
	var err error
	x.replica, err = x.srv.Replica(fakeapi.WithInMemoryNetwork())
	require.NoError(t, err)
	x.client = kubernetes.NewForConfigOrDie(x.srv.RESTConfig())
	for range 5 {
		x.write()
	}
	for i := range 1 + rng.IntN(2) {
		x.victims = append(x.victims, newVictim(x, rand.New(rand.NewPCG(seed, uint64(10+i)))))
	}
	return x
}

// victim is an informer with a network that takes it to either door.
type victim struct {
	informer cache.SharedIndexInformer
	wire     *wire

	mu     sync.Mutex
	rng    *rand.Rand
	mirror map[string]string // what the handlers were told: name to resourceVersion
	newest map[string]uint64 // the newest resourceVersion that they ever saw of a name
	older  []string          // what they saw that was older
}

func newVictim(x *trouble, rng *rand.Rand) *victim {
	v := &victim{rng: rng, mirror: map[string]string{}, newest: map[string]uint64{}}
	config := x.srv.RESTConfig()
	doors := []func(context.Context, string, string) (net.Conn, error){config.Dial, x.replica.RESTConfig().Dial}
	names := []string{"dial server", "dial replica"}
	config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		v.mu.Lock()
		door := v.rng.IntN(len(doors))
		end := endings()[v.rng.IntN(len(endings()))]
		v.mu.Unlock()
		x.total.add(names[door])
		conn, err := doors[door](ctx, network, address)
		return endingConn{conn, end}, err
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return witness{next, x.total} })
	v.wire = newWire(config)
	factory := informers.NewSharedInformerFactoryWithOptions(kubernetes.NewForConfigOrDie(config), 0, informers.WithNamespace("default"))
	v.informer = factory.Core().V1().ConfigMaps().Informer()
	_, err := v.informer.AddEventHandler(v.handlers())
	require.NoError(x.t, err)
	// Watches that end with errors are the point: nothing is logged of them.
	factory.StartWithContext(klog.NewContext(x.t.Context(), klog.Logger{}))
	x.t.Cleanup(factory.Shutdown)
	return v
}

// endings are how a connection fails when it is cut: closed here, which is what
// severing a wire does, or there, orderly or not.
func endings() []error { return []error{net.ErrClosed, io.EOF, syscall.ECONNRESET} }

// endingConn is a connection that fails in one of these ways.
type endingConn struct {
	net.Conn
	end error
}

func (c endingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if errors.Is(err, net.ErrClosed) {
		err = c.end
	}
	return n, err
}

// witness counts what the informers ask for and get an answer to.
type witness struct {
	next  http.RoundTripper
	total *tally
}

func (w witness) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := w.next.RoundTrip(r)
	switch q := r.URL.Query(); {
	case err != nil: // refused, while the network is cut
	case q.Get("watch") == "":
		w.total.add("listed")
	case q.Get("sendInitialEvents") != "":
		w.total.add("streamed a list")
	default:
		w.total.add("resumed")
	}
	return resp, err
}

// handlers keep the mirror.
func (v *victim) handlers() cache.ResourceEventHandlerFuncs {
	put := func(obj any) {
		cm := obj.(*corev1.ConfigMap)
		rev, _ := strconv.ParseUint(cm.ResourceVersion, 10, 64) // 0 would be seen in the comparison
		v.mu.Lock()
		defer v.mu.Unlock()
		if rev < v.newest[cm.Name] {
			v.older = append(v.older, fmt.Sprintf("%s was shown at %d after %d\n", cm.Name, rev, v.newest[cm.Name]))
		}
		v.newest[cm.Name] = max(v.newest[cm.Name], rev)
		v.mirror[cm.Name] = cm.ResourceVersion
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    put,
		UpdateFunc: func(_, obj any) { put(obj) },
		DeleteFunc: func(obj any) {
			key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
			if err != nil {
				panic(err) // no object of any informer is like that
			}
			_, name, _ := cache.SplitMetaNamespaceKey(key)
			v.mu.Lock()
			defer v.mu.Unlock()
			delete(v.mirror, name)
		},
	}
}

func (v *victim) told() (mirror map[string]string, older string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return maps.Clone(v.mirror), strings.Join(v.older, "")
}

func (x *trouble) run() {
	for range 15 + x.rng.IntN(25) {
		x.step()
		time.Sleep(time.Duration(x.rng.IntN(4)) * time.Duration(x.rng.IntN(12_000)) * time.Millisecond)
	}
	synctest.Wait()
	want := listed(x.t, x.client)
	for _, v := range x.victims {
		x.note(cached(v.informer), want)
		v.wire.mend()
	}
	x.replica.CatchUp()
	// A reflector may be about to wait for as long as it ever does, a minute.
	for range 5 {
		time.Sleep(65 * time.Second)
		synctest.Wait()
		if x.differences() == "" {
			return
		}
	}
	x.t.Errorf("rerun with -run TestInformersConverge -converge.first=%d -converge.seeds=1\n%s", x.seed, x.differences())
}

// step is one thing that happens.
func (x *trouble) step() {
	v := x.victims[x.rng.IntN(len(x.victims))]
	switch n := x.rng.IntN(20); {
	case n < 9:
		x.write()
	case n < 11:
		v.wire.sever()
	case n < 13:
		v.wire.blink()
	case n < 14:
		v.wire.mend()
	case n < 15:
		x.srv.Compact()
	case n < 16:
		x.srv.ForgetHistory()
	case n < 17:
		x.replica.Freeze()
	case n < 18:
		x.replica.Lag(uint(1 + x.rng.IntN(8)))
	case n < 19:
		x.replica.Delay(time.Duration(1+x.rng.IntN(90)) * time.Second)
	default:
		x.replica.CatchUp()
	}
}

// write creates, changes or deletes one of a few objects.
func (x *trouble) write() {
	x.serial++
	name, value := "c"+strconv.Itoa(x.rng.IntN(6)), strconv.Itoa(x.serial)
	api, ctx := x.client.CoreV1().ConfigMaps("default"), x.t.Context()
	_, err := api.Create(ctx, configMap(name, value), metav1.CreateOptions{})
	switch {
	case err == nil:
	case x.rng.IntN(3) == 0:
		require.NoError(x.t, api.Delete(ctx, name, metav1.DeleteOptions{}))
	default:
		_, err = api.Patch(ctx, name, types.MergePatchType, []byte(`{"data":{"k":"`+value+`"}}`), metav1.PatchOptions{})
		require.NoError(x.t, err)
	}
}

// note counts how an informer stood when the trouble ended.
func (x *trouble) note(have, want map[string]string) {
	if maps.Equal(have, want) {
		x.total.add("was equal")
		return
	}
	x.total.add("was behind")
	for name := range have {
		if _, there := want[name]; !there {
			x.total.add("knew what was gone")
		}
	}
}

// differences tells what is wrong with the stores of the informers, and with
// what their handlers were told.
func (x *trouble) differences() (diff string) {
	want := listed(x.t, x.client)
	for i, v := range x.victims {
		if d := cmp.Diff(want, cached(v.informer)); d != "" {
			diff += fmt.Sprintf("informer %d (-server +store):\n%s", i, d)
		}
		mirror, older := v.told()
		if d := cmp.Diff(want, mirror); d != "" {
			diff += fmt.Sprintf("informer %d (-server +handlers):\n%s", i, d)
		}
		diff += older
	}
	return diff
}
