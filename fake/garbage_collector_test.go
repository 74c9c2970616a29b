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

// controllersTest is a test on virtual time, with a server whose controllers run, and its clients.
type controllersTest struct {
	*testing.T
	srv    *fakeapi.Server
	client kubernetes.Interface
	maps   typedcorev1.ConfigMapInterface
}

// withControllers runs a test in a synctest bubble.
func withControllers(t *testing.T, test func(p *controllersTest), opts ...fakeapi.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		opts = append([]fakeapi.Option{fakeapi.WithInMemoryNetwork(), fakeapi.WithNamespaceDeletionDelay(0)}, opts...)
		srv := fakeapi.Start(t, opts...)
		client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
		test(&controllersTest{T: t, srv: srv, client: client, maps: client.CoreV1().ConfigMaps("default")})
	})
}

// ownerReference returns a reference to an owner, with the given blockOwnerDeletion.
func ownerReference(owner *corev1.ConfigMap, blocking bool) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, BlockOwnerDeletion: &blocking}
}

// createOwned creates a ConfigMap with owners. If the name starts with "!", the rest is the name,
// and the object has a finalizer.
func (p *controllersTest) createOwned(name string, owners ...metav1.OwnerReference) *corev1.ConfigMap {
	p.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: owners}}
	if name[0] == '!' {
		cm.Name, cm.Finalizers = name[1:], []string{"example.com/hold"}
	}
	cm, err := p.maps.Create(p.Context(), cm, metav1.CreateOptions{})
	require.NoError(p, err)
	return cm
}

func (p *controllersTest) delete(name string, policy metav1.DeletionPropagation) {
	p.Helper()
	synctest.Wait() // the controllers have seen what was created
	require.NoError(p, p.maps.Delete(p.Context(), name, metav1.DeleteOptions{PropagationPolicy: &policy}))
}

func (p *controllersTest) get(name string) *corev1.ConfigMap {
	p.Helper()
	cm, err := p.maps.Get(p.Context(), name, metav1.GetOptions{})
	require.NoError(p, err)
	return cm
}

// removeFinalizers removes all finalizers of a ConfigMap.
func (p *controllersTest) removeFinalizers(name string) {
	p.Helper()
	_, err := p.maps.Patch(p.Context(), name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	require.NoError(p, err)
}

// requireRemaining checks the names of the ConfigMaps once the controllers are idle.
func (p *controllersTest) requireRemaining(want ...string) {
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

// eventsSince returns the events of the ConfigMaps since a resourceVersion: "+a", "~a" or "-a" if a
// was added, modified or deleted.
func (p *controllersTest) eventsSince(since string) (words []string) {
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

// Background deletion deletes the owner first, then its dependents and theirs.
func TestBackgroundDeletion(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		a := p.createOwned("a")
		b := p.createOwned("b", ownerReference(a, true))
		p.createOwned("c", ownerReference(b, false))
		p.createOwned("free")
		rev := p.srv.ResourceVersion()
		p.delete("a", background)
		p.requireRemaining("free")
		require.Equal(p, []string{"-a", "-b", "-c"}, p.eventsSince(rev))
	})
}

// Foreground deletion deletes the dependents before their owners. The owner waits only for
// dependents that block it.
func TestForegroundDeletion(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		a := p.createOwned("a")
		b := p.createOwned("b", ownerReference(a, true))
		p.createOwned("c", ownerReference(b, true))
		p.createOwned("!d", ownerReference(a, false))
		rev := p.srv.ResourceVersion()
		p.delete("a", foreground)
		p.requireRemaining("d")
		require.Equal(p, []string{"~a", "~b", "~d", "-c", "-b", "-a"}, p.eventsSince(rev))
		require.NotNil(p, p.get("d").DeletionTimestamp)
		p.removeFinalizers("d")
		p.requireRemaining()
	})
}

// A blocking dependent with a finalizer delays the deletion of its owner.
func TestBlockOwnerDeletion(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		a := p.createOwned("a")
		p.createOwned("!b", ownerReference(a, true))
		p.delete("a", foreground)
		p.requireRemaining("a", "b")
		require.Equal(p, []string{metav1.FinalizerDeleteDependents}, p.get("a").Finalizers)

		_, err := p.maps.Patch(p.Context(), "b", types.JSONPatchType,
			[]byte(`[{"op":"replace","path":"/metadata/ownerReferences/0/blockOwnerDeletion","value":false}]`), metav1.PatchOptions{})
		require.NoError(p, err)
		p.requireRemaining("b")
		p.removeFinalizers("b")
		p.requireRemaining()
	})
}

// A dependent with another owner whose kind is unknown is not deleted. The owner waits until the
// dependent has no owner references.
func TestForegroundDeletionWithUnknownOwner(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		a := p.createOwned("a")
		p.createOwned("b", ownerReference(a, true), metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Widget", Name: "w", UID: "w"})
		p.delete("a", foreground)
		p.requireRemaining("a", "b")
		_, err := p.maps.Patch(p.Context(), "b", types.MergePatchType, []byte(`{"metadata":{"ownerReferences":null}}`), metav1.PatchOptions{})
		require.NoError(p, err)
		p.requireRemaining("b")
	})
}

// Orphaning removes the references of the dependents, which stay.
func TestOrphanDependents(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		a, other := p.createOwned("a"), p.createOwned("other")
		p.createOwned("b", ownerReference(a, true))
		p.createOwned("c", ownerReference(a, true), ownerReference(other, false))
		rev := p.srv.ResourceVersion()
		p.delete("a", orphan)
		p.requireRemaining("b", "c", "other")
		require.Equal(p, []string{"~a", "~b", "~c", "-a"}, p.eventsSince(rev))
		require.Empty(p, p.get("b").OwnerReferences)
		require.Equal(p, []metav1.OwnerReference{ownerReference(other, false)}, p.get("c").OwnerReferences)
	})
}

// A dependent with an owner that stays loses its references to owners that do not exist or that
// wait for it. It is deleted with its last owner.
func TestDependentWithSolidOwner(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		a, b, c := p.createOwned("a"), p.createOwned("b"), p.createOwned("!c")
		p.createOwned("d", ownerReference(a, true), ownerReference(b, true), ownerReference(c, true))
		p.delete("a", background)
		p.requireRemaining("b", "c", "d")
		require.Equal(p, []metav1.OwnerReference{ownerReference(b, true), ownerReference(c, true)}, p.get("d").OwnerReferences)
		p.delete("b", foreground)
		p.requireRemaining("c", "d")
		require.Equal(p, []metav1.OwnerReference{ownerReference(c, true)}, p.get("d").OwnerReferences)
		p.delete("c", background) // it has a finalizer, so that it is solid until it is removed
		p.requireRemaining("c", "d")
		p.removeFinalizers("c")
		p.requireRemaining()
	})
}

// The collector's write is recorded for another manager. The removed reference has no manager, all
// other fields keep theirs.
func TestCollectorManagedFields(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		a, b := p.createOwned("a"), p.createOwned("b")
		p.createOwned("c", ownerReference(a, true), ownerReference(b, true))
		p.delete("a", background)
		synctest.Wait()
		fields := p.get("c").ManagedFields
		require.Len(p, fields, 1)
		require.NotContains(p, fields[0].FieldsV1.GetRawString(), string(a.UID))
		require.Contains(p, fields[0].FieldsV1.GetRawString(), string(b.UID))
	})
}

// An owner is absent if it never existed, or if another object has its name.
func TestAbsentOwners(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		a := p.createOwned("a")
		missing := ownerReference(a, true)
		missing.Name = "ghost"
		p.createOwned("b", missing)
		other := ownerReference(a, true)
		other.UID = "another"
		p.createOwned("c", other)
		p.requireRemaining("a")
	})
}

// Dependents of owners that the server cannot look up are not deleted, even if other owners are
// absent. The same is true for cluster-scoped dependents of namespaced owners.
func TestUnresolvableOwners(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		a := p.createOwned("a")
		widget := metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Widget", Name: "w", UID: "w"}
		version := metav1.OwnerReference{APIVersion: "apps/v1beta1", Kind: "Deployment", Name: "d", UID: "d"}
		missing := ownerReference(a, false)
		missing.UID = "ghost"
		p.createOwned("b", widget, missing)
		p.createOwned("c", version)
		nodes := p.client.CoreV1().Nodes()
		_, err := nodes.Create(p.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{
			Name: "n", OwnerReferences: []metav1.OwnerReference{missing},
		}}, metav1.CreateOptions{})
		require.NoError(p, err)
		p.requireRemaining("a", "b", "c")
		_, err = nodes.Get(p.Context(), "n", metav1.GetOptions{})
		require.NoError(p, err)
		require.NoError(p, p.srv.RunControllers(p.Context()))
	})
}

// An owner in another namespace is absent. A cluster-scoped owner can have dependents in all
// namespaces.
func TestOwnersInOtherNamespaces(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		otherNamespace, err := p.client.CoreV1().ConfigMaps("kube-public").Create(p.Context(), configMapIn("kube-public", "a"), metav1.CreateOptions{})
		require.NoError(p, err)
		node, err := p.client.CoreV1().Nodes().Create(p.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, metav1.CreateOptions{})
		require.NoError(p, err)
		p.createOwned("b", ownerReference(otherNamespace, true))
		p.createOwned("c", metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: "n", UID: node.UID})
		p.requireRemaining("c")
		require.NoError(p, p.client.CoreV1().Nodes().Delete(p.Context(), "n", metav1.DeleteOptions{}))
		p.requireRemaining()
	})
}

func configMapIn(namespace, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// Cycles of owners are deleted with every policy, and if several members are deleted before the
// collector runs.
func TestOwnerCycles(t *testing.T) {
	for _, policy := range []metav1.DeletionPropagation{background, foreground} {
		for _, size := range []int{1, 2, 3, 5} {
			for deleted := 1; deleted <= size; deleted++ {
				withControllers(t, func(p *controllersTest) {
					p.createCycle(size)
					for i := range deleted {
						p.delete(string(rune('a'+i)), policy)
					}
					require.NoError(p, p.srv.RunControllers(p.Context()))
					p.requireRemaining()
				}, fakeapi.WithoutControllers())
			}
		}
	}
}

// createCycle creates ConfigMaps a, b, ... of which each is owned by the one before it, and the
// first by the last.
func (p *controllersTest) createCycle(size int) {
	p.Helper()
	var all []*corev1.ConfigMap
	for i := range size {
		all = append(all, p.createOwned(string(rune('a'+i))))
	}
	for i, cm := range all {
		cm.OwnerReferences = []metav1.OwnerReference{ownerReference(all[(i+size-1)%size], true)}
		_, err := p.maps.Update(p.Context(), cm, metav1.UpdateOptions{})
		require.NoError(p, err)
	}
}

// Of a cycle, the first object that waits for its owner stops to block that owner.
func TestOwnerCycleIsUnblocked(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		p.createCycle(2)
		p.removeFinalizers("a")
		rev := p.srv.ResourceVersion()
		p.delete("a", foreground)
		require.Equal(p, []string{"~a", "~b", "~b", "-a", "-b"}, p.eventsSince(rev))
		p.requireRemaining()
	})
}

// An object with a dependent that waits may be part of a cycle. When it is deleted, it stops to
// block its owner. As in a cluster, the collector does not check whether there is a cycle, so the
// owner does not wait here.
func TestPossibleOwnerCycleIsUnblocked(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		a := p.createOwned("a")
		b := p.createOwned("b", ownerReference(a, true))
		c := p.createOwned("c", ownerReference(b, true))
		p.createOwned("!d", ownerReference(c, true))
		p.delete("c", foreground)
		p.requireRemaining("a", "b", "c", "d")
		p.delete("a", foreground)
		p.requireRemaining("b", "c", "d")
		require.Equal(p, []string{metav1.FinalizerDeleteDependents}, p.get("b").Finalizers)
		require.Equal(p, []metav1.OwnerReference{ownerReference(a, false)}, p.get("b").OwnerReferences)
		p.removeFinalizers("d")
		p.requireRemaining()
	})
}

// A dependent is deleted with the policy of its own finalizers.
func TestFinalizerOfDependentSelectsPolicy(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		a := p.createOwned("a")
		b := configMapIn("default", "b")
		b.OwnerReferences = []metav1.OwnerReference{ownerReference(a, true)}
		b.Finalizers = []string{metav1.FinalizerOrphanDependents}
		b, err := p.maps.Create(p.Context(), b, metav1.CreateOptions{})
		require.NoError(p, err)
		p.createOwned("c", ownerReference(b, true))
		p.delete("a", background)
		p.requireRemaining("c")
		require.Empty(p, p.get("c").OwnerReferences)
	})
}

// A namespace can be a dependent. Namespaces that may not be deleted stay, and RunControllers
// returns the error.
func TestNamespacesAsDependents(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		node, err := p.client.CoreV1().Nodes().Create(p.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, metav1.CreateOptions{})
		require.NoError(p, err)
		patch := []byte(`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"` + string(node.UID) + `"}]}}`)
		for _, name := range []string{"kube-node-lease", "kube-public"} {
			_, err = p.client.CoreV1().Namespaces().Patch(p.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
			require.NoError(p, err)
		}
		require.NoError(p, p.client.CoreV1().Nodes().Delete(p.Context(), "n", metav1.DeleteOptions{}))
		err = p.srv.RunControllers(p.Context())
		require.EqualError(p, err, `fakeapi: run controllers: namespaces/kube-public: namespaces "kube-public" is forbidden: this namespace may not be deleted`)
		_, err = p.client.CoreV1().Namespaces().Get(p.Context(), "kube-node-lease", metav1.GetOptions{})
		require.True(p, apierrors.IsNotFound(err), "%v", err)
	}, fakeapi.WithoutControllers())
}

// The collector handles fixtures like objects that clients have created.
func TestGarbageCollectionOfFixtures(t *testing.T) {
	collected, kept, owner := configMapIn("default", "lost"), configMapIn("default", "kept"), configMapIn("default", "owner")
	owner.UID = "owner"
	kept.OwnerReferences = []metav1.OwnerReference{ownerReference(owner, true)}
	collected.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: "other"}}
	withControllers(t, func(p *controllersTest) {
		p.requireRemaining("kept", "owner")
	}, fakeapi.WithObjects(collected, kept, owner))
}
