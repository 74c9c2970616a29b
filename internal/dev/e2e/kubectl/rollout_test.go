package kubectl_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// The test writes the status in place of the deployment controller, and kubectl prints the
// progress.
func TestRolloutStatus(t *testing.T) {
	u := newUser(t)
	u.do("create", "deployment", "web", "--image=nginx:1", "--replicas=2")
	next := u.watchLines("rollout", "status", "deployment/web")
	status := func(generation, replicas, updated, available int) {
		u.do("patch", "deployment", "web", "--subresource=status", "--type=merge", "-p", fmt.Sprintf(
			`{"status":{"observedGeneration":%d,"replicas":%d,"updatedReplicas":%d,"readyReplicas":%d,"availableReplicas":%d}}`, generation, replicas, updated, available, available))
	}
	require.Equal(t, "Waiting for deployment spec update to be observed...", next())
	status(1, 1, 1, 0)
	require.Equal(t, `Waiting for deployment "web" rollout to finish: 1 out of 2 new replicas have been updated...`, next())
	status(1, 2, 2, 1)
	require.Equal(t, `Waiting for deployment "web" rollout to finish: 1 of 2 updated replicas are available...`, next())
	status(1, 2, 2, 2)
	require.Equal(t, `deployment "web" successfully rolled out`, next())

	u.do("set", "image", "deployment/web", "nginx=nginx:2")
	next = u.watchLines("rollout", "status", "deployment/web")
	require.Equal(t, "Waiting for deployment spec update to be observed...", next())
	status(2, 3, 2, 2)
	require.Equal(t, `Waiting for deployment "web" rollout to finish: 1 old replicas are pending termination...`, next())
	status(2, 2, 2, 2)
	require.Equal(t, `deployment "web" successfully rolled out`, next())
}

func TestRolloutDeadlineExceeded(t *testing.T) {
	u := newUser(t)
	u.do("create", "deployment", "web", "--image=nginx:1")
	u.do("patch", "deployment", "web", "--subresource=status", "--type=merge", "-p",
		`{"status":{"observedGeneration":1,"conditions":[{"type":"Progressing","status":"False","reason":"ProgressDeadlineExceeded"}]}}`)
	require.Equal(t, "error: deployment \"web\" exceeded its progress deadline\n", u.doRefused("rollout", "status", "deployment/web"))
}

func TestRolloutRestartPauseAndResume(t *testing.T) {
	u := newUser(t)
	u.do("create", "deployment", "web", "--image=nginx:1")
	require.Equal(t, "deployment.apps/web restarted\n", u.do("rollout", "restart", "deployment/web"))
	require.NotEmpty(t, u.do("get", "deployment", "web", "-o", `jsonpath={.spec.template.metadata.annotations.kubectl\.kubernetes\.io/restartedAt}`))
	require.Equal(t, "deployment.apps/web paused\n", u.do("rollout", "pause", "deployment/web"))
	require.Equal(t, "true 3", u.do("get", "deployment", "web", "-o", "jsonpath={.spec.paused} {.metadata.generation}"))
	require.Equal(t, "error: deployments.apps \"web\" can't restart paused deployment (run rollout resume first)\n",
		u.doRefused("rollout", "restart", "deployment/web"))
	require.Equal(t, "deployment.apps/web resumed\n", u.do("rollout", "resume", "deployment/web"))
}
