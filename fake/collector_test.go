package fakeapi_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	fakeapi "example.com/fakeapi/fake"
)

// plane is a server with its controllers on virtual time, and clients of it.
type plane struct {
	*testing.T
	srv    *fakeapi.Server
	client kubernetes.Interface
	maps   typedcorev1.ConfigMapInterface
}

// onPlane runs a test in a bubble.
func onPlane(t *testing.T, test func(p *plane), opts ...fakeapi.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, append(opts, fakeapi.WithInMemoryNetwork())...)
		client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
		test(&plane{T: t, srv: srv, client: client, maps: client.CoreV1().ConfigMaps("default")})
	})
}

// belongs makes a reference to an owner; blocking is what controllers set.
func belongs(owner *corev1.ConfigMap, blocking bool) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, BlockOwnerDeletion: &blocking}
}

// owned makes a ConfigMap with owners. One that is named with a "!" in front has a
// finalizer of its own.
func (p *plane) owned(name string, owners ...metav1.OwnerReference) *corev1.ConfigMap {
	p.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: owners}}
	if name[0] == '!' {
		cm.Name, cm.Finalizers = name[1:], []string{"example.com/hold"}
	}
	cm, err := p.maps.Create(p.Context(), cm, metav1.CreateOptions{})
	require.NoError(p, err)
	return cm
}

func (p *plane) delete(name string, policy metav1.DeletionPropagation) {
	p.Helper()
	synctest.Wait() // what was created has been looked at
	require.NoError(p, p.maps.Delete(p.Context(), name, metav1.DeleteOptions{PropagationPolicy: &policy}))
}

func (p *plane) get(name string) *corev1.ConfigMap {
	p.Helper()
	cm, err := p.maps.Get(p.Context(), name, metav1.GetOptions{})
	require.NoError(p, err)
	return cm
}

// unfinalize takes all finalizers from a ConfigMap.
func (p *plane) unfinalize(name string) {
	p.Helper()
	_, err := p.maps.Patch(p.Context(), name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	require.NoError(p, err)
}

// left expects the ConfigMaps that are there once the controllers have come to rest.
func (p *plane) left(want ...string) {
	p.Helper()
	synctest.Wait()
	list, err := p.maps.List(p.Context(), metav1.ListOptions{})
	require.NoError(p, err)
	var have []string
	for _, cm := range list.Items {
		have = append(have, cm.Name)
	}
	require.Equal(p, want, have)
}

// events gives what has happened to the ConfigMaps since a resourceVersion, a word
// each: "-a" for the end of a, "~a" for a change.
func (p *plane) events(since string) (words []string) {
	p.Helper()
	synctest.Wait()
	ctx, cancel := context.WithCancel(p.Context())
	defer cancel()
	w, err := p.maps.Watch(ctx, metav1.ListOptions{ResourceVersion: since})
	require.NoError(p, err)
	defer w.Stop()
	for {
		synctest.Wait()
		select {
		case e := <-w.ResultChan():
			sign := map[watch.EventType]string{watch.Added: "+", watch.Modified: "~", watch.Deleted: "-"}[e.Type]
			words = append(words, sign+e.Object.(*corev1.ConfigMap).Name)
		default:
			return words
		}
	}
}

const (
	background = metav1.DeletePropagationBackground
	foreground = metav1.DeletePropagationForeground
	orphan     = metav1.DeletePropagationOrphan
)

// Background: the owner is gone at once, its dependents after it, and theirs.
func TestCollectInBackground(t *testing.T) {
	onPlane(t, func(p *plane) {
		a := p.owned("a")
		b := p.owned("b", belongs(a, true))
		p.owned("c", belongs(b, false))
		p.owned("free")
		rev := p.srv.ResourceVersion()
		p.delete("a", background)
		p.left("free")
		require.Equal(p, []string{"-a", "-b", "-c"}, p.events(rev))
	})
}

// Foreground: dependents go before their owner, the deepest first; the owner waits
// only for those that block it.
func TestCollectInForeground(t *testing.T) {
	onPlane(t, func(p *plane) {
		a := p.owned("a")
		b := p.owned("b", belongs(a, true))
		p.owned("c", belongs(b, true))
		p.owned("!d", belongs(a, false))
		rev := p.srv.ResourceVersion()
		p.delete("a", foreground)
		p.left("d")
		require.Equal(p, []string{"~a", "~b", "~d", "-c", "-b", "-a"}, p.events(rev))
		require.NotNil(p, p.get("d").DeletionTimestamp)
		p.unfinalize("d")
		p.left()
	})
}

// A dependent that blocks and is held by a finalizer holds its owner.
func TestBlockingDependentHoldsItsOwner(t *testing.T) {
	onPlane(t, func(p *plane) {
		a := p.owned("a")
		p.owned("!b", belongs(a, true))
		p.delete("a", foreground)
		p.left("a", "b")
		require.Equal(p, []string{metav1.FinalizerDeleteDependents}, p.get("a").Finalizers)

		_, err := p.maps.Patch(p.Context(), "b", types.JSONPatchType,
			[]byte(`[{"op":"replace","path":"/metadata/ownerReferences/0/blockOwnerDeletion","value":false}]`), metav1.PatchOptions{})
		require.NoError(p, err)
		p.left("b")
		p.unfinalize("b")
		p.left()
	})
}

// A dependent that cannot be deleted, as nobody knows its other owner, holds the one that
// waits for it, until it belongs to nobody.
func TestDependentIsFreedByHand(t *testing.T) {
	onPlane(t, func(p *plane) {
		a := p.owned("a")
		p.owned("b", belongs(a, true), metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Widget", Name: "w", UID: "w"})
		p.delete("a", foreground)
		p.left("a", "b")
		_, err := p.maps.Patch(p.Context(), "b", types.MergePatchType, []byte(`{"metadata":{"ownerReferences":null}}`), metav1.PatchOptions{})
		require.NoError(p, err)
		p.left("b")
	})
}

// Orphan: dependents lose the reference and stay.
func TestOrphan(t *testing.T) {
	onPlane(t, func(p *plane) {
		a, other := p.owned("a"), p.owned("other")
		p.owned("b", belongs(a, true))
		p.owned("c", belongs(a, true), belongs(other, false))
		rev := p.srv.ResourceVersion()
		p.delete("a", orphan)
		p.left("b", "c", "other")
		require.Equal(p, []string{"~a", "~b", "~c", "-a"}, p.events(rev))
		require.Empty(p, p.get("b").OwnerReferences)
		require.Equal(p, []metav1.OwnerReference{belongs(other, false)}, p.get("c").OwnerReferences)
	})
}

// A dependent with another owner that lives loses the references to those that do
// not, and those to owners that wait for it; it goes with its last owner.
func TestSolidOwnerKeeps(t *testing.T) {
	onPlane(t, func(p *plane) {
		a, b, c := p.owned("a"), p.owned("b"), p.owned("!c")
		p.owned("d", belongs(a, true), belongs(b, true), belongs(c, true))
		p.delete("a", background)
		p.left("b", "c", "d")
		require.Equal(p, []metav1.OwnerReference{belongs(b, true), belongs(c, true)}, p.get("d").OwnerReferences)
		p.delete("b", foreground)
		p.left("c", "d")
		require.Equal(p, []metav1.OwnerReference{belongs(c, true)}, p.get("d").OwnerReferences)
		p.delete("c", background) // held by its own finalizer, and solid until it is gone
		p.left("c", "d")
		p.unfinalize("c")
		p.left()
	})
}

// What the collector changes is recorded as the write of another manager: the
// reference that it removed is nobody's any more, all else stays its owner's.
func TestReleaseKeepsManagedFields(t *testing.T) {
	onPlane(t, func(p *plane) {
		a, b := p.owned("a"), p.owned("b")
		p.owned("c", belongs(a, true), belongs(b, true))
		p.delete("a", background)
		synctest.Wait()
		fields := p.get("c").ManagedFields
		require.Len(p, fields, 1)
		require.NotContains(p, fields[0].FieldsV1.GetRawString(), string(a.UID))
		require.Contains(p, fields[0].FieldsV1.GetRawString(), string(b.UID))
	})
}

// An owner that never was, or whose name another object has by now, is absent.
func TestAbsentOwners(t *testing.T) {
	onPlane(t, func(p *plane) {
		a := p.owned("a")
		ghost := belongs(a, true)
		ghost.Name = "ghost"
		p.owned("b", ghost)
		other := belongs(a, true)
		other.UID = "another"
		p.owned("c", other)
		p.left("a")
	})
}

// Owners that the server cannot look up say nothing: their dependents stay, even
// if other owners are gone. So do cluster-scoped dependents of namespaced owners.
func TestOwnersThatCannotBeLookedUp(t *testing.T) {
	onPlane(t, func(p *plane) {
		a := p.owned("a")
		widget := metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Widget", Name: "w", UID: "w"}
		version := metav1.OwnerReference{APIVersion: "apps/v1beta1", Kind: "Deployment", Name: "d", UID: "d"}
		ghost := belongs(a, false)
		ghost.UID = "ghost"
		p.owned("b", widget, ghost)
		p.owned("c", version)
		nodes := p.client.CoreV1().Nodes()
		_, err := nodes.Create(p.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{
			Name: "n", OwnerReferences: []metav1.OwnerReference{ghost},
		}}, metav1.CreateOptions{})
		require.NoError(p, err)
		p.left("a", "b", "c")
		_, err = nodes.Get(p.Context(), "n", metav1.GetOptions{})
		require.NoError(p, err)
		require.NoError(p, p.srv.RunControllers(p.Context()))
	})
}

// An owner is looked for in the namespace of the dependent: one in another
// namespace is absent. Cluster-scoped owners are owners everywhere.
func TestOwnersInOtherNamespaces(t *testing.T) {
	onPlane(t, func(p *plane) {
		elsewhere, err := p.client.CoreV1().ConfigMaps("kube-public").Create(p.Context(), configMapIn("kube-public", "a"), metav1.CreateOptions{})
		require.NoError(p, err)
		node, err := p.client.CoreV1().Nodes().Create(p.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, metav1.CreateOptions{})
		require.NoError(p, err)
		p.owned("b", belongs(elsewhere, true))
		p.owned("c", metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: "n", UID: node.UID})
		p.left("c")
		require.NoError(p, p.client.CoreV1().Nodes().Delete(p.Context(), "n", metav1.DeleteOptions{}))
		p.left()
	})
}

func configMapIn(namespace, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// Cycles do not hang, whatever the policy, however many of their members are
// deleted before the collector has had a look.
func TestCycles(t *testing.T) {
	for _, policy := range []metav1.DeletionPropagation{background, foreground} {
		for _, size := range []int{1, 2, 3, 5} {
			for deleted := 1; deleted <= size; deleted++ {
				onPlane(t, func(p *plane) {
					p.cycle(size)
					for i := range deleted {
						p.delete(string(rune('a'+i)), policy)
					}
					require.NoError(p, p.srv.RunControllers(p.Context()))
					p.left()
				}, fakeapi.WithoutControllers())
			}
		}
	}
}

// cycle makes ConfigMaps a, b, ... each of which belongs to the one before it, and
// the first to the last.
func (p *plane) cycle(size int) {
	p.Helper()
	var all []*corev1.ConfigMap
	for i := range size {
		all = append(all, p.owned(string(rune('a'+i))))
	}
	for i, cm := range all {
		cm.OwnerReferences = []metav1.OwnerReference{belongs(all[(i+size-1)%size], true)}
		_, err := p.maps.Update(p.Context(), cm, metav1.UpdateOptions{})
		require.NoError(p, err)
	}
}

// The first of a cycle that is found to wait for its owner lets that one go first.
func TestCycleIsUnblocked(t *testing.T) {
	onPlane(t, func(p *plane) {
		p.cycle(2)
		p.unfinalize("a")
		rev := p.srv.ResourceVersion()
		p.delete("a", foreground)
		require.Equal(p, []string{"~a", "~b", "~b", "-a", "-b"}, p.events(rev))
		p.left()
	})
}

// What has a dependent that waits already may be part of a cycle, and stops to block
// when it is sent off itself. That is not looked into any further, as in a cluster,
// so that its owner does not wait here.
func TestWhatMayBeACycleIsUnblocked(t *testing.T) {
	onPlane(t, func(p *plane) {
		a := p.owned("a")
		b := p.owned("b", belongs(a, true))
		c := p.owned("c", belongs(b, true))
		p.owned("!d", belongs(c, true))
		p.delete("c", foreground)
		p.left("a", "b", "c", "d")
		p.delete("a", foreground)
		p.left("b", "c", "d")
		require.Equal(p, []string{metav1.FinalizerDeleteDependents}, p.get("b").Finalizers)
		require.Equal(p, []metav1.OwnerReference{belongs(a, false)}, p.get("b").OwnerReferences)
		p.unfinalize("d")
		p.left()
	})
}

// A dependent goes by the policy that its own finalizers ask for.
func TestDependentsOwnPolicy(t *testing.T) {
	onPlane(t, func(p *plane) {
		a := p.owned("a")
		b := configMapIn("default", "b")
		b.OwnerReferences = []metav1.OwnerReference{belongs(a, true)}
		b.Finalizers = []string{metav1.FinalizerOrphanDependents}
		b, err := p.maps.Create(p.Context(), b, metav1.CreateOptions{})
		require.NoError(p, err)
		p.owned("c", belongs(b, true))
		p.delete("a", background)
		p.left("c")
		require.Empty(p, p.get("c").OwnerReferences)
	})
}

// A namespace can be a dependent; those that every cluster needs are not deleted,
// and whoever settles by hand is told so.
func TestNamespacesAsDependents(t *testing.T) {
	onPlane(t, func(p *plane) {
		node, err := p.client.CoreV1().Nodes().Create(p.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, metav1.CreateOptions{})
		require.NoError(p, err)
		patch := []byte(`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"` + string(node.UID) + `"}]}}`)
		for _, name := range []string{"kube-node-lease", "kube-public"} {
			_, err = p.client.CoreV1().Namespaces().Patch(p.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
			require.NoError(p, err)
		}
		require.NoError(p, p.client.CoreV1().Nodes().Delete(p.Context(), "n", metav1.DeleteOptions{}))
		err = p.srv.RunControllers(p.Context())
		require.EqualError(p, err, `fakeapi: settle: namespaces/kube-public: namespaces "kube-public" is forbidden: this namespace may not be deleted`)
		_, err = p.client.CoreV1().Namespaces().Get(p.Context(), "kube-node-lease", metav1.GetOptions{})
		require.True(p, apierrors.IsNotFound(err), "%v", err)
	}, fakeapi.WithoutControllers())
}

// Fixtures are collected as what was created is.
func TestFixturesAreCollected(t *testing.T) {
	lost, kept, owner := configMapIn("default", "lost"), configMapIn("default", "kept"), configMapIn("default", "owner")
	owner.UID = "owner"
	kept.OwnerReferences = []metav1.OwnerReference{belongs(owner, true)}
	lost.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: "other"}}
	onPlane(t, func(p *plane) {
		p.left("kept", "owner")
	}, fakeapi.WithObjects(lost, kept, owner))
}
