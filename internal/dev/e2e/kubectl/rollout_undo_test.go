package kubectl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// revision returns a manifest of a ReplicaSet as the deployment controller makes it.
func revision(deployment, uid string, number int, image string) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: %[1]s-%[3]d
  labels: {app: %[1]s, pod-template-hash: "%[3]d"}
  annotations: {deployment.kubernetes.io/revision: "%[3]d"}
  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: %[1]s, uid: %[2]s, controller: true}]
spec:
  selector: {matchLabels: {app: %[1]s, pod-template-hash: "%[3]d"}}
  template:
    metadata: {labels: {app: %[1]s, pod-template-hash: "%[3]d"}}
    spec: {containers: [{name: nginx, image: "%[4]s"}]}
`, deployment, uid, number, image)
}

// kubectl compares the templates of a Deployment and of its ReplicaSets, so that both need the same
// defaults. A change of annotations is a new generation of a Deployment, too.
func TestRolloutUndoOfADeployment(t *testing.T) {
	u := newUser(t)
	u.do("create", "deployment", "web", "--image=nginx:1")
	u.do("set", "image", "deployment/web", "nginx=nginx:2")
	u.do("annotate", "deployment", "web", "deployment.kubernetes.io/revision=2")
	uid := u.do("get", "deployment", "web", "-o", "jsonpath={.metadata.uid}")
	u.doWith(revision("web", uid, 1, "nginx:1")+"---"+revision("web", uid, 2, "nginx:2"), "create", "-f", "-")

	require.Equal(t, [][]string{{"deployment.apps/web"}, {"REVISION", "CHANGE-CAUSE"}, {"1", "<none>"}, {"2", "<none>"}, {}},
		columns(u.do("rollout", "history", "deployment/web"), 2))
	require.Contains(t, collapseSpaces(u.do("rollout", "history", "deployment/web", "--revision=1")), "\nImage: nginx:1\n")
	r := u.try("rollout", "undo", "deployment/web", "--to-revision=2")
	require.Equal(t, 0, r.code, r.err)
	require.Contains(t, r.out, "deployment.apps/web skipped rollback (current template already matches revision 2)")
	require.Equal(t, "deployment.apps/web rolled back\n", u.do("rollout", "undo", "deployment/web"))
	require.Equal(t, "nginx:1 4", u.do("get", "deployment", "web", "-o", "jsonpath={.spec.template.spec.containers[0].image} {.metadata.generation}"))
	require.Regexp(t, `(?m)^OldReplicaSets: +web-2 \(0/1 replicas created\)$`, u.do("describe", "deployment", "web"))
	require.Regexp(t, `(?m)^NewReplicaSet: +web-1 \(0/1 replicas created\)$`, u.do("describe", "deployment", "web"))
}

// The history of a StatefulSet and of a DaemonSet are ControllerRevisions with patches.
func TestRolloutUndoOfControllerRevisions(t *testing.T) {
	u := newUser(t)
	for _, kind := range []string{"StatefulSet", "DaemonSet"} {
		resource := strings.ToLower(kind)
		u.doWith(fmt.Sprintf("apiVersion: apps/v1\nkind: %s\nmetadata: {name: db}\nspec:\n  selector: {matchLabels: {app: %[2]s}}\n"+
			"  template: {metadata: {labels: {app: %[2]s}}, spec: {containers: [{name: main, image: \"db:2\"}]}}\n", kind, resource), "create", "-f", "-")
		uid := u.do("get", resource, "db", "-o", "jsonpath={.metadata.uid}")
		for number := 1; number <= 2; number++ {
			u.doWith(fmt.Sprintf(`
apiVersion: apps/v1
kind: ControllerRevision
metadata:
  name: %[2]s-%[4]d
  labels: {app: %[2]s}
  ownerReferences: [{apiVersion: apps/v1, kind: %[1]s, name: db, uid: %[3]s, controller: true}]
revision: %[4]d
data: {spec: {template: {$patch: replace, metadata: {labels: {app: %[2]s}}, spec: {containers: [{name: main, image: "db:%[4]d"}]}}}}
`, kind, resource, uid, number), "create", "-f", "-")
		}
		require.Contains(t, collapseSpaces(u.do("rollout", "history", resource+"/db", "--revision=1")), "\nImage: db:1\n")
		require.Equal(t, resource+".apps/db rolled back\n", u.do("rollout", "undo", resource+"/db", "--to-revision=1"))
		require.Equal(t, "db:1 2 IfNotPresent", u.do("get", resource, "db", "-o",
			"jsonpath={.spec.template.spec.containers[0].image} {.metadata.generation} {.spec.template.spec.containers[0].imagePullPolicy}"))
	}
}

func TestRolloutStatusOfOtherTypes(t *testing.T) {
	u := newUser(t)
	u.succeed("create", "-f", types+"/workloads.yaml")
	status := func(name, status string) {
		u.do("patch", name, "--subresource=status", "--type=merge", "-p", `{"status":`+status+`}`)
	}
	next := u.watchLines("rollout", "status", "statefulset/short")
	require.Equal(t, "Waiting for statefulset spec update to be observed...", next())
	status("statefulset/short", `{"observedGeneration":1,"replicas":1}`)
	require.Equal(t, "Waiting for 1 pods to be ready...", next())
	status("statefulset/short", `{"readyReplicas":1,"updatedReplicas":1,"currentRevision":"a","updateRevision":"a"}`)
	require.Equal(t, "partitioned roll out complete: 1 new pods have been updated...", next())

	next = u.watchLines("rollout", "status", "daemonset/short")
	require.Equal(t, "Waiting for daemon set spec update to be observed...", next())
	status("daemonset/short", `{"observedGeneration":1,"desiredNumberScheduled":2,"updatedNumberScheduled":1}`)
	require.Equal(t, `Waiting for daemon set "short" rollout to finish: 1 out of 2 new pods have been updated...`, next())
	status("daemonset/short", `{"updatedNumberScheduled":2,"numberAvailable":2}`)
	require.Equal(t, `daemon set "short" successfully rolled out`, next())
	for _, name := range []string{"statefulset/claims", "daemonset/host"} {
		require.Equal(t, "error: rollout status is only available for RollingUpdate strategy type\n", u.doRefused("rollout", "status", name))
	}
}
