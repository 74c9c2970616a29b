package clients

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// elector campaigns with client-go's leader election and the recommended durations. Its identity is
// its user agent.
func elector(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	name := config.UserAgent
	queue := newQueue(ctx)
	var leads atomic.Bool
	set := func(to bool) {
		leads.Store(to)
		queue.Add(name)
	}
	set(false)
	campaign, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Name: "lock", Namespace: "default"},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: name},
		},
		LeaseDuration: 15 * time.Second,
		RenewDeadline: 10 * time.Second,
		RetryPeriod:   2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { set(true) },
			OnStoppedLeading: func() { set(false) },
		},
	})
	if err != nil {
		return err
	}
	ended := runAsync(func() {
		for ctx.Err() == nil {
			campaign.Run(ctx)
		}
	})
	defer func() { <-ended }()
	processQueue(ctx, queue, func(ctx context.Context, name string) error { return writeLeading(ctx, client, name, leads.Load()) })
	return nil
}

// writeLeading records whether a candidate leads.
func writeLeading(ctx context.Context, client kubernetes.Interface, name string, leads bool) error {
	o := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Data:       map[string]string{"leads": strconv.FormatBool(leads)},
	}
	return updateOrCreate(ctx, client.CoreV1().ConfigMaps("default"), o)
}
