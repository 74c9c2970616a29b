package fakeapi

import (
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"example.com/fakeapi/fake/internal/certs"
)

// RESTConfigForServiceAccount is like RESTConfig with a new token of a service account, which must
// exist. The token is one of a TokenRequest, but is valid for ten years: until the account is
// deleted, or ExpireToken is called with the BearerToken of the configuration. The user is
// system:serviceaccount:NAMESPACE:NAME in the groups system:serviceaccounts,
// system:serviceaccounts:NAMESPACE and system:authenticated. Without WithRBAC and WithAuthorizer it
// may do everything.
//
// All servers authenticate these tokens, also those that ignore other credentials.
func (s *Server) RESTConfigForServiceAccount(namespace, name string) (*rest.Config, error) {
	return s.restConfigForServiceAccount(0, namespace, name)
}

// restConfigForServiceAccount is RESTConfigForServiceAccount with a token that is valid for
// lifetime, or with 0 as long as a client certificate, because virtual time may advance by years.
func (s *Server) restConfigForServiceAccount(lifetime time.Duration, namespace, name string) (*rest.Config, error) {
	if lifetime == 0 {
		lifetime = certs.ValidAfter
	}
	token, err := s.api.IssueToken(namespace, name, lifetime)
	switch {
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("fakeapi: there is no service account %q in the namespace %q; create it first", name, namespace)
	case err != nil:
		return nil, fmt.Errorf("fakeapi: token for the service account %s/%s: %w", namespace, name, err)
	}
	return s.RESTConfigWithToken(token), nil
}
