package garbagecollection

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
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	fakeapi "example.com/fakeapi/fake"
)

const holdFinalizer = "example.com/finalizer"

// randomGraph returns a tree, an acyclic graph or an arbitrary graph. Some owner references refer
// to objects that do not exist, and some objects have finalizers.
func randomGraph(rng *rand.Rand) graph {
	g := graph{}
	size, shape := 2+rng.IntN(9), rng.IntN(3)
	for i := range size {
		n := &node{}
		for range []int{rng.IntN(2), rng.IntN(4), rng.IntN(3)}[shape] {
			below := []int{i, i, size}[shape]
			if below == 0 {
				break
			}
			o := ownerRef{name: fmt.Sprintf("o%02d", rng.IntN(below)), blocks: rng.IntN(3) > 0}
			switch rng.IntN(25) {
			case 0:
				o.name = "missing"
			case 1:
				o.name, o.unserved = "unserved", true
			}
			if _, twice := n.ownerNamed(o.name); !twice {
				n.owners = append(n.owners, o)
			}
		}
		switch rng.IntN(14) {
		case 0, 1, 2:
			n.finalizers = []string{holdFinalizer}
		case 3:
			n.finalizers = []string{metav1.FinalizerOrphanDependents}
		case 4:
			n.finalizers = []string{metav1.FinalizerDeleteDependents}
		}
		g[fmt.Sprintf("o%02d", i)] = n
	}
	return g
}

// environment is a server on virtual time and a client of it.
type environment struct {
	*testing.T
	srv  *fakeapi.Server
	maps typedcorev1.ConfigMapInterface
}

// runTest runs test in a synctest bubble with a new server.
func runTest(t *testing.T, test func(e *environment), opts ...fakeapi.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, append(opts, fakeapi.WithInMemoryNetwork())...)
		test(&environment{T: t, srv: srv, maps: kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")})
	})
}

// object returns the ConfigMap for a node.
func (n *node) object(name string) *corev1.ConfigMap {
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	cm.UID, cm.Finalizers = types.UID(name), slices.Clone(n.finalizers)
	for _, o := range n.owners {
		r := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: o.name, UID: types.UID(o.name), BlockOwnerDeletion: &o.blocks}
		if o.unserved {
			r.Kind = "Unserved"
		}
		cm.OwnerReferences = append(cm.OwnerReferences, r)
	}
	return cm
}

// String formats the graph. Of deleted objects it leaves out references to owners that do not
// exist: whether the collector removed such a reference before it deleted the object depends on its
// order.
func (g graph) String() string {
	var lines []string
	for _, name := range g.names() {
		n := g[name]
		slices.Sort(n.finalizers)
		owners := slices.DeleteFunc(slices.Clone(n.owners), func(o ownerRef) bool { return n.deleted && g[o.name] == nil })
		lines = append(lines, fmt.Sprintf("%s %+v %v deleted=%v", name, owners, n.finalizers, n.deleted))
	}
	return strings.Join(lines, "\n")
}

// serverGraph returns the graph of the objects of the server.
func (e *environment) serverGraph() graph {
	e.Helper()
	list, err := e.maps.List(e.Context(), metav1.ListOptions{})
	require.NoError(e, err)
	g := graph{}
	for _, cm := range list.Items {
		n := &node{finalizers: cm.Finalizers, deleted: cm.DeletionTimestamp != nil}
		for _, r := range cm.OwnerReferences {
			n.owners = append(n.owners, ownerRef{name: r.Name, blocks: *r.BlockOwnerDeletion, unserved: r.Kind == "Unserved"})
		}
		g[cm.Name] = n
	}
	return g
}

// doRandom removes a finalizer or deletes an object, on the server and in the model, and returns
// what it did.
func (e *environment) doRandom(rng *rand.Rand, g graph) string {
	e.Helper()
	names := g.names()
	name := names[rng.IntN(len(names))]
	if g[name].hasFinalizer(holdFinalizer) && rng.IntN(2) == 0 {
		cm, err := e.maps.Get(e.Context(), name, metav1.GetOptions{})
		require.NoError(e, err)
		cm.Finalizers = slices.DeleteFunc(cm.Finalizers, func(f string) bool { return f == holdFinalizer })
		_, err = e.maps.Update(e.Context(), cm, metav1.UpdateOptions{})
		require.NoError(e, err)
		g[name].removeFinalizers(holdFinalizer)
		g.removeIfFinished(name)
		return "release " + name
	}
	policy := []metav1.DeletionPropagation{"", metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan}[rng.IntN(5)]
	opts := metav1.DeleteOptions{}
	if policy != "" {
		opts.PropagationPolicy = &policy
	}
	require.NoError(e, e.maps.Delete(e.Context(), name, opts))
	g.delete(name, policy)
	return fmt.Sprintf("delete %s %s", name, policy)
}
