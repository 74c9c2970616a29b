package fakeapi_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	fakeapi "example.com/fakeapi/fake"
)

const hold = "example.com/hold"

// randomKin makes a tree, a graph without cycles or any graph, with references to
// what is not there, and with finalizers.
func randomKin(rng *rand.Rand) kin {
	w := kin{}
	size, shape := 2+rng.IntN(9), rng.IntN(3)
	for i := range size {
		t := &relative{}
		for range []int{rng.IntN(2), rng.IntN(4), rng.IntN(3)}[shape] {
			below := []int{i, i, size}[shape]
			if below == 0 {
				break
			}
			o := tie{name: fmt.Sprintf("o%02d", rng.IntN(below)), blocks: rng.IntN(3) > 0}
			switch rng.IntN(25) {
			case 0:
				o.name = "ghost"
			case 1:
				o.name, o.strange = "strange", true
			}
			if _, twice := t.owner(o.name); !twice {
				t.owners = append(t.owners, o)
			}
		}
		switch rng.IntN(14) {
		case 0, 1, 2:
			t.finalizers = []string{hold}
		case 3:
			t.finalizers = []string{metav1.FinalizerOrphanDependents}
		case 4:
			t.finalizers = []string{metav1.FinalizerDeleteDependents}
		}
		w[fmt.Sprintf("o%02d", i)] = t
	}
	return w
}

// cluster is a server with its controllers on virtual time, and a client of it.
type cluster struct {
	*testing.T
	srv  *fakeapi.Server
	maps typedcorev1.ConfigMapInterface
}

// runTest runs a test on virtual time.
func runTest(t *testing.T, test func(p *cluster), opts ...fakeapi.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, append(opts, fakeapi.WithInMemoryNetwork())...)
		test(&cluster{T: t, srv: srv, maps: kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")})
	})
}

// object is a relative as the server has it.
func (t *relative) object(name string) *corev1.ConfigMap {
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	cm.UID, cm.Finalizers = types.UID(name), slices.Clone(t.finalizers)
	for _, o := range t.owners {
		r := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: o.name, UID: types.UID(o.name), BlockOwnerDeletion: &o.blocks}
		if o.strange {
			r.Kind = "Strange"
		}
		cm.OwnerReferences = append(cm.OwnerReferences, r)
	}
	return cm
}

// String leaves out whom a deleted object refers to that is not there any more:
// whether it lost the reference before it was deleted depends on whom the collector
// came to first.
func (w kin) String() string {
	var lines []string
	for _, name := range w.names() {
		t := w[name]
		slices.Sort(t.finalizers)
		owners := slices.DeleteFunc(slices.Clone(t.owners), func(o tie) bool { return t.deleted && w[o.name] == nil })
		lines = append(lines, fmt.Sprintf("%s %+v %v deleted=%v", name, owners, t.finalizers, t.deleted))
	}
	return strings.Join(lines, "\n")
}

// seen is the kin that the server shows.
func (p *cluster) seen() kin {
	p.Helper()
	list, err := p.maps.List(p.Context(), metav1.ListOptions{})
	require.NoError(p, err)
	w := kin{}
	for _, cm := range list.Items {
		t := &relative{finalizers: cm.Finalizers, deleted: cm.DeletionTimestamp != nil}
		for _, r := range cm.OwnerReferences {
			t.owners = append(t.owners, tie{name: r.Name, blocks: *r.BlockOwnerDeletion, strange: r.Kind == "Strange"})
		}
		w[cm.Name] = t
	}
	return w
}

// act does something random to the kin and to the server.
func (p *cluster) act(rng *rand.Rand, w kin) string {
	p.Helper()
	names := w.names()
	name := names[rng.IntN(len(names))]
	if w[name].has(hold) && rng.IntN(2) == 0 {
		cm, err := p.maps.Get(p.Context(), name, metav1.GetOptions{})
		require.NoError(p, err)
		cm.Finalizers = slices.DeleteFunc(cm.Finalizers, func(f string) bool { return f == hold })
		_, err = p.maps.Update(p.Context(), cm, metav1.UpdateOptions{})
		require.NoError(p, err)
		w[name].drop(hold)
		w.end(name)
		return "release " + name
	}
	policy := []metav1.DeletionPropagation{"", metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan}[rng.IntN(5)]
	opts := metav1.DeleteOptions{}
	if policy != "" {
		opts.PropagationPolicy = &policy
	}
	require.NoError(p, p.maps.Delete(p.Context(), name, opts))
	w.delete(name, policy)
	return fmt.Sprintf("delete %s %s", name, policy)
}

// Whatever the graph of owners, and whatever is done to it in whatever order: what
// is left, and in what state, is what the naive rules say.
func TestRandomGraphs(t *testing.T) {
	for seed := range uint64(200) {
		var opts []fakeapi.Option
		if seed%2 == 0 {
			opts = append(opts, fakeapi.WithoutControllers())
		}
		runTest(t, func(p *cluster) {
			rng := rand.New(rand.NewPCG(seed, 1))
			w := randomKin(rng)
			story := []string{fmt.Sprintf("seed %d", seed), w.String()}
			var objects []runtime.Object
			for _, name := range w.names() {
				objects = append(objects, w[name].object(name))
			}
			require.NoError(p, p.srv.Load(objects...))
			for step := 0; ; step++ {
				synctest.Wait()
				require.NoError(p, p.srv.RunControllers(p.Context()))
				w.settle()
				require.Equal(p, w.String(), p.seen().String(), "%s", strings.Join(story, "\n"))
				if step == 8 || len(w) == 0 {
					return
				}
				story = append(story, p.act(rng, w))
			}
		}, opts...)
	}
}
