package kubectl_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPIResourcesListsWhatIsServed(t *testing.T) {
	u := newUser(t)
	rows := columns(u.do("api-resources"), 5)
	require.Equal(t, []string{"NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"}, rows[0])
	for _, want := range [][]string{
		{"configmaps", "cm", "v1", "true", "ConfigMap"},
		{"namespaces", "ns", "v1", "false", "Namespace"},
		{"secrets", "v1", "true", "Secret"},
		{"deployments", "deploy", "apps/v1", "true", "Deployment"},
		{"horizontalpodautoscalers", "hpa", "autoscaling/v2", "true", "HorizontalPodAutoscaler"},
		{"cronjobs", "cj", "batch/v1", "true", "CronJob"},
		{"leases", "coordination.k8s.io/v1", "true", "Lease"},
		{"ingresses", "ing", "networking.k8s.io/v1", "true", "Ingress"},
		{"poddisruptionbudgets", "pdb", "policy/v1", "true", "PodDisruptionBudget"},
		{"clusterroles", "rbac.authorization.k8s.io/v1", "false", "ClusterRole"},
		{"storageclasses", "sc", "storage.k8s.io/v1", "false", "StorageClass"},
	} {
		require.Contains(t, rows, want)
	}

	require.Equal(t, [][]string{{"cronjobs.batch"}, {"jobs.batch"}},
		columns(u.do("api-resources", "--api-group=batch", "-o", "name"), 1))
	wide := columns(u.do("api-resources", "--api-group=apps", "--categories=all", "-o", "wide", "--no-headers"), 7)
	require.Contains(t, wide, []string{"deployments", "deploy", "apps/v1", "true", "Deployment",
		"create,delete,deletecollection,get,list,patch,update,watch", "all"})
}

func TestAPIVersionsListsGroupsAndVersions(t *testing.T) {
	u := newUser(t)
	out := columns(u.do("api-versions"), 1)
	for _, want := range []string{"v1", "apps/v1", "autoscaling/v1", "autoscaling/v2", "batch/v1", "coordination.k8s.io/v1",
		"events.k8s.io/v1", "networking.k8s.io/v1", "policy/v1", "rbac.authorization.k8s.io/v1", "storage.k8s.io/v1"} {
		require.Contains(t, out, []string{want})
	}
}

// kubectl warns on standard error when the difference between its version and the server's is too
// large.
func TestVersionOfTheServer(t *testing.T) {
	u := newUser(t)
	require.Equal(t, [][]string{
		{"Client", "Version:", "v1.37.2"},
		{"Kustomize", "Version:", "v5.8.1"},
		{"Server", "Version:", "v1.37.2"},
	}, columns(u.do("version"), 3))
}

func TestClusterInfoNamesTheServer(t *testing.T) {
	u := newUser(t)
	require.Equal(t, "Kubernetes control plane is running at "+u.srv.URL()+"\n\n"+
		"To further debug and diagnose cluster problems, use 'kubectl cluster-info dump'.\n", u.do("cluster-info"))
}

func TestServerIsHealthy(t *testing.T) {
	u := newUser(t)
	require.Equal(t, "ok", u.do("get", "--raw", "/readyz"))
	require.Contains(t, u.do("get", "--raw", "/readyz?verbose"), "\nreadyz check passed\n")
}

// kubectl get --raw requests a path.
func TestRawPaths(t *testing.T) {
	u := newUser(t)
	require.Equal(t, "ok", u.do("get", "--raw", "/readyz"))
	require.Equal(t, "[+]ping ok\n[+]log ok\n[+]etcd excluded: ok\nlivez check passed\n", u.do("get", "--raw", "/livez?verbose&exclude=etcd"))
	require.Contains(t, u.do("get", "--raw", "/version"), `"gitVersion": "v1.37.2"`)
	require.Contains(t, u.do("get", "--raw", "/apis/apps"), `{"kind":"APIGroup","apiVersion":"v1","name":"apps"`)
	require.Contains(t, u.do("get", "--raw", "/metrics"), `apiserver_request_total{code="200",component="",dry_run="",group="",resource="",scope="",subresource="/apis",verb="GET",version=""} 1`+"\n")
	require.Contains(t, u.do("get", "--raw", "/"), `"/apis/apps/v1",`)
}
