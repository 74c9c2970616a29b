package operators

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/fakeapi/scenario"
)

// members returns an operator that keeps a PersistentVolumeClaim for each Pod of a database.
func members() Operator {
	return Operator{
		Name:   "members",
		Source: "https://github.com/instaclustr/cassandra-operator/issues/398",
		Bug:    "The claim is deleted only if the Pod is seen while it terminates.",
		Shows:  "The operator does not see the Pod between the begin and the end of its grace period.",
		Workload: []scenario.Step{
			member("db-0"), member("db-1"),
			remove("pod", "db-1"),
			member("db-2"),
		},
		Buggy:    runMembers(false),
		Repaired: runMembers(true),
		Scenario: membersScenario,
	}
}

const membersScenario = `
apply db-0.yaml
run operator
expect persistentvolumeclaim/data-db-0
# The operator is away for longer than the grace period.
stop operator
delete pod/db-0
advance 1m
expect absent pod/db-0
run operator
advance 1m
expect absent persistentvolumeclaim/data-db-0
-- db-0.yaml --
apiVersion: v1
kind: Pod
metadata: {name: db-0, labels: {app: db}}
spec: {nodeName: node, terminationGracePeriodSeconds: 5, containers: [{name: main, image: db}]}
`

// member returns the step that creates a Pod on a node, which therefore has a grace period.
func member(name string) scenario.Step {
	return scenario.Apply(name+".yaml", fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata: {name: %s, labels: {app: db}}
spec: {nodeName: node, terminationGracePeriodSeconds: 5, containers: [{name: main, image: db}]}
`, name))
}

// podLabel is the label of a claim with the name of its Pod.
const podLabel = "pod"

// runMembers returns the operator. If orphans is true, it also deletes the claims of Pods that do
// not exist.
func runMembers(orphans bool) scenario.Client {
	return func(ctx context.Context, config *rest.Config) error {
		c, err := newController(ctx, config)
		if err != nil {
			return err
		}
		core := c.informers.Core().V1()
		err = errors.Join(
			c.watch(core.Pods().Informer(), labelled("app", "db")),
			c.watch(core.PersistentVolumeClaims().Informer(), valueOf(podLabel)),
		)
		if err != nil {
			return err
		}
		return c.run(ctx, func(ctx context.Context, name string) error { return syncMember(ctx, c.client, name, orphans) })
	}
}

// syncMember creates or deletes the claim of a Pod. It reads the claim before the Pod, and deletes
// it only if it has not changed since.
func syncMember(ctx context.Context, client kubernetes.Interface, name string, orphans bool) error {
	claims := client.CoreV1().PersistentVolumeClaims("default")
	claim, err := claims.Get(ctx, "data-"+name, metav1.GetOptions{})
	if ignoreNotFound(err) != nil {
		return err
	}
	exists := err == nil
	pod, err := client.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
	if ignoreNotFound(err) != nil || apierrors.IsNotFound(err) && !orphans {
		return ignoreNotFound(err)
	}
	if apierrors.IsNotFound(err) {
		pod = nil
	}
	switch {
	case needsClaim(pod) && !exists:
		_, err = claims.Create(ctx, newClaim("data-"+name, map[string]string{podLabel: name}), metav1.CreateOptions{})
		return ignoreAlreadyExists(err)
	case !needsClaim(pod) && exists && claim.DeletionTimestamp == nil:
		return ignoreNotFound(claims.Delete(ctx, claim.Name, onlyThis(claim)))
	}
	return nil
}

// needsClaim reports whether a Pod, which may be nil, exists and does not terminate.
func needsClaim(pod *corev1.Pod) bool { return pod != nil && pod.DeletionTimestamp == nil }
