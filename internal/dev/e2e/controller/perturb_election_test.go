package controller_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"example.com/fakeapi/scenario"
	"example.com/fakeapi/scenario/perturb"
)

// The leader election of controller-runtime is that of client-go. A manager that loses its lease
// ends with an error and is started again. With LeaderElectionReleaseOnCancel there is one finding,
// a bug of client-go: a manager that cannot renew its lease tries for another RenewDeadline to
// release it, and works meanwhile, although another manager may lead. TestElectionReleases in
// package perturb of the library describes it. With the durations here, it works for up to 29 s
// after its last renewal, and the lease is for 15 s. With the default durations it works for up to
// 22 s.
func TestPerturbElection(t *testing.T) {
	for _, release := range []bool{false, true} {
		client := candidate(release)
		c := perturbed(map[string]scenario.Client{"a": client, "b": client}, budgetOr(t, 80))
		c.Workload = c.Workload[:2] // without a delete, in which TestPerturb finds a bug
		report, err := perturb.Search(c)
		require.NoError(t, err)
		t.Log(report)
		var names []string
		for _, f := range report.Findings {
			names = append(names, f.Name)
		}
		if release {
			require.Equal(t, []string{"leaders a (lease)"}, names)
		} else {
			require.Empty(t, names)
		}
	}
}

// candidate returns a manager with the settings controller that takes part in an election, with its
// user agent as its identity. While it leads, it writes the time every second.
func candidate(release bool) scenario.Client {
	return func(ctx context.Context, cfg *rest.Config) error {
		clients, err := kubernetes.NewForConfig(cfg)
		if err != nil {
			return err
		}
		options := managerOptions()
		options.LeaderElection = true
		options.LeaderElectionReleaseOnCancel = release
		options.LeaseDuration, options.RenewDeadline, options.RetryPeriod = new(15*time.Second), new(14*time.Second), new(time.Second)
		options.LeaderElectionResourceLockInterface = &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: "default", Name: "lock"},
			Client:     clients.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: cfg.UserAgent},
		}
		return runSettings(ctx, cfg, options, manager.RunnableFunc(func(ctx context.Context) error {
			writeTimes(ctx, clients)
			return nil
		}))
	}
}

// writeTimes writes the time to ConfigMap heartbeat every second until ctx is done.
func writeTimes(ctx context.Context, clients kubernetes.Interface) {
	all := clients.CoreV1().ConfigMaps("default")
	for ctx.Err() == nil {
		beat := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "heartbeat"}, Data: map[string]string{"time": time.Now().String()}}
		if _, err := all.Update(ctx, beat, metav1.UpdateOptions{}); apierrors.IsNotFound(err) {
			_, _ = all.Create(ctx, beat, metav1.CreateOptions{}) // written again in a second
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}
