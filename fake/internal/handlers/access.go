package handlers

import (
	"context"

	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/authz"
	"example.com/fakeapi/fake/internal/resource"
)

// withAccess returns ctx with what the user of an update may do besides it if the validation asks.
func (a *API) withAccess(ctx context.Context, q *request) context.Context {
	if a.requestAuthorizer == nil || !q.res.ChecksAccess {
		return ctx
	}
	return resource.WithAccess(ctx, &resource.Access{
		Request:                 authz.AttributesOf(authn.UserFrom(q.r.Context()), q.r),
		UnconditionalAuthorizer: a.requestAuthorizer,
	})
}
