package handlers

import (
	"context"
	"fmt"

	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/authz"
	"example.com/fakeapi/fake/internal/resource"
)

// withAccess returns ctx with what the user of an update may do besides it if the validation asks.
func (a *API) withAccess(ctx context.Context, q *request) context.Context {
	if a.requestAuthorizer == nil || !q.res.ChecksAccess {
		return ctx
	}
	request := authz.AttributesOf(authn.UserFrom(q.r.Context()), q.r)
	return resource.WithAccess(ctx, &resource.Access{User: request.User, Verb: request.Verb, Check: func(verb, subresource, namespace, name string) error {
		attributes := request
		attributes.Verb, attributes.Subresource, attributes.Namespace, attributes.Name = verb, subresource, namespace, name
		decision, reason, err := a.requestAuthorizer.Authorize(q.r.Context(), attributes)
		switch {
		case decision == authorizer.DecisionAllow:
			return nil
		case err != nil && reason != "":
			reason = fmt.Sprintf("%v: %s", err, reason)
		case err != nil:
			reason = err.Error()
		}
		return authz.Forbidden(attributes, reason)
	}})
}
