package operators

import (
	"context"
	"errors"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/fakeapi/scenario"
)

// rollout returns an operator that rolls out the version in ConfigMap release, and then migrates
// the schema of the database to it. A migration cannot be undone. The schema is in ConfigMap
// schema.
func rollout() Operator {
	return Operator{
		Name:   "rollout",
		Source: "https://github.com/scylladb/scylla-operator/issues/682 https://github.com/openstack-k8s-operators/neutron-operator/pull/335",
		Bug:    "After a change of the Deployment, its status of the time before, which says that it is ready, is taken for the result.",
		Shows:  "The operator restarts, or repeats a write whose response was lost, before the status has changed.",
		Setup: []scenario.Step{
			configMap("release", "role", "release", "version", "1"),
			deployment("backend", "backend:1"),
			patchStatus("deployment", "backend", readyStatus),
		},
		Workload: []scenario.Step{
			// The rollout of version 2 does not end, and the version is reverted.
			patch("configmap", "release", `{data: {version: "2"}}`),
			patchStatus("deployment", "backend", `{status: {observedGeneration: 2, replicas: 2, updatedReplicas: 1, readyReplicas: 0, availableReplicas: 0}}`),
			patch("configmap", "release", `{data: {version: "1"}}`),
			patchStatus("deployment", "backend", `{status: {observedGeneration: 3, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1}}`),
		},
		Buggy:    runRollout(false),
		Repaired: runRollout(true),
		Scenario: rolloutScenario,
	}
}

const readyStatus = `{status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1}}`

const rolloutScenario = `
apply release.yaml
apply backend.yaml
patch deployment/backend --subresource status ` + readyStatus + `
run operator
expect configmap/schema data.version=1
# The operator restarts before the controller of Deployments has seen the change.
patch configmap/release {data: {version: "2"}}
expect deployment/backend metadata.generation=2 status.observedGeneration=1
stop operator
run operator
patch deployment/backend --subresource status {status: {observedGeneration: 2, readyReplicas: 0, availableReplicas: 0}}
advance 1m
expect configmap/schema data.version=1
-- release.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: release, labels: {role: release}}
data: {version: "1"}
-- backend.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: backend}
spec:
  replicas: 1
  selector: {matchLabels: {app: backend}}
  template:
    metadata: {labels: {app: backend}}
    spec: {containers: [{name: main, image: "backend:1"}]}
`

// runRollout returns the operator. If checked is true, it checks that a status belongs to the
// Deployment as it is now.
func runRollout(checked bool) scenario.Client {
	return func(ctx context.Context, config *rest.Config) error {
		c, err := newController(ctx, config)
		if err != nil {
			return err
		}
		enqueue := func(any) { c.queue.Add("release") }
		_, err = c.informers.Apps().V1().Deployments().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: enqueue, DeleteFunc: enqueue,
			UpdateFunc: func(old, obj any) {
				// The operator waits for the status. Its own change makes no difference to it.
				if checked || !equality.Semantic.DeepEqual(old.(*appsv1.Deployment).Status, obj.(*appsv1.Deployment).Status) {
					enqueue(obj)
				}
			},
		})
		err = errors.Join(err, c.watch(c.informers.Core().V1().ConfigMaps().Informer(), func(o metav1.Object) string {
			if o.GetName() != "release" && o.GetName() != "schema" {
				return ""
			}
			return "release"
		}))
		if err != nil {
			return err
		}
		return c.run(ctx, func(ctx context.Context, name string) error { return syncRollout(ctx, c.client, name, checked) })
	}
}

// syncRollout changes the Deployment, or if that is not necessary and the Deployment is ready,
// the schema.
func syncRollout(ctx context.Context, client kubernetes.Interface, name string, checked bool) error {
	release, err := client.CoreV1().ConfigMaps("default").Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return ignoreNotFound(err)
	}
	deployments := client.AppsV1().Deployments("default")
	backend, err := deployments.Get(ctx, "backend", metav1.GetOptions{})
	if err != nil {
		return ignoreNotFound(err)
	}
	if image := "backend:" + release.Data["version"]; backend.Spec.Template.Spec.Containers[0].Image != image {
		backend.Spec.Template.Spec.Containers[0].Image = image
		_, err := deployments.Update(ctx, backend, metav1.UpdateOptions{})
		return err // wait for the status
	}
	status, want := backend.Status, *backend.Spec.Replicas
	ready := status.ReadyReplicas == want
	if checked {
		ready = ready && status.ObservedGeneration >= backend.Generation && status.UpdatedReplicas == want && status.Replicas == want
	}
	version, err := strconv.Atoi(release.Data["version"])
	if !ready || err != nil {
		return nil
	}
	return migrate(ctx, client, version)
}

// migrate migrates the schema to a version, unless it has that or a later one.
func migrate(ctx context.Context, client kubernetes.Interface, version int) error {
	all := client.CoreV1().ConfigMaps("default")
	schema, err := all.Get(ctx, "schema", metav1.GetOptions{})
	data := map[string]string{"version": strconv.Itoa(version)}
	if apierrors.IsNotFound(err) {
		_, err = all.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "schema"}, Data: data}, metav1.CreateOptions{})
		return err
	}
	if err != nil {
		return err
	}
	if is, err := strconv.Atoi(schema.Data["version"]); err == nil && is >= version {
		return nil
	}
	schema.Data = data
	_, err = all.Update(ctx, schema, metav1.UpdateOptions{})
	return err
}
