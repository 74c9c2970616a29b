package fakeapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	fakeapi "example.com/fakeapi/fake"
)

// nodeObjects has a pod on the node n1, one on n2, and what they refer to.
const nodeObjects = `
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: n1}}
- {apiVersion: v1, kind: Node, metadata: {name: n2}}
- {apiVersion: v1, kind: ServiceAccount, metadata: {name: robot}}
- {apiVersion: v1, kind: ServiceAccount, metadata: {name: other}}
- {apiVersion: v1, kind: Secret, metadata: {name: mounted}}
- {apiVersion: v1, kind: Secret, metadata: {name: env}}
- {apiVersion: v1, kind: Secret, metadata: {name: pull}}
- {apiVersion: v1, kind: Secret, metadata: {name: volume}}
- {apiVersion: v1, kind: Secret, metadata: {name: controller}}
- {apiVersion: v1, kind: Secret, metadata: {name: unused}}
- {apiVersion: v1, kind: Secret, metadata: {name: mirrored}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: projected}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: unused}}
- apiVersion: resource.k8s.io/v1
  kind: ResourceSlice
  metadata: {name: own}
  spec: {nodeName: n1, driver: d.example.com, pool: {name: p, resourceSliceCount: 1, generation: 1}}
- apiVersion: resource.k8s.io/v1
  kind: ResourceSlice
  metadata: {name: foreign}
  spec: {nodeName: n2, driver: d.example.com, pool: {name: p, resourceSliceCount: 1, generation: 1}}
- apiVersion: v1
  kind: PersistentVolumeClaim
  metadata: {name: claim}
  spec: {accessModes: [ReadWriteOnce], volumeName: v1, resources: {requests: {storage: 1Gi}}}
- apiVersion: v1
  kind: PersistentVolume
  metadata: {name: v1}
  spec:
    capacity: {storage: 1Gi}
    accessModes: [ReadWriteOnce]
    claimRef: {namespace: default, name: claim}
    csi:
      driver: csi.example.com
      volumeHandle: a
      nodeStageSecretRef: {namespace: default, name: volume}
      controllerPublishSecretRef: {namespace: default, name: controller}
- apiVersion: v1
  kind: Pod
  metadata: {name: a}
  spec:
    nodeName: n1
    serviceAccountName: robot
    imagePullSecrets: [{name: pull}]
    containers:
    - {name: c, image: i, env: [{name: E, valueFrom: {secretKeyRef: {name: env, key: k}}}]}
    volumes:
    - {name: s, secret: {secretName: mounted}}
    - {name: p, projected: {sources: [{configMap: {name: projected}}]}}
    - {name: v, persistentVolumeClaim: {claimName: claim}}
- apiVersion: v1
  kind: Pod
  metadata: {name: b}
  spec: {nodeName: n2, containers: [{name: c, image: i}]}
- apiVersion: v1
  kind: Pod
  metadata: {name: mirror, annotations: {kubernetes.io/config.mirror: x}}
  spec:
    nodeName: n1
    containers: [{name: c, image: i}]
    volumes: [{name: s, secret: {secretName: mirrored}}]
`

// asNode returns a configuration of the kubelet of a node.
func asNode(t *testing.T, srv *fakeapi.Server, node string) *rest.Config {
	t.Helper()
	config, err := srv.RESTConfigWithCertificate("system:node:"+node, "system:nodes")
	require.NoError(t, err)
	return config
}

// requestAs sends a request to a path with a query, and returns its error.
func requestAs(t *testing.T, config *rest.Config, method, path, body string) error {
	t.Helper()
	path, query, _ := strings.Cut(path, "?")
	r := kubernetes.NewForConfigOrDie(config).RESTClient().Verb(method).AbsPath(path).SetHeader("Content-Type", "application/json").Body([]byte(body))
	if key, value, ok := strings.Cut(query, "="); ok {
		r = r.Param(key, value)
	}
	return r.Do(t.Context()).Error()
}

func TestNodeAuthorization(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithYAML(nodeObjects),
		fakeapi.WithAuthorizationModes(fakeapi.ModeNode, fakeapi.ModeRBAC))
	config := asNode(t, srv, "n1")
	const noRelationship = "no relationship found between node 'n1' and this object"
	for _, test := range []struct{ method, path, reason string }{
		{"GET", "/api/v1/namespaces/default/secrets/mounted", ""},
		{"GET", "/api/v1/namespaces/default/secrets/env", ""},
		{"GET", "/api/v1/namespaces/default/secrets/pull", ""},
		{"GET", "/api/v1/namespaces/default/secrets/volume", ""},
		{"GET", "/api/v1/namespaces/default/secrets?fieldSelector=metadata.name=mounted", ""},
		{"GET", "/api/v1/namespaces/default/secrets/controller", noRelationship},
		{"GET", "/api/v1/namespaces/default/secrets/mirrored", noRelationship},
		{"GET", "/api/v1/namespaces/default/secrets/unused", noRelationship},
		{"GET", "/api/v1/namespaces/other/secrets/mounted", noRelationship},
		{"GET", "/api/v1/namespaces/default/secrets", "No Object name found"},
		{"GET", "/api/v1/secrets", "can only read namespaced object of this type"},
		{"DELETE", "/api/v1/namespaces/default/secrets/mounted", "can only read resources of this type"},
		{"GET", "/api/v1/namespaces/default/configmaps/projected", ""},
		{"GET", "/api/v1/namespaces/default/configmaps/unused", noRelationship},
		{"GET", "/api/v1/namespaces/default/persistentvolumeclaims/claim", ""},
		{"GET", "/api/v1/namespaces/default/persistentvolumeclaims", "can only get individual resources of this type"},
		{"GET", "/api/v1/namespaces/default/persistentvolumeclaims/claim/status", "can only get/update/patch this type"},
		{"GET", "/api/v1/persistentvolumes/v1", ""},
		{"GET", "/api/v1/namespaces/default/pods/a", ""},
		{"GET", "/api/v1/namespaces/default/pods/b", noRelationship},
		{"GET", "/api/v1/pods?fieldSelector=spec.nodeName=n1", ""},
		{"GET", "/api/v1/pods?fieldSelector=spec.nodeName=n2", "can only list/watch pods with spec.nodeName field selector"},
		{"PUT", "/api/v1/namespaces/default/pods/a", ": User"},
		{"GET", "/api/v1/nodes/n1", ""},
		{"GET", "/api/v1/nodes/n2", "node 'n1' cannot read 'n2', only its own Node object"},
		{"GET", "/api/v1/nodes", "node 'n1' cannot read all nodes, only its own Node object"},
		{"DELETE", "/api/v1/nodes/n1", ": User"},
		{"GET", "/api/v1/namespaces/default/serviceaccounts/robot", ""},
		{"GET", "/api/v1/namespaces/default/serviceaccounts/other", noRelationship},
		{"DELETE", "/api/v1/namespaces/default/serviceaccounts/robot", "can only create tokens for individual service accounts"},
		{"GET", "/apis/coordination.k8s.io/v1/namespaces/default/leases/n1", `can only access leases in the "kube-node-lease" system namespace`},
		{"GET", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n2", "can only access node lease with the same name as the requesting node"},
		{"GET", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", "can only get, create, update, patch, or delete a node lease"},
		{"GET", "/apis/storage.k8s.io/v1/csinodes/n2", "can only access CSINode with the same name as the requesting node"},
		{"GET", "/apis/storage.k8s.io/v1/csinodes/n1/status", "CSINode status access requires CSIVolumeHealth feature"},
		{"GET", "/apis/storage.k8s.io/v1/csinodes", "can only get, create, update, patch, or delete a CSINode"},
		{"GET", "/apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.nodeName=n1", ""},
		{"GET", "/apis/resource.k8s.io/v1/resourceslices", "can only list/watch/deletecollection resourceslices with nodeName field selector"},
		{"DELETE", "/apis/resource.k8s.io/v1/resourceslices/own", ""},
		{"GET", "/apis/resource.k8s.io/v1/resourceslices/foreign", noRelationship},
		{"GET", "/apis/resource.k8s.io/v1/resourceslices/absent", noRelationship},
		{"GET", "/apis/certificates.k8s.io/v1/podcertificaterequests?fieldSelector=spec.nodeName=n1", ""},
		{"GET", "/apis/certificates.k8s.io/v1/podcertificaterequests", "can only list/watch podcertificaterequests with nodeName field selector"},
		{"GET", "/api/v1/services", ""}, // by the ClusterRole system:node
		{"GET", "/apis/apps/v1/deployments", ": User"},
	} {
		err := requestAs(t, config, test.method, test.path, "{}")
		if test.reason == "" {
			require.NoError(t, err, "%s %s", test.method, test.path)
			continue
		}
		require.True(t, apierrors.IsForbidden(err), "%s %s: %v", test.method, test.path, err)
		require.ErrorContains(t, err, test.reason, "%s %s", test.method, test.path)
	}
	rules, err := kubernetes.NewForConfigOrDie(config).AuthorizationV1().SelfSubjectRulesReviews().Create(t.Context(),
		&authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: "default"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.True(t, rules.Status.Incomplete)
	require.Equal(t, "node authorizer does not support user rule resolution", rules.Status.EvaluationError)
	// What is related follows from the stored objects, also in a fork.
	require.NoError(t, requestAs(t, srv.RESTConfig(), http.MethodDelete, "/api/v1/namespaces/default/pods/a?gracePeriodSeconds=0", ""))
	require.ErrorContains(t, requestAs(t, config, http.MethodGet, "/api/v1/namespaces/default/secrets/volume", ""), noRelationship)
}

// A user of the group without the name of a node, and a name without the group, are no kubelets.
func TestNodeAuthorizationOfOtherUsers(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithYAML(nodeObjects),
		fakeapi.WithAuthorizationModes(fakeapi.ModeNode, fakeapi.ModeRBAC))
	config, err := srv.RESTConfigWithCertificate("system:node:n1")
	require.NoError(t, err)
	require.True(t, apierrors.IsForbidden(requestAs(t, config, http.MethodGet, "/api/v1/nodes/n1", "")))
	config, err = srv.RESTConfigWithCertificate("system:node:", "system:nodes")
	require.NoError(t, err)
	require.ErrorContains(t, requestAs(t, config, http.MethodGet, "/api/v1/nodes/n1", ""), `unknown node for user "system:node:"`)
}
