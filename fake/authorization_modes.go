package fakeapi

import (
	"fmt"

	"example.com/fakeapi/fake/internal/authz"
)

// AuthorizationMode is an authorizer of kube-apiserver, as its flag --authorization-mode names it.
type AuthorizationMode string

// The authorization modes.
const (
	// ModeAlwaysAllow allows everything.
	ModeAlwaysAllow AuthorizationMode = "AlwaysAllow"
	// ModeAlwaysDeny denies everything.
	ModeAlwaysDeny AuthorizationMode = "AlwaysDeny"
	// ModeRBAC decides by the stored Roles, ClusterRoles and bindings.
	ModeRBAC AuthorizationMode = "RBAC"
)

// WithRBAC authorizes requests by the stored Roles, ClusterRoles and their bindings, as a cluster
// does; it is WithAuthorizationModes(ModeRBAC).
func WithRBAC() Option { return WithAuthorizationModes(ModeRBAC) }

// WithAuthorizationModes sets the authorizers of requests. They are asked in this order until one
// allows or denies the request. The default is ModeAlwaysAllow.
func WithAuthorizationModes(modes ...AuthorizationMode) Option {
	return func(o *options) error {
		o.authorization.Modes = nil
		for _, m := range modes {
			switch m {
			case ModeAlwaysAllow, ModeAlwaysDeny, ModeRBAC:
				o.authorization.Modes = append(o.authorization.Modes, authz.Mode(m))
			default:
				return fmt.Errorf("fakeapi: %q is not an authorization mode that is supported", m)
			}
		}
		return nil
	}
}
