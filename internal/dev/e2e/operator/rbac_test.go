package operator_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/fake/access"
	"example.com/fakeapi/internal/dev/e2e/internal/poll"
	hostingv1 "example.com/fakeapi/internal/dev/e2e/operator/api/v1"
)

// manifests returns the manifests of the operator in config/rbac. In the given file, old is
// replaced by new, unless file is "".
func manifests(t *testing.T, file, old, new string) fs.FS {
	t.Helper()
	dir := filepath.Join("config", "rbac")
	if file == "" {
		return os.DirFS(dir)
	}
	edited := fstest.MapFS{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		require.NoError(t, err)
		edited[entry.Name()] = &fstest.MapFile{Data: data}
	}
	data := string(edited[file].Data)
	require.Contains(t, data, old)
	edited[file].Data = []byte(strings.Replace(data, old, new, 1))
	return edited
}

// failures is a fakeapi.TB that keeps the failures of a test.
type failures struct{ texts []string }

func (f *failures) Helper()        {}
func (f *failures) Cleanup(func()) {}
func (f *failures) Errorf(format string, args ...any) {
	f.texts = append(f.texts, fmt.Sprintf(format, args...))
}
func (f *failures) Fatalf(format string, args ...any) { f.Errorf(format, args...) }

// account is the service account of the operator in its manifests, administrator another user.
const (
	account       = "system/controller-manager"
	administrator = "operator-administrator"
)

// startWithRBAC returns a server that authorizes by the given manifests, and a configuration of the
// operator's service account.
func startWithRBAC(t *testing.T, files fs.FS) (*fakeapi.Server, *rest.Config) {
	t.Helper()
	srv := fakeapi.Start(t, fakeapi.WithRBAC(), fakeapi.WithManifests(files))
	config, err := srv.RESTConfigForServiceAccount("system", "controller-manager")
	require.NoError(t, err)
	return srv, config
}

// startWithoutRBAC returns a server that allows everything, and a configuration of an
// administrator, as whom the operator runs.
func startWithoutRBAC(t *testing.T) (*fakeapi.Server, *rest.Config) {
	t.Helper()
	srv := fakeapi.Start(t, fakeapi.WithClientCA())
	config, err := srv.RESTConfigWithCertificate(administrator, "system:masters")
	require.NoError(t, err)
	return srv, config
}

// runOperator runs the operator with a configuration, with the election of a leader and with
// metrics that need authorization. It returns a testEnv of the administrator, and a function that
// returns the address of the metrics, "" until they are served.
func runOperator(t *testing.T, srv *fakeapi.Server, config *rest.Config) (*testEnv, func() string) {
	t.Helper()
	b := newTestEnv(t, srv.RESTConfig())
	b.install()
	operator := *b
	operator.config = config
	mgr := operator.manage(func(o *ctrl.Options) {
		o.LeaderElection, o.LeaderElectionID, o.LeaderElectionNamespace = true, "site-operator", metav1.NamespaceDefault
	})
	metrics, err := metricsserver.NewServer(metricsserver.Options{
		BindAddress: "127.0.0.1:0", FilterProvider: filters.WithAuthenticationAndAuthorization,
	}, config, mgr.GetHTTPClient())
	require.NoError(t, err)
	require.NoError(t, mgr.Add(metrics))
	b.runInBackground(mgr.Start)
	return b, metrics.(interface{ GetBindAddr() string }).GetBindAddr
}

// exercise makes the operator use all its permissions: it creates, changes and deletes a site, and
// reads the metrics with the credentials of config.
func (b *testEnv) exercise(address func() string, config *rest.Config) {
	t := b.t
	site := b.create("web", func(s *hostingv1.Site) {
		s.Spec.Hosts, s.Spec.Replicas = []string{"www.example.com"}, new(int32(0))
	})
	b.requireStatus(site, metav1.ConditionTrue, "0 of 0 pods are ready")
	b.hasEvents(site, "Claimed", "PodsReady")

	before := site.DeepCopy()
	site.Spec.Hosts, site.Spec.Ports = append(site.Spec.Hosts, "example.com"), append(site.Spec.Ports, hostingv1.Port{Name: "metrics", Port: 9090})
	require.NoError(t, b.Patch(t.Context(), site, client.MergeFrom(before)))
	b.requireStatus(site, metav1.ConditionTrue, "0 of 0 pods are ready")
	code, _ := scrape(t, address, config)
	require.Equal(t, http.StatusOK, code)

	claim := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "web-hosts"}}
	require.NoError(t, b.Delete(t.Context(), site))
	poll.UntilNoError(t, func(ctx context.Context) error {
		return errors.Join(b.checkNotFound(ctx, site), b.checkNotFound(ctx, claim))
	})
}

// scrape reads the metrics with the token of a configuration, and returns the status and the body.
func scrape(t *testing.T, address func() string, config *rest.Config) (int, string) {
	t.Helper()
	poll.Until(t, "the metrics to be served", func() bool { return address() != "" })
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address()+"/metrics", nil)
	require.NoError(t, err)
	if config.BearerToken != "" {
		request.Header.Set("Authorization", "Bearer "+config.BearerToken)
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(body)
}

// metricsReader returns a configuration of a service account that is bound to the ClusterRole
// metrics-reader of the manifests.
func (b *testEnv) metricsReader(srv *fakeapi.Server) *rest.Config {
	b.t.Helper()
	reader := b.serviceAccount(srv, "reader")
	require.NoError(b.t, b.Create(b.t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: b.namespace, Name: "reader"}},
	}))
	return reader
}

// serviceAccount creates a service account and returns its configuration.
func (b *testEnv) serviceAccount(srv *fakeapi.Server, name string) *rest.Config {
	b.t.Helper()
	require.NoError(b.t, b.Create(b.t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name}}))
	config, err := srv.RESTConfigForServiceAccount(b.namespace, name)
	require.NoError(b.t, err)
	return config
}

// The manifests of the operator have the rules that it needs, and no others. As its service account
// it works, and none of its requests is denied.
func TestManifestsOfServiceAccount(t *testing.T) {
	srv, config := startWithRBAC(t, manifests(t, "", "", ""))
	b, metrics := runOperator(t, srv, config)
	b.exercise(metrics, b.metricsReader(srv))
	b.waitForLeaderEvent()
	requireNothingMore(t, srv, account)
	for _, a := range srv.Access().Of(account).Accesses {
		require.Zero(t, a.Denied, "%s %s", a.Verb, a.Resource)
	}
}

// Run as an administrator of a server that allows everything, the operator needs the same rules.
func TestManifestsOfAdministrator(t *testing.T) {
	srv, config := startWithoutRBAC(t)
	b, metrics := runOperator(t, srv, config)
	b.exercise(metrics, b.serviceAccount(srv, "reader"))
	b.waitForLeaderEvent()
	requireNothingMore(t, srv, administrator)

	for _, test := range missingVerbs() {
		var f failures
		fakeapi.RequireRBAC(&f, srv, manifests(t, test.file, test.old, test.new), administrator)
		require.Len(t, f.texts, 1, test.old)
		require.Regexp(t, "^"+test.failure(administrator, administrator)+"$", f.texts[0])
	}
	var f failures
	fakeapi.RequireRBAC(&f, srv, manifests(t, "role.yaml", "  - configmaps\n", "  - configmaps\n  - secrets\n"), administrator, fakeapi.AndNothingMore())
	require.Len(t, f.texts, 1)
	require.Contains(t, f.texts[0], "\nrole.yaml: ClusterRole manager-role: list, watch, create, update, delete of secrets")
}

// requireNothingMore checks that the manifests have what a client needed and nothing else, except
// the verb for an event that occurs again for the same version of a site: this depends on the
// timing of the operator.
func requireNothingMore(t *testing.T, srv *fakeapi.Server, client string) {
	t.Helper()
	fakeapi.RequireRBAC(t, srv, manifests(t, "", "", ""), client)
	var f failures
	fakeapi.RequireRBAC(&f, srv, manifests(t, "", "", ""), client, fakeapi.AndNothingMore())
	if slices.ContainsFunc(srv.Access().Of(client).Accesses, func(a access.Access) bool { return a.Verb == "patch" && a.Resource == "events" }) {
		require.Empty(t, f.texts)
		return
	}
	require.Equal(t, []string{"fakeapi: RequireRBAC: the manifests have one rule that " + client + " does not use\n\n" +
		"Not used, of ServiceAccount system/controller-manager:\n\nrole.yaml: ClusterRole manager-role: patch of events.events.k8s.io"}, f.texts)
}

// Without one verb the service account is denied a request, and the failure has the rule and the
// request.
func TestManifestsWithoutAVerb(t *testing.T) {
	for _, test := range missingVerbs() {
		t.Run(test.verb+" "+test.resource, func(t *testing.T) {
			files := manifests(t, test.file, test.old, test.new)
			srv, config := startWithRBAC(t, files)
			b, _ := runOperator(t, srv, config)
			b.create("web", func(s *hostingv1.Site) { s.Spec.Replicas = new(int32(0)) })
			poll.Until(t, "a request to be denied", func() bool { return isDenied(srv, test.verb, test.resource) })

			var f failures
			fakeapi.RequireRBAC(&f, srv, files, account)
			require.Len(t, f.texts, 1)
			require.Regexp(t, "^"+test.failure(account, "system:serviceaccount:system:controller-manager")+"$", f.texts[0])
		})
	}
}

// isDenied reports whether a request of the operator's service account was denied.
func isDenied(srv *fakeapi.Server, verb, resource string) bool {
	return slices.ContainsFunc(srv.Access().Of(account).Accesses, func(a access.Access) bool {
		return a.Denied > 0 && a.Verb == verb && path.Join(a.Resource, a.Subresource) == resource
	})
}

// missingVerb is a change of a manifest that removes a verb, and what the operator then lacks.
type missingVerb struct {
	file, old, new              string
	role, group, resource, verb string
	request, userAgent, marker  string
}

func missingVerbs() []missingVerb {
	return []missingVerb{
		{
			file: "role.yaml", old: "  - list\n  - patch\n  - watch\n", new: "  - list\n  - watch\n",
			role: "ClusterRole manager-role", group: "apps", resource: "deployments", verb: "patch",
			request: "PATCH /apis/apps/v1/namespaces/operator-[a-z0-9]+/deployments/web", userAgent: `operator\.test/`,
			marker: "groups=apps,resources=deployments,verbs=patch",
		},
		{
			file: "role.yaml", old: "  - sites/status\n  verbs:\n  - patch\n", new: "  - sites/status\n  verbs:\n  - get\n",
			role: "ClusterRole manager-role", group: "hosting.example.com", resource: "sites/status", verb: "patch",
			request: "PATCH /apis/hosting.example.com/v1/namespaces/operator-[a-z0-9]+/sites/web/status", userAgent: `operator\.test/`,
			marker: "groups=hosting.example.com,resources=sites/status,verbs=patch",
		},
		{
			file: "leader_election_role.yaml", old: "  - get\n  - create\n", new: "  - get\n",
			role: "Role leader-election-role", group: "coordination.k8s.io", resource: "leases", verb: "create",
			request: "POST /apis/coordination.k8s.io/v1/namespaces/default/leases", userAgent: `operator\.test/`,
		},
	}
}

// failure returns a regular expression of the failure of RequireRBAC.
func (m missingVerb) failure(client, user string) string {
	text := "fakeapi: RequireRBAC: the manifests lack one rule that " + client + " needs\n\n" +
		"Missing, for ServiceAccount system/controller-manager:\n\n" + m.file + ": add to " + m.role + ":\n\n" +
		"- apiGroups:\n  - " + m.group + "\n  resources:\n  - " + m.resource + "\n  verbs:\n  - " + m.verb + "\n\n"
	if m.marker != "" {
		text += "or, if controller-gen generates the file:\n\n// \\+kubebuilder:rbac:" + m.marker + "\n\n"
	}
	return text + `first needed by #\d+ ` + m.request + `(\?\S+)? \(` + m.verb + `\) of ` + m.userAgent + `\S+ as ` + user + `(\nthen by .*)*`
}

// waitForLeaderEvent waits for the event that the operator leads, which is not sent before the
// lease is written.
func (b *testEnv) waitForLeaderEvent() {
	b.t.Helper()
	poll.UntilNoError(b.t, func(ctx context.Context) error {
		var events corev1.EventList
		if err := b.List(ctx, &events, client.InNamespace(metav1.NamespaceDefault)); err != nil {
			return err
		}
		for i := range events.Items {
			if events.Items[i].Reason == "LeaderElection" {
				return nil
			}
		}
		return fmt.Errorf("there is no event of the election in %d events", len(events.Items))
	})
}

// The metrics of a manager are served to those whose token is valid and who have the permission for
// the path, as metrics/filters of controller-runtime asks the server.
func TestMetricsNeedAuthorization(t *testing.T) {
	srv, config := startWithRBAC(t, manifests(t, "", "", ""))
	b, metrics := runOperator(t, srv, config)
	reader, other := b.metricsReader(srv), b.serviceAccount(srv, "other")

	code, body := scrape(t, metrics, reader)
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, body, "rest_client_requests_total")
	code, body = scrape(t, metrics, other)
	require.Equal(t, http.StatusForbidden, code)
	require.Equal(t, "Authorization denied for user system:serviceaccount:"+b.namespace+":other\n", body)
	code, body = scrape(t, metrics, &rest.Config{})
	require.Equal(t, http.StatusUnauthorized, code)
	require.Equal(t, "Unauthorized\n", body)
	code, body = scrape(t, metrics, &rest.Config{BearerToken: "unknown"})
	require.Equal(t, http.StatusInternalServerError, code, "a review of an unknown token has an error")
	require.Equal(t, "Authentication failed\n", body)
}

// Without the rules for reviews, the manager cannot authenticate or authorize those who read its
// metrics.
func TestMetricsWithoutReviews(t *testing.T) {
	files := manifests(t, "metrics_auth_role_binding.yaml", "name: controller-manager", "name: another")
	srv, config := startWithRBAC(t, files)
	b, metrics := runOperator(t, srv, config)
	code, body := scrape(t, metrics, b.metricsReader(srv))
	require.Equal(t, http.StatusInternalServerError, code)
	require.Equal(t, "Authentication failed\n", body)
	require.True(t, isDenied(srv, "create", "tokenreviews"))

	var f failures
	fakeapi.RequireRBAC(&f, srv, files, account, fakeapi.ForSubject(account))
	require.Len(t, f.texts, 1)
	require.Contains(t, f.texts[0], "  resources:\n  - tokenreviews\n  verbs:\n  - create\n")
	require.Regexp(t, `first needed by #\d+ POST /apis/authentication\.k8s\.io/v1/tokenreviews \(create\) of operator\.test/\S+ as system:serviceaccount:system:controller-manager`, f.texts[0])
}
