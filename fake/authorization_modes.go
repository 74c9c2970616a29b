package fakeapi

import (
	"errors"
	"fmt"
	"slices"

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
	// ModeRBAC decides by the stored Roles, ClusterRoles and bindings. The server then has the roles
	// and bindings that kube-apiserver v1.37 creates, such as cluster-admin, admin, edit, view and
	// system:*, also with WithoutSystemObjects. As kube-apiserver does when it starts, New, Fork and
	// Restore create those that the fixtures or the objects lack, and add what is missing in others,
	// except with the annotation rbac.authorization.kubernetes.io/autoupdate: "false"
	// (https://kubernetes.io/docs/reference/access-authn-authz/rbac/#auto-reconciliation). No webhooks
	// and policies review these writes.
	ModeRBAC AuthorizationMode = "RBAC"
	// ModeNode allows to kubelets, which are users in the group system:nodes with the name
	// system:node:NODE, what they need for the pods on their node
	// (https://kubernetes.io/docs/reference/access-authn-authz/node/).
	ModeNode AuthorizationMode = "Node"
)

// WithRBAC authorizes requests by the stored Roles, ClusterRoles and their bindings, as a cluster
// does. It is WithAuthorizationModes(ModeRBAC).
func WithRBAC() Option { return WithAuthorizationModes(ModeRBAC) }

// WithAuthorizationModes sets the authorizers of requests, as --authorization-mode of
// kube-apiserver does. They are asked in this order, after the one of WithAuthorizer, until one
// allows or denies the request. The default is ModeAlwaysAllow. No mode, a mode that occurs twice
// and an unsupported one are errors. If the option is given several times, the last one counts.
//
// Unless the first mode is ModeAlwaysAllow, users are authenticated: the option includes WithTLS
// and WithClientCA without other authorities, and, without ModeAlwaysAllow, WithAnonymousAuth: a
// request without credentials is one of system:anonymous, and may do what the authorizers allow to
// it. RESTConfig, Kubeconfig and Client have a certificate of system:admin in the group
// system:masters, who may do everything, or with WithTokens the first token.
// RESTConfigForServiceAccount and RESTConfigWithCertificate act as other users, and so does
// Impersonate in a copy of RESTConfig.
func WithAuthorizationModes(modes ...AuthorizationMode) Option {
	return func(o *options) error {
		if len(modes) == 0 {
			return errors.New("fakeapi: at least one authorization mode must be passed")
		}
		o.authorization.Modes = nil
		for _, m := range modes {
			if !slices.Contains(AuthorizationModes(), m) {
				return fmt.Errorf("fakeapi: authorization mode %q is not one of %v%s", m, AuthorizationModes(), whyUnsupported(m))
			}
			if o.authorization.HasMode(authz.Mode(m)) {
				return fmt.Errorf("fakeapi: authorization mode %q is specified more than once", m)
			}
			o.authorization.Modes = append(o.authorization.Modes, authz.Mode(m))
		}
		return nil
	}
}

// AuthorizationModes returns the modes that WithAuthorizationModes supports.
func AuthorizationModes() []AuthorizationMode {
	return []AuthorizationMode{ModeAlwaysAllow, ModeAlwaysDeny, ModeNode, ModeRBAC}
}

// whyUnsupported returns the reason for which a mode of kube-apiserver is not supported.
func whyUnsupported(m AuthorizationMode) string {
	switch m {
	case "ABAC":
		return ": it needs a policy file; use RBAC"
	case "Webhook":
		return ": pass the authorizer of k8s.io/apiserver/plugin/pkg/authorizer/webhook to WithAuthorizer"
	}
	return ""
}
