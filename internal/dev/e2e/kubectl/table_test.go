package kubectl_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/dev/e2e/internal/poll"
)

// aMonthAgo returns a time so far in the past that the printed age does not change while a test
// runs.
func aMonthAgo() metav1.Time {
	return metav1.NewTime(time.Now().Add(-30*24*time.Hour - time.Hour).Truncate(time.Second))
}

func old(name string, labels ...string) metav1.ObjectMeta {
	m := metav1.ObjectMeta{Name: name, Namespace: "default", CreationTimestamp: aMonthAgo()}
	for i := 0; i+1 < len(labels); i += 2 {
		m.Labels = map[string]string{labels[i]: labels[i+1]}
	}
	return m
}

func container(name, image string) corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{Name: name, Image: image}}}
}

// withTableObjects is an option that loads one or two objects of the most used types.
func withTableObjects() fakeapi.Option {
	running := &corev1.Pod{ObjectMeta: old("web-1", "app", "web"), Spec: container("c", "web:1")}
	running.Spec.NodeName = "node-1"
	running.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: "10.0.0.7", Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: "c", Ready: true, RestartCount: 2, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: aMonthAgo()}},
		}},
	}
	crashing := &corev1.Pod{ObjectMeta: old("web-2", "app", "web"), Spec: container("c", "web:2")}
	crashing.Status = corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{
		Name: "c", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
	}}}
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	deployment := &appsv1.Deployment{ObjectMeta: old("web"), Spec: appsv1.DeploymentSpec{
		Replicas: new(int32(2)), Selector: selector, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: selector.MatchLabels}, Spec: container("c", "web:1"),
		},
	}}
	deployment.Status = appsv1.DeploymentStatus{ReadyReplicas: 1, UpdatedReplicas: 2, AvailableReplicas: 1}
	job := &batchv1.Job{ObjectMeta: old("once"), Spec: batchv1.JobSpec{
		Completions: new(int32(1)), ManualSelector: new(true), Selector: selector, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: selector.MatchLabels}, Spec: container("c", "job:1"),
		},
	}}
	job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	start := aMonthAgo()
	job.Status = batchv1.JobStatus{
		Succeeded: 1, StartTime: &start, CompletionTime: new(metav1.NewTime(start.Add(90 * time.Second))),
		Conditions: []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}},
	}
	node := &corev1.Node{ObjectMeta: old("node-1", "node-role.kubernetes.io/worker", "")}
	node.Namespace = ""
	node.Status = corev1.NodeStatus{
		Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		Addresses:  []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "192.168.0.1"}},
		NodeInfo: corev1.NodeSystemInfo{KubeletVersion: "v1.37.2", OSImage: "Linux 1", KernelVersion: "6.1", Architecture: "amd64",
			ContainerRuntimeVersion: "containerd://2"},
	}
	service := &corev1.Service{ObjectMeta: old("web"), Spec: corev1.ServiceSpec{
		Type: corev1.ServiceTypeNodePort, ClusterIP: "10.1.0.1", Selector: map[string]string{"app": "web"},
		Ports: []corev1.ServicePort{{Name: "http", Port: 80, NodePort: 30080, Protocol: corev1.ProtocolTCP}, {Name: "dns", Port: 53, NodePort: 30053, Protocol: corev1.ProtocolUDP}},
	}}
	event := &corev1.Event{
		ObjectMeta: old("e"), Type: "Warning", Reason: "BackOff", Message: "Back-off restarting", Count: 3,
		FirstTimestamp: aMonthAgo(), LastTimestamp: aMonthAgo(), Source: corev1.EventSource{Component: "kubelet", Host: "node-1"},
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "web-2", Namespace: "default", APIVersion: "v1"},
	}
	config := &corev1.ConfigMap{ObjectMeta: old("web"), Data: map[string]string{"a": "1", "b": "2"}}
	return fakeapi.WithObjects(running, crashing, deployment, job, node, service, event, config)
}

// The output of kubectl, including its spaces.
func TestTables(t *testing.T) {
	u := newUser(t, withTableObjects(), fakeapi.WithoutSystemObjects())
	for args, want := range map[string]string{
		"pods": `
NAME    READY   STATUS             RESTARTS      AGE
web-1   1/1     Running            2 (30d ago)   30d
web-2   0/1     CrashLoopBackOff   0             30d
`,
		"pods -o wide": `
NAME    READY   STATUS             RESTARTS      AGE   IP         NODE     NOMINATED NODE   READINESS GATES
web-1   1/1     Running            2 (30d ago)   30d   10.0.0.7   node-1   <none>           <none>
web-2   0/1     CrashLoopBackOff   0             30d   <none>     <none>   <none>           <none>
`,
		"pods -A --show-labels": `
NAMESPACE   NAME    READY   STATUS             RESTARTS      AGE   LABELS
default     web-1   1/1     Running            2 (30d ago)   30d   app=web
default     web-2   0/1     CrashLoopBackOff   0             30d   app=web
`,
		"pod web-1 -L app --no-headers": `
web-1   1/1   Running   2 (30d ago)   30d   web
`,
		"deployments": `
NAME   READY   UP-TO-DATE   AVAILABLE   AGE
web    1/2     2            1           30d
`,
		"deployments -o wide": `
NAME   READY   UP-TO-DATE   AVAILABLE   AGE   CONTAINERS   IMAGES   SELECTOR
web    1/2     2            1           30d   c            web:1    app=web
`,
		"services web": `
NAME   TYPE       CLUSTER-IP   EXTERNAL-IP   PORT(S)                     AGE
web    NodePort   10.1.0.1     <none>        80:30080/TCP,53:30053/UDP   30d
`,
		"nodes": `
NAME     STATUS   ROLES    AGE   VERSION
node-1   Ready    worker   30d   v1.37.2
`,
		"nodes -o wide": `
NAME     STATUS   ROLES    AGE   VERSION   INTERNAL-IP   EXTERNAL-IP   OS-IMAGE   KERNEL-VERSION   CONTAINER-RUNTIME
node-1   Ready    worker   30d   v1.37.2   192.168.0.1   <none>        Linux 1    6.1 (amd64)      containerd://2
`,
		"jobs": `
NAME   STATUS     COMPLETIONS   DURATION   AGE
once   Complete   1/1           90s        30d
`,
		"events": `
LAST SEEN   TYPE      REASON    OBJECT      MESSAGE
30d         Warning   BackOff   pod/web-2   Back-off restarting
`,
		"configmap web": `
NAME   DATA   AGE
web    2      30d
`,
		"configmap/web service/web": `
NAME            DATA   AGE
configmap/web   2      30d

NAME          TYPE       CLUSTER-IP   EXTERNAL-IP   PORT(S)                     AGE
service/web   NodePort   10.1.0.1     <none>        80:30080/TCP,53:30053/UDP   30d
`,
		"pods --sort-by={.status.phase}": `
NAME    READY   STATUS             RESTARTS      AGE
web-1   1/1     Running            2 (30d ago)   30d
web-2   0/1     CrashLoopBackOff   0             30d
`,
		"all": `
NAME        READY   STATUS             RESTARTS      AGE
pod/web-1   1/1     Running            2 (30d ago)   30d
pod/web-2   0/1     CrashLoopBackOff   0             30d

NAME          TYPE       CLUSTER-IP   EXTERNAL-IP   PORT(S)                     AGE
service/web   NodePort   10.1.0.1     <none>        80:30080/TCP,53:30053/UDP   30d

NAME                  READY   UP-TO-DATE   AVAILABLE   AGE
deployment.apps/web   1/2     2            1           30d

NAME             STATUS     COMPLETIONS   DURATION   AGE
job.batch/once   Complete   1/1           90s        30d
`,
		"deployment web --subresource=scale": `
NAME   DESIRED   AVAILABLE   AGE
web    2         0           30d
`,
	} {
		t.Run(args, func(t *testing.T) {
			require.Equal(t, strings.TrimPrefix(want, "\n"), u.do(append([]string{"get"}, strings.Fields(args)...)...))
		})
	}
	require.Regexp(t, regexp.MustCompile(`(?m)^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE\n30d \(x3 over 30d\) +Warning +BackOff +Pod/web-2 +Back-off restarting\n$`), u.do("events"))
	require.Contains(t, collapseSpaces(u.do("describe", "pod", "web-2")), "Reason: CrashLoopBackOff")
}

// A list in several chunks is printed as one table with one header.
func TestTableInChunks(t *testing.T) {
	u := newUser(t, withTableObjects())
	for range 2 {
		u.do("create", "configmap", "c"+time.Now().Format("150405.000000"))
	}
	r := u.try("get", "configmaps", "--chunk-size=1", "-v=6")
	require.Equal(t, 1, strings.Count(r.out, "NAME"))
	require.Equal(t, 4, strings.Count(r.out, "\n"), "%s", r.out)
	require.Equal(t, 2, strings.Count(r.err, "continue="), "requests: %s", r.err)
}

// A watch prints one header and a row for each event.
func TestTableOfAWatch(t *testing.T) {
	u := newUser(t, withTableObjects())
	words := func(line string) string { return strings.Join(strings.Fields(line), " ") }
	next := u.watchLines("get", "deployments", "--watch")
	require.Equal(t, "NAME READY UP-TO-DATE AVAILABLE AGE", words(next()))
	require.Equal(t, "web 1/2 2 1 30d", words(next()))
	only := u.watchLines("get", "deployments", "--watch-only", "--output-watch-events")
	poll.Until(t, "the second watch", func() bool {
		return strings.Count(u.srv.Timeline().String(), "watch /apis/apps/v1/namespaces/default/deployments") == 2
	})
	u.do("scale", "deployment/web", "--replicas=7")
	require.Equal(t, "web 1/7 2 1 30d", words(next()))
	u.do("delete", "deployment", "web")
	require.Equal(t, "web 1/7 2 1 30d", words(next()))
	require.Equal(t, "EVENT NAME READY UP-TO-DATE AVAILABLE AGE", words(only()))
	require.Equal(t, "MODIFIED web 1/7 2 1 30d", words(only()))
	require.Equal(t, "DELETED web 1/7 2 1 30d", words(only()))
}

// The server has no metrics API.
func TestTopIsRefused(t *testing.T) {
	u := newUser(t, withTableObjects())
	require.Equal(t, "error: Metrics API not available\n", u.doRefused("top", "pods"))
}
