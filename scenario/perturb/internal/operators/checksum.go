package operators

import (
	"context"
	"encoding/json"
	"errors"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/fakeapi/scenario"
)

// checksum returns an operator that restarts the Pods of a Deployment when the ConfigMap of the
// same name changes, by an annotation of the Pod template.
func checksum() Operator {
	return Operator{
		Name:   "checksum",
		Source: "https://github.com/infinispan/infinispan-operator/issues/1758 https://github.com/kubernetes-sigs/cluster-api/issues/305",
		Bug:    "The whole Deployment from the cache is written, without its resourceVersion, so that there is no conflict.",
		Shows:  "The events of Deployments are late, or somebody changes the Deployment between its last event and the write.",
		Workload: []scenario.Step{
			deployment("web", "nginx"), configMap("web", "role", "settings", "level", "info"),
			patch("deployment", "web", `{spec: {replicas: 3}}`),
			patch("configmap", "web", `{data: {level: debug}}`),
		},
		Buggy:    runChecksum(writeAll, false),
		Repaired: runChecksum(writeAnnotation, true),
		Scenario: checksumScenario,
	}
}

const checksumScenario = `
apply web.yaml
apply settings.yaml
run operator
expect deployment/web spec.template.metadata.annotations.settings=info
fault late: when verb(watch) && resource(deployments) && userAgent(operator) && event(MODIFIED) do delay(5s)
patch deployment/web {spec: {replicas: 3}}
patch configmap/web {data: {level: debug}}
advance 1m
expect deployment/web spec.template.metadata.annotations.settings=debug
expect deployment/web spec.replicas=3
-- web.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: nginx}]}
-- settings.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: web, labels: {role: settings}}
data: {level: info}
`

// settingsAnnotation is the annotation of the Pod template.
const settingsAnnotation = "settings"

// annotateFunc sets the annotation of a Deployment, whose state in the cache is cached.
type annotateFunc func(ctx context.Context, client kubernetes.Interface, cached *appsv1.Deployment, value string) error

// runChecksum returns the operator. If changes is true, it also acts when a Deployment has changed,
// and otherwise only when it is new.
func runChecksum(annotate annotateFunc, changes bool) scenario.Client {
	return func(ctx context.Context, config *rest.Config) error {
		c, err := newController(ctx, config)
		if err != nil {
			return err
		}
		deployments := c.informers.Apps().V1().Deployments()
		enqueue := func(obj any) {
			if name, err := cache.DeletionHandlingObjectToName(obj); err == nil {
				c.queue.Add(name.Name)
			}
		}
		handler := cache.ResourceEventHandlerFuncs{AddFunc: enqueue}
		if changes {
			handler.UpdateFunc = func(_, obj any) { enqueue(obj) }
		}
		_, err = deployments.Informer().AddEventHandler(handler)
		err = errors.Join(
			err,
			c.watch(c.informers.Core().V1().ConfigMaps().Informer(), labelled("role", "settings")),
		)
		if err != nil {
			return err
		}
		return c.run(ctx, func(ctx context.Context, name string) error {
			settings, err := c.client.CoreV1().ConfigMaps("default").Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return ignoreNotFound(err)
			}
			cached, err := deployments.Lister().Deployments("default").Get(name)
			if err != nil {
				return ignoreNotFound(err)
			}
			return annotate(ctx, c.client, cached, settings.Data["level"])
		})
	}
}

// writeAll is annotateFunc with the bug.
func writeAll(ctx context.Context, client kubernetes.Interface, cached *appsv1.Deployment, value string) error {
	if cached.Spec.Template.Annotations[settingsAnnotation] == value {
		return nil
	}
	changed := cached.DeepCopy()
	changed.Spec.Template.Annotations = map[string]string{settingsAnnotation: value}
	changed.ResourceVersion = ""
	_, err := client.AppsV1().Deployments("default").Update(ctx, changed, metav1.UpdateOptions{})
	return err
}

// writeAnnotation is annotateFunc without the bug. It writes nothing but the annotation, and only
// if the Deployment is the one in the cache.
func writeAnnotation(ctx context.Context, client kubernetes.Interface, cached *appsv1.Deployment, value string) error {
	deployments := client.AppsV1().Deployments("default")
	current, err := deployments.Get(ctx, cached.Name, metav1.GetOptions{})
	if err != nil || current.Spec.Template.Annotations[settingsAnnotation] == value {
		return ignoreNotFound(err)
	}
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": current.UID, "resourceVersion": current.ResourceVersion},
		"spec": map[string]any{"template": map[string]any{"metadata": map[string]any{
			"annotations": map[string]string{settingsAnnotation: value},
		}}},
	})
	if err != nil {
		return err
	}
	_, err = deployments.Patch(ctx, current.Name, types.MergePatchType, body, metav1.PatchOptions{})
	return ignoreNotFound(err)
}
