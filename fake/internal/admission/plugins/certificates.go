package plugins

import (
	"context"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/authz"
)

var (
	signingRequests        = certificatesv1.SchemeGroupVersion.WithResource("certificatesigningrequests")
	podCertificateRequests = certificatesv1.SchemeGroupVersion.WithResource("podcertificaterequests")
	trustBundles           = certificatesv1.SchemeGroupVersion.WithResource("clustertrustbundles")
)

// isAuthorizedForSigner reports whether the user has the permission for a verb on a signer, or on
// all signers of its domain. Without an authorizer everything is allowed.
func isAuthorizedForSigner(ctx context.Context, a authorizer.UnconditionalAuthorizer, attrs *admission.Attributes, verb, signer string) bool {
	if a == nil {
		return true
	}
	domain, _, _ := strings.Cut(signer, "/")
	var denied *authz.HeldDecisions // about signer
	for _, name := range [...]string{signer, domain + "/*"} {
		ctx, held := authz.HoldDecisions(ctx)
		decision, _, err := a.Authorize(ctx, authorizer.AttributesRecord{
			User: authn.NewInfo(attrs.User), Verb: verb, Name: name,
			APIGroup: certificatesv1.GroupName, APIVersion: "*", Resource: "signers", ResourceRequest: true,
		})
		if err == nil && decision == authorizer.DecisionAllow {
			held.ObserveAll()
			return true
		}
		if denied == nil {
			denied = held
		}
	}
	denied.ObserveAll()
	return false
}
