package fakeapi_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// With the plugin NodeRestriction a kubelet writes its own Node and its pods only.
func TestNodeRestriction(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithYAML(nodeObjects), fakeapi.WithoutControllers(),
		fakeapi.WithAuthorizationModes(fakeapi.ModeNode, fakeapi.ModeRBAC), fakeapi.WithAdmissionPlugins("NodeRestriction"))
	admin := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1()
	n1, err := admin.Nodes().Get(t.Context(), "n1", metav1.GetOptions{})
	require.NoError(t, err)
	podA, err := admin.Pods("default").Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
	const podPath, nodePath = "/api/v1/namespaces/default/pods", "/api/v1/nodes"
	mirror := func(metadata, spec string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"m","annotations":{"kubernetes.io/config.mirror":"x"}%s},
			"spec":{"nodeName":"n1","containers":[{"name":"c","image":"i"}]%s}}`, metadata, spec)
	}
	owned := fmt.Sprintf(`,"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n1","uid":%q,"controller":true}]`, n1.UID)
	token := func(ref string) string {
		return `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"audiences":["a"],"boundObjectRef":` + ref + `}}`
	}
	const tokenPath = "/api/v1/namespaces/default/serviceaccounts/robot/token"
	config := asNode(t, srv, "n1")
	for _, test := range []struct{ method, path, body, reason string }{
		{"POST", podPath, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},"spec":{"nodeName":"n1","containers":[{"name":"c","image":"i"}]}}`,
			`pods "x" is forbidden: pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods`},
		{"POST", podPath, mirror("", ""), `node "n1" can only create pods with an owner reference set to itself`},
		{"POST", podPath, mirror(owned, `,"serviceAccountName":"robot"`), `node "n1" can not create pods that reference serviceaccounts`},
		{"POST", podPath, mirror(owned, `,"volumes":[{"name":"v","secret":{"secretName":"s"}}]`), `node "n1" can not create pods that reference secrets`},
		{"POST", podPath, mirror(owned, `,"volumes":[{"name":"v","ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1"}}}}}}]`),
			`node "n1" can not create pods that reference persistentvolumeclaims (via ephemeral volumes)`},
		{"POST", podPath, mirror(owned, `,"volumes":[{"name":"v","csi":{"driver":"csi.example.com"}}]`), `node "n1" can not create pods that reference csidrivers (via CSI volumes)`},
		{"POST", podPath, mirror(owned, `,"volumes":[{"name":"v","projected":{"sources":[{"serviceAccountToken":{"path":"t"}}]}}]`),
			`node "n1" can not create pods that reference serviceaccounts (via projected volumes)`},
		{"POST", podPath, mirror(owned, ""), ""},
		{"DELETE", podPath + "/m", "", ""},
		{"DELETE", podPath + "/b", "", `node "n1" can only delete pods with spec.nodeName set to itself`},
		{"PATCH", podPath + "/b/status", `{"status":{"phase":"Running"}}`, `node "n1" can only update pod status for pods with spec.nodeName set to itself`},
		{"PATCH", podPath + "/a/status", `{"metadata":{"labels":{"a":"b"}}}`, `node "n1" cannot update labels through pod status`},
		{"PATCH", podPath + "/a/status", `{"status":{"phase":"Running"}}`, ""},
		{"PATCH", podPath + "/a/status", `{"status":{"nodeAllocatableResourceClaimStatuses":[{"resourceClaimName":"c"}]}}`,
			`node "n1" cannot update node allocatable resource claim statuses`},
		{"PATCH", nodePath + "/n2", `{"metadata":{"labels":{"a":"b"}}}`, `node "n1" is not allowed to modify node "n2"`},
		{"PATCH", nodePath + "/n1", `{"metadata":{"labels":{"a":"b","kubernetes.io/hostname":"n1","node.kubernetes.io/x":"y"}}}`, ""},
		{"PATCH", nodePath + "/n1", `{"metadata":{"labels":{"x.node-restriction.kubernetes.io/y":"b","k8s.io/role":"c"}}}`,
			`is not allowed to modify labels: k8s.io/role, x.node-restriction.kubernetes.io/y`},
		{"PATCH", nodePath + "/n1", `{"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}}`, `node "n1" is not allowed to modify taints`},
		{"POST", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", `{"metadata":{"name":"n2"}}`,
			`can only access node lease with the same name as the requesting node`},
		{"POST", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", `{"metadata":{"name":"n1"}}`, ""},
		{"POST", "/apis/storage.k8s.io/v1/csinodes", `{"metadata":{"name":"n2"},"spec":{"drivers":[]}}`,
			`can only access CSINode with the same name as the requesting node`},
		{"POST", tokenPath, `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest"}`, `node requested token not bound to a pod`},
		{"POST", tokenPath, token(`{"apiVersion":"v1","kind":"Pod","name":"a"}`), `node requested token with a pod binding without a uid`},
		{"POST", tokenPath, token(fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","name":"a","uid":%q}`, podA.UID)), `error validating audience "a": csidriver.storage.k8s.io "csi.example.com" not found`},
		{"PATCH", "/api/v1/namespaces/default/persistentvolumeclaims/claim/status", `{"status":{"phase":"Lost"}}`,
			`node "n1" is not allowed to update fields other than status.quantity and status.conditions`},
		{"PATCH", "/api/v1/namespaces/default/persistentvolumeclaims/claim/status", `{"status":{"capacity":{"storage":"2Gi"}}}`, ""},
	} {
		r := kubernetes.NewForConfigOrDie(config).RESTClient().Verb(test.method).AbsPath(test.path).Body([]byte(test.body)).SetHeader("Content-Type", "application/json")
		if test.method == http.MethodPatch {
			r.SetHeader("Content-Type", "application/merge-patch+json")
		}
		err := r.Do(t.Context()).Error()
		if test.reason == "" {
			require.NoError(t, err, "%s %s %s", test.method, test.path, test.body)
			continue
		}
		require.True(t, apierrors.IsForbidden(err), "%s %s %s: %v", test.method, test.path, test.body, err)
		require.ErrorContains(t, err, test.reason)
	}
	// A token for an audience that no volume needs takes a permission for the audience and the
	// account.
	_, err = kubernetes.NewForConfigOrDie(srv.RESTConfig()).StorageV1().CSIDrivers().Create(t.Context(), &storagev1.CSIDriver{
		ObjectMeta: metav1.ObjectMeta{Name: "csi.example.com"}, Spec: storagev1.CSIDriverSpec{TokenRequests: []storagev1.TokenRequest{{Audience: "driver"}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	request := func(audience string) error {
		_, err := kubernetes.NewForConfigOrDie(config).CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "robot", &authenticationv1.TokenRequest{
			Spec: authenticationv1.TokenRequestSpec{
				Audiences:      []string{audience},
				BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: "a", UID: podA.UID},
			},
		}, metav1.CreateOptions{})
		return err
	}
	require.NoError(t, request("driver"))
	require.EqualError(t, request("a"), `serviceaccounts "robot" is forbidden: system:node:n1 is not authorized to request tokens for audience "a"`)
	roles := kubernetes.NewForConfigOrDie(srv.RESTConfig()).RbacV1()
	_, err = roles.Roles("default").Create(t.Context(), &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "audience"}, Rules: []rbacv1.PolicyRule{
		{Verbs: []string{"request-serviceaccounts-token-audience"}, APIGroups: []string{""}, Resources: []string{"a"}, ResourceNames: []string{"robot"}},
	}}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = roles.RoleBindings("default").Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "audience"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "audience"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:nodes"}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, request("a"))
	require.ErrorContains(t, request("b"), `system:node:n1 is not authorized to request tokens for audience "b"`)

	// Other users are not restricted.
	_, err = admin.Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n3", Labels: map[string]string{"k8s.io/role": "x"}}}, metav1.CreateOptions{})
	require.NoError(t, err)
}

// A kubelet that may delete collections deletes no pods with one, also not those of its node.
func TestNodeDeletesNoCollectionOfPods(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithYAML(nodeObjects), fakeapi.WithoutControllers(), fakeapi.WithClientCA(),
		fakeapi.WithAuthorizationModes(fakeapi.ModeAlwaysAllow), fakeapi.WithAdmissionPlugins("NodeRestriction"))
	pods := kubernetes.NewForConfigOrDie(asNode(t, srv, "n1")).CoreV1().Pods("default")
	before, err := pods.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.NotEmpty(t, before.Items)
	require.NoError(t, pods.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	after, err := pods.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Equal(t, before.Items, after.Items)
	require.NoError(t, pods.Delete(t.Context(), "a", metav1.DeleteOptions{}))
}
