package perturb_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"example.com/fakeapi/scenario"
	"example.com/fakeapi/scenario/perturb"
)

// client-go's leader election with the recommended durations, and a leader whose process ends when
// it has lost its lease, as that of a component of Kubernetes. Nothing was found in all 204
// perturbations.
func TestElection(t *testing.T) {
	perturb.Run(t, electionConfig(recommended().client(), operatorBudget(t, 30)))
}

// client-go's leader election with ReleaseOnCancel has a bug. If a leader cannot renew its lease
// until RenewDeadline, it first tries to release the lease, which takes RenewDeadline again if the
// server does not answer, and only then ends the context of OnStartedLeading. So it works for up to
// RetryPeriod and two times RenewDeadline after its last renewal, with the recommended durations 22
// s, although another one may lead after LeaseDuration, 15 s. With them it depends on random delays
// whether both write something. Here they always do.
//
// A process that ends in OnStoppedLeading does not help, since that is called even later. Without
// ReleaseOnCancel, nothing is found. The documentation of ReleaseOnCancel warns of two leaders if
// the caller ends the context too early, but not of this. A related one is
// https://github.com/kubernetes/kubernetes/pull/139991, about the release while the work goes on.
func TestElectionReleases(t *testing.T) {
	c := recommended()
	c.renewDeadline, c.retryPeriod = 14*time.Second, time.Second
	perturb.Run(t, electionConfig(c.client(), operatorBudget(t, 30)))

	c.release = true
	requireTwoLeaders(t, c)
}

// A leader that does not stop its work when it has lost its lease is found.
func TestElectionOfLeaderThatGoesOn(t *testing.T) {
	c := recommended()
	c.goesOn = true
	requireTwoLeaders(t, c)
}

// The lease of a single controller is taken over by a second instance, which only the perturbation
// runs.
func TestElectionOfOne(t *testing.T) {
	c := recommended()
	config := electionConfig(c.client(), operatorBudget(t, 10))
	config.Controllers = map[string]scenario.Client{"a": c.client()}
	require.Positive(t, perturb.Run(t, config).Kinds["lease"])

	c.goesOn = true
	config.Controllers = map[string]scenario.Client{"a": c.client()}
	report, err := perturb.Search(config)
	require.NoError(t, err)
	require.Len(t, report.Findings, 1)
	require.Equal(t, "leaders a (lease)", report.Findings[0].Name)
	require.Contains(t, report.Findings[0].Detail, "after second-a has become leader")
	require.Contains(t, report.Findings[0].File, "run second-a --of a --restart-after 10s")
}

func requireTwoLeaders(t *testing.T, c candidate) {
	t.Helper()
	report, err := perturb.Search(electionConfig(c.client(), operatorBudget(t, 30)))
	require.NoError(t, err)
	t.Log(report)
	require.Len(t, report.Findings, 1)
	require.Contains(t, report.Findings[0].Name, "leaders ")
	require.Contains(t, report.Findings[0].Name, " (lease)")
}

// electionConfig returns the configuration for two candidates.
func electionConfig(client scenario.Client, budget int) perturb.Config {
	return perturb.Config{
		Controllers: map[string]scenario.Client{"a": client, "b": client},
		Workload:    taskSteps(),
		Ignore:      []string{"configmaps/heartbeat"},
		Budget:      budget,
		Recovery:    2 * time.Minute,
	}
}

// taskSteps returns the steps that create, change and delete tasks.
func taskSteps() []scenario.Step {
	one := scenario.Apply("one.yaml", `apiVersion: v1
kind: ConfigMap
metadata: {name: one, labels: {task: "true"}}
data: {text: a}
`)
	ref := scenario.Ref{Kind: "configmap", Name: "one"}
	return []scenario.Step{one, scenario.Patch(ref, types.MergePatchType, `{data: {text: b}}`), scenario.Delete(ref), one}
}

// errLost is the error of a process that has lost its lease, and is started again.
var errLost = errors.New("the lease is lost")

// candidate takes part in an election with client-go's leaderelection, and does tasks while it
// leads.
type candidate struct {
	leaseDuration, renewDeadline, retryPeriod time.Duration
	// release is true if it releases the lease at its end.
	release bool
	// goesOn is true if it does not notice that it has lost the lease, and campaigns again.
	goesOn bool
}

// recommended returns a candidate with the durations that Kubernetes recommends.
func recommended() candidate {
	return candidate{leaseDuration: 15 * time.Second, renewDeadline: 10 * time.Second, retryPeriod: 2 * time.Second}
}

// client returns the candidate as a client. Its identity is its user agent.
func (c candidate) client() scenario.Client {
	return func(ctx context.Context, config *rest.Config) error {
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		leading := make(chan context.Context, 1)
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta:  metav1.ObjectMeta{Name: "lock", Namespace: "default"},
				Client:     client.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: config.UserAgent},
			},
			LeaseDuration:   c.leaseDuration,
			RenewDeadline:   c.renewDeadline,
			RetryPeriod:     c.retryPeriod,
			ReleaseOnCancel: c.release,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(leads context.Context) {
					select {
					case leading <- leads:
					default: // it goes on, and leads again
					}
				},
				OnStoppedLeading: func() {},
			},
		})
		if err != nil {
			return err
		}
		campaigned, worked := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(worked)
			select {
			case leads := <-leading:
				if c.goesOn {
					leads = ctx
				}
				doTasks(leads, client)
			case <-campaigned:
			}
		}()
		elector.Run(ctx)
		for c.goesOn && ctx.Err() == nil {
			elector.Run(ctx)
		}
		close(campaigned)
		<-worked
		if ctx.Err() == nil {
			return errLost
		}
		return nil
	}
}

// doTasks copies each ConfigMap with the label task to one with the prefix done-, and deletes those
// whose original is deleted, until ctx is done. In each round it writes the time.
func doTasks(ctx context.Context, client kubernetes.Interface) {
	all := client.CoreV1().ConfigMaps("default")
	for ctx.Err() == nil {
		beat := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "heartbeat"}, Data: map[string]string{"time": time.Now().String()}}
		if _, err := all.Update(ctx, beat, metav1.UpdateOptions{}); apierrors.IsNotFound(err) {
			_, _ = all.Create(ctx, beat, metav1.CreateOptions{})
		}
		if list, err := all.List(ctx, metav1.ListOptions{}); err == nil {
			done := map[string]*corev1.ConfigMap{}
			for i := range list.Items {
				done[list.Items[i].Name] = &list.Items[i]
			}
			for _, o := range list.Items {
				if o.Labels["task"] != "" {
					doTask(ctx, client, &o, done["done-"+o.Name])
				} else if of := o.Labels["done"]; of != "" && done[of] == nil {
					uid := o.UID
					_ = all.Delete(ctx, o.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}) // again later
				}
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(3 * time.Second):
		}
	}
}

// doTask writes the copy of a task. Errors are ignored, since it is called again.
func doTask(ctx context.Context, client kubernetes.Interface, task, done *corev1.ConfigMap) {
	all := client.CoreV1().ConfigMaps("default")
	switch {
	case done == nil:
		_, _ = all.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: "done-" + task.Name, Labels: map[string]string{"done": task.Name}}, Data: task.Data,
		}, metav1.CreateOptions{})
	case done.Data["text"] != task.Data["text"]:
		done = done.DeepCopy()
		done.Data = task.Data
		_, _ = all.Update(ctx, done, metav1.UpdateOptions{})
	}
}
