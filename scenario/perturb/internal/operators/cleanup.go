package operators

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/fakeapi/scenario"
)

// cleanup returns an operator that keeps a PersistentVolumeClaim for each ConfigMap with the label
// role=workspace, and deletes claims without a workspace from time to time.
func cleanup() Operator {
	return Operator{
		Name:   "cleanup",
		Source: "https://github.com/kubernetes/kubernetes/pull/34817 https://github.com/maistra/xns-informer/pull/21",
		Bug:    "The clean-up does not wait until the cache of workspaces is synced. An empty cache looks like no workspaces.",
		Shows:  "The first list of workspaces fails or takes longer than that of claims.",
		Setup: []scenario.Step{
			configMap("anna", "role", "workspace", "owner", "anna"),
			scenario.Apply("home.yaml", homeOfAnna), // of an earlier run of the operator
		},
		Workload: []scenario.Step{
			configMap("berta", "role", "workspace", "owner", "berta"),
			remove("configmap", "berta"),
			configMap("carla", "role", "workspace", "owner", "carla"),
		},
		Buggy:    runCleanup(false),
		Repaired: runCleanup(true),
		Scenario: cleanupScenario,
	}
}

const homeOfAnna = `apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: home-anna, labels: {workspace: anna}}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

const cleanupScenario = `
apply anna.yaml
apply home.yaml
fault busy: when verb(list, watch) && resource(configmaps) && userAgent(operator) && during(before) && !after(5s) do status(429)
watch claims persistentvolumeclaim
run operator
advance 1m
expect events claims ADDED home-anna
-- anna.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: anna, labels: {role: workspace}}
data: {owner: anna}
-- home.yaml --
` + homeOfAnna

// workspaceLabel is the label of a claim with the name of its workspace.
const workspaceLabel = "workspace"

// Times of the clean-up.
const (
	firstCleanup    = 500 * time.Millisecond
	cleanupInterval = 13 * time.Second
)

// runCleanup returns the operator. If careful is true, it waits for the caches and asks the server
// before it deletes a claim.
func runCleanup(careful bool) scenario.Client {
	return func(ctx context.Context, config *rest.Config) error {
		c, err := newController(ctx, config)
		if err != nil {
			return err
		}
		core := c.informers.Core().V1()
		workspaces, claims := core.ConfigMaps(), core.PersistentVolumeClaims()
		err = errors.Join(
			c.watch(workspaces.Informer(), labelled("role", "workspace")),
			c.watch(claims.Informer(), valueOf(workspaceLabel)),
		)
		if err != nil {
			return err
		}
		exists := func(ctx context.Context, name string) (bool, error) {
			_, err := workspaces.Lister().ConfigMaps("default").Get(name)
			if careful && apierrors.IsNotFound(err) {
				_, err = c.client.CoreV1().ConfigMaps("default").Get(ctx, name, metav1.GetOptions{})
			}
			return err == nil, ignoreNotFound(err)
		}
		c.informers.Start(ctx.Done())
		defer c.informers.Shutdown()
		if careful {
			c.informers.WaitForCacheSync(ctx.Done())
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if !sleep(ctx, firstCleanup) {
				return
			}
			poll(ctx, cleanupInterval, func(ctx context.Context) error {
				all, err := claims.Lister().PersistentVolumeClaims("default").List(labels.Everything())
				if err == nil {
					err = deleteUnused(ctx, c.client, all, exists)
				}
				if err != nil {
					utilruntime.HandleError(err)
				}
				return err
			})
		}()
		c.process(ctx, func(ctx context.Context, name string) error { return createHome(ctx, c.client, name) })
		<-ended
		return nil
	}
}

// createHome creates the claim of a workspace that exists.
func createHome(ctx context.Context, client kubernetes.Interface, name string) error {
	workspace, err := client.CoreV1().ConfigMaps("default").Get(ctx, name, metav1.GetOptions{})
	if err != nil || workspace.Labels["role"] != "workspace" {
		return ignoreNotFound(err)
	}
	claims := client.CoreV1().PersistentVolumeClaims("default")
	if _, err = claims.Get(ctx, "home-"+name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return err
	}
	_, err = claims.Create(ctx, newClaim("home-"+name, map[string]string{workspaceLabel: name}), metav1.CreateOptions{})
	return ignoreAlreadyExists(err)
}

// deleteUnused deletes the claims whose workspace does not exist.
func deleteUnused(ctx context.Context, client kubernetes.Interface, claims []*corev1.PersistentVolumeClaim, exists func(context.Context, string) (bool, error)) error {
	var errs []error
	for _, claim := range claims {
		name := claim.Labels[workspaceLabel]
		if name == "" || claim.DeletionTimestamp != nil {
			continue
		}
		there, err := exists(ctx, name)
		if err == nil && !there {
			err = ignoreNotFound(client.CoreV1().PersistentVolumeClaims("default").Delete(ctx, claim.Name, onlyThis(claim)))
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
