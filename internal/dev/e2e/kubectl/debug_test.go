package kubectl_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// kubectl debug adds an ephemeral container to a pod, or copies a pod. It reads fields that the
// server sets.
func TestDebugAPod(t *testing.T) {
	u := newUser(t)
	u.do("run", "web", "--image=nginx")
	u.do("debug", "web", "--image=busybox", "--container=look")
	require.Equal(t, "look busybox Always File", u.do("get", "pod", "web", "-o", "jsonpath={range .spec.ephemeralContainers[*]}"+
		"{.name} {.image} {.imagePullPolicy} {.terminationMessagePolicy}{end}"))
	require.Contains(t, collapseSpaces(u.do("describe", "pod", "web")), "\nEphemeral Containers:\nlook:\nImage: busybox\n")

	u.do("debug", "web", "--image=busybox", "--container=look", "--copy-to=copy", "--share-processes")
	u.do("debug", "web", "--copy-to=other", "--set-image=*=nginx:2")
	require.Equal(t, "true web look", u.do("get", "pod", "copy", "-o", "jsonpath={.spec.shareProcessNamespace} {.spec.containers[*].name}"))
	require.Equal(t, "nginx:2", u.do("get", "pod", "other", "-o", "jsonpath={.spec.containers[*].image}"))
}

func TestDebugDrainAndTaintANode(t *testing.T) {
	u := newUser(t)
	u.doWith("apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n", "create", "-f", "-")
	require.Equal(t, 0, u.try("debug", "node/n1", "--image=busybox").code)
	require.Equal(t, "n1 true", u.do("get", "pods", "-o", "jsonpath={.items[0].spec.nodeName} {.items[0].spec.hostNetwork}"))

	require.Equal(t, "node/n1 cordoned\n", u.do("cordon", "n1"))
	require.Equal(t, "node/n1 tainted\n", u.do("taint", "node", "n1", "a=b:NoSchedule"))
	require.Equal(t, "node/n1 untainted\n", u.do("taint", "node", "n1", "a-"))
	require.Equal(t, "node/n1 uncordoned\n", u.do("uncordon", "n1"))
	require.Equal(t, "node.kubernetes.io/not-ready", u.do("get", "node", "n1", "-o", "jsonpath={.spec.taints[*].key}"))

	r := u.try("drain", "n1", "--dry-run=server")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.err, "cannot delete Pods that declare no controller (use --force to override)")
	require.Equal(t, 0, u.try("drain", "n1", "--dry-run=server", "--force").code)
	require.Len(t, columns(u.do("get", "pods", "--no-headers"), 1), 1, "a dry run evicts no pod")
}

// kubectl create job --from copies the template of a CronJob, and the server adds a selector.
func TestCreateAJobFromACronJob(t *testing.T) {
	u := newUser(t)
	u.do("create", "cronjob", "report", "--image=busybox", "--schedule=@daily")
	require.Equal(t, "job.batch/now created\n", u.do("create", "job", "now", "--from=cronjob/report"))
	out := collapseSpaces(u.do("describe", "job", "now"))
	require.Contains(t, out, "\nControlled By: CronJob/report\nParallelism: 1\nCompletions: 1\n")
	require.Regexp(t, `\nSelector: batch.kubernetes.io/controller-uid=[0-9a-f-]{36}\n`, out)
	require.Equal(t, "error: Metrics API not available\n", u.doRefused("top", "pods"))
}
