package fakeapi_test

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	fakeapi "example.com/fakeapi/fake"
)

// listSecrets lists secrets and returns "welcome" or the error.
func listSecrets(config *rest.Config) string {
	_, err := kubernetes.NewForConfigOrDie(config).CoreV1().Secrets("default").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return err.Error()
	}
	return "welcome"
}

// Bearer tokens with and without an expiry. They include TLS.
func ExampleWithTokens() {
	srv, err := fakeapi.New(fakeapi.WithTokens(
		fakeapi.Token{Value: "s3cret", User: "ann", Groups: []string{"team-a"}},
		fakeapi.Token{Value: "brief", User: "ben", ExpiresIn: time.Hour},
		fakeapi.Token{Value: "over", User: "cara", ExpiresAt: time.Now().Add(-time.Hour)},
	))
	check(err)
	defer func() { _ = srv.Close() }()
	fmt.Println("first:", listSecrets(srv.RESTConfig()))
	fmt.Println("brief:", listSecrets(srv.RESTConfigWithToken("brief")))
	fmt.Println("over:", listSecrets(srv.RESTConfigWithToken("over")))

	check(srv.ExpireToken("s3cret"))
	fmt.Println("first:", listSecrets(srv.RESTConfig()))
	check(srv.AddToken(fakeapi.Token{Value: "s3cret", User: "ann"}))
	fmt.Println("first:", listSecrets(srv.RESTConfig()))
	// Output:
	// first: welcome
	// brief: welcome
	// over: Unauthorized
	// first: Unauthorized
	// first: welcome
}

// HTTPS with another host name. The server's own clients trust the certificate.
func ExampleWithTLS() {
	srv, err := fakeapi.New(fakeapi.WithTLS(), fakeapi.WithAllowedHosts("host.docker.internal"))
	check(err)
	defer func() { _ = srv.Close() }()
	response, err := srv.Client().Get(srv.URL() + "/version")
	check(err)
	check(response.Body.Close())
	fmt.Println(response.Proto, response.TLS != nil, len(srv.CACertificate()) > 0)
	// Output:
	// HTTP/2.0 true true
}

// Client certificates of the server and of another authority.
func ExampleWithClientCA() {
	other, err := fakeapi.New(fakeapi.WithClientCA())
	check(err)
	defer func() { _ = other.Close() }()

	srv, err := fakeapi.New(fakeapi.WithClientCA(other.CACertificate()))
	check(err)
	defer func() { _ = srv.Close() }()
	ann, err := srv.RESTConfigWithCertificate("ann", "team-a")
	check(err)
	fmt.Println("ann:", listSecrets(ann))
	config := srv.RESTConfig()
	config.CertData, config.KeyData = nil, nil
	fmt.Println("anonymous:", listSecrets(config))

	cert, key, err := srv.IssueClientCertificate(-time.Second, "ben")
	check(err)
	config.CertData, config.KeyData = cert, key
	fmt.Println("expired:", listSecrets(config))
	// Output:
	// ann: welcome
	// anonymous: Unauthorized
	// expired: Unauthorized
}

// Requests without credentials are authorized as those of system:anonymous.
func ExampleWithAnonymousAuth() {
	srv, err := fakeapi.New(
		fakeapi.WithTokens(fakeapi.Token{Value: "s3cret", User: "ann"}),
		fakeapi.WithAnonymousAuth(),
		fakeapi.WithAuthorizer(authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
			if a.GetUser().GetName() == "system:anonymous" {
				return authorizer.DecisionNoOpinion, "", nil
			}
			return authorizer.DecisionAllow, "", nil
		})),
	)
	check(err)
	defer func() { _ = srv.Close() }()
	fmt.Println(listSecrets(srv.RESTConfigWithToken("")))
	fmt.Println(listSecrets(srv.RESTConfigWithToken("wrong")))
	// Output:
	// secrets is forbidden: User "system:anonymous" cannot list resource "secrets" in API group "" in the namespace "default"
	// Unauthorized
}

// Users have the rights of their bindings.
func ExampleWithRBAC() {
	srv, err := fakeapi.New(fakeapi.WithRBAC(), fakeapi.WithYAML(`
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: secrets, namespace: default}
rules:
- {apiGroups: [""], resources: [secrets], verbs: [get, list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: secrets, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: secrets}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: team-a}
`))
	check(err)
	defer func() { _ = srv.Close() }()
	ann, err := srv.RESTConfigWithCertificate("ann", "team-a")
	check(err)
	ben, err := srv.RESTConfigWithCertificate("ben")
	check(err)
	fmt.Println("administrator:", listSecrets(srv.RESTConfig()))
	fmt.Println("ann:", listSecrets(ann))
	fmt.Println("ben:", listSecrets(ben))
	fmt.Println("no credentials:", listSecrets(srv.RESTConfigWithToken("")))
	// Output:
	// administrator: welcome
	// ann: welcome
	// ben: secrets is forbidden: User "ben" cannot list resource "secrets" in API group "" in the namespace "default"
	// no credentials: secrets is forbidden: User "system:anonymous" cannot list resource "secrets" in API group "" in the namespace "default"
}

// A client that is a service account, with a token that the server issued.
func ExampleServer_RESTConfigForServiceAccount() {
	srv, err := fakeapi.New(fakeapi.WithRBAC(), fakeapi.WithYAML(`
apiVersion: v1
kind: ServiceAccount
metadata: {name: manager, namespace: system}
`))
	check(err)
	defer func() { _ = srv.Close() }()
	manager, err := srv.RESTConfigForServiceAccount("system", "manager")
	check(err)
	fmt.Println(listSecrets(manager))
	check(srv.ExpireToken(manager.BearerToken))
	fmt.Println(listSecrets(manager))
	// Output:
	// secrets is forbidden: User "system:serviceaccount:system:manager" cannot list resource "secrets" in API group "" in the namespace "default"
	// Unauthorized
}
