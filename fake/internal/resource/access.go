package resource

import (
	"context"

	"k8s.io/apiserver/pkg/authorization/authorizer"
)

type accessKey struct{}

// Access is what the user of a request may do besides the request itself.
type Access struct {
	// Request has the attributes of the request, also its user.
	Request authorizer.AttributesRecord
	// UnconditionalAuthorizer decides about other attributes.
	authorizer.UnconditionalAuthorizer
}

// WithAccess returns ctx with the access of the user who writes the object that is validated.
func WithAccess(ctx context.Context, access *Access) context.Context {
	return context.WithValue(ctx, accessKey{}, access)
}

// AccessFrom returns the access of the user who writes the object that is validated, for types with
// ChecksAccess. It is nil if the user may do everything.
func AccessFrom(ctx context.Context) *Access {
	access, _ := ctx.Value(accessKey{}).(*Access)
	return access
}
