package admission

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/fake/internal/webhookclient"
)

// IsVirtual reports whether the write is a review of a token or of access. Neither webhooks nor
// policies are asked about them, because they could keep everybody from authenticating and
// authorizing (KEP-5793).
func (a *Attributes) IsVirtual() bool {
	group := a.GroupResource().Group
	return a.Subresource == "" && (group == authenticationv1.GroupName || group == authorizationv1.GroupName)
}

// Dynamic is what the plugins use that are configured by stored objects: webhook configurations and
// policies.
type Dynamic struct {
	// Context is done when the server is closed.
	Context context.Context
	// Webhooks reads webhook configurations, and the namespaces that they select. Policies reads
	// policies, bindings, parameters and namespaces. They differ only if changes take effect late.
	Webhooks, Policies *Lister
	// Network is how webhooks are called.
	Network webhookclient.Network
	// Authorizer decides what CEL expressions ask the authorizer.
	Authorizer authorizer.UnconditionalAuthorizer
	// Observe is called with each decision of a webhook or a policy, in the context of the request.
	// It may be called by several goroutines. Warnings are those of a webhook's response.
	Observe func(ctx context.Context, d Decision)
}
