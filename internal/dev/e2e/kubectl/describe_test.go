package kubectl_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fakeapi "example.com/fakeapi/fake"
)

func TestDescribeAppliedObject(t *testing.T) {
	u := newUser(t)
	u.do("apply", "-f", manifest)
	for name, tt := range map[string]struct {
		args []string
		want []string
	}{
		"deployment": {[]string{"deployment", "web", "-n", "shop"}, []string{
			"Name: web\nNamespace: shop\n",
			"\nLabels: app.kubernetes.io/name=web\napp.kubernetes.io/part-of=shop\n",
			"\nReplicas: 2 desired | 0 updated | 0 total | 0 available | 0 unavailable\n",
			"\nRollingUpdateStrategy: 0 max unavailable, 1 max surge\n",
			"\nInit Containers:\nmigrate:\nImage: registry.example.com/shop/web:1.4.2\n",
			"\nEnvironment Variables from:\nweb ConfigMap Optional: false\n",
			"\nMounts:\n/etc/shop from config (rw)\n",
			"\nEvents: <none>",
		}},
		"service": {[]string{"service", "web", "-n", "shop"}, []string{
			"Name: web\nNamespace: shop\n", "\nSelector: app.kubernetes.io/name=web\n", "\nPort: http 80/",
			"\nTargetPort: http/",
		}},
		"configmap": {[]string{"configmap", "web", "-n", "shop"}, []string{
			"Name: web\nNamespace: shop\n", "\nData\n====\nLOG_LEVEL:\n----\ninfo\n",
			"\nshop.properties:\n----\ncurrency=EUR\ncarts.expire=30m\n",
		}},
		"secret": {[]string{"secret", "db", "-n", "shop"}, []string{
			"\nType: Opaque\n", "\npassword: 7 bytes\n", "\nuser: 4 bytes",
		}},
		"namespace": {[]string{"namespace", "shop"}, []string{
			"Name: shop\n", "kubernetes.io/metadata.name=shop\n", "\nStatus: Active\n",
			"\nResource Quotas\nName: shop\n", "\nContainer cpu - - 100m 500m -",
		}},
		"role binding": {[]string{"rolebinding", "web", "-n", "shop"}, []string{
			"\nRole:\nKind: Role\nName: web\n", "\nServiceAccount web shop",
		}},
		"ingress": {[]string{"ingress", "web", "-n", "shop"}, []string{
			"\nTLS:\nweb-tls terminates shop.example.com\n", "\n/ web:http ",
		}},
		"autoscaler": {[]string{"hpa", "web", "-n", "shop"}, []string{
			"\nReference: Deployment/web\n", "\nMin replicas: 2\nMax replicas: 10\n",
		}},
		"cron job": {[]string{"cronjob", "report", "-n", "shop"}, []string{
			"\nSchedule: 15 2 * * *\nConcurrency Policy: Forbid\n", "\nTime Zone: Europe/Berlin\n",
		}},
		"stateful set": {[]string{"statefulset", "db", "-n", "shop"}, []string{
			"\nReplicas: 1 desired | 0 total\n", "\nCapacity: 10Gi\nAccess Modes: [ReadWriteOnce]\n",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			out := collapseSpaces(u.do(append([]string{"describe"}, tt.args...)...))
			for _, want := range tt.want {
				require.Contains(t, out, want)
			}
		})
	}
}

// The description of a pod ends with its events, which kubectl selects with field selectors.
func TestDescribePodShowsItsEvents(t *testing.T) {
	web := pod("default", "web-1", "web", corev1.PodRunning)
	web.UID = "6f1c2a3e-0000-4000-8000-000000000001"
	u := newUser(t, fakeapi.WithObjects(web,
		event("web-1.pulled", web, "Pulled", "Pulled the image"),
		event("web-2.pulled", pod("default", "web-2", "web", ""), "Pulled", "Not about this pod"),
	))
	out := collapseSpaces(u.do("describe", "pod", "web-1"))
	require.Contains(t, out, "Name: web-1\nNamespace: default\n")
	require.Contains(t, out, "\nNode: node-1/\n")
	require.Contains(t, out, "\nStatus: Running\nIP: 10.0.0.7\n")
	require.Contains(t, out, "\nContainers:\nmain:\nImage: web:1\n")
	require.Regexp(t, `(?m)^Normal Pulled \S+ kubelet Pulled the image$`, out)
	require.NotContains(t, out, "Not about this pod")

	require.Equal(t, [][]string{{"Normal", "Pulled", "Pod/web-1"}},
		fields(u.do("events", "--for", "pod/web-1", "--no-headers"), 1, 2, 3))
}

// fields returns the words at the given indexes of each line.
func fields(text string, at ...int) [][]string {
	var rows [][]string
	for _, words := range columns(text, math.MaxInt) {
		var row []string
		for _, i := range at {
			row = append(row, words[i])
		}
		rows = append(rows, row)
	}
	return rows
}

func event(name string, about *corev1.Pod, reason, message string) *corev1.Event {
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: about.Namespace, Name: name},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: "v1", Kind: "Pod", Namespace: about.Namespace, Name: about.Name, UID: about.UID,
		},
		Type: corev1.EventTypeNormal, Reason: reason, Message: message, Count: 1,
		Source:         corev1.EventSource{Component: "kubelet"},
		FirstTimestamp: metav1.Now(), LastTimestamp: metav1.Now(),
	}
}
