package authn

import (
	"context"
	"maps"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apiserver/pkg/authentication/user"
)

type userKey struct{}

// WithUser returns a context with the user of a request.
func WithUser(ctx context.Context, user authenticationv1.UserInfo) context.Context {
	return context.WithValue(ctx, userKey{}, user)
}

// UserFrom returns the user of a request. On a server without authentication it is AdminUser.
func UserFrom(ctx context.Context) authenticationv1.UserInfo {
	if user, ok := ctx.Value(userKey{}).(authenticationv1.UserInfo); ok {
		return user
	}
	return AdminUser()
}

// AnonymousUser returns the user of requests without credentials.
func AnonymousUser() authenticationv1.UserInfo {
	return authenticationv1.UserInfo{Username: user.Anonymous, Groups: []string{user.AllUnauthenticated}}
}

// AdminUser returns a user who may do everything.
func AdminUser() authenticationv1.UserInfo {
	return authenticationv1.UserInfo{Username: "system:admin", Groups: []string{user.SystemPrivilegedGroup, user.AllAuthenticated}}
}

// ServerUser returns the user of what the API server itself writes and requests.
func ServerUser() authenticationv1.UserInfo {
	return authenticationv1.UserInfo{Username: user.APIServerUser, Groups: []string{user.SystemPrivilegedGroup, user.AllAuthenticated}}
}

// NewInfo returns the user in the form of authorizers.
func NewInfo(u authenticationv1.UserInfo) *user.DefaultInfo {
	info := &user.DefaultInfo{Name: u.Username, UID: u.UID, Groups: u.Groups}
	if len(u.Extra) > 0 {
		info.Extra = make(map[string][]string, len(u.Extra))
		for key, values := range maps.All(u.Extra) {
			info.Extra[key] = values
		}
	}
	return info
}
