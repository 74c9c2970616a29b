package election_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/dev/e2e/internal/poll"
)

const accounts = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: manager, namespace: default}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: manager, namespace: default}
rules:
- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, create, update]}
- {apiGroups: [""], resources: [configmaps], verbs: [get, list, watch]}
`

// binding is the binding of the service account manager to its role.
type binding struct {
	t      *testing.T
	client kubernetes.Interface
}

// startWithBinding starts a server with a service account that is bound to a role. It returns a
// configuration of the account, and the binding.
func startWithBinding(t *testing.T, opts ...fakeapi.Option) (*rest.Config, *binding) {
	t.Helper()
	srv := fakeapi.Start(t, append(opts, fakeapi.WithRBAC(), fakeapi.WithYAML(accounts))...)
	client, err := kubernetes.NewForConfig(srv.RESTConfig())
	require.NoError(t, err)
	b := &binding{t, client}
	b.create()
	config, err := srv.RESTConfigForServiceAccount("default", "manager")
	require.NoError(t, err)
	return config, b
}

func (b *binding) create() {
	_, err := b.client.RbacV1().RoleBindings("default").Create(b.t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "manager"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "manager"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: "manager"}},
	}, metav1.CreateOptions{})
	require.NoError(b.t, err)
}

func (b *binding) delete() {
	require.NoError(b.t, b.client.RbacV1().RoleBindings("default").Delete(b.t.Context(), "manager", metav1.DeleteOptions{}))
}

// A leader that may no longer renew its lease stops at the renew deadline. It leads again after the
// binding is created.
func TestLeaderWithoutBindingStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config, b := startWithBinding(t, fakeapi.WithInMemoryNetwork())
		first := run(t, config, "first", false)
		poll.Until(t, "first to lead", first.isLeader)
		time.Sleep(time.Minute)
		require.True(t, first.isLeader())

		b.delete()
		deleted := time.Now()
		<-first.stopped
		require.GreaterOrEqual(t, time.Since(deleted), renewDeadline-retryPeriod)
		require.LessOrEqual(t, time.Since(deleted), renewDeadline+retryPeriod)

		second := run(t, config, "second", false)
		time.Sleep(leaseDuration + time.Minute)
		synctest.Wait()
		require.False(t, second.isLeader(), "second leads without the right to do so")
		b.create()
		poll.Until(t, "second to lead", second.isLeader)
	})
}

// An informer of an account without its binding keeps what it has, and has everything after the
// binding is created. A watch that is open when the binding is deleted goes on: requests are
// authorized when they begin.
func TestInformerAcrossBindings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config, b := startWithBinding(t, fakeapi.WithInMemoryNetwork())
		b.delete()
		client, err := kubernetes.NewForConfig(config)
		require.NoError(t, err)
		factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace("default"))
		informer := factory.Core().V1().ConfigMaps().Informer()
		ctx, cancel := context.WithCancel(t.Context())
		factory.StartWithContext(ctx)
		t.Cleanup(func() { cancel(); factory.Shutdown() })
		time.Sleep(time.Minute)
		synctest.Wait()
		require.False(t, informer.HasSynced())

		b.create()
		poll.Until(t, "the informer to have listed", informer.HasSynced)
		b.delete()
		b.writeConfigMap("a")
		poll.Until(t, "the open watch to go on", func() bool { return len(factory.Core().V1().ConfigMaps().Informer().GetStore().ListKeys()) == 1 })
		time.Sleep(2 * time.Hour) // the watch ends, and cannot be opened again
		b.writeConfigMap("b")
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []string{"default/a"}, informer.GetStore().ListKeys())
		b.create()
		poll.Until(t, "the informer to have both", func() bool { return len(informer.GetStore().ListKeys()) == 2 })
	})
}

func (b *binding) writeConfigMap(name string) {
	_, err := b.client.CoreV1().ConfigMaps("default").Create(b.t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	require.NoError(b.t, err)
}

// While the binding is deleted and created, requests of many clients are allowed or denied. A
// request that begins after a change was answered has the result of the change.
func TestRequestsDuringChangesOfBinding(t *testing.T) {
	config, b := startWithBinding(t)
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	list := func() error {
		_, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
		return err
	}
	done := make(chan struct{})
	var allowed, denied atomic.Int64
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				switch err := list(); {
				case err == nil:
					allowed.Add(1)
				case apierrors.IsForbidden(err):
					denied.Add(1)
				default:
					t.Errorf("list: %v", err)
					return
				}
			}
		})
	}
	// On a busy machine, the clients may send their requests late.
	for round := 0; round < 100 || (allowed.Load() == 0 || denied.Load() == 0) && round < 10_000; round++ {
		b.delete()
		if err := list(); !apierrors.IsForbidden(err) {
			t.Errorf("after the deletion of the binding: %v", err)
		}
		b.create()
		if err := list(); err != nil {
			t.Errorf("after the creation of the binding: %v", err)
		}
	}
	close(done)
	wait.Wait()
	require.Positive(t, allowed.Load())
	require.Positive(t, denied.Load())
}
