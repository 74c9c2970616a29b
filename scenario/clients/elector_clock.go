package clients

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
)

// clockElector is a hand-written elector. It compares the lease's renewTime with its own clock, and
// keeps its state if there is an error.
func clockElector(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	leads := false
	for {
		if now, err := campaign(ctx, client.CoordinationV1().Leases("default"), config.UserAgent); err == nil {
			leads = now
		}
		_ = writeLeading(ctx, client, config.UserAgent, leads) // retried in the next round
		if !sleep(ctx, 2*time.Second) {
			return nil
		}
	}
}

// campaign renews or acquires the lease, and reports whether the candidate holds it.
func campaign(ctx context.Context, leases coordination.LeaseInterface, name string) (bool, error) {
	const good = 15 * time.Second
	now := metav1.NowMicro()
	lease, err := leases.Get(ctx, "lock", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "lock"}}
		lease.Spec = coordinationv1.LeaseSpec{HolderIdentity: &name, RenewTime: &now}
		_, err = leases.Create(ctx, lease, metav1.CreateOptions{})
		return err == nil, err
	}
	if err != nil {
		return false, err
	}
	holder, renewed := lease.Spec.HolderIdentity, lease.Spec.RenewTime
	if holder != nil && *holder != name && renewed != nil && now.Sub(renewed.Time) < good {
		return false, nil
	}
	lease.Spec.HolderIdentity, lease.Spec.RenewTime = &name, &now
	_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	return err == nil, err
}
