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

// members writes a ConfigMap "member-NAME" for each Pod, with a watch loop written
// by hand. again tells from where to watch after an ERROR event: from the
// resourceVersion given, or with "" from that of a new list.
func members(again func(revision string, status error) string) scenario.Client {
	return func(ctx context.Context, config *rest.Config) error {
		client := kubernetes.NewForConfigOrDie(config).CoreV1()
		revision := ""
		for ; ctx.Err() == nil; time.Sleep(time.Second) {
			if revision == "" {
				list, err := client.Pods("default").List(ctx, metav1.ListOptions{})
				if err != nil {
					utilruntime.HandleError(err)
					continue
				}
				for _, pod := range list.Items {
					addMember(ctx, client, &pod)
				}
				revision = list.ResourceVersion
			}
			w, err := client.Pods("default").Watch(ctx, metav1.ListOptions{ResourceVersion: revision})
			if err != nil {
				utilruntime.HandleError(err)
				continue
			}
			for event := range w.ResultChan() {
				if event.Type == watch.Error {
					revision = again(revision, apierrors.FromObject(event.Object))
				} else if pod, ok := event.Object.(*corev1.Pod); ok {
					addMember(ctx, client, pod)
					revision = pod.ResourceVersion
				}
			}
		}
		return nil
	}
}

func addMember(ctx context.Context, client typedv1.CoreV1Interface, pod *corev1.Pod) {
	member := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "member-" + pod.Name}}
	_, err := client.ConfigMaps("default").Create(ctx, member, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		utilruntime.HandleError(err)
	}
}

// keepRevision watches again from where it was, whatever the error is.
func keepRevision(revision string, _ error) string { return revision }

// clearExpiredRevision knows that a resourceVersion that is gone does not come back.
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
-- b.yaml --
apiVersion: v1
kind: Pod
metadata: {name: b}
`

// A watch from a resourceVersion that the server has forgotten is begun again from
// the same one, for ever. In production the log fills, the server is kept busy, and
// the controller is blind until somebody restarts it:
// https://github.com/coreos/etcd-operator/issues/166. The answer is 410, mostly as
// an ERROR event in a stream that begins with 200, and the only way out is a new
// list. Informers know that; this loop is for those who cannot have one.
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
