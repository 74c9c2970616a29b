package scenario_test

import (
	"context"
	"fmt"
	"log"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"example.com/fakeapi/scenario"
)

// copier keeps copies of the ConfigMaps of "default" in "copies". Its bug is that it starts a new
// watch at the current state when a watch ends, and so misses the deletions in between.
func copier(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	copies := client.CoreV1().ConfigMaps("copies")
	for ctx.Err() == nil {
		changes, err := client.CoreV1().ConfigMaps("default").Watch(ctx, metav1.ListOptions{})
		if err != nil {
			sleep(ctx)
			continue
		}
		for event := range changes.ResultChan() {
			for ctx.Err() == nil && follow(ctx, copies, event) != nil {
				sleep(ctx)
			}
		}
		sleep(ctx)
	}
	return nil
}

// follow applies an event to the copies.
func follow(ctx context.Context, copies typedv1.ConfigMapInterface, event watch.Event) error {
	original, ok := event.Object.(*corev1.ConfigMap)
	if !ok {
		return nil // an error, after which the watch ends
	}
	if event.Type == watch.Deleted {
		err := copies.Delete(ctx, original.Name, metav1.DeleteOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	}
	wanted := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: original.Name}, Data: original.Data}
	_, err := copies.Update(ctx, wanted, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		_, err = copies.Create(ctx, wanted, metav1.CreateOptions{})
	}
	return err
}

// Search finds a scenario in which a client fails, and shrinks it.
func ExampleSearch() {
	generator := scenario.Generator{
		Client: "copier",
		Setup:  []scenario.Step{scenario.Apply("copies.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: copies}\n")},
		Expect: scenario.ExpectSynced("configmap", "default", "copies"),
	}
	config := scenario.Config{Clients: map[string]scenario.Client{"copier": copier}}
	found, err := scenario.Search(config, generator, 1, 100)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("seed %d: %d of %d steps\n", found.Seed, len(found.Steps), found.GeneratedSteps)
	fmt.Print(found.Text)
	_, err = scenario.Play("again.txtar", found.Text, config)
	fmt.Println("fails again:", err != nil)

	// Output:
	// seed 10: 11 of 29 steps
	// apply copies.yaml
	// run copier
	// apply 03-echo.yaml
	// apply 04-bravo.yaml
	// fault jitter-1: when userAgent(copier) && event(DELETED) do delay(1s)
	// delete configmap/echo -n default
	// delete configmap/bravo -n default
	// expire
	// clear faults
	// advance 30m0s
	// eventually 1m0s expect same configmap default copies
	// -- copies.yaml --
	// apiVersion: v1
	// kind: Namespace
	// metadata: {name: copies}
	// -- 03-echo.yaml --
	// apiVersion: v1
	// kind: ConfigMap
	// metadata:
	//   name: echo
	//   namespace: default
	// -- 04-bravo.yaml --
	// apiVersion: v1
	// kind: ConfigMap
	// metadata:
	//   name: bravo
	//   namespace: default
	// fails again: true
}

// sleep waits a second, or until ctx is done.
func sleep(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Second):
	}
}
