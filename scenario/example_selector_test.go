package scenario_test

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"example.com/fakeapi/scenario"
)

// snapshots creates a ConfigMap "snapshot-NAME" for each volume with the label backup, and deletes
// it when the volume is deleted. isGone is called when the volume is not in the cache any more.
func snapshots(isGone func(ctx context.Context, client kubernetes.Interface, name string) (bool, error)) scenario.Client {
	return func(ctx context.Context, config *rest.Config) error {
		client := kubernetes.NewForConfigOrDie(config)
		queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
		context.AfterFunc(ctx, queue.ShutDown)
		enqueue := func(obj any) {
			if key, err := cache.DeletionHandlingObjectToName(obj); err == nil {
				queue.Add(key.Name)
			}
		}
		factory := informers.NewSharedInformerFactoryWithOptions(client, 0,
			informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = "backup" }))
		volumes := factory.Core().V1().PersistentVolumeClaims()
		_, err := volumes.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: enqueue, DeleteFunc: enqueue})
		if err != nil {
			return err
		}
		// There are no events for volumes that were deleted before the start.
		maps := client.CoreV1().ConfigMaps("default")
		existing, err := maps.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, snapshot := range existing.Items {
			if name, ok := strings.CutPrefix(snapshot.Name, "snapshot-"); ok {
				queue.Add(name)
			}
		}
		factory.Start(ctx.Done())
		defer factory.Shutdown()
		factory.WaitForCacheSync(ctx.Done())
		reconcile := func(name string) error {
			snapshot := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "snapshot-" + name}}
			if _, err := volumes.Lister().PersistentVolumeClaims("default").Get(name); err == nil {
				_, err = maps.Create(ctx, snapshot, metav1.CreateOptions{})
				if apierrors.IsAlreadyExists(err) {
					return nil
				}
				return err
			}
			gone, err := isGone(ctx, client, name)
			if err != nil || !gone {
				return err
			}
			if err = maps.Delete(ctx, snapshot.Name, metav1.DeleteOptions{}); apierrors.IsNotFound(err) {
				return nil
			}
			return err
		}
		for {
			name, shutDown := queue.Get()
			if shutDown {
				return nil
			}
			if err := reconcile(name); err != nil {
				utilruntime.HandleError(err)
				queue.AddRateLimited(name)
			} else {
				queue.Forget(name)
			}
			queue.Done(name)
		}
	}
}

// trustEvent treats a delete event as a deletion.
func trustEvent(context.Context, kubernetes.Interface, string) (bool, error) { return true, nil }

// askServer gets the object.
func askServer(ctx context.Context, client kubernetes.Interface, name string) (bool, error) {
	_, err := client.CoreV1().PersistentVolumeClaims("default").Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	return false, err
}

const snapshotsScenario = `
apply labelled.yaml
run snapshots
expect configmap/snapshot-data
# No more backups, please. The volume is there, and so should be its last snapshot.
apply plain.yaml
expect configmap/snapshot-data
# With the volume it goes.
apply labelled.yaml
delete persistentvolumeclaim/data
expect absent configmap/snapshot-data
-- labelled.yaml --
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, labels: {backup: daily}}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
-- plain.yaml --
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

// A watch with a selector sends DELETED for an object that does not match any more, although it was
// not deleted. In production, removing a label deletes the backups. The scenario needs no fault.
// Users report this behavior as a bug of the server, as in
// https://github.com/kubernetes-client/python/issues/2228.
// https://github.com/GoogleContainerTools/config-sync/pull/1328 fixes a controller. Get the object
// before an action that cannot be undone.
func ExamplePlay_selector() {
	for _, isGone := range []func(context.Context, kubernetes.Interface, string) (bool, error){trustEvent, askServer} {
		_, err := scenario.Play("snapshots.txtar", snapshotsScenario, scenario.Config{
			Clients: map[string]scenario.Client{"snapshots": snapshots(isGone)},
		})
		what, _, _ := strings.Cut(fmt.Sprint(err), "\ntranscript so far:")
		fmt.Println(what)
	}
	// Output:
	// snapshots.txtar:7: expect configmap/snapshot-data
	//     expected configmap/snapshot-data; saw none
	// <nil>
}
