package scenario_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/fakeapi/scenario"
)

// volumes keeps a volume for each StatefulSet, and deletes the volumes of one that is being
// deleted, which owned selects. To spare etcd it lists at resourceVersion "0", the current state of
// any server's watch cache, and gets the StatefulSet again before it creates a volume.
func volumes(owned func(*appsv1.StatefulSet) string) scenario.Client {
	return func(ctx context.Context, config *rest.Config) error {
		client := kubernetes.NewForConfigOrDie(config)
		wait.UntilWithContext(ctx, func(ctx context.Context) {
			sets, err := client.AppsV1().StatefulSets("default").List(ctx, metav1.ListOptions{ResourceVersion: "0"})
			for i := 0; err == nil && i < len(sets.Items); i++ {
				err = keepVolume(ctx, client, &sets.Items[i], owned)
			}
			if err != nil {
				utilruntime.HandleError(err)
			}
		}, time.Second)
		return nil
	}
}

func keepVolume(ctx context.Context, client kubernetes.Interface, set *appsv1.StatefulSet, owned func(*appsv1.StatefulSet) string) error {
	sets := client.AppsV1().StatefulSets("default")
	claims := client.CoreV1().PersistentVolumeClaims("default")
	if set.DeletionTimestamp == nil {
		current, err := sets.Get(ctx, set.Name, metav1.GetOptions{})
		if err != nil || current.UID != set.UID || current.DeletionTimestamp != nil {
			return err // The list is of an earlier state.
		}
		claim := &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: "data-" + set.Name, Labels: map[string]string{"set": set.Name, "uid": string(set.UID)}},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources: corev1.VolumeResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
				},
			},
		}
		_, err = claims.Create(ctx, claim, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	}
	err := claims.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: owned(set)})
	if err != nil {
		return err
	}
	set.Finalizers = slices.DeleteFunc(set.Finalizers, func(name string) bool { return name == "example.com/volumes" })
	_, err = sets.Update(ctx, set, metav1.UpdateOptions{})
	return err
}

// byName selects by the name of the StatefulSet.
func byName(set *appsv1.StatefulSet) string { return "set=" + set.Name }

// byUID selects by its uid, which distinguishes it from a later one of the same name.
func byUID(set *appsv1.StatefulSet) string { return "uid=" + string(set.UID) }

const volumesScenario = `
replica b
apply db.yaml
run volumes
# There are two API servers. The second is stuck where it has seen the delete.
delete statefulset/db
freeze b
eventually 10s expect absent statefulset/db
expect absent persistentvolumeclaim/data-db
apply db.yaml
eventually 10s expect persistentvolumeclaim/data-db
# The controller is restarted, and the load balancer leads it to the second.
stop volumes
run volumes --on b
advance 10s
expect statefulset/db
expect persistentvolumeclaim/data-db
-- db.yaml --
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, finalizers: [example.com/volumes]}
spec:
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: main, image: db}]}
`

// After a restart a controller reads an earlier state, in which an object is being deleted, and
// deletes the data of a new object with the same name. In production a database loses its disks:
// https://github.com/instaclustr/cassandra-operator/issues/402, and other operators have the same
// bug. https://github.com/kubernetes/kubernetes/issues/59848 describes the cause. Informers also
// start with a list at "0" if the server has no streaming lists. Actions that cannot be undone must
// use the uid of the object.
func ExamplePlay_timeTravel() {
	for _, owned := range []func(*appsv1.StatefulSet) string{byName, byUID} {
		_, err := scenario.Play("volumes.txtar", volumesScenario, scenario.Config{
			Clients: map[string]scenario.Client{"volumes": volumes(owned)},
		})
		what, _, _ := strings.Cut(fmt.Sprint(err), "\ntranscript so far:")
		fmt.Println(what)
	}
	// Output:
	// volumes.txtar:17: expect persistentvolumeclaim/data-db
	//     expected persistentvolumeclaim/data-db; saw none
	// <nil>
}
