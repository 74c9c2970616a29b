package fakeapi_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	fakeapi "example.com/fakeapi/fake"
)

// createTeamNamespace creates the namespace "team" and uses it for p.maps.
func (p *controllersTest) createTeamNamespace() {
	p.Helper()
	_, err := p.client.CoreV1().Namespaces().Create(p.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: "team", Annotations: map[string]string{"made-by": "test"}},
	}, metav1.CreateOptions{})
	require.NoError(p, err)
	p.maps = p.client.CoreV1().ConfigMaps("team")
}

func (p *controllersTest) deleteTeamNamespace() {
	p.Helper()
	require.NoError(p, p.client.CoreV1().Namespaces().Delete(p.Context(), "team", metav1.DeleteOptions{}))
}

// teamConditions returns the conditions of the namespace, one per line, once the controllers are
// idle.
func (p *controllersTest) teamConditions() (lines []string) {
	p.Helper()
	synctest.Wait()
	ns, err := p.client.CoreV1().Namespaces().Get(p.Context(), "team", metav1.GetOptions{})
	require.NoError(p, err)
	require.Equal(p, corev1.NamespaceTerminating, ns.Status.Phase)
	require.Nil(p, ns.DeletionGracePeriodSeconds)
	for _, c := range ns.Status.Conditions {
		require.False(p, c.LastTransitionTime.IsZero())
		lines = append(lines, fmt.Sprintf("%s %s %s: %s", c.Type, c.Status, c.Reason, c.Message))
	}
	return lines
}

func (p *controllersTest) requireTeamDeleted() {
	p.Helper()
	synctest.Wait()
	_, err := p.client.CoreV1().Namespaces().Get(p.Context(), "team", metav1.GetOptions{})
	require.True(p, apierrors.IsNotFound(err), "%v", err)
}

// A deleted namespace is Terminating. Objects in it can be changed but not created. It stays until
// its objects have no finalizers.
func TestDeleteNamespace(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		p.createTeamNamespace()
		p.createOwned("plain")
		p.createOwned("!held")
		p.deleteTeamNamespace()
		require.Equal(p, []string{
			"NamespaceDeletionDiscoveryFailure False ResourcesDiscovered: All resources successfully discovered",
			"NamespaceDeletionGroupVersionParsingFailure False ParsedGroupVersions: All legacy kube types successfully parsed",
			"NamespaceDeletionContentFailure False ContentDeleted: All content successfully deleted, may be waiting on finalization",
			"NamespaceContentRemaining True SomeResourcesRemain: Some resources are remaining: configmaps. has 1 resource instances",
			"NamespaceFinalizersRemaining True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
		}, p.teamConditions())
		p.requireRemaining("held")
		generated, unnamed := configMapIn("team", ""), configMapIn("team", "")
		generated.GenerateName = "late-"
		for name, late := range map[string]*corev1.ConfigMap{"late": configMapIn("team", "late"), "late-": generated, "Unknown": unnamed} {
			_, err := p.maps.Create(p.Context(), late, metav1.CreateOptions{})
			require.True(p, apierrors.IsForbidden(err), "%v", err)
			require.EqualError(p, err, `configmaps "`+name+`" is forbidden: unable to create new content in namespace team because it is being terminated`)
			require.True(p, apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause), "%v", err)
		}
		_, err := p.maps.Patch(p.Context(), "held", types.MergePatchType, []byte(`{"data":{"k":"v"}}`), metav1.PatchOptions{})
		require.NoError(p, err)

		// Deleting it again succeeds and changes nothing (NS-08).
		rev := p.srv.ResourceVersion()
		p.deleteTeamNamespace()
		require.Equal(p, rev, p.srv.ResourceVersion())

		p.removeFinalizers("held")
		p.requireTeamDeleted()
		_, err = p.maps.Create(p.Context(), configMapIn("team", "late"), metav1.CreateOptions{})
		require.True(p, apierrors.IsNotFound(err), "%v", err)
		require.EqualError(p, err, `namespaces "team" not found`)
	})
}

// Pods are deleted first, after their grace period, and all other objects after them (KEP-5080).
func TestDeleteNamespaceDeletesPodsFirst(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		p.createTeamNamespace()
		p.createOwned("settings")
		p.createPod("team", "web", nil)
		p.deleteTeamNamespace()
		require.Equal(p, []string{
			"NamespaceContentRemaining True SomeResourcesRemain: Some resources are remaining: pods. has 1 resource instances",
			"NamespaceFinalizersRemaining False ContentHasNoFinalizers: All content-preserving finalizers finished",
		}, p.teamConditions()[3:])
		p.requireRemaining("settings")
		time.Sleep(29 * time.Second)
		p.requireRemaining("settings")
		time.Sleep(time.Second)
		p.requireRemaining()
		p.requireTeamDeleted()
	})
}

// A watch of the namespace receives it Terminating, with remaining content, without it, and
// deleted. The manager of the conditions is kube-controller-manager.
func TestDeleteNamespaceEvents(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		p.createTeamNamespace()
		w, err := p.client.CoreV1().Namespaces().Watch(p.Context(), metav1.ListOptions{
			ResourceVersion: p.srv.ResourceVersion(), FieldSelector: "metadata.name=team",
		})
		require.NoError(p, err)
		defer w.Stop()
		p.createOwned("!held")
		p.deleteTeamNamespace()
		synctest.Wait()
		p.removeFinalizers("held")
		p.requireTeamDeleted()
		var seen []string
		for len(seen) == 0 || !strings.HasPrefix(seen[len(seen)-1], string(watch.Deleted)) {
			e := <-w.ResultChan()
			ns := e.Object.(*corev1.Namespace)
			text := fmt.Sprintf("%s %s", e.Type, ns.Status.Phase)
			for _, c := range ns.Status.Conditions {
				if c.Type == corev1.NamespaceContentRemaining {
					text += " " + c.Reason
				}
			}
			seen = append(seen, text)
			if len(ns.Status.Conditions) > 0 {
				require.True(p, slices.ContainsFunc(ns.ManagedFields, func(e metav1.ManagedFieldsEntry) bool {
					return e.Manager == "kube-controller-manager" && e.Subresource == "status"
				}), ns.ManagedFields)
			}
		}
		require.Equal(p, []string{
			"MODIFIED Terminating",
			"MODIFIED Terminating SomeResourcesRemain",
			"MODIFIED Terminating ContentRemoved",
			"DELETED Terminating ContentRemoved",
		}, seen)
	})
}

// An empty namespace with metadata.finalizers stays until an update removes the last of them.
func TestDeleteNamespaceWithFinalizers(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		p.createTeamNamespace()
		namespaces := p.client.CoreV1().Namespaces()
		patch := func(text string) *corev1.Namespace {
			ns, err := namespaces.Patch(p.Context(), "team", types.MergePatchType, []byte(text), metav1.PatchOptions{})
			require.NoError(p, err)
			return ns
		}
		patch(`{"metadata":{"finalizers":["example.com/hold"]}}`)
		p.createOwned("plain")
		p.deleteTeamNamespace()
		p.requireRemaining()
		ns, err := namespaces.Get(p.Context(), "team", metav1.GetOptions{})
		require.NoError(p, err)
		require.Empty(p, ns.Spec.Finalizers)
		require.Equal(p, []string{"example.com/hold"}, ns.Finalizers)
		require.Equal(p, "x", patch(`{"metadata":{"labels":{"a":"x"}}}`).Labels["a"])
		ns = patch(`{"metadata":{"finalizers":null}}`)
		require.NotNil(p, ns.DeletionTimestamp)
		p.requireTeamDeleted()
	})
}

// An update of a terminating namespace does not remove it while it has content.
func TestUpdateTerminatingNamespace(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		p.createTeamNamespace()
		p.createOwned("plain")
		p.deleteTeamNamespace()
		_, err := p.client.CoreV1().Namespaces().Patch(p.Context(), "team", types.MergePatchType,
			[]byte(`{"metadata":{"labels":{"a":"x"}}}`), metav1.PatchOptions{})
		require.NoError(p, err)
		p.requireRemaining("plain")
		require.Empty(p, p.teamConditions())
		require.NoError(p, p.srv.RunControllers(p.Context()))
		p.requireTeamDeleted()
	}, fakeapi.WithoutControllers())
}

// An informer sees each object of a large namespace deleted once.
func TestDeleteLargeNamespace(t *testing.T) {
	var objects []*corev1.ConfigMap
	for i := range 1000 {
		objects = append(objects, configMapIn("team", fmt.Sprintf("m%04d", i)))
	}
	withControllers(t, func(p *controllersTest) {
		for _, cm := range objects {
			require.NoError(p, p.srv.Load(cm))
		}
		deleted := make(map[string]int)
		informer := informers.NewSharedInformerFactory(p.client, 0).Core().V1().ConfigMaps().Informer()
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			UpdateFunc: func(_, obj any) { p.Errorf("changed: %v", obj) },
			DeleteFunc: func(obj any) { deleted[obj.(*corev1.ConfigMap).Name]++ },
		})
		require.NoError(p, err)
		go informer.RunWithContext(p.Context())
		require.True(p, cache.WaitForCacheSync(p.Context().Done(), informer.HasSynced))
		require.Len(p, informer.GetStore().ListKeys(), 1000)
		p.deleteTeamNamespace()
		p.requireTeamDeleted()
		require.Empty(p, informer.GetStore().ListKeys())
		require.Len(p, deleted, 1000)
		for name, n := range deleted {
			require.Equal(p, 1, n, name)
		}
	}, fakeapi.WithoutSystemObjects())
}

// The propagation policy is for dependents of the namespace. Its content is deleted with every
// policy.
func TestDeleteNamespaceWithEveryPolicy(t *testing.T) {
	for _, policy := range []metav1.DeletionPropagation{background, foreground, orphan} {
		withControllers(t, func(p *controllersTest) {
			p.createTeamNamespace()
			p.createOwned("plain")
			p.createOwned("!held")
			require.NoError(p, p.client.CoreV1().Namespaces().Delete(p.Context(), "team", metav1.DeleteOptions{PropagationPolicy: &policy}))
			p.requireRemaining("held")
			p.removeFinalizers("held")
			p.requireRemaining()
			p.requireTeamDeleted()
		})
	}
}

// Owners and dependents in a terminating namespace are deleted.
func TestDeleteNamespaceWithOwners(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		p.createTeamNamespace()
		a := p.createOwned("a")
		p.createOwned("b", ownerReference(a, true))
		p.createOwned("!c", ownerReference(a, true))
		p.delete("a", foreground)
		p.requireRemaining("a", "c")
		p.deleteTeamNamespace()
		p.requireRemaining("c")
		p.removeFinalizers("c")
		p.requireTeamDeleted()
	})
}

// A create in a namespace that is being deleted fails, or the object is deleted. No object is left
// once the namespace is removed.
func TestDeleteNamespaceDuringWrites(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		p.createTeamNamespace()
		var writers sync.WaitGroup
		for w := range 4 {
			writers.Go(func() {
				for i := 0; ; i++ {
					if w == 0 && i == 50 {
						if err := p.client.CoreV1().Namespaces().Delete(p.Context(), "team", metav1.DeleteOptions{}); err != nil {
							p.Errorf("%v", err)
						}
					}
					_, err := p.maps.Create(p.Context(), configMapIn("team", fmt.Sprintf("m-%d-%d", w, i)), metav1.CreateOptions{})
					if apierrors.IsNotFound(err) {
						return
					}
					if err != nil && !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
						p.Errorf("%v", err)
						return
					}
				}
			})
		}
		writers.Wait()
		p.requireTeamDeleted()
		p.requireRemaining()
	})
}

// A deleted namespace keeps its content for five seconds, in which clients can read and write it.
func TestNamespaceDeletionDelay(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		p.createTeamNamespace()
		p.createOwned("plain")
		require.NoError(p, p.client.CoreV1().Namespaces().Delete(p.Context(), "team", metav1.DeleteOptions{}))
		time.Sleep(5*time.Second - time.Millisecond)
		synctest.Wait()
		p.requireRemaining("plain")
		ns, err := p.client.CoreV1().Namespaces().Get(p.Context(), "team", metav1.GetOptions{})
		require.NoError(p, err)
		require.Empty(p, ns.Status.Conditions)
		time.Sleep(time.Millisecond)
		synctest.Wait()
		p.requireTeamDeleted()
	}, fakeapi.WithNamespaceDeletionDelay(5*time.Second))
	withControllers(t, func(p *controllersTest) {
		p.createTeamNamespace()
		p.createOwned("plain")
		require.NoError(p, p.client.CoreV1().Namespaces().Delete(p.Context(), "team", metav1.DeleteOptions{}))
		require.NoError(p, p.srv.RunControllers(p.Context()), "does not wait")
		p.requireTeamDeleted()
	}, fakeapi.WithNamespaceDeletionDelay(5*time.Second))
}
