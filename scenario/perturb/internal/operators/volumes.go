package operators

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/fakeapi/scenario"
)

// volumes returns an operator that keeps a PersistentVolumeClaim for each replica of a StatefulSet,
// and deletes those of replicas that are no longer requested.
func volumes() Operator {
	return Operator{
		Name:   "volumes",
		Source: "https://github.com/pravega/zookeeper-operator/issues/314 https://github.com/kubernetes/kubernetes/issues/59848",
		Bug:    "Whether a claim is surplus is decided by the number of replicas in the cache, which may be that of an earlier time.",
		Shows:  "After a scale-down and a scale-up, a restart on a replica that has only seen the scale-down.",
		Workload: []scenario.Step{
			statefulSet("db"),
			patch("statefulset", "db", `{spec: {replicas: 1}}`),
			patch("statefulset", "db", `{spec: {replicas: 2}}`),
		},
		Buggy:    runVolumes(false),
		Repaired: runVolumes(true),
		Scenario: volumesScenario,
	}
}

const volumesScenario = `
replica b
# A streaming list is never of an earlier time.
on b feature WatchList off
apply db.yaml
run operator
expect list persistentvolumeclaim data-db-0 data-db-1
patch statefulset/db {spec: {replicas: 1}}
advance 10s
expect list persistentvolumeclaim data-db-0
freeze b
patch statefulset/db {spec: {replicas: 2}}
advance 10s
expect list persistentvolumeclaim data-db-0 data-db-1
stop operator
run operator --on b
advance 10s
expect list persistentvolumeclaim data-db-0 data-db-1
-- db.yaml --
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: main, image: db}]}
`

// statefulSet returns the step that creates a StatefulSet of two replicas.
func statefulSet(name string) scenario.Step {
	return scenario.Apply(name+".yaml", fmt.Sprintf(`apiVersion: apps/v1
kind: StatefulSet
metadata: {name: %s}
spec:
  replicas: 2
  selector: {matchLabels: {app: %s}}
  template:
    metadata: {labels: {app: %s}}
    spec: {containers: [{name: main, image: db}]}
`, name, name, name))
}

// setLabel is the label of a claim with the name of its StatefulSet.
const setLabel = "set"

// runVolumes returns the operator. If live is true, it asks the server for the StatefulSet before
// it acts.
func runVolumes(live bool) scenario.Client {
	return func(ctx context.Context, config *rest.Config) error {
		c, err := newController(ctx, config)
		if err != nil {
			return err
		}
		sets, claims := c.informers.Apps().V1().StatefulSets(), c.informers.Core().V1().PersistentVolumeClaims()
		if err := errors.Join(c.watch(sets.Informer(), ownName), c.watch(claims.Informer(), valueOf(setLabel))); err != nil {
			return err
		}
		return c.run(ctx, func(ctx context.Context, name string) error {
			return syncVolumes(ctx, c.client, name, func() (*appsv1.StatefulSet, error) {
				if live {
					return c.client.AppsV1().StatefulSets("default").Get(ctx, name, metav1.GetOptions{})
				}
				return sets.Lister().StatefulSets("default").Get(name)
			})
		})
	}
}

// syncVolumes creates and deletes the claims of a StatefulSet. It reads them before the
// StatefulSet, and deletes none that has changed since. Those of a StatefulSet that is deleted
// remain.
func syncVolumes(ctx context.Context, client kubernetes.Interface, name string, get func() (*appsv1.StatefulSet, error)) error {
	claims := client.CoreV1().PersistentVolumeClaims("default")
	list, err := claims.List(ctx, metav1.ListOptions{LabelSelector: setLabel + "=" + name})
	if err != nil {
		return err
	}
	set, err := get()
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	surplus := map[string]*corev1.PersistentVolumeClaim{}
	for i := range list.Items {
		surplus[list.Items[i].Name] = &list.Items[i]
	}
	for i := range int(*set.Spec.Replicas) {
		claim := fmt.Sprintf("data-%s-%d", name, i)
		if surplus[claim] == nil {
			_, err := claims.Create(ctx, newClaim(claim, map[string]string{setLabel: name}), metav1.CreateOptions{})
			if ignoreAlreadyExists(err) != nil {
				return err
			}
		}
		delete(surplus, claim)
	}
	for _, claim := range surplus {
		if claim.DeletionTimestamp == nil {
			err = errors.Join(err, ignoreNotFound(claims.Delete(ctx, claim.Name, onlyThis(claim))))
		}
	}
	return err
}
