package kubectl_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCreateFromTheCommandLine(t *testing.T) {
	u := newUser(t)
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"namespace":   {[]string{"namespace", "team"}, "namespace/team"},
		"configmap":   {[]string{"configmap", "c", "--from-literal=a=b", "--from-file=" + manifest}, "configmap/c"},
		"secret":      {[]string{"secret", "generic", "s", "--from-literal=a=b"}, "secret/s"},
		"deployment":  {[]string{"deployment", "d", "--image=nginx", "--replicas=3"}, "deployment.apps/d"},
		"service":     {[]string{"service", "clusterip", "web", "--tcp=80:8080"}, "service/web"},
		"job":         {[]string{"job", "j", "--image=busybox", "--", "true"}, "job.batch/j"},
		"cron job":    {[]string{"cronjob", "cj", "--schedule=*/5 * * * *", "--image=busybox"}, "cronjob.batch/cj"},
		"ingress":     {[]string{"ingress", "i", "--rule=a.example.com/=web:80"}, "ingress.networking.k8s.io/i"},
		"quota":       {[]string{"quota", "q", "--hard=pods=1"}, "resourcequota/q"},
		"budget":      {[]string{"pdb", "p", "--selector=a=b", "--min-available=1"}, "poddisruptionbudget.policy/p"},
		"account":     {[]string{"serviceaccount", "robot"}, "serviceaccount/robot"},
		"role":        {[]string{"role", "r", "--verb=get", "--resource=pods"}, "role.rbac.authorization.k8s.io/r"},
		"binding":     {[]string{"rolebinding", "rb", "--role=r", "--serviceaccount=default:robot"}, "rolebinding.rbac.authorization.k8s.io/rb"},
		"clusterrole": {[]string{"clusterrole", "cr", "--verb=get", "--resource=nodes"}, "clusterrole.rbac.authorization.k8s.io/cr"},
		"priority":    {[]string{"priorityclass", "high", "--value=1000"}, "priorityclass.scheduling.k8s.io/high"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tt.want+" created\n", u.do(append([]string{"create"}, tt.args...)...))
			require.Equal(t, tt.want+"\n", u.do("get", tt.want, "-o", "name"))
		})
	}
}

func TestCreateConfigMapFromLiteral(t *testing.T) {
	u := newUser(t)
	require.Equal(t, "configmap/greeting created\n", u.do("create", "configmap", "greeting", "--from-literal=hello=world"))
	require.Equal(t, "world", u.do("get", "configmap", "greeting", "-o", "jsonpath={.data.hello}"))
	require.Equal(t, "error: failed to create configmap: configmaps \"greeting\" already exists\n",
		u.doRefused("create", "configmap", "greeting", "--from-literal=hello=world"))
}

func TestRunAndExposeAPod(t *testing.T) {
	u := newUser(t)
	require.Equal(t, "pod/web created\n", u.do("run", "web", "--image=nginx", "--port=80"))
	require.Equal(t, "service/web exposed\n", u.do("expose", "pod", "web"))
	require.Equal(t, "map[run:web] 80", u.do("get", "service", "web", "-o",
		"go-template={{.spec.selector}} {{(index .spec.ports 0).port}}"))
}

func TestCreateGeneratesAName(t *testing.T) {
	u := newUser(t)
	cm := "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: run-}\n"
	require.Regexp(t, `^configmap/run-[a-z0-9]{5} created\n$`, u.doWith(cm, "create", "-f", "-"))
	require.Regexp(t, `^configmap/run-[a-z0-9]{5}\n$`, u.do("get", "configmaps", "-o", "name"))
}
