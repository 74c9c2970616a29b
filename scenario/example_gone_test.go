package scenario_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"example.com/fakeapi/scenario"
)

// members writes a ConfigMap "member-NAME" for each Pod, with a hand-written watch loop. again
// returns the resourceVersion to watch from after an error of the watch, or "" to list again.
func members(again func(revision string, status error) string) scenario.Client {
	return func(ctx context.Context, config *rest.Config) error {
		client := kubernetes.NewForConfigOrDie(config).CoreV1()
		revision := ""
		for ; ctx.Err() == nil; time.Sleep(time.Second) {
			if revision == "" {
				list, err := client.Pods("default").List(ctx, metav1.ListOptions{})
				for i := 0; err == nil && i < len(list.Items); i++ {
					err = addMember(ctx, client, &list.Items[i])
				}
				if err != nil {
					utilruntime.HandleError(err)
					continue
				}
				revision = list.ResourceVersion
			}
			w, err := client.Pods("default").Watch(ctx, metav1.ListOptions{ResourceVersion: revision})
			if err != nil {
				utilruntime.HandleError(err)
				revision = again(revision, err)
				continue
			}
			for event := range w.ResultChan() {
				if event.Type == watch.Error {
					revision = again(revision, apierrors.FromObject(event.Object))
				} else if pod, ok := event.Object.(*corev1.Pod); ok {
					revision = pod.ResourceVersion
					if err := addMember(ctx, client, pod); err != nil {
						utilruntime.HandleError(err)
						revision = "" // The Pod may have no more events.
						break
					}
				}
			}
			w.Stop()
		}
		return nil
	}
}

func addMember(ctx context.Context, client typedv1.CoreV1Interface, pod *corev1.Pod) error {
	member := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "member-" + pod.Name}}
	_, err := client.ConfigMaps("default").Create(ctx, member, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// keepRevision ignores the error and keeps the resourceVersion.
func keepRevision(revision string, _ error) string { return revision }

// clearExpiredRevision lists again if the resourceVersion has expired.
func clearExpiredRevision(revision string, status error) string {
	if apierrors.IsResourceExpired(status) || apierrors.IsGone(status) {
		return ""
	}
	return revision
}

const membersScenario = `
run members
# The watch ends, and history with it, before the client is back.
fault cut: when verb(watch) && userAgent(members) && event(ADDED) && first(1) do end
apply a.yaml
expire
advance 1m
apply b.yaml
advance 5s
expect requests members watch=true <=3
expect list configmaps member-a member-b
-- a.yaml --
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: main, image: nginx}]}
-- b.yaml --
apiVersion: v1
kind: Pod
metadata: {name: b}
spec: {containers: [{name: main, image: nginx}]}
`

// A watch from an expired resourceVersion is retried from the same one forever. In production the
// log fills, the server is overloaded, and the controller sees no changes until it is restarted:
// https://github.com/coreos/etcd-operator/issues/166. The response is 410, usually as an ERROR
// event in a stream with status 200, and the client has to list again. Informers do; this loop is
// for clients that cannot use one.
func ExamplePlay_gone() {
	for _, again := range []func(string, error) string{keepRevision, clearExpiredRevision} {
		_, err := scenario.Play("members.txtar", membersScenario, scenario.Config{
			Clients: map[string]scenario.Client{"members": members(again)},
		})
		what, _, _ := strings.Cut(fmt.Sprint(err), "\ntranscript so far:")
		fmt.Println(what)
	}
	// Output:
	// members.txtar:10: expect requests members watch=true <=3
	//     expected <=3 requests of client members with watch=true; saw 66
	// <nil>
}
