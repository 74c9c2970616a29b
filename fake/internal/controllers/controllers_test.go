package controllers_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/controllers"
	"example.com/fakeapi/fake/internal/crd/registry"
	"example.com/fakeapi/fake/internal/handlers"
	"example.com/fakeapi/fake/internal/ids"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin"
	"example.com/fakeapi/fake/internal/webhookclient"
	"example.com/fakeapi/memstore"
)

// fixture is a store with its API, and controllers that write through it.
type fixture struct {
	*testing.T
	*handlers.API
	store       *memstore.Store
	controllers *controllers.Controllers

	// deleting, if set, is called before each deletion and may refuse it. finalizing, if set, is
	// called before a namespace is finalized.
	deleting   func(key string) error
	finalizing func()
}

func newFixture(t *testing.T, limits memstore.Options) *fixture {
	p := &fixture{T: t, store: memstore.New(limits)}
	p.API = handlers.New(p.store, registry.New(builtin.Table(), webhookclient.Network{}), ids.New([32]byte{}), handlers.Settings{})
	p.controllers = controllers.New(p.store, builtin.Table, p, 0, nil, func() []schema.GroupVersion { return nil })
	require.NoError(t, p.LoadSystem())
	return p
}

func (p *fixture) DeleteKey(ctx context.Context, user authenticationv1.UserInfo, res *resource.Resource, key string, opts *metav1.DeleteOptions) error {
	if p.deleting != nil {
		if err := p.deleting(key); err != nil {
			return err
		}
	}
	return p.API.DeleteKey(ctx, user, res, key, opts)
}

func (p *fixture) ChangeKey(ctx context.Context, user authenticationv1.UserInfo, res *resource.Resource, key, uid, subresource string, change func(runtime.Object)) error {
	if p.finalizing != nil && subresource == "finalize" {
		p.finalizing()
	}
	return p.API.ChangeKey(ctx, user, res, key, uid, subresource, change)
}

const maps = "configmaps/default/"

func (p *fixture) load(objects ...*corev1.ConfigMap) {
	p.Helper()
	var all []runtime.Object
	for _, cm := range objects {
		all = append(all, cm)
	}
	require.NoError(p, p.Load(all))
}

// owned returns a ConfigMap that is owned by another one. Its name is its uid.
func owned(name, owner string) *corev1.ConfigMap {
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(name)}}
	if owner != "" {
		cm.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner, UID: types.UID(owner)}}
	}
	return cm
}

func (p *fixture) has(name string) bool { return p.store.View().Get(maps+name) != nil }

// remove deletes a ConfigMap in the store, not through the controllers.
func (p *fixture) remove(name string) {
	p.Helper()
	_, err := p.store.Update(maps+name, func(*memstore.Record) (*memstore.Draft, error) { return nil, nil })
	require.NoError(p, err)
}

// An object whose deletion fails is named in the error, and the others are processed. It is
// examined again by the next call.
func TestFailureDoesNotStopOthers(t *testing.T) {
	p := newFixture(t, memstore.Options{})
	p.load(owned("a", "ghost"), owned("b", "ghost"), owned("c", "ghost"))
	p.deleting = func(key string) error {
		if key == maps+"b" {
			return errors.New("not now")
		}
		return nil
	}
	require.EqualError(t, p.controllers.RunUntilIdle(t.Context()), maps+"b: not now")
	require.Equal(t, []bool{false, true, false}, []bool{p.has("a"), p.has("b"), p.has("c")})
	require.EqualError(t, p.controllers.RunUntilIdle(t.Context()), maps+"b: not now")
	p.deleting = nil
	require.NoError(t, p.controllers.RunUntilIdle(t.Context()))
	require.False(t, p.has("b"))
}

// A client that recreates what the collector deletes does not keep RunUntilIdle busy for ever.
func TestRunUntilIdleEnds(t *testing.T) {
	p := newFixture(t, memstore.Options{HistoryCount: 10})
	p.load(owned("a", "ghost"))
	again := 0
	p.deleting = func(key string) error {
		again++
		p.remove("a")
		p.load(owned("a", "ghost"))
		return nil
	}
	require.EqualError(t, p.controllers.RunUntilIdle(t.Context()), "the controllers do not become idle: "+maps+"a")
	require.Equal(t, 1000, again)
	p.deleting = nil
	require.NoError(t, p.controllers.RunUntilIdle(t.Context()))
	require.False(t, p.has("a"))
}

// Run retries an object that exceeded maxAttempts a second later.
func TestRunContinues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.Options{HistoryCount: 10})
		p.load(owned("a", "ghost"))
		begin := time.Now()
		p.deleting = func(key string) error {
			if time.Since(begin) < 3*time.Second {
				p.remove("a")
				p.load(owned("a", "ghost"))
			}
			return nil
		}
		go p.controllers.Run(t.Context())
		time.Sleep(3500 * time.Millisecond)
		synctest.Wait()
		require.False(t, p.has("a"))
	})
}

// RunUntilIdle ends with its context.
func TestRunUntilIdleEndsWithContext(t *testing.T) {
	p := newFixture(t, memstore.Options{})
	p.load(owned("a", "ghost"), owned("b", "ghost"))
	ctx, cancel := context.WithCancel(t.Context())
	p.deleting = func(string) error {
		cancel()
		return nil
	}
	require.ErrorIs(t, p.controllers.RunUntilIdle(ctx), context.Canceled)
	require.True(t, p.has("a"), "its deletion was cancelled")
	require.True(t, p.has("b"))
	require.NoError(t, p.controllers.RunUntilIdle(t.Context()))
	require.False(t, p.has("a"))
	require.False(t, p.has("b"))
}

// Events that history dropped before the controllers read them are made up for by buildGraph.
func TestEventsAfterForgetHistory(t *testing.T) {
	p := newFixture(t, memstore.Options{HistoryCount: 5})
	p.load(owned("a", ""), owned("b", "a"))
	require.NoError(t, p.controllers.RunUntilIdle(t.Context()))
	require.True(t, p.has("b"))
	p.remove("a")
	for i := range 20 {
		p.load(owned(fmt.Sprintf("noise%d", i), ""))
	}
	require.NoError(t, p.controllers.RunUntilIdle(t.Context()))
	require.False(t, p.has("b"))
}

// A restored store is examined in its restored state.
func TestRestoredStore(t *testing.T) {
	for _, bump := range []memstore.Revision{0, 1000} {
		p := newFixture(t, memstore.Options{})
		p.load(owned("b", "a"))
		lost := p.store.Snapshot()
		p.remove("b")
		p.load(owned("a", ""), owned("c", "a"))
		require.NoError(t, p.controllers.RunUntilIdle(t.Context()))
		p.store.Restore(lost, bump)
		require.NoError(t, p.controllers.RunUntilIdle(t.Context()))
		require.False(t, p.has("b"), "its owner is not there in this state")
	}
}

// An object that was adopted after the controllers read it is not deleted.
func TestAdoptedBeforeCollection(t *testing.T) {
	p := newFixture(t, memstore.Options{})
	p.load(owned("a", "ghost"), owned("b", ""))
	res := builtin.Table().Lookup("", "v1", "configmaps")
	p.deleting = func(string) error {
		return p.ChangeKey(t.Context(), authn.AdminUser(), res, maps+"a", "a", "", func(obj runtime.Object) {
			obj.(*corev1.ConfigMap).OwnerReferences = owned("a", "b").OwnerReferences
		})
	}
	require.NoError(t, p.controllers.RunUntilIdle(t.Context()))
	require.True(t, p.has("a"))
}

// newFixtureWithLateObject returns a fixture with the ConfigMap late in the namespace team, which
// has been removed.
func newFixtureWithLateObject(t *testing.T) *fixture {
	t.Helper()
	p := newFixture(t, memstore.Options{})
	late := owned("late", "")
	late.Namespace = "team"
	require.NoError(t, p.Load([]runtime.Object{late}))
	_, err := p.store.Update("namespaces/team", func(*memstore.Record) (*memstore.Draft, error) { return nil, nil })
	require.NoError(t, err)
	return p
}

// An object that is created while its namespace is being removed is deleted.
func TestObjectsInMissingNamespaceAreDeleted(t *testing.T) {
	p := newFixtureWithLateObject(t)
	require.NoError(t, p.controllers.RunUntilIdle(t.Context()))
	require.Nil(t, p.store.View().Get("configmaps/team/late"))
}

// An object that is created after the content of its namespace was deleted, and before the
// namespace is removed, is deleted.
func TestObjectsInFinalizedNamespaceAreDeleted(t *testing.T) {
	p := newFixture(t, memstore.Options{})
	early, late := owned("early", ""), owned("late", "")
	early.Namespace, late.Namespace = "team", "team"
	require.NoError(t, p.Load([]runtime.Object{early}))
	p.finalizing = func() { require.NoError(t, p.Load([]runtime.Object{late})) }
	namespaces := builtin.Table().Lookup("", "v1", "namespaces")
	require.NoError(t, p.API.DeleteKey(t.Context(), authn.AdminUser(), namespaces, "namespaces/team", &metav1.DeleteOptions{}))
	require.NoError(t, p.controllers.RunUntilIdle(t.Context()))
	require.Nil(t, p.store.View().Get("namespaces/team"))
	require.Nil(t, p.store.View().Get("configmaps/team/late"))
}

// A fixture that replaces a terminating namespace ends the termination.
func TestNamespaceIsRecreated(t *testing.T) {
	p := newFixture(t, memstore.Options{})
	held := owned("held", "")
	held.Namespace, held.Finalizers = "team", []string{"example.com/hold"}
	require.NoError(t, p.Load([]runtime.Object{held}))
	namespaces := builtin.Table().Lookup("", "v1", "namespaces")
	require.NoError(t, p.API.DeleteKey(t.Context(), authn.AdminUser(), namespaces, "namespaces/team", &metav1.DeleteOptions{}))
	require.NoError(t, p.controllers.RunUntilIdle(t.Context()))
	require.NoError(t, p.Load([]runtime.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}}))
	other := owned("other", "")
	other.Namespace = "team"
	require.NoError(t, p.Load([]runtime.Object{other}))
	require.NoError(t, p.controllers.RunUntilIdle(t.Context()))
	require.NotNil(t, p.store.View().Get("configmaps/team/other"))
}

// The request that ends the grace period of a pod has two seconds to delete it.
func TestDeletionAfterGracePeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.Options{})
		begin, after := metav1.Now(), make(chan time.Duration, 10)
		p.deleting = func(key string) error {
			after <- time.Since(begin.Time)
			return nil
		}
		for name, grace := range map[string]int64{"a": 0, "b": 1} {
			end := metav1.NewTime(begin.Add(time.Duration(grace) * time.Second))
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Name: name, Namespace: "default", DeletionTimestamp: &end, DeletionGracePeriodSeconds: &grace,
			}, Spec: corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
			require.NoError(t, p.Load([]runtime.Object{pod}))
		}
		go p.controllers.Run(t.Context())
		require.Equal(t, time.Second, <-after)
		require.Equal(t, 2*time.Second, <-after)
		time.Sleep(time.Minute)
		require.Empty(t, after, "each is deleted once")
	})
}

// A namespace that is deleted while the deletion of the content of a removed one with its name
// waits for the next attempt is emptied, too.
func TestNamespaceIsDeletedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.Options{})
		p.deleting = func(string) error { return errors.New("not now") }
		go p.controllers.Run(t.Context())
		held := owned("held", "")
		held.Namespace = "team"
		namespaces := builtin.Table().Lookup("", "v1", "namespaces")
		deleteNamespace := func() {
			require.NoError(t, p.Load([]runtime.Object{held}))
			require.NoError(t, p.API.DeleteKey(t.Context(), authn.AdminUser(), namespaces, "namespaces/team", &metav1.DeleteOptions{}))
			synctest.Wait()
		}
		deleteNamespace()
		time.Sleep(time.Minute)
		synctest.Wait()
		for _, key := range []string{"configmaps/team/held", "namespaces/team"} {
			_, err := p.store.Update(key, func(*memstore.Record) (*memstore.Draft, error) { return nil, nil })
			require.NoError(t, err)
		}
		p.deleting = nil
		synctest.Wait()
		deleteNamespace()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		require.Nil(t, p.store.View().Get("namespaces/team"))
	})
}

// An object in a removed namespace whose deletion fails is deleted later.
func TestObjectsInMissingNamespaceAreDeletedLater(t *testing.T) {
	p := newFixtureWithLateObject(t)
	p.deleting = func(string) error { return errors.New("not now") }
	require.EqualError(t, p.controllers.RunUntilIdle(t.Context()), "content of namespace team: not now")
	p.deleting = nil
	require.NoError(t, p.controllers.RunUntilIdle(t.Context()))
	require.Nil(t, p.store.View().Get("configmaps/team/late"))
}
