// Package election_test runs client-go's leader election against the server in synctest bubbles.
package election_test

import (
	"context"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/dev/e2e/internal/poll"
	"example.com/fakeapi/internal/dev/verify/harness"
)

// The default durations of Kubernetes components.
const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 2 * time.Second
	// patience is the longest interval between two reads of the lease by a candidate that does not
	// hold it, plus a second for the test to notice.
	patience = time.Duration(float64(retryPeriod)*(1+leaderelection.JitterFactor)) + time.Second
)

// TestMain discards logs and removes client-go's handlers of errors that cannot be returned. These
// handlers limit their rate by the real clock, counted from the start of the process, which would
// block a goroutine in a bubble for decades of virtual time.
func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = nil
	klog.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

func TestDisconnectedLeaderIsReplacedAtLeaseExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		cfg := srv.RESTConfig()
		network := harness.NewNetwork(cfg)
		first := run(t, cfg, "first", false)
		poll.Until(t, "first to lead", first.isLeader)
		second := run(t, srv.RESTConfig(), "second", false)

		time.Sleep(10 * time.Minute)
		synctest.Wait()
		require.True(t, first.isLeader(), "a leader that renews its lease keeps it")
		require.False(t, second.isLeader())

		network.Disconnect()
		cut := time.Now()
		<-first.stopped
		require.LessOrEqual(t, time.Since(cut), renewDeadline+retryPeriod)
		require.False(t, second.isLeader(), "second leads before the lease has expired")

		poll.Until(t, "second to lead", second.isLeader)
		require.GreaterOrEqual(t, time.Since(cut), leaseDuration-retryPeriod)
		require.LessOrEqual(t, time.Since(cut), leaseDuration+2*patience)
		lease := current(t, srv.RESTConfig())
		require.Equal(t, "second", *lease.Spec.HolderIdentity)
		require.EqualValues(t, 1, *lease.Spec.LeaseTransitions)
	})
}

func TestReleasedLeaseIsAcquiredAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		first := run(t, srv.RESTConfig(), "first", true)
		poll.Until(t, "first to lead", first.isLeader)
		second := run(t, srv.RESTConfig(), "second", true)

		first.resign()
		<-first.stopped
		released := time.Now()
		poll.Until(t, "second to lead", second.isLeader)
		require.LessOrEqual(t, time.Since(released), patience)
	})
}

func TestOneLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		var all []*candidate
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			all = append(all, run(t, srv.RESTConfig(), name, true))
		}
		for len(all) > 0 {
			var leaders []int
			poll.Until(t, "a candidate to lead", func() bool {
				leaders = leaderIndexes(all)
				return len(leaders) > 0
			})
			time.Sleep(time.Minute)
			synctest.Wait()
			require.Len(t, leaderIndexes(all), 1)
			require.Equal(t, leaders, leaderIndexes(all))

			gone := all[leaders[0]]
			all = append(all[:leaders[0]], all[leaders[0]+1:]...)
			gone.resign()
			<-gone.stopped
		}
	})
}

// leaderIndexes returns the indexes of the candidates that lead.
func leaderIndexes(all []*candidate) (found []int) {
	for i, c := range all {
		if c.isLeader() {
			found = append(found, i)
		}
	}
	return found
}

// candidate runs in the election until it loses the lease or resigns.
type candidate struct {
	resign  context.CancelFunc
	stopped chan struct{} // closed when the elector has returned

	mu     sync.Mutex
	leader bool
}

func (c *candidate) isLeader() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.leader
}

func (c *candidate) set(leader bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leader = leader
}

// run starts a candidate. If release is true, the candidate releases the lease when it resigns.
func run(t *testing.T, cfg *rest.Config, name string, release bool) *candidate {
	t.Helper()
	clients, err := kubernetes.NewForConfig(cfg)
	require.NoError(t, err)
	c := &candidate{stopped: make(chan struct{})}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: "default", Name: "job"},
			Client:     clients.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: name},
		},
		LeaseDuration:   leaseDuration,
		RenewDeadline:   renewDeadline,
		RetryPeriod:     retryPeriod,
		ReleaseOnCancel: release,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { c.set(true) },
			OnStoppedLeading: func() { c.set(false) },
		},
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	c.resign = cancel
	go func() {
		defer close(c.stopped)
		elector.Run(ctx)
	}()
	t.Cleanup(func() { // before the server stops
		cancel()
		<-c.stopped
	})
	return c
}

func current(t *testing.T, cfg *rest.Config) *coordinationv1.Lease {
	t.Helper()
	clients, err := kubernetes.NewForConfig(cfg)
	require.NoError(t, err)
	lease, err := clients.CoordinationV1().Leases("default").Get(t.Context(), "job", metav1.GetOptions{})
	require.NoError(t, err)
	return lease
}
