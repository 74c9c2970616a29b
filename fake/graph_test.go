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

// object is a relative as the server has it.
func (t *relative) object(name string) *corev1.ConfigMap {
	cm := configMapIn("default", name)
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
func (p *plane) seen() kin {
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
func (p *plane) act(rng *rand.Rand, w kin) string {
	p.Helper()
	names := w.names()
	name := names[rng.IntN(len(names))]
	if w[name].has(hold) && rng.IntN(2) == 0 {
		cm := p.get(name)
		cm.Finalizers = slices.DeleteFunc(cm.Finalizers, func(f string) bool { return f == hold })
		_, err := p.maps.Update(p.Context(), cm, metav1.UpdateOptions{})
		require.NoError(p, err)
		w[name].drop(hold)
		w.end(name)
		return "release " + name
	}
	policy := []metav1.DeletionPropagation{"", background, foreground, foreground, orphan}[rng.IntN(5)]
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
		onPlane(t, func(p *plane) {
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
