package fakeapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	fakeapi "example.com/fakeapi/fake"
)

// allowReaders lets bob read pods, and all users review their own permissions.
func allowReaders(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	switch {
	case a.GetUser().GetName() == "bob" && a.GetResource() == "pods" && (a.GetVerb() == "get" || a.GetVerb() == "list"):
		return authorizer.DecisionAllow, "bob reads pods", nil
	case a.GetResource() == "secrets":
		return authorizer.DecisionDeny, "secrets are denied", nil
	case a.GetResource() == "nodes":
		return authorizer.DecisionNoOpinion, "", errors.New("cannot evaluate nodes")
	case a.GetAPIGroup() == "authorization.k8s.io" || a.GetAPIGroup() == "authentication.k8s.io":
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

// impersonatingClient returns a client that impersonates a user.
func impersonatingClient(srv *fakeapi.Server, user string, groups ...string) *kubernetes.Clientset {
	config := srv.RESTConfig()
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	return kubernetes.NewForConfigOrDie(config)
}

// Access reviews return the decision of the authorizer, for the requesting user and for others, in
// protobuf, which typed clients use (VR-01, VR-05). Nothing is stored.
func TestAccessReviews(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithAuthorizer(authorizer.AuthorizerFunc(allowReaders)))
	before := srv.ResourceVersion()
	ctx := t.Context()
	bob := impersonatingClient(srv, "bob")
	for _, one := range []struct {
		action authorizationv1.ResourceAttributes
		want   authorizationv1.SubjectAccessReviewStatus
	}{
		{authorizationv1.ResourceAttributes{Verb: "list", Resource: "pods"}, authorizationv1.SubjectAccessReviewStatus{Allowed: true, Reason: "bob reads pods"}},
		{authorizationv1.ResourceAttributes{Verb: "delete", Resource: "pods"}, authorizationv1.SubjectAccessReviewStatus{}},
		{authorizationv1.ResourceAttributes{Verb: "get", Resource: "secrets"}, authorizationv1.SubjectAccessReviewStatus{Denied: true, Reason: "secrets are denied"}},
		{authorizationv1.ResourceAttributes{Verb: "get", Resource: "nodes"}, authorizationv1.SubjectAccessReviewStatus{EvaluationError: "cannot evaluate nodes"}},
		{
			authorizationv1.ResourceAttributes{Verb: "list", Resource: "pods", FieldSelector: &authorizationv1.FieldSelectorAttributes{RawSelector: "a=b=c"}},
			authorizationv1.SubjectAccessReviewStatus{Allowed: true, Reason: "bob reads pods", EvaluationError: "spec.resourceAttributes.fieldSelector ignored due to parse error"},
		},
		{
			authorizationv1.ResourceAttributes{
				Verb: "list", Resource: "nodes",
				FieldSelector: &authorizationv1.FieldSelectorAttributes{Requirements: []metav1.FieldSelectorRequirement{{Key: "a", Operator: "Exists"}}},
				LabelSelector: &authorizationv1.LabelSelectorAttributes{Requirements: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Exists"}, {Key: "b", Operator: "Near"}}},
			},
			authorizationv1.SubjectAccessReviewStatus{EvaluationError: "cannot evaluate nodes; spec.resourceAttributes.fieldSelector ignored due to parse error; " +
				"spec.resourceAttributes.labelSelector partially ignored due to parse error"},
		},
	} {
		forged := authorizationv1.SubjectAccessReviewStatus{Allowed: true, Denied: true, Reason: "forged"}
		own, err := bob.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &one.action}, Status: forged,
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		require.Equal(t, one.want, own.Status)
		require.Equal(t, &one.action, own.Spec.ResourceAttributes)

		other, err := impersonatingClient(srv, "carol").AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{User: "bob", ResourceAttributes: &one.action}, Status: forged,
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		require.Equal(t, one.want, other.Status)

		local := one.action
		local.Namespace = "none"
		localReview, err := bob.AuthorizationV1().LocalSubjectAccessReviews("none").Create(ctx, &authorizationv1.LocalSubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{User: "bob", ResourceAttributes: &local}, Status: forged,
		}, metav1.CreateOptions{})
		require.NoError(t, err, "the namespace need not exist (NS-10)")
		require.Equal(t, one.want, localReview.Status)
		require.Equal(t, "none", localReview.Namespace)
	}
	require.Equal(t, before, srv.ResourceVersion())
}

// The rules of a user are known if the user may do everything, but not if the authorizer is a
// function.
func TestRulesReview(t *testing.T) {
	all := []string{"*"}
	everything := authorizationv1.SubjectRulesReviewStatus{
		ResourceRules:    []authorizationv1.ResourceRule{{Verbs: all, APIGroups: all, Resources: all}},
		NonResourceRules: []authorizationv1.NonResourceRule{{Verbs: all, NonResourceURLs: all}},
	}
	rules := func(client *kubernetes.Clientset) authorizationv1.SubjectRulesReviewStatus {
		response, err := client.AuthorizationV1().SelfSubjectRulesReviews().Create(t.Context(), &authorizationv1.SelfSubjectRulesReview{
			Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: "default"},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		return response.Status
	}
	open := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	require.Equal(t, everything, rules(impersonatingClient(open, "bob")))
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithAuthorizer(authorizer.AuthorizerFunc(allowReaders)))
	require.Equal(t, everything, rules(kubernetes.NewForConfigOrDie(srv.RESTConfig())))
	got := rules(impersonatingClient(srv, "bob"))
	require.True(t, got.Incomplete)
	require.Contains(t, got.EvaluationError, "a function")
	require.Len(t, got.NonResourceRules, 1)
}

// The errors of invalid reviews are those of a real server (VR-03, VR-04).
func TestReviewErrors(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	const local = "/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews"
	const other = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
	const own = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
	for _, one := range []struct {
		path, body string
		code       int
		message    string
	}{
		{other, `{"spec":{}}`, 422, `.authorization.k8s.io "" is invalid: [spec: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified, spec.user: Invalid value: "": at least one of user or group must be specified]`},
		{own, `{"spec":{"resourceAttributes":{},"nonResourceAttributes":{"path":"/x"}}}`, 422, `.authorization.k8s.io "" is invalid: spec: Invalid value: {"Path":"/x","Verb":""}: exactly one of nonResourceAttributes or resourceAttributes must be specified`},
		{own, `{"metadata":{"name":"a"},"spec":{"resourceAttributes":{}}}`, 422, `.authorization.k8s.io "" is invalid: metadata: Invalid value: {"name":"a","managedFields":[{"manager":"Go-http-client","operation":"Update","apiVersion":"authorization.k8s.io/v1","time":"TIME","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:resourceAttributes":{}}}}]}: must be empty`},
		{other, `{"spec":{"user":"a","resourceAttributes":{"fieldSelector":{"rawSelector":"a","requirements":[{"key":"","operator":"In"}]},"labelSelector":{}}}}`, 422,
			`.authorization.k8s.io "" is invalid: [spec.resourceAttributes.fieldSelector.rawSelector: Invalid value: "a": may not specified at the same time as requirements, ` +
				`spec.resourceAttributes.fieldSelector.requirements[0].key: Required value: must be specified, ` +
				"spec.resourceAttributes.fieldSelector.requirements[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn', " +
				`spec.resourceAttributes.labelSelector.requirements: Required value: when spec.resourceAttributes.labelSelector is specified, requirements or rawSelector is required]`},
		{other, `{"spec":{"user":"a","resourceAttributes":{"labelSelector":{"requirements":[{"key":"-","operator":"Near"}]}}}}`, 422,
			`.authorization.k8s.io "" is invalid: spec.resourceAttributes.labelSelector.requirements[0].key: Invalid value: "-": name part must consist of alphanumeric characters, ` +
				`'-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`},
		{local, `{"spec":{"user":"a","resourceAttributes":{"namespace":"other"}}}`, 422, `.authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace`},
		{local, `{"metadata":{"labels":{"a":"b"}},"spec":{"groups":["a"],"nonResourceAttributes":{}}}`, 422, `.authorization.k8s.io "" is invalid: [metadata: Invalid value: {"namespace":"default","labels":{"a":"b"},"managedFields":[{"manager":"Go-http-client","operation":"Update","apiVersion":"authorization.k8s.io/v1","time":"TIME","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:a":{}}},"f:spec":{"f:groups":{},"f:nonResourceAttributes":{}}}}]}: must be empty except for namespace, spec.nonResourceAttributes: Invalid value: {"Path":"","Verb":""}: disallowed on this kind of request]`},
		{local, `{"metadata":{"namespace":"other"},"spec":{"user":"a","resourceAttributes":{"namespace":"other"}}}`, 400, `the namespace of the provided object does not match the namespace sent on the request`},
		{"/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", `{"spec":{}}`, 400, "no namespace on request"},
		{"/apis/authentication.k8s.io/v1/tokenreviews", `{"spec":{}}`, 400, "token is required for TokenReview in authentication"},
	} {
		code, _, body := send(t, srv, "POST", one.path, "application/json", []byte(one.body))
		require.Equal(t, one.code, code, "%s", body)
		var status metav1.Status
		require.NoError(t, json.Unmarshal([]byte(body), &status))
		require.Equal(t, one.message, entryTime.ReplaceAllString(status.Message, `"time":"TIME"`))
	}
}

// entryTime is the time of an entry of managedFields.
var entryTime = regexp.MustCompile(`"time":"[^"]*"`)

// A real server records the manager of the fields of all objects that are created, also of those
// that it does not store (VR-01). The rules and the user of the request are new objects.
func TestManagedFieldsOfReviews(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(newServiceAccount("sa")))
	const access = "/apis/authorization.k8s.io/v1/"
	for _, one := range []struct{ path, body, want string }{
		{access + "selfsubjectaccessreviews", `{"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}},"status":{"allowed":false}}`, `{"f:spec":{"f:resourceAttributes":{".":{},"f:resource":{},"f:verb":{}}}}`},
		{access + "subjectaccessreviews", `{"spec":{"groups":["g"],"extra":{"k":["v"]},"nonResourceAttributes":{"path":"/"}},"status":{"allowed":true}}`, `{"f:spec":{"f:extra":{".":{},"f:k":{}},"f:groups":{},"f:nonResourceAttributes":{".":{},"f:path":{}}},"f:status":{"f:allowed":{}}}`},
		{access + "namespaces/default/localsubjectaccessreviews", `{"spec":{"user":"u","resourceAttributes":{"namespace":"default"}}}`, `{"f:spec":{"f:resourceAttributes":{".":{},"f:namespace":{}},"f:user":{}}}`},
		{access + "selfsubjectrulesreviews", `{"spec":{"namespace":"a"}}`, ""},
		{"/apis/authentication.k8s.io/v1/tokenreviews", `{"spec":{"token":"t","audiences":["a"]}}`, `{"f:spec":{"f:audiences":{},"f:token":{}}}`},
		{"/apis/authentication.k8s.io/v1/selfsubjectreviews", `{}`, ""},
		{"/api/v1/namespaces/default/serviceaccounts/sa/token", `{"spec":{"expirationSeconds":600}}`, `{"f:spec":{"f:expirationSeconds":{}}}`},
	} {
		code, _, body := send(t, srv, "POST", one.path+"?fieldManager=m", "application/json", []byte(one.body))
		require.Equal(t, 201, code, "%s", body)
		var got metav1.PartialObjectMetadata
		require.NoError(t, json.Unmarshal([]byte(body), &got))
		if one.want == "" {
			require.Empty(t, got.ManagedFields, one.path)
			continue
		}
		require.Len(t, got.ManagedFields, 1, one.path)
		entry := got.ManagedFields[0]
		require.Equal(t, one.want, string(entry.FieldsV1.GetRawBytes()))
		require.Equal(t, []any{"m", metav1.ManagedFieldsOperationUpdate, got.APIVersion}, []any{entry.Manager, entry.Operation, entry.APIVersion})
		require.False(t, entry.Time.IsZero())
		require.Equal(t, path.Base(one.path) == "token", entry.Subresource == "token")
	}
}

// Reviews support only create (VR-02), also in YAML.
func TestReviewsAreCreateOnly(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	for _, path := range []string{
		"/apis/authorization.k8s.io/v1/subjectaccessreviews", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
		"/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", "/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews",
		"/apis/authentication.k8s.io/v1/tokenreviews", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
	} {
		for _, method := range []string{"GET", "PUT", "PATCH", "DELETE"} {
			code, _, _ := send(t, srv, method, path, "application/json", []byte(`{}`))
			require.Equal(t, 405, code, "%s %s", method, path)
		}
		code, _, _ := send(t, srv, "GET", path+"?watch=1", "", nil)
		require.Equal(t, 405, code)
		code, _, _ = send(t, srv, "GET", path+"/a", "", nil)
		require.Equal(t, 404, code)
	}
	code, _, _ := send(t, srv, "POST", "/apis/authorization.k8s.io/v1/localsubjectaccessreviews", "application/json", []byte(`{}`))
	require.Equal(t, 404, code)
	code, _, body := send(t, srv, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "application/yaml", []byte("spec: {nonResourceAttributes: {path: /metrics, verb: get}}\n"))
	require.Equal(t, 201, code)
	require.Contains(t, string(body), `"status":{"allowed":true}`)
}

// A token review returns the user and the audiences of a valid token.
func TestTokenReview(t *testing.T) {
	s := newTokenServer(t, fakeapi.WithObjects(newServiceAccount("sa")))
	review := func(token string, audiences ...string) authenticationv1.TokenReviewStatus {
		response, err := s.client.AuthenticationV1().TokenReviews().Create(t.Context(), &authenticationv1.TokenReview{
			Spec:   authenticationv1.TokenReviewSpec{Token: token, Audiences: audiences},
			Status: authenticationv1.TokenReviewStatus{Authenticated: true, User: authenticationv1.UserInfo{Username: "forged"}},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		require.Equal(t, token, response.Spec.Token)
		return response.Status
	}
	const issuer = "https://kubernetes.default.svc.cluster.local"
	bad := authenticationv1.TokenReviewStatus{Error: "invalid bearer token"}
	require.Equal(t, authenticationv1.TokenReviewStatus{
		Authenticated: true, Audiences: []string{issuer},
		User: authenticationv1.UserInfo{Username: "ann", Groups: []string{"team-a", "system:authenticated"}},
	}, review("ann-1"))
	require.Equal(t, []string{issuer}, review("ann-1", "other", issuer).Audiences)
	require.Equal(t, bad, review("ann-1", "other"))
	require.Equal(t, bad, review("bob-1"))

	// The token is read as that of an Authorization header.
	require.Equal(t, "ann", review("ann-1\n").User.Username)
	require.Equal(t, "ann", review("ann-1 other").User.Username)
	require.Equal(t, authenticationv1.TokenReviewStatus{}, review(" ann-1"))
	require.Equal(t, authenticationv1.TokenReviewStatus{}, review("\n"))

	own := s.requestToken(nil)
	status := review(own)
	require.Equal(t, "system:serviceaccount:default:sa", status.User.Username)
	require.Equal(t, []string{"system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"}, status.User.Groups)
	require.Equal(t, []string{issuer}, status.Audiences)
	vault := s.requestToken(func(r *authenticationv1.TokenRequestSpec) { r.Audiences = []string{"vault", "other"} })
	require.Equal(t, authenticationv1.TokenReviewStatus{
		Error: `[invalid bearer token, token audiences ["vault" "other"] is invalid for the target audiences ["` + issuer + `"]]`,
	}, review(vault))
	require.Equal(t, []string{"vault"}, review(vault, "vault", issuer).Audiences)
	require.NoError(t, s.srv.ExpireToken("ann-1"))
	_, err := s.client.AuthenticationV1().TokenReviews().Create(t.Context(), &authenticationv1.TokenReview{}, metav1.CreateOptions{})
	require.True(t, apierrors.IsUnauthorized(err))
}

// A review of spaces authenticates the anonymous user where requests without a token are allowed.
func TestTokenReviewOfAnonymous(t *testing.T) {
	allow := authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
		return authorizer.DecisionAllow, "", nil
	})
	s := newTokenServer(t, fakeapi.WithAnonymousAuth(), fakeapi.WithAuthorizer(allow))
	response, err := s.client.AuthenticationV1().TokenReviews().Create(t.Context(), &authenticationv1.TokenReview{
		Spec: authenticationv1.TokenReviewSpec{Token: " ", Audiences: []string{"a"}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, authenticationv1.TokenReviewStatus{
		Authenticated: true, Audiences: []string{"a"},
		User: authenticationv1.UserInfo{Username: "system:anonymous", Groups: []string{"system:unauthenticated"}},
	}, response.Status)
}

// A SelfSubjectReview returns the user of the request, which may be impersonated.
func TestSelfReview(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	whoami := func(client *kubernetes.Clientset) authenticationv1.UserInfo {
		response, err := client.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		require.NoError(t, err)
		require.False(t, response.CreationTimestamp.IsZero())
		return response.Status.UserInfo
	}
	require.Equal(t, authenticationv1.UserInfo{Username: "system:admin", Groups: []string{"system:masters", "system:authenticated"}},
		whoami(kubernetes.NewForConfigOrDie(srv.RESTConfig())))
	require.Equal(t, authenticationv1.UserInfo{Username: "bob", Groups: []string{"a", "b", "system:authenticated"}}, whoami(impersonatingClient(srv, "bob", "a", "b")))
}

// Admission plugins receive reviews.
func TestReviewAdmission(t *testing.T) {
	var w reviewer
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithAdmission(fakeapi.Admission{Name: "v", Review: w.review}))
	code, _, body := send(t, srv, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "application/json", []byte(`{}`))
	require.Equal(t, 201, code, "%s", body)
	require.Equal(t, "selfsubjectreviews", w.last().Resource.Resource)
	require.True(t, bytes.Contains(w.last().Object.Raw, []byte("SelfSubjectReview")))
}
