package fakeapi_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
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
		{"POST", podPath, mirror(owned, `,"serviceAccountName":"robot"`), `node "n1" can not create pods that reference a service account`},
		{"POST", podPath, mirror(owned, `,"volumes":[{"name":"v","secret":{"secretName":"s"}}]`), `node "n1" can not create pods that reference secrets`},
		{"POST", podPath, mirror(owned, ""), ""},
		{"DELETE", podPath + "/m", "", ""},
		{"DELETE", podPath + "/b", "", `node "n1" can only delete pods with spec.nodeName set to itself`},
		{"PATCH", podPath + "/b/status", `{"status":{"phase":"Running"}}`, `node "n1" can only update pod status for pods with spec.nodeName set to itself`},
		{"PATCH", podPath + "/a/status", `{"metadata":{"labels":{"a":"b"}}}`, `node "n1" cannot update labels through pod status`},
		{"PATCH", podPath + "/a/status", `{"status":{"phase":"Running"}}`, ""},
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
		{"POST", tokenPath, token(fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","name":"a","uid":%q}`, podA.UID)), `audience "a" not found in pod spec volume`},
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
	// Other users are not restricted.
	_, err = admin.Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n3", Labels: map[string]string{"k8s.io/role": "x"}}}, metav1.CreateOptions{})
	require.NoError(t, err)
}
