package fakeapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/rest"

	fakeapi "example.com/fakeapi/fake"
)

// sendAs sends a request that impersonates a user, and returns the response and its body.
func sendAs(t *testing.T, srv *fakeapi.Server, user, method, path string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, srv.URL()+path, nil)
	require.NoError(t, err)
	r.Header.Set("Impersonate-User", user)
	return doRequest(t, srv, r)
}

func doRequest(t *testing.T, srv *fakeapi.Server, r *http.Request) (*http.Response, string) {
	t.Helper()
	resp, err := srv.Client().Do(r)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp, string(body)
}

// decodeStatus decodes the Status of an error response.
func decodeStatus(t *testing.T, body string) *metav1.Status {
	t.Helper()
	var status metav1.Status
	require.NoError(t, json.Unmarshal([]byte(body), &status), body)
	require.Equal(t, "Status", status.Kind)
	return &status
}

// The messages of 403 responses are those of a real server. Authorization runs before the resource
// is looked up (AU-02, AU-03, AU-04).
func TestForbidden(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithAuthorizer(authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		if a.GetNamespace() == "reasons" {
			return authorizer.DecisionDeny, "not <allowed>", nil
		}
		return authorizer.DecisionNoOpinion, "", nil
	})))
	for _, one := range []struct{ method, path, want string }{
		{"GET", "/api/v1/namespaces/none/pods", `pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "none"`},
		{"GET", "/api/v1/namespaces/none/pods/p", `pods "p" is forbidden: User "bob" cannot get resource "pods" in API group "" in the namespace "none"`},
		{"GET", "/api/v1/namespaces/none/pods/p/log", `pods "p" is forbidden: User "bob" cannot get resource "pods/log" in API group "" in the namespace "none"`},
		{"GET", "/apis/apps/v1/deployments?watch=1", `deployments.apps is forbidden: User "bob" cannot watch resource "deployments" in API group "apps" at the cluster scope`},
		{"GET", "/api/v1/watch/namespaces/none/pods/p", `pods "p" is forbidden: User "bob" cannot watch resource "pods" in API group "" in the namespace "none"`},
		{"POST", "/api/v1/namespaces", `namespaces is forbidden: User "bob" cannot create resource "namespaces" in API group "" at the cluster scope`},
		{"DELETE", "/api/v1/namespaces/none", `namespaces "none" is forbidden: User "bob" cannot delete resource "namespaces" in API group "" in the namespace "none"`},
		{"DELETE", "/api/v1/namespaces/none/pods", `pods is forbidden: User "bob" cannot deletecollection resource "pods" in API group "" in the namespace "none"`},
		{"GET", "/api/v1/namespaces/none/pods?fieldSelector=metadata.name=p", `pods "p" is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "none"`},
		{"GET", "/apis/none.example/v1/things", `things.none.example is forbidden: User "bob" cannot list resource "things" in API group "none.example" at the cluster scope`},
		{"GET", "/api/v1/namespaces/reasons/pods", `pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "reasons": not <allowed>`},
		{"GET", "//api/v1/pods", `pods is forbidden: User "bob" cannot list resource "pods" in API group "" at the cluster scope`},
		{"POST", "/api/v1//pods", `forbidden: User "bob" cannot create resource "" in API group "" at the cluster scope`},
		{"GET", "/apis/apps/v1/namespaces/none/deployments//scale?watch=1", `deployments.apps is forbidden: User "bob" cannot watch resource "deployments/scale" in API group "apps" in the namespace "none"`},
		{"POST", "/api/v1/proxy/namespaces/none/pods/p/x", `pods "p" is forbidden: User "bob" cannot proxy resource "pods" in API group "" in the namespace "none"`},
		{"GET", "//metrics", `forbidden: User "bob" cannot get path "//metrics"`},
		{"GET", "/metrics", `forbidden: User "bob" cannot get path "/metrics"`},
		{"POST", "/a<b", `forbidden: User "bob" cannot post path "/a&lt;b"`},
		{"GET", "/apis", `forbidden: User "bob" cannot get path "/apis"`},
	} {
		resp, body := sendAs(t, srv, "bob", one.method, one.path)
		require.Equal(t, 403, resp.StatusCode, "%s %s: %s", one.method, one.path, body)
		require.Equal(t, "nosniff", resp.Header.Get("X-Content-Type-Options"))
		err := apierrors.FromObject(decodeStatus(t, body))
		require.Equal(t, one.want, err.Error())
		require.True(t, apierrors.IsForbidden(err))
	}
	resp, _ := sendAs(t, srv, "bob", "GET", "/healthz")
	require.Equal(t, 200, resp.StatusCode)
	code, _, _ := send(t, srv, "GET", "/api/v1/pods", "", nil)
	require.Equal(t, 200, code, "system:masters may do everything")
}

// Who may delete an object may not do so without reading it (DL-35).
func TestForbiddenUnsafeDelete(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithAuthorizer(authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		if a.GetVerb() != "unsafe-delete-ignore-read-errors" || a.GetName() == "allowed" {
			return authorizer.DecisionAllow, "", nil
		}
		if a.GetName() == "broken" {
			return authorizer.DecisionDeny, "", errors.New("the <db> is gone")
		}
		return authorizer.DecisionNoOpinion, a.GetUser().GetName() + " in " + a.GetNamespace() + " of " + a.GetAPIGroup(), nil
	})))
	for _, one := range []struct {
		name, query string
		code        int
		want        string
	}{
		{"d", "", 403, `deployments.apps "d" is forbidden: not permitted to do "unsafe-delete-ignore-read-errors", reason: bob in default of apps`},
		{"d", "&dryRun=All", 403, `deployments.apps "d" is forbidden: not permitted to do "unsafe-delete-ignore-read-errors", reason: bob in default of apps`},
		{"broken", "", 403, `deployments.apps "broken" is forbidden: error while checking permission for "unsafe-delete-ignore-read-errors", the <db> is gone`},
		{"allowed", "", 404, `deployments.apps "allowed" not found`},
		{"d", "&gracePeriodSeconds=0", 422, "DeleteOptions.meta.k8s.io \"\" is invalid: " +
			"ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: cannot be set together with .gracePeriodSeconds"},
	} {
		resp, body := sendAs(t, srv, "bob", "DELETE", "/apis/apps/v1/namespaces/default/deployments/"+one.name+"?ignoreStoreReadErrorWithClusterBreakingPotential=true"+one.query)
		require.Equal(t, one.want, decodeStatus(t, body).Message)
		require.Equal(t, one.code, resp.StatusCode, one.want)
	}
}

// An error of the authorizer returns 500 as text (AU-05) unless the authorizer allows the request.
// For impersonation it returns 403.
func TestAuthorizerErrors(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithTokens(annToken), fakeapi.WithAuthorizer(authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		if a.GetResource() == "nodes" {
			return authorizer.DecisionAllow, "", errors.New("half broken")
		}
		return authorizer.DecisionDeny, "no", errors.New("the <db> is gone")
	})))
	resp, body := sendAs(t, srv, "bob", "GET", "/api/v1/pods?limit=1")
	require.Equal(t, 403, resp.StatusCode)
	require.Equal(t, `pods is forbidden: User "ann" cannot impersonate-on:user-info:list resource "pods" in API group "" at the cluster scope: the <db> is gone: no`, decodeStatus(t, body).Message)
	resp, _, _ = sendWithAuth(t, srv, "GET", "/api/v1/nodes", "Bearer ann-1", "")
	require.Equal(t, 200, resp.StatusCode)
	resp, body, _ = sendWithAuth(t, srv, "GET", "/api/v1/pods?limit=1", "Bearer ann-1", "application/json")
	require.Equal(t, 500, resp.StatusCode)
	require.Equal(t, "Internal Server Error: \"/api/v1/pods?limit=1\": the &lt;db&gt; is gone\n", body)
	require.Equal(t, "text/plain; charset=utf-8", resp.Header.Get("Content-Type"))
	require.Equal(t, "nosniff", resp.Header.Get("X-Content-Type-Options"))
}

// A connection to a pod by a GET, as of a WebSocket, needs the permission to create it, too.
func TestForbiddenConnections(t *testing.T) {
	var asked []string
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithAuthorizer(authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		asked = append(asked, a.GetUser().GetName()+" "+a.GetVerb()+" "+a.GetResource()+"/"+a.GetSubresource()+" "+a.GetNamespace()+"/"+a.GetName())
		switch {
		case a.GetVerb() == "get" || a.GetUser().GetName() == "ann":
			return authorizer.DecisionAllow, "", nil
		case a.GetNamespace() == "reasons":
			return authorizer.DecisionDeny, "not allowed", nil
		case a.GetNamespace() == "broken":
			return authorizer.DecisionAllow, "", errors.New("half broken")
		}
		return authorizer.DecisionNoOpinion, "", nil
	})))
	for _, one := range []struct {
		user, path, want string
		code             int
	}{
		{"bob", "none/pods/p/exec?command=ls", `pods "p" is forbidden: `, 403},
		{"bob", "none/pods/p/attach", `pods "p" is forbidden: `, 403},
		{"bob", "reasons/pods/p/portforward", `pods "p" is forbidden: not allowed`, 403},
		{"bob", "broken/pods/p/portforward", `half broken`, 500},
		{"ann", "none/pods/p/exec", `pods "p" not found`, 404},
		{"bob", "none/pods/p/exec?dryRun=All", `dryRun is not supported`, 400},
		{"bob", "none/pods/p/proxy", `pods "p" not found`, 404},
		{"bob", "none/pods/p/log", `pods "p" not found`, 404},
	} {
		resp, body := sendAs(t, srv, one.user, "GET", "/api/v1/namespaces/"+one.path)
		require.Equal(t, one.code, resp.StatusCode, "%s: %s", one.path, body)
		require.Equal(t, one.want, decodeStatus(t, body).Message)
	}
	require.Contains(t, asked, "bob create pods/exec none/p")
}

// attributesRecorder is an authorizer that records the attributes and allows all requests.
type attributesRecorder struct {
	mu         sync.Mutex
	attributes []authorizer.Attributes
}

// Authorize implements authorizer.UnconditionalAuthorizer.
func (a *attributesRecorder) Authorize(_ context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.attributes = append(a.attributes, attributes)
	return authorizer.DecisionAllow, "", nil
}

func (a *attributesRecorder) last() authorizer.AttributesRecord {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.attributes[len(a.attributes)-1].(authorizer.AttributesRecord)
}

// The attributes of a request that the authorizer receives.
func TestAuthorizerAttributes(t *testing.T) {
	var a attributesRecorder
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithAuthorizer(&a))
	bob := &user.DefaultInfo{Name: "bob", Groups: []string{"system:authenticated"}}
	for path, want := range map[string]authorizer.AttributesRecord{
		"/api/v1/namespaces/x/pods/p/status": {ResourceRequest: true, Verb: "get", APIVersion: "v1", Resource: "pods", Subresource: "status", Namespace: "x", Name: "p"},
		"/api/v1/namespaces/x":               {ResourceRequest: true, Verb: "get", APIVersion: "v1", Resource: "namespaces", Namespace: "x", Name: "x"},
		"/apis/apps/v1/deployments?watch=0":  {ResourceRequest: true, Verb: "list", APIGroup: "apps", APIVersion: "v1", Resource: "deployments"},
		"/openapi/v3":                        {Verb: "get"},
	} {
		want.User = bob
		want.Path, _, _ = strings.Cut(path, "?")
		sendAs(t, srv, "bob", "GET", path)
		require.Equal(t, want, a.last(), path)
	}
	sendAs(t, srv, "bob", "DELETE", "/api/v1/namespaces/x/pods?fieldSelector=metadata.name%3Dp,spec.nodeName!%3Dn&labelSelector=a+in+(b,c)")
	got := a.last()
	require.Equal(t, "deletecollection", got.Verb)
	require.Empty(t, got.Name, "only lists and watches have a name from the field selector (AU-09)")
	require.Len(t, got.FieldSelectorRequirements, 2)
	require.Equal(t, "a in (b,c)", got.LabelSelectorRequirements[0].String())
	sendAs(t, srv, "bob", "GET", "/api/v1/pods?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Dp")
	require.Equal(t, "watch p", a.last().Verb+" "+a.last().Name)
	sendAs(t, srv, "bob", "GET", "/api/v1/pods?fieldSelector=a&labelSelector=,,")
	got = a.last()
	require.Error(t, got.FieldSelectorParsingErr)
	require.Error(t, got.LabelSelectorParsingErr)
	require.Empty(t, got.FieldSelectorRequirements)
	sendAs(t, srv, "bob", "GET", "/api/v1/pods?fieldSelector=metadata.name%3Dp&limit=x")
	require.Empty(t, a.last().Name, "there is no name if the options are invalid")
}

// An impersonating request is handled as one of the impersonated user, with the groups that belong
// to the name (AU-08).
func TestImpersonation(t *testing.T) {
	for _, one := range []struct {
		as   rest.ImpersonationConfig
		want authenticationv1.UserInfo
	}{
		{rest.ImpersonationConfig{UserName: "bob"}, authenticationv1.UserInfo{Username: "bob", Groups: []string{"system:authenticated"}}},
		{
			rest.ImpersonationConfig{UserName: "bob", UID: "7", Groups: []string{"a", "system:masters"}, Extra: map[string][]string{"Acme.com/Team%": {"x", "y"}}},
			authenticationv1.UserInfo{
				Username: "bob", UID: "7", Groups: []string{"a", "system:masters", "system:authenticated"},
				Extra: map[string]authenticationv1.ExtraValue{"acme.com/team%": {"x", "y"}},
			},
		},
		{
			rest.ImpersonationConfig{UserName: "system:serviceaccount:ns:sa"},
			authenticationv1.UserInfo{Username: "system:serviceaccount:ns:sa", Groups: []string{"system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"}},
		},
		{
			rest.ImpersonationConfig{UserName: "system:serviceaccount:ns:sa", Groups: []string{"only"}},
			authenticationv1.UserInfo{Username: "system:serviceaccount:ns:sa", Groups: []string{"only", "system:authenticated"}},
		},
		{rest.ImpersonationConfig{UserName: "system:node:n"}, authenticationv1.UserInfo{Username: "system:node:n", Groups: []string{"system:nodes", "system:authenticated"}}},
		{rest.ImpersonationConfig{UserName: "system:anonymous"}, authenticationv1.UserInfo{Username: "system:anonymous", Groups: []string{"system:unauthenticated"}}},
	} {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork()) // without a mode of an earlier request
		config := srv.RESTConfig()
		config.Impersonate = one.as
		user, err := whoami(t, config)
		require.NoError(t, err)
		require.Equal(t, one.want, user)
	}
}

// Impersonating a group, uid or extra field without a user name returns 400 (AU-07).
func TestImpersonationWithoutName(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	for name, want := range map[string]string{
		"Impersonate-Group":         `requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"a"}, Extra:map[string][]string(nil)} without impersonating a user name`,
		"Impersonate-Uid":           `requested &user.DefaultInfo{Name:"", UID:"a", Groups:[]string(nil), Extra:map[string][]string(nil)} without impersonating a user name`,
		"Impersonate-Extra-Scope%2": `requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string(nil), Extra:map[string][]string{"scope%2":[]string{"a"}}} without impersonating a user name`,
	} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL()+"/api/v1/pods", nil)
		require.NoError(t, err)
		r.Header.Set(name, "a")
		resp, body := doRequest(t, srv, r)
		require.Equal(t, 400, resp.StatusCode)
		require.Equal(t, "nosniff", resp.Header.Get("X-Content-Type-Options"))
		require.Equal(t, want, decodeStatus(t, body).Message)
	}
}

// Impersonation needs a permission for all requests, or one for the request and one for the user
// (KEP-5284). The error is about the first.
func TestImpersonationIsAuthorized(t *testing.T) {
	var permissions []string
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithTokens(annToken), fakeapi.WithAuthorizer(authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		for _, permission := range permissions {
			if permission == a.GetVerb()+" "+a.GetAPIGroup()+"/"+a.GetResource()+" "+a.GetName() {
				return authorizer.DecisionAllow, "", nil
			}
		}
		return authorizer.DecisionNoOpinion, "", nil
	})))
	list := func(user string, groups ...string) error {
		_, err := impersonatingClient(srv, user, groups...).CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
		return err
	}
	require.EqualError(t, list("bob"), `pods is forbidden: User "ann" cannot impersonate-on:user-info:list resource "pods" in API group "" at the cluster scope`)
	require.EqualError(t, list("system:serviceaccount:ns:sa"), `pods is forbidden: User "ann" cannot impersonate-on:serviceaccount:list resource "pods" in API group "" at the cluster scope`)
	require.EqualError(t, list("system:serviceaccount:ns:sa", "g"), `serviceaccounts "sa" is forbidden: User "ann" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "ns"`)
	require.EqualError(t, list("system:node:n"), `pods is forbidden: User "ann" cannot impersonate-on:arbitrary-node:list resource "pods" in API group "" at the cluster scope`)

	permissions = []string{"impersonate-on:user-info:list /pods ", "impersonate:user-info authentication.k8s.io/users bob"}
	require.EqualError(t, list("bob"), `pods is forbidden: User "bob" cannot list resource "pods" in API group "" at the cluster scope`)
	require.EqualError(t, list("bob", "g"), `groups.authentication.k8s.io "g" is forbidden: User "ann" cannot impersonate:user-info resource "groups" in API group "authentication.k8s.io" at the cluster scope`)
	require.EqualError(t, list("bob", "system:masters"), `groups.authentication.k8s.io "system:masters" is forbidden: User "ann" cannot impersonate:user-info resource "groups" in API group "authentication.k8s.io" at the cluster scope: impersonating the system:masters group is not allowed`)
	permissions = append(permissions, "list /pods ")
	require.NoError(t, list("bob"))

	permissions = []string{"impersonate /users bob", "impersonate /groups g", "list /pods "}
	require.NoError(t, list("bob", "g"))
	require.Error(t, list("bob", "h"))
}

// With anonymous authentication, requests without credentials are allowed and those with invalid
// ones return 401.
func TestAnonymous(t *testing.T) {
	var a attributesRecorder
	srv := fakeapi.Start(t, fakeapi.WithTokens(annToken), fakeapi.WithControlAPI(), fakeapi.WithAnonymousAuth(), fakeapi.WithAuthorizer(authorizer.AuthorizerFunc(func(_ context.Context, at authorizer.Attributes) (authorizer.Decision, string, error) {
		_, _, _ = a.Authorize(t.Context(), at)
		if at.GetResource() == "configmaps" {
			return authorizer.DecisionAllow, "", nil
		}
		return authorizer.DecisionNoOpinion, "", nil
	})))
	resp, body, _ := sendWithAuth(t, srv, "GET", "/api/v1/pods", "", "application/json")
	require.Equal(t, 403, resp.StatusCode)
	require.Contains(t, body, `User \"system:anonymous\" cannot list resource \"pods\"`)
	require.Equal(t, []string{"system:unauthenticated"}, a.last().User.GetGroups())
	resp, _, _ = sendWithAuth(t, srv, "GET", "/api/v1/configmaps", "", "")
	require.Equal(t, 200, resp.StatusCode)
	for path, want := range map[string]int{"/healthz": 200, "/version": 200, "/fakeapi/v1/hits": 401} {
		resp, _, _ = sendWithAuth(t, srv, "GET", path, "", "")
		require.Equal(t, want, resp.StatusCode, path)
	}
	resp, _, _ = sendWithAuth(t, srv, "GET", "/api/v1/configmaps", "Bearer bob-1", "")
	require.Equal(t, 401, resp.StatusCode)
}

func TestInvalidAccessOptions(t *testing.T) {
	allow := fakeapi.WithAuthorizer(authorizer.AuthorizerFunc(func(_ context.Context, _ authorizer.Attributes) (authorizer.Decision, string, error) {
		return authorizer.DecisionAllow, "", nil
	}))
	for want, opts := range map[string][]fakeapi.Option{
		"without them all users are system:admin": {fakeapi.WithAnonymousAuth(), allow},
		"needs WithAuthorizer":                    {fakeapi.WithAnonymousAuth(), fakeapi.WithTokens(annToken)},
		"needs an authorizer":                     {fakeapi.WithAuthorizer(nil)},
		"is not a certificate in PEM form":        {fakeapi.WithClientCA([]byte("x"))},
		"is not a host name":                      {fakeapi.WithAllowedHosts("http://x")},
	} {
		_, err := fakeapi.New(opts...)
		require.ErrorContains(t, err, want)
	}
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	_, err := srv.Replica(fakeapi.WithInMemoryNetwork(), allow)
	require.ErrorContains(t, err, "the users of its server")
	_, _, err = srv.IssueClientCertificate(0, "ann")
	require.ErrorContains(t, err, "does not authenticate client certificates")
}
