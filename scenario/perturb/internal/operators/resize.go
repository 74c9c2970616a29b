package operators

import (
	"context"
	"encoding/json"
	"errors"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/fakeapi/scenario"
)

// resize returns an operator that runs a StatefulSet for each ConfigMap with the label role=broker.
// As the claim templates of a StatefulSet cannot change, it replaces the StatefulSet to expand the
// volume.
func resize() Operator {
	return Operator{
		Name:   "resize",
		Source: "https://github.com/rabbitmq/cluster-operator/issues/782",
		Bug:    "The volume is only expanded between deleting the StatefulSet and creating it again, which is not resumed.",
		Shows:  "The operator crashes after it has deleted the StatefulSet, or the expansion fails once.",
		Setup: []scenario.Step{
			scenario.Apply("class.yaml", expandableClass),
			scenario.Apply("claim.yaml", brokerClaim),
			patchStatus("persistentvolumeclaim", "data-db-0", `{status: {phase: Bound, capacity: {storage: 1Gi}}}`),
		},
		Workload: []scenario.Step{
			configMap("db", "role", "broker", "size", "1Gi"),
			patch("configmap", "db", `{data: {size: 2Gi}}`),
		},
		Buggy:    runResize(resizeWhileReplacing),
		Repaired: runResize(resizeFirst),
		Scenario: resizeScenario,
	}
}

const expandableClass = `apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: expandable}
provisioner: example.com/disk
allowVolumeExpansion: true
`

const brokerClaim = `apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data-db-0}
spec: {storageClassName: expandable, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

const resizeScenario = `
apply class.yaml
apply claim.yaml
patch persistentvolumeclaim/data-db-0 --subresource status {status: {phase: Bound, capacity: {storage: 1Gi}}}
apply db.yaml
run operator
expect statefulset/db
fault once: when verb(patch) && resource(persistentvolumeclaims) && userAgent(operator) && first(1) do status(500)
patch configmap/db {data: {size: 2Gi}}
advance 1m
expect statefulset/db spec.volumeClaimTemplates[0].spec.resources.requests.storage=2Gi
expect persistentvolumeclaim/data-db-0 spec.resources.requests.storage=2Gi
-- class.yaml --
` + expandableClass + `-- claim.yaml --
` + brokerClaim + `-- db.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: db, labels: {role: broker}}
data: {size: 1Gi}
`

// syncBrokerFunc makes the StatefulSet and the volume those of a broker with a size. set is the
// StatefulSet that exists, or nil.
type syncBrokerFunc func(ctx context.Context, client kubernetes.Interface, broker *corev1.ConfigMap, set *appsv1.StatefulSet, size resource.Quantity) error

func runResize(sync syncBrokerFunc) scenario.Client {
	return func(ctx context.Context, config *rest.Config) error {
		c, err := newController(ctx, config)
		if err != nil {
			return err
		}
		err = errors.Join(
			c.watch(c.informers.Core().V1().ConfigMaps().Informer(), labelled("role", "broker")),
			c.watch(c.informers.Apps().V1().StatefulSets().Informer(), ownName),
		)
		if err != nil {
			return err
		}
		return c.run(ctx, func(ctx context.Context, name string) error {
			broker, err := c.client.CoreV1().ConfigMaps("default").Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return ignoreNotFound(err)
			}
			size, err := resource.ParseQuantity(broker.Data["size"])
			if err != nil {
				return nil // until it changes
			}
			set, err := c.client.AppsV1().StatefulSets("default").Get(ctx, name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return sync(ctx, c.client, broker, nil, size)
			}
			if err != nil || set.DeletionTimestamp != nil {
				return err
			}
			return sync(ctx, c.client, broker, set, size)
		})
	}
}

// resizeWhileReplacing is syncBrokerFunc with the bug.
func resizeWhileReplacing(ctx context.Context, client kubernetes.Interface, broker *corev1.ConfigMap, set *appsv1.StatefulSet, size resource.Quantity) error {
	if set != nil {
		if templateSize(set).Cmp(size) == 0 {
			return nil
		}
		if err := client.AppsV1().StatefulSets("default").Delete(ctx, set.Name, onlyThis(set)); err != nil {
			return err
		}
		if err := expandVolume(ctx, client, broker.Name, size); err != nil {
			return err
		}
	}
	return createBroker(ctx, client, broker, size)
}

// resizeFirst is syncBrokerFunc without the bug. It compares the volume on its own.
func resizeFirst(ctx context.Context, client kubernetes.Interface, broker *corev1.ConfigMap, set *appsv1.StatefulSet, size resource.Quantity) error {
	if err := expandVolume(ctx, client, broker.Name, size); err != nil {
		return err
	}
	if set != nil {
		if templateSize(set).Cmp(size) == 0 {
			return nil
		}
		if err := client.AppsV1().StatefulSets("default").Delete(ctx, set.Name, onlyThis(set)); err != nil {
			return ignoreNotFound(err)
		}
	}
	return createBroker(ctx, client, broker, size)
}

// templateSize returns the size in the claim template of a StatefulSet.
func templateSize(set *appsv1.StatefulSet) *resource.Quantity {
	return set.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests.Storage()
}

// expandVolume increases the size of the volume of a broker, if it exists and is smaller.
func expandVolume(ctx context.Context, client kubernetes.Interface, broker string, size resource.Quantity) error {
	claims := client.CoreV1().PersistentVolumeClaims("default")
	claim, err := claims.Get(ctx, "data-"+broker+"-0", metav1.GetOptions{})
	if err != nil || claim.Spec.Resources.Requests.Storage().Cmp(size) >= 0 {
		return ignoreNotFound(err)
	}
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": claim.UID, "resourceVersion": claim.ResourceVersion},
		"spec":     map[string]any{"resources": map[string]any{"requests": map[string]any{"storage": size.String()}}},
	})
	if err != nil {
		return err
	}
	_, err = claims.Patch(ctx, claim.Name, types.MergePatchType, body, metav1.PatchOptions{})
	return err
}

// createBroker creates the StatefulSet of a broker.
func createBroker(ctx context.Context, client kubernetes.Interface, broker *corev1.ConfigMap, size resource.Quantity) error {
	labels := map[string]string{"app": broker.Name}
	template := newClaim("data", nil)
	template.Spec.Resources.Requests[corev1.ResourceStorage] = size
	one := int32(1)
	_, err := client.AppsV1().StatefulSets("default").Create(ctx, &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: broker.Name, OwnerReferences: ownedBy(broker)},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &one,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "broker"}}},
			},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{*template},
		},
	}, metav1.CreateOptions{})
	return err
}
