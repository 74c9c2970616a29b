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

// secretsOf reads what not everybody may.
func secretsOf(config *rest.Config) string {
	_, err := kubernetes.NewForConfigOrDie(config).CoreV1().Secrets("default").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return err.Error()
	}
	return "welcome"
}

// Bearer tokens, that end by themselves or when the test says so. They include TLS.
func ExampleWithTokens() {
	srv, err := fakeapi.New(fakeapi.WithTokens(
		fakeapi.Token{Value: "s3cret", User: "ann", Groups: []string{"team-a"}},
		fakeapi.Token{Value: "brief", User: "ben", ExpiresIn: time.Hour},
		fakeapi.Token{Value: "over", User: "cara", ExpiresAt: time.Now().Add(-time.Hour)},
	))
	check(err)
	defer func() { _ = srv.Close() }()
	fmt.Println("first:", secretsOf(srv.RESTConfig()))
	fmt.Println("brief:", secretsOf(srv.RESTConfigWithToken("brief")))
	fmt.Println("over:", secretsOf(srv.RESTConfigWithToken("over")))

	check(srv.ExpireToken("s3cret"))
	fmt.Println("first:", secretsOf(srv.RESTConfig()))
	check(srv.AddToken(fakeapi.Token{Value: "s3cret", User: "ann"}))
	fmt.Println("first:", secretsOf(srv.RESTConfig()))
	// Output:
	// first: welcome
	// brief: welcome
	// over: Unauthorized
	// first: Unauthorized
	// first: welcome
}

// HTTPS, under names of one's own; clients of the server trust it already.
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

// Client certificates: of the server's own making, or of an authority that the test has.
func ExampleWithClientCA() {
	other, err := fakeapi.New(fakeapi.WithClientCA())
	check(err)
	defer func() { _ = other.Close() }()

	srv, err := fakeapi.New(fakeapi.WithClientCA(other.CACertificate()))
	check(err)
	defer func() { _ = srv.Close() }()
	ann, err := srv.RESTConfigWithCertificate("ann", "team-a")
	check(err)
	fmt.Println("ann:", secretsOf(ann))
	config := srv.RESTConfig()
	config.CertData, config.KeyData = nil, nil
	fmt.Println("anonymous:", secretsOf(config))

	cert, key, err := srv.IssueClientCertificate(-time.Second, "ben")
	check(err)
	config.CertData, config.KeyData = cert, key
	fmt.Println("expired:", secretsOf(config))
	// Output:
	// ann: welcome
	// anonymous: Unauthorized
	// expired: Unauthorized
}

// Requests without credentials are let in, and may do what the authorizer says.
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
	fmt.Println(secretsOf(srv.RESTConfigWithToken("")))
	fmt.Println(secretsOf(srv.RESTConfigWithToken("wrong")))
	// Output:
	// secrets is forbidden: User "system:anonymous" cannot list resource "secrets" in API group "" in the namespace "default"
	// Unauthorized
}
