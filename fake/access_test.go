package fakeapi_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/fake/access"
)

// clientOf returns a client with a user agent.
func clientOf(config *rest.Config, agent string) *kubernetes.Clientset {
	config.UserAgent = agent
	return kubernetes.NewForConfigOrDie(config)
}

// requireAccesses compares a report with the accesses of a user with a user agent.
func requireAccesses(t *testing.T, got access.Report, user, agent string, groups []string, want ...access.Access) {
	t.Helper()
	for i := range want {
		want[i].User, want[i].UserAgent, want[i].Groups = user, agent, groups
	}
	require.Empty(t, cmp.Diff(access.Report{Accesses: want}, got))
}

var (
	adminGroups = []string{"system:masters", "system:authenticated"}
	rootToken   = fakeapi.Token{Value: "root", User: "root", Groups: []string{"system:masters"}}
)

// On a server that allows everything, the report has what a client needs, by verb, resource,
// namespace and name.
func TestAccess(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(configMap("a", "0"), configMap("b", "0")))
	require.Equal(t, access.Report{Accesses: []access.Access{}}, srv.Access())
	client := clientOf(srv.RESTConfig(), "manager/v1")
	maps := client.CoreV1().ConfigMaps("default")
	_, err := maps.Get(t.Context(), "b", metav1.GetOptions{})
	require.NoError(t, err)
	_, err = maps.Get(t.Context(), "missing", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err))
	_, err = maps.List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=a", Limit: 1})
	require.NoError(t, err)
	_, err = maps.List(t.Context(), metav1.ListOptions{LabelSelector: "app=x"})
	require.NoError(t, err)
	_, err = client.CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	w, err := maps.Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=a"})
	require.NoError(t, err)
	w.Stop()
	require.NoError(t, maps.DeleteCollection(t.Context(), metav1.DeleteOptions{DryRun: []string{"All"}}, metav1.ListOptions{FieldSelector: "metadata.name=a"}))
	_, err = client.CoreV1().Pods("default").UpdateStatus(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}}, metav1.UpdateOptions{})
	require.Error(t, err)
	_, err = client.AppsV1().Deployments("other").GetScale(t.Context(), "d", metav1.GetOptions{})
	require.Error(t, err)
	_, err = client.Discovery().ServerVersion()
	require.NoError(t, err)

	got := srv.Access()
	numbers := map[uint64]string{}
	for _, e := range srv.Timeline().Exchanges {
		numbers[e.Seq] = e.Method + " " + e.Path
	}
	require.Equal(t, "GET /api/v1/namespaces/default/configmaps/b", numbers[got.Accesses[3].First])
	require.Equal(t, "GET /version", numbers[got.Accesses[0].First])
	for i := range got.Accesses {
		require.NotZero(t, got.Accesses[i].First)
		got.Accesses[i].First = 0
	}
	requireAccesses(t, got, "system:admin", "manager/v1", adminGroups,
		access.Access{Verb: "get", Path: "/version", Allowed: 1},
		access.Access{Verb: "list", Resource: "configmaps", Names: []string{""}, Allowed: 1},
		access.Access{Verb: "deletecollection", Resource: "configmaps", Namespace: "default", Names: []string{""}, Allowed: 1},
		access.Access{Verb: "get", Resource: "configmaps", Namespace: "default", Names: []string{"b", "missing"}, Allowed: 2},
		access.Access{Verb: "list", Resource: "configmaps", Namespace: "default", Names: []string{"", "a"}, Allowed: 2},
		access.Access{Verb: "watch", Resource: "configmaps", Namespace: "default", Names: []string{"a"}, Allowed: 1},
		access.Access{Verb: "update", Resource: "pods", Subresource: "status", Namespace: "default", Names: []string{"p"}, Allowed: 1},
		access.Access{Verb: "get", APIGroup: "apps", Resource: "deployments", Subresource: "scale", Namespace: "other", Names: []string{"d"}, Allowed: 1},
	)

	srv.ResetAccess()
	require.Empty(t, srv.Access().Accesses)
	code, _, _ := send(t, srv, "GET", "/api/v1/watch/namespaces/default/configmaps/a?timeoutSeconds=1", "", nil)
	require.Equal(t, http.StatusOK, code)
	code, _, _ = send(t, srv, "OPTIONS", "/api/v1/namespaces/default/configmaps/a", "", nil)
	require.Equal(t, http.StatusMethodNotAllowed, code)
	got = srv.Access()
	require.Len(t, got.Accesses, 1, "a method without a verb is not an access")
	require.Equal(t, "watch", got.Accesses[0].Verb)
	require.Equal(t, []string{"a"}, got.Accesses[0].Names)
}

// denySecrets allows everything but reading Secrets.
func denySecrets(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	if a.GetResource() == "secrets" {
		return authorizer.DecisionDeny, "no secrets", nil
	}
	return authorizer.DecisionAllow, "all but secrets", nil
}

// With an authorizer, the report has its decisions and their reasons, also about members of
// system:masters.
func TestAccessWithAuthorizer(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithTokens(annToken, rootToken),
		fakeapi.WithAuthorizer(authorizer.AuthorizerFunc(denySecrets)))
	client := clientOf(srv.RESTConfig(), "manager/v1")
	for range 2 {
		_, err := client.CoreV1().Secrets("default").Get(t.Context(), "s", metav1.GetOptions{})
		require.True(t, apierrors.IsForbidden(err))
	}
	_, err := client.CoreV1().Pods("default").Get(t.Context(), "p", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err))
	_, err = clientOf(srv.RESTConfigWithToken("root"), "root").CoreV1().Secrets("default").Get(t.Context(), "s", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err))
	_, err = clientOf(srv.RESTConfigWithToken("wrong"), "wrong").CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsUnauthorized(err), "and not in the report")

	got := srv.Access()
	requireAccesses(t, got.Of("ann"), "ann", "manager/v1", []string{"team-a", "system:authenticated"},
		access.Access{Verb: "get", Resource: "pods", Namespace: "default", Names: []string{"p"}, Allowed: 1, First: 3, Reason: "all but secrets"},
		access.Access{Verb: "get", Resource: "secrets", Namespace: "default", Names: []string{"s"}, Denied: 2, First: 1, FirstDenied: 1, Reason: "no secrets"},
	)
	requireAccesses(t, got.Of("root"), "root", "root", adminGroups,
		access.Access{Verb: "get", Resource: "secrets", Namespace: "default", Names: []string{"s"}, Allowed: 1, First: 4})
	require.Len(t, got.Accesses, 3)
}

// With RBAC, the reason names the binding, and access that is lost is denied from then on.
func TestAccessWithRBAC(t *testing.T) {
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "reader", Namespace: "default"},
		Rules:      []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"configmaps"}}},
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: role.ObjectMeta, Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: "ann"}},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
	}
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithRBAC(), fakeapi.WithObjects(configMap("a", "0"), role, binding),
		fakeapi.WithTokens(rootToken, annToken))
	maps := clientOf(srv.RESTConfigWithToken(annToken.Value), "ann").CoreV1().ConfigMaps("default")
	_, err := maps.Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
	require.Contains(t, srv.Access().Of("ann").Accesses[0].Reason, `RBAC: allowed by RoleBinding "reader/default"`)
	require.NoError(t, clientOf(srv.RESTConfig(), "root").RbacV1().RoleBindings("default").Delete(t.Context(), "reader", metav1.DeleteOptions{}))
	_, err = maps.Get(t.Context(), "a", metav1.GetOptions{})
	require.True(t, apierrors.IsForbidden(err))
	requireAccesses(t, srv.Access().Of("ann"), "ann", "ann", []string{"team-a", "system:authenticated"},
		access.Access{Verb: "get", Resource: "configmaps", Namespace: "default", Names: []string{"a"}, Allowed: 1, Denied: 1, First: 1, FirstDenied: 3})
}

// A request that impersonates a user is one of that user. Whether it may is an access of the other
// user, unless that is an administrator. Of the permissions of which one is enough, the report has
// the one that the user has.
func TestAccessOfImpersonation(t *testing.T) {
	may := map[string]bool{}
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithTokens(annToken, rootToken),
		fakeapi.WithAuthorizer(authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
			if may[a.GetVerb()] {
				return authorizer.DecisionAllow, "", nil
			}
			return authorizer.DecisionNoOpinion, "", nil
		})))
	list := func(token string) error {
		config := srv.RESTConfigWithToken(token)
		config.Impersonate = rest.ImpersonationConfig{UserName: "bob", Groups: []string{"team-b"}}
		_, err := clientOf(config, "test").CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		return err
	}
	verbs := func() (all []string) {
		for _, a := range srv.Access().Accesses {
			all = append(all, fmt.Sprintf("%s %s %s %v %d %d", a.User, a.Verb, a.Resource, a.Names, a.Allowed, a.Denied))
		}
		srv.ResetAccess()
		return all
	}
	require.True(t, apierrors.IsForbidden(list(annToken.Value)))
	require.Equal(t, []string{"ann impersonate users [bob] 0 1"}, verbs())

	may["impersonate"], may["list"] = true, true
	require.NoError(t, list(annToken.Value))
	require.Equal(t, []string{
		"ann impersonate groups [team-b] 1 0", "ann impersonate users [bob] 1 0", "bob list nodes [] 1 0",
	}, verbs())

	may["impersonate-on:user-info:list"], may["impersonate:user-info"] = true, true
	require.NoError(t, list(annToken.Value))
	require.Equal(t, []string{
		"ann impersonate groups [team-b] 1 0", "ann impersonate users [bob] 1 0", "bob list nodes [] 1 0",
	}, verbs(), "the mode of the last request")
	may["impersonate"] = false
	require.NoError(t, list(annToken.Value))
	require.Equal(t, []string{
		"ann impersonate-on:user-info:list nodes [] 1 0", "ann impersonate:user-info groups [team-b] 1 0",
		"ann impersonate:user-info users [bob] 1 0", "bob list nodes [] 1 0",
	}, verbs())

	clear(may)
	may["list"] = true
	require.NoError(t, list("root"))
	require.Equal(t, []string{"bob list nodes [] 1 0"}, verbs())
}

// Without an authorizer, users are impersonated without permission. Only their requests are
// accesses.
func TestAccessOfImpersonationByAdministrator(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	config := srv.RESTConfig()
	config.Impersonate = rest.ImpersonationConfig{UserName: "bob", Groups: []string{"team-b"}}
	_, err := clientOf(config, "test").CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	requireAccesses(t, srv.Access(), "bob", "test", []string{"team-b", "system:authenticated"},
		access.Access{Verb: "list", Resource: "nodes", Names: []string{""}, Allowed: 1, First: 1})
}

// What admission plugins ask for is in the report, also on a server that allows everything:
// approving a request for a certificate needs a permission for its signer, or for all signers of
// the domain.
func TestAccessOfAdmission(t *testing.T) {
	request := &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: "r"},
		Spec:       certificatesv1.CertificateSigningRequestSpec{SignerName: "example.com/signer", Usages: []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth}},
	}
	for name, test := range map[string]struct {
		opts  []fakeapi.Option
		names []string // of the access to signers
		err   bool
	}{
		"administrator": {nil, []string{"example.com/signer"}, false},
		"domain":        {[]fakeapi.Option{fakeapi.WithTokens(annToken), fakeapi.WithAuthorizer(allowSigner("example.com/*"))}, []string{"example.com/*"}, false},
		"none":          {[]fakeapi.Option{fakeapi.WithTokens(annToken), fakeapi.WithAuthorizer(allowSigner(""))}, []string{"example.com/signer"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			srv := fakeapi.Start(t, append(test.opts, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutValidation(), fakeapi.WithObjects(request))...)
			approved := request.DeepCopy()
			approved.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{
				Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "test",
			}}
			_, err := clientOf(srv.RESTConfig(), "approver").CertificatesV1().CertificateSigningRequests().UpdateApproval(t.Context(), "r", approved, metav1.UpdateOptions{})
			require.Equal(t, test.err, apierrors.IsForbidden(err), "%v", err)
			i := slices.IndexFunc(srv.Access().Accesses, func(a access.Access) bool { return a.Resource == "signers" })
			require.GreaterOrEqual(t, i, 0)
			signers := srv.Access().Accesses[i]
			require.Equal(t, "approve", signers.Verb)
			require.Equal(t, test.names, signers.Names)
			require.Equal(t, test.err, signers.Denied == 1)
			require.Equal(t, !test.err, signers.Allowed == 1)
			require.EqualValues(t, 1, signers.First)
		})
	}
}

// allowSigner allows everything except for signers, of which it allows one.
func allowSigner(name string) authorizer.UnconditionalAuthorizer {
	return authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		if a.GetResource() == "signers" && a.GetName() != name {
			return authorizer.DecisionNoOpinion, "", nil
		}
		return authorizer.DecisionAllow, "", nil
	})
}

// An informer and a leader election, on virtual time, need the same permissions in each run. The
// writes of controllers are no accesses.
func TestAccessOfController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(configMap("a", "0"), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "gone"}}))
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		factory := informers.NewSharedInformerFactory(clientOf(srv.RESTConfig(), "manager/v1 (linux)"), 0)
		factory.Core().V1().ConfigMaps().Informer()
		factory.Start(ctx.Done())
		factory.WaitForCacheSync(ctx.Done())
		electing := clientOf(srv.RESTConfig(), "manager/v1 (linux)/leader-election")
		lock, err := resourcelock.New("leases", "default", "leader", electing.CoreV1(), electing.CoordinationV1(), resourcelock.ResourceLockConfig{Identity: "me"})
		require.NoError(t, err)
		running.Go(func() {
			leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
				Lock: lock, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
				Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
			})
		})
		test := clientOf(srv.RESTConfig(), "test")
		require.NoError(t, test.CoreV1().Namespaces().Delete(t.Context(), "gone", metav1.DeleteOptions{}))
		time.Sleep(time.Minute)
		cancel()
		running.Wait()
		factory.Shutdown()

		_, err = test.CoreV1().Namespaces().Get(t.Context(), "gone", metav1.GetOptions{})
		require.True(t, apierrors.IsNotFound(err), "the controllers have written")
		var got []string
		for _, a := range srv.Access().Of("manager").Accesses {
			got = append(got, fmt.Sprintf("%s %s %s%s %v", a.UserAgent, a.Verb, a.Resource, a.Namespace, a.Names))
		}
		require.Equal(t, []string{
			"manager/v1 (linux) watch configmaps []",
			"manager/v1 (linux)/leader-election create leasesdefault []",
			"manager/v1 (linux)/leader-election get leasesdefault [leader]",
			"manager/v1 (linux)/leader-election update leasesdefault [leader]",
		}, got)
		for _, a := range srv.Access().Accesses {
			require.Equal(t, "system:admin", a.User)
		}
	})
}

// Replicas and forks have reports of their own. Requests of the control API, and those that a fault
// answers, are no accesses.
func TestAccessOfReplicasAndForks(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithControlAPI())
	replica, err := srv.Replica(fakeapi.WithInMemoryNetwork())
	require.NoError(t, err)
	fork, err := srv.Fork(fakeapi.WithInMemoryNetwork())
	require.NoError(t, err)
	defer func() { require.NoError(t, fork.Close()) }()
	for resource, s := range map[string]*fakeapi.Server{"pods": srv, "nodes": replica.Server, "services": fork} {
		code, _, _ := send(t, s, "GET", "/api/v1/"+resource, "", nil)
		require.Equal(t, http.StatusOK, code)
	}
	code, _, _ := send(t, srv, "GET", "/fakeapi/v1/timeline", "", nil)
	require.Equal(t, http.StatusOK, code)
	_, err = srv.Faults().AddText("when resource(secrets) do status(503)")
	require.NoError(t, err)
	code, _, _ = send(t, srv, "GET", "/api/v1/secrets", "", nil)
	require.Equal(t, http.StatusServiceUnavailable, code)
	for resource, s := range map[string]*fakeapi.Server{"pods": srv, "nodes": replica.Server, "services": fork} {
		got := s.Access().Accesses
		require.Len(t, got, 1, resource)
		require.Equal(t, resource, got[0].Resource)
	}
	require.NoError(t, srv.Close())
	require.Len(t, srv.Access().Accesses, 1, "a closed server can still be read")
}

// WithoutTimeline disables the report, with and without an authorizer.
func TestAccessWithoutTimeline(t *testing.T) {
	for _, opts := range [][]fakeapi.Option{nil, {fakeapi.WithTokens(annToken), fakeapi.WithRBAC()}} {
		srv := fakeapi.Start(t, append(opts, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutTimeline())...)
		send(t, srv, "GET", "/api/v1/pods", "", nil)
		srv.ResetAccess()
		require.Equal(t, access.Report{Accesses: []access.Access{}}, srv.Access())
	}
}

// Requests from many goroutines are all counted.
func TestAccessIsConcurrent(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithTokens(annToken), fakeapi.WithAuthorizer(authorizer.AuthorizerFunc(denySecrets)))
	const goroutines, each = 8, 25
	var running sync.WaitGroup
	for g := range goroutines {
		running.Go(func() {
			client := clientOf(srv.RESTConfig(), "agent")
			for i := range each {
				resource := []string{"secrets", "pods"}[i%2]
				_ = client.CoreV1().RESTClient().Get().AbsPath(fmt.Sprintf("/api/v1/namespaces/ns/%s/n%d", resource, g)).Do(t.Context()).Error()
				srv.Access()
			}
		})
	}
	running.Wait()
	got := srv.Access().Accesses
	require.Len(t, got, 2)
	require.EqualValues(t, goroutines*(each/2), got[0].Allowed)
	require.EqualValues(t, goroutines*(each-each/2), got[1].Denied)
	require.Len(t, got[1].Names, goroutines)
}
