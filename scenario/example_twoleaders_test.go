package scenario_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"example.com/fakeapi/scenario"
)

// electedWorker works while it leads. until selects the context of the work: that of the process or
// that of the leadership.
func electedWorker(until func(process, term context.Context) context.Context) scenario.Client {
	return func(ctx context.Context, config *rest.Config) error {
		client := kubernetes.NewForConfigOrDie(config)
		self := config.UserAgent
		work := func(term context.Context) { claim(until(ctx, term), client, self) }
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta:  metav1.ObjectMeta{Namespace: "default", Name: "allocator"},
				Client:     client.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: self},
			},
			LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: work, OnStoppedLeading: func() {}},
		})
		if err != nil {
			return err
		}
		elector.Run(ctx)
		<-ctx.Done()
		return nil
	}
}

// claim claims every second to be responsible for everything.
func claim(ctx context.Context, client kubernetes.Interface, self string) {
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		mark := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "claimed-by-" + self}}
		_, err := client.CoreV1().ConfigMaps("default").Create(ctx, mark, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			utilruntime.HandleError(err)
		}
	}, time.Second)
}

// untilTheEnd works as long as the process runs.
func untilTheEnd(process, _ context.Context) context.Context { return process }

// untilTheLeaseIsLost stops working when the lease is lost.
func untilTheLeaseIsLost(_, term context.Context) context.Context { return term }

const electedScenario = `
run a
run b
expect configmap/claimed-by-a
# a can do everything but renew its lease.
fault cut: when resource(leases) && userAgent(a) do hang
eventually 30s expect configmap/claimed-by-b
delete configmap/claimed-by-a
advance 1m
expect absent configmap/claimed-by-a
`

// A leader that has lost its lease keeps working beside the next one. In production two instances
// assign the same addresses: https://github.com/cilium/cilium/pull/42920. Everything that the
// election starts must end with the context of the election, before another instance can acquire
// the lease. Most programs exit.
func ExamplePlay_twoLeaders() {
	for _, until := range []func(process, term context.Context) context.Context{untilTheEnd, untilTheLeaseIsLost} {
		_, err := scenario.Play("elected.txtar", electedScenario, scenario.Config{
			Clients: map[string]scenario.Client{"a": electedWorker(until), "b": electedWorker(until)},
		})
		what, _, _ := strings.Cut(fmt.Sprint(err), "; saw one")
		fmt.Println(what)
	}
	// Output:
	// elected.txtar:10: expect absent configmap/claimed-by-a
	//     expected no configmap/claimed-by-a
	// <nil>
}
