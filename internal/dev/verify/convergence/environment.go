package convergence

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/dev/verify/harness"
)

// environment has the server, the replica and the informers of one seed.
type environment struct {
	t         *testing.T
	seed      uint64
	rng       *rand.Rand
	counter   *harness.Counter
	srv       *fakeapi.Server
	replica   *fakeapi.Replica
	client    kubernetes.Interface
	informers []*informer
	serial    int
}

func newEnvironment(t *testing.T, seed uint64, total *harness.Counter) *environment {
	rng := rand.New(rand.NewPCG(seed, 4))
	e := &environment{t: t, seed: seed, rng: rng, counter: total}
	e.srv = fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithSeed(seed),
		fakeapi.WithBookmarkInterval(time.Duration(1+rng.IntN(60))*time.Second))
	var err error
	e.replica, err = e.srv.Replica(fakeapi.WithInMemoryNetwork())
	require.NoError(t, err)
	e.client = kubernetes.NewForConfigOrDie(e.srv.RESTConfig())
	for range 5 {
		e.write()
	}
	for i := range 1 + rng.IntN(2) {
		e.informers = append(e.informers, newInformer(e, rand.New(rand.NewPCG(seed, uint64(10+i)))))
	}
	return e
}

func (e *environment) run() {
	for range 15 + e.rng.IntN(25) {
		e.step()
		time.Sleep(time.Duration(e.rng.IntN(4)) * time.Duration(e.rng.IntN(12_000)) * time.Millisecond)
	}
	synctest.Wait()
	want := serverVersions(e.t, e.client)
	for _, v := range e.informers {
		e.countState(cachedVersions(v.shared), want)
		v.network.Restore()
	}
	e.replica.CatchUp()
	// A reflector backs off for up to a minute.
	for range 5 {
		time.Sleep(65 * time.Second)
		synctest.Wait()
		if e.differences() == "" {
			return
		}
	}
	e.t.Errorf("rerun with -run TestInformersConverge -first=%d -seeds=1\n%s", e.seed, e.differences())
}

// step does one random write or interruption.
func (e *environment) step() {
	v := e.informers[e.rng.IntN(len(e.informers))]
	switch n := e.rng.IntN(20); {
	case n < 9:
		e.write()
	case n < 11:
		v.network.Disconnect()
	case n < 13:
		v.network.BreakConnections()
	case n < 14:
		v.network.Restore()
	case n < 15:
		e.srv.Compact()
	case n < 16:
		e.srv.ForgetHistory()
	case n < 17:
		e.replica.Freeze()
	case n < 18:
		e.replica.Lag(uint(1 + e.rng.IntN(8)))
	case n < 19:
		e.replica.Delay(time.Duration(1+e.rng.IntN(90)) * time.Second)
	default:
		e.replica.CatchUp()
	}
}

// write creates, updates or deletes one of a few objects.
func (e *environment) write() {
	e.serial++
	name, value := "c"+strconv.Itoa(e.rng.IntN(6)), strconv.Itoa(e.serial)
	api, ctx := e.client.CoreV1().ConfigMaps("default"), e.t.Context()
	_, err := api.Create(ctx, configMap(name, value), metav1.CreateOptions{})
	switch {
	case err == nil:
	case e.rng.IntN(3) == 0:
		require.NoError(e.t, api.Delete(ctx, name, metav1.DeleteOptions{}))
	default:
		_, err = api.Patch(ctx, name, types.MergePatchType, []byte(`{"data":{"k":"`+value+`"}}`), metav1.PatchOptions{})
		require.NoError(e.t, err)
	}
}

// countState counts whether an informer was equal to the store or behind it when the interruptions
// ended.
func (e *environment) countState(have, want map[string]string) {
	if maps.Equal(have, want) {
		e.counter.Add("was equal")
		return
	}
	e.counter.Add("was behind")
	for name := range have {
		if _, ok := want[name]; !ok {
			e.counter.Add("had a deleted object")
		}
	}
}

// differences returns how the stores of the informers, and the objects that their handlers saw,
// differ from the server. It returns "" if they do not.
func (e *environment) differences() (diff string) {
	want := serverVersions(e.t, e.client)
	for i, v := range e.informers {
		if d := cmp.Diff(want, cachedVersions(v.shared)); d != "" {
			diff += fmt.Sprintf("informer %d (-server +store):\n%s", i, d)
		}
		mirror, older := v.handledState()
		if d := cmp.Diff(want, mirror); d != "" {
			diff += fmt.Sprintf("informer %d (-server +handlers):\n%s", i, d)
		}
		diff += older
	}
	return diff
}

func configMap(name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Labels: map[string]string{"app": "x"}},
		Data:       map[string]string{"k": value},
	}
}

// serverVersions returns the resourceVersion of each ConfigMap of the server, by name.
func serverVersions(t *testing.T, client kubernetes.Interface) map[string]string {
	t.Helper()
	list, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	m := map[string]string{}
	for _, cm := range list.Items {
		m[cm.Name] = cm.ResourceVersion
	}
	return m
}
