package authz

import (
	"context"

	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// Observer is called with each decision of an authorizer about a request, in its context. It may be
// called by several goroutines.
type Observer func(ctx context.Context, a authorizer.Attributes, decision authorizer.Decision, reason string)

// Observe returns an authorizer that calls observe with each decision of a.
func Observe(a Authorizer, observe Observer) Authorizer { return observed{a, observe} }

type observed struct {
	Authorizer
	observe Observer
}

func (o observed) Authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	decision, reason, err := o.Authorizer.Authorize(ctx, a)
	o.observe(ctx, a, decision, reason)
	return decision, reason, err
}
