package catalogue_test

import (
	"context"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// elector is a candidate whose manager takes part in the election. A manager that loses the lease
// exits, and the next one campaigns.
func elector(ctx context.Context, cfg *rest.Config) error {
	clients, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	options := managerOptions()
	options.LeaderElection = true
	options.LeaderElectionResourceLockInterface = &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: sourceNamespace, Name: "lock"},
		Client:     clients.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: cfg.UserAgent},
	}
	return runManagers(ctx, options, cfg, func(ctx context.Context, mgr ctrl.Manager) error {
		if err := writeLeading(ctx, clients, cfg.UserAgent, false); err != nil {
			return err
		}
		return mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
			return runLeader(ctx, clients, cfg.UserAgent)
		}))
	})
}

// runLeader records that the candidate leads, and waits for the end of ctx.
func runLeader(ctx context.Context, clients kubernetes.Interface, name string) error {
	for writeLeading(ctx, clients, name, true) != nil {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(restartDelay):
		}
	}
	<-ctx.Done()
	return nil
}

// writeLeading records whether a candidate leads.
func writeLeading(ctx context.Context, clients kubernetes.Interface, name string, leads bool) error {
	o := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Data:       map[string]string{"leads": strconv.FormatBool(leads)},
	}
	maps := clients.CoreV1().ConfigMaps(sourceNamespace)
	_, err := maps.Update(ctx, o, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		_, err = maps.Create(ctx, o, metav1.CreateOptions{})
	}
	return err
}
