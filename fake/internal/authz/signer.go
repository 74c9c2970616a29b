package authz

import (
	"context"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// IsAuthorizedForSigner reports whether u has the permission for a verb on a signer of
// certificates, or on all signers of its domain.
func IsAuthorizedForSigner(ctx context.Context, a authorizer.UnconditionalAuthorizer, u user.Info, verb, signer string) bool {
	domain, _, _ := strings.Cut(signer, "/")
	var denied *HeldDecisions // about signer
	for _, name := range [...]string{signer, domain + "/*"} {
		ctx, held := HoldDecisions(ctx)
		decision, _, err := a.Authorize(ctx, authorizer.AttributesRecord{
			User: u, Verb: verb, Name: name,
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
