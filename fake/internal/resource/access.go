package resource

import (
	"context"

	"k8s.io/apiserver/pkg/authentication/user"
)

type accessKey struct{}

// Access is what the user of a request may do besides the request itself.
type Access struct {
	User user.Info
	Verb string // that of the request
	// Check returns the error of a user who may not do verb on a subresource of the type. An empty
	// namespace or name means all.
	Check func(verb, subresource, namespace, name string) error
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
