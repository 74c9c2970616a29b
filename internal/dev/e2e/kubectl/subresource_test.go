package kubectl_test

import (
	"bufio"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fakeapi "example.com/fakeapi/fake"
)

func TestScaleADeployment(t *testing.T) {
	u := newUser(t)
	u.do("create", "deployment", "web", "--image=i:1", "--replicas=2")
	require.Equal(t, "deployment.apps/web scaled\n", u.do("scale", "deployment/web", "--replicas=5", "--current-replicas=2"))
	require.Equal(t, "5", u.do("get", "deployment/web", "--subresource=scale", "-o", "jsonpath={.spec.replicas}"))
	require.Contains(t, u.doRefused("scale", "deployment/web", "--replicas=1", "--current-replicas=2"), "Expected replicas to be 2, was 5")
	require.Equal(t, "scale.autoscaling/web patched\n",
		u.do("patch", "deployment/web", "--subresource=scale", "--type=merge", "-p", `{"spec":{"replicas":7}}`))
	require.Equal(t, "7", u.do("get", "deployment/web", "-o", "jsonpath={.spec.replicas}"))
}

func TestDrainANode(t *testing.T) {
	pod := func(name string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Labels: map[string]string{"app": name}},
			Spec:       corev1.PodSpec{NodeName: "n", TerminationGracePeriodSeconds: new(int64), Containers: []corev1.Container{{Name: "c", Image: "i:1"}}},
			Status: corev1.PodStatus{Phase: corev1.PodRunning,
				Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
		}
	}
	u := newUser(t, fakeapi.WithObjects(
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, pod("free"), pod("held"),
		&policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Name: "held", Namespace: "default"},
			Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "held"}}},
			Status:     policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DesiredHealthy: 1, CurrentHealthy: 1},
		}))
	// Without a timeout, it tries again until it is stopped.
	ctx, cancel := context.WithCancel(t.Context())
	drain := u.command(ctx, "drain", "n", "--force")
	out, err := drain.StdoutPipe()
	require.NoError(t, err)
	drain.Stderr = drain.Stdout
	require.NoError(t, drain.Start())
	printed := ""
	for lines := bufio.NewScanner(out); !strings.Contains(printed, "pod/free evicted\n") ||
		!strings.Contains(printed, "Cannot evict pod as it would violate the pod's disruption budget.\n"); {
		require.True(t, lines.Scan(), printed)
		printed += lines.Text() + "\n"
	}
	cancel()
	require.Error(t, drain.Wait())
	require.Equal(t, 1, u.try("drain", "n", "--force", "--timeout=1s").code)
	require.Equal(t, "pod/held\n", u.do("get", "pods", "-o", "name"))
	require.Equal(t, "true", u.do("get", "node/n", "-o", "jsonpath={.spec.unschedulable}"))
}

func TestApproveACertificate(t *testing.T) {
	u := newUser(t)
	u.do("create", "-f", types+"/certificates.yaml")
	require.Equal(t, "certificatesigningrequest.certificates.k8s.io/short approved\n", u.do("certificate", "approve", "short"))
	require.Equal(t, "Approved", u.do("get", "csr", "short", "-o", "jsonpath={.status.conditions[*].type}"))
}

func TestCreateAToken(t *testing.T) {
	u := newUser(t)
	u.do("create", "serviceaccount", "sa")
	require.Regexp(t, `^[\w-]+\.[\w-]+\.[\w-]+$`, u.do("create", "token", "sa", "--duration=1h"))
	require.Contains(t, u.doRefused("create", "token", "none"), `serviceaccounts "none" not found`)
}

func TestKubeletSubresourcesAreRefused(t *testing.T) {
	u := newUser(t, withPods(), fakeapi.WithObjects(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}))
	for _, args := range [][]string{
		{"logs", "web-1"}, {"exec", "web-1", "--", "ls"}, {"attach", "web-1"}, {"port-forward", "web-1", "0:80"},
	} {
		r := u.try(args...)
		require.NotZero(t, r.code, "kubectl %v", args)
		require.Contains(t, r.err, "there is no kubelet behind this test server", "kubectl %v", args)
	}
}
