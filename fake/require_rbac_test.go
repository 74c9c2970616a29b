package fakeapi_test

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	fakeapi "example.com/fakeapi/fake"
)

// failures is a TB that keeps the failures of a test.
type failures struct{ texts []string }

func (f *failures) Helper()        {}
func (f *failures) Cleanup(func()) {}
func (f *failures) Errorf(format string, args ...any) {
	f.texts = append(f.texts, fmt.Sprintf(format, args...))
}
func (f *failures) Fatalf(format string, args ...any) { f.Errorf(format, args...) }

// requireRBAC returns the failure of RequireRBAC, or "".
func requireRBAC(t *testing.T, srv *fakeapi.Server, manifests fs.FS, client string, opts ...fakeapi.RBACOption) string {
	t.Helper()
	var f failures
	fakeapi.RequireRBAC(&f, srv, manifests, client, opts...)
	require.LessOrEqual(t, len(f.texts), 1)
	return strings.Join(f.texts, "\n")
}

// managerManifests is the directory of manifests of a project in the layout of kubebuilder.
const managerManifests = "access/testdata/config/rbac"

// editedManifests returns managerManifests, in a file of which old, unless that is "", is replaced
// by new.
func editedManifests(t *testing.T, file, old, new string) fs.FS {
	t.Helper()
	edited := fstest.MapFS{}
	entries, err := files.ReadDir(managerManifests)
	require.NoError(t, err)
	for _, entry := range entries {
		text := readFile(t, path.Join(managerManifests, entry.Name()))
		if entry.Name() == file {
			require.Contains(t, text, old)
			text = strings.Replace(text, old, new, 1)
		}
		edited[entry.Name()] = &fstest.MapFile{Data: []byte(text)}
	}
	return edited
}

const managedWidgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: w, namespace: default}
`

// runManager makes the requests of a manager of widgets. It returns the number of those that
// failed.
func runManager(t *testing.T, config *rest.Config) (failed int) {
	t.Helper()
	config = rest.CopyConfig(config)
	config.UserAgent = "manager/v0.0.0 (linux/amd64) kubernetes/$Format"
	client, ctx := kubernetes.NewForConfigOrDie(config), t.Context()
	widgets := dynamic.NewForConfigOrDie(config).Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"})
	do := func(err error) {
		if err != nil {
			failed++
		}
	}
	patch := []byte(`{"status":{"ready":true}}`)

	_, err := client.Discovery().ServerGroups()
	do(err)
	_, err = client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods"}},
	}, metav1.CreateOptions{})
	do(err)
	list, err := widgets.List(ctx, metav1.ListOptions{})
	do(err)
	if err == nil {
		w, err := widgets.Watch(ctx, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
		do(err)
		if err == nil {
			w.Stop()
		}
		_, err = widgets.Namespace("default").Update(ctx, &list.Items[0], metav1.UpdateOptions{})
		do(err)
	}
	_, err = widgets.Namespace("default").Patch(ctx, "w", types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	do(err)
	_ = client.CoreV1().RESTClient().Put().AbsPath("/apis/example.com/v1/namespaces/default/widgets/w/finalizers").
		Body([]byte("{}")).Do(ctx).Error() // there is no such subresource, but a permission for it
	_, err = client.AppsV1().Deployments("default").Create(ctx, newDeployment("w"), metav1.CreateOptions{})
	do(err)
	leases := client.CoordinationV1().Leases("default")
	lease, err := leases.Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "id"}}, metav1.CreateOptions{})
	do(err)
	if err == nil {
		_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
		do(err)
	}
	event := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: "e", Namespace: "default"}, InvolvedObject: corev1.ObjectReference{Namespace: "default"},
	}
	_, err = client.CoreV1().Events("default").Create(ctx, event, metav1.CreateOptions{})
	do(err)
	_, err = client.CoreV1().Events("default").Patch(ctx, "e", types.MergePatchType, []byte(`{"count":2}`), metav1.PatchOptions{})
	do(err)
	return failed
}

func TestRequireRBAC(t *testing.T) {
	for name, test := range map[string]struct{ file, old, new, want string }{
		"nothing is missing": {},
		"finalizers": {
			"role.yaml", "  - widgets/finalizers\n", "  - widgets/unused\n",
			`fakeapi: RequireRBAC: the manifests lack one rule that manager needs

Missing, for ServiceAccount system/controller-manager:

role.yaml: add to ClusterRole manager-role:

- apiGroups:
  - example.com
  resources:
  - widgets/finalizers
  verbs:
  - update

or, if controller-gen generates the file:

// +kubebuilder:rbac:groups=example.com,resources=widgets/finalizers,verbs=update

first needed by #8 PUT /apis/example.com/v1/namespaces/default/widgets/w/finalizers (update) of manager/v0.0.0 as USER`,
		},
		"events": {
			"leader_election_role.yaml", "  - create\n  - patch\n", "  - create\n",
			`fakeapi: RequireRBAC: the manifests lack one rule that manager needs

Missing, for ServiceAccount system/controller-manager:

leader_election_role.yaml: add to Role leader-election-role:

- apiGroups:
  - ""
  resources:
  - events
  verbs:
  - patch

first needed by #13 PATCH /api/v1/namespaces/default/events/e (patch) of manager/v0.0.0 as USER`,
		},
		"leases": {
			"leader_election_role.yaml", "  - coordination.k8s.io\n", "  - coordination\n",
			`fakeapi: RequireRBAC: the manifests lack one rule that manager needs

Missing, for ServiceAccount system/controller-manager:

role.yaml: add to ClusterRole manager-role:

- apiGroups:
  - coordination.k8s.io
  resources:
  - leases
  verbs:
  - create
  - update

or, if controller-gen generates the file:

// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=create;update

first needed by #10 POST /apis/coordination.k8s.io/v1/namespaces/default/leases (create) of manager/v0.0.0 as USER
then by #11 PUT /apis/coordination.k8s.io/v1/namespaces/default/leases/id (update) of manager/v0.0.0 as USER`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			manifests := editedManifests(t, test.file, test.old, test.new)

			srv := fakeapi.Start(t, fakeapi.WithYAML(managedWidgets))
			require.Zero(t, runManager(t, srv.RESTConfig()))
			require.Equal(t, strings.ReplaceAll(test.want, "USER", "system:admin"), requireRBAC(t, srv, manifests, "manager"))

			srv = fakeapi.Start(t, fakeapi.WithRBAC(), fakeapi.WithYAML(managedWidgets), fakeapi.WithManifests(manifests))
			account, err := srv.RESTConfigForServiceAccount("system", "controller-manager")
			require.NoError(t, err)
			failed := runManager(t, account)
			require.Equal(t, name == "events" || name == "leases", failed > 0)
			got := requireRBAC(t, srv, manifests, "manager")
			if name != "leases" { // it does not update a lease that it could not create
				require.Equal(t, strings.ReplaceAll(test.want, "USER", "system:serviceaccount:system:controller-manager"), got)
			}
			require.Equal(t, test.want == "", got == "", got)
			require.Equal(t, got, strings.ReplaceAll(requireRBAC(t, srv, manifests, "system/controller-manager"), "that system/controller-manager needs", "that manager needs"))
		})
	}
}

func TestRequireRBACAndNothingMore(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithYAML(managedWidgets))
	require.Zero(t, runManager(t, srv.RESTConfig()))
	got := requireRBAC(t, srv, editedManifests(t, "role.yaml", "  - create\n  - delete\n  - get\n  - list\n  - patch\n  - update\n  - watch\n- apiGroups:\n  - example.com\n", "  - '*'\n- apiGroups:\n  - example.com\n"), "manager", fakeapi.AndNothingMore())
	require.Equal(t, `fakeapi: RequireRBAC: the manifests have 7 rules that manager does not use

Not used, of ServiceAccount system/controller-manager:

leader_election_role.yaml: Role leader-election-role: get, list, watch, create, update, patch, delete of configmaps
leader_election_role.yaml: Role leader-election-role: get, list, watch, patch, delete of leases.coordination.k8s.io
metrics_auth_role.yaml: ClusterRole metrics-auth-role: create of tokenreviews.authentication.k8s.io
metrics_auth_role.yaml: ClusterRole metrics-auth-role: create of subjectaccessreviews.authorization.k8s.io
role.yaml: ClusterRole manager-role: * of deployments.apps: used are create of deployments.apps
role.yaml: ClusterRole manager-role: get, create, patch, delete of widgets.example.com
role.yaml: ClusterRole manager-role: get, update of widgets.example.com/status`, got)
}

// The manifests that a report writes are what the client needs: a server that has them allows its
// requests, and nothing of them is missing or unused.
func TestRequireRBACOfWrittenManifests(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithYAML(managedWidgets))
	require.Zero(t, runManager(t, srv.RESTConfig()))
	var text strings.Builder
	require.NoError(t, srv.Access().Of("manager").WriteManifests(&text, "controller", "own"))
	written := fstest.MapFS{"rbac.yaml": {Data: []byte(text.String())}}
	require.Empty(t, requireRBAC(t, srv, written, "manager", fakeapi.AndNothingMore()))

	srv = fakeapi.Start(t, fakeapi.WithRBAC(), fakeapi.WithYAML(managedWidgets), fakeapi.WithManifests(written))
	account, err := srv.RESTConfigForServiceAccount("own", "controller")
	require.NoError(t, err)
	require.Zero(t, runManager(t, account))
	require.Empty(t, requireRBAC(t, srv, written, "manager", fakeapi.AndNothingMore()))
}

func TestRequireRBACOptions(t *testing.T) {
	srv := fakeapi.Start(t)
	client := clientOf(srv.RESTConfig(), "tool/v1")
	_, err := client.CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	_, err = client.CoreV1().Secrets("other").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)

	const role = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: r}
rules: [{apiGroups: [""], resources: [secrets], verbs: [list]}]
`
	const binding = `---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: b}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
subjects: [{kind: ServiceAccount, name: a}, {apiGroup: rbac.authorization.k8s.io, kind: User, name: ann}]
`
	manifests := func(text string) fs.FS { return fstest.MapFS{"rbac.yaml": {Data: []byte(text)}} }
	require.Empty(t, requireRBAC(t, srv, manifests(role), "tool"))
	require.Empty(t, requireRBAC(t, srv, manifests(role), "", fakeapi.AndNothingMore()))
	require.Contains(t, requireRBAC(t, srv, manifests(role), "tool", fakeapi.InNamespace("default")),
		"RequireRBAC: the manifests lack one rule that tool needs\n\nMissing, for all roles:\n\nadd to a new Role in namespace other, with a RoleBinding:\n")
	require.Equal(t, "fakeapi: RequireRBAC: access: which subject is the client? The manifests bind roles to ServiceAccount a, User ann; use ForSubject",
		requireRBAC(t, srv, manifests(role+binding), "tool"))
	require.Empty(t, requireRBAC(t, srv, manifests(role+binding), "tool", fakeapi.ForSubject("ann")))
	require.Empty(t, requireRBAC(t, srv, manifests(role+binding), "tool", fakeapi.ForSubject("system:serviceaccount:default:a"), fakeapi.AndNothingMore()))
}

// A name that is not granted is not that of the first request for the resource.
func TestRequireRBACFindsTheRequestForAName(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithObjects(configMap("a", "1"), configMap("b", "1")))
	client := clientOf(srv.RESTConfig(), "tool/v1")
	for _, name := range []string{"a", "a", "b"} {
		_, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), name, metav1.GetOptions{})
		require.NoError(t, err)
	}
	manifests := fstest.MapFS{"rbac.yaml": {Data: []byte("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r}\n" +
		"rules: [{apiGroups: [\"\"], resources: [configmaps], verbs: [get], resourceNames: [a]}]")}}
	require.Contains(t, requireRBAC(t, srv, manifests, "tool"),
		"  resourceNames:\n  - b\n  resources:\n  - configmaps\n  verbs:\n  - get\n\nfirst needed by #3 GET /api/v1/namespaces/default/configmaps/b (get) of tool/v1 as system:admin")
}

// Requests that are denied need their rules too, and roles that the client creates need what they
// grant.
func TestRequireRBACOfRefusedRequests(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithRBAC())
	const roles = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: r}
rules: [{apiGroups: [rbac.authorization.k8s.io], resources: [roles], verbs: [create]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: b}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: r}
subjects: [{kind: ServiceAccount, namespace: default, name: a}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: a, namespace: default}
`
	require.NoError(t, srv.LoadYAML(roles))
	account, err := srv.RESTConfigForServiceAccount("default", "a")
	require.NoError(t, err)
	client := clientOf(account, "tool/v1")
	_, err = client.CoreV1().Secrets("default").Get(t.Context(), "s", metav1.GetOptions{})
	require.True(t, apierrors.IsForbidden(err), err)
	_, err = client.RbacV1().Roles("default").Create(t.Context(), &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "r"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}},
	}, metav1.CreateOptions{})
	require.True(t, apierrors.IsForbidden(err), err)
	got := requireRBAC(t, srv, fstest.MapFS{"rbac.yaml": {Data: []byte(roles)}}, "tool")
	require.Contains(t, got, "lack 2 rules")
	require.Contains(t, got, "  resources:\n  - secrets\n  verbs:\n  - get\n")
	require.Contains(t, got, "  - escalate\n\nor the rules that are granted, which would allow it as well:\n\n- apiGroups:\n  - \"\"\n  resources:\n  - pods\n  verbs:\n  - get\n")
}

func TestRequireRBACWithoutRequests(t *testing.T) {
	srv := fakeapi.Start(t)
	manifests := filesIn(t, managerManifests)
	require.Equal(t, "fakeapi: RequireRBAC: the server received no requests", requireRBAC(t, srv, manifests, "manager"))
	for n := range 12 {
		get(t, clientOf(srv.RESTConfig(), fmt.Sprintf("tool-%02d", n)))
	}
	require.Regexp(t, `^fakeapi: RequireRBAC: "manager" made no requests; the clients that did are "tool-00" as system:admin, .*"tool-09" as system:admin and 2 more$`, requireRBAC(t, srv, manifests, "manager"))
	require.Contains(t, requireRBAC(t, srv, filesIn(t, "access/testdata/missing"), "tool-01"), "fakeapi: RequireRBAC: access: manifests: ")

	srv = fakeapi.Start(t, fakeapi.WithoutTimeline())
	get(t, kubernetes.NewForConfigOrDie(srv.RESTConfig()))
	require.Equal(t, "fakeapi: RequireRBAC: there is no report of accesses with WithoutTimeline", requireRBAC(t, srv, manifests, "manager"))
}

// get makes a request for Pods.
func get(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	_, err := client.CoreV1().Pods("default").List(context.Background(), metav1.ListOptions{})
	require.NoError(t, err)
}

func TestRequireRBACOfAFullReport(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithoutControllers())
	for n := range 1 << 16 {
		if n%1000 == 0 && srv.Access().Dropped > 0 {
			break
		}
		srv.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, fmt.Sprintf("/apis/%d", n), nil))
	}
	require.Regexp(t, `^fakeapi: RequireRBAC: \d+ requests are not in the report of accesses, because it is full$`,
		requireRBAC(t, srv, filesIn(t, managerManifests), ""))
}
