package authz

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/utils/lru"

	"example.com/fakeapi/fake/internal/authn"
)

// RequestedImpersonation returns the user that the headers of a request impersonate, as they are
// written, or false without such headers. Headers without the name of a user are a 400 (AU-07).
func RequestedImpersonation(header http.Header) (authenticationv1.UserInfo, bool, error) {
	if !hasImpersonationHeader(header) {
		return authenticationv1.UserInfo{}, false, nil
	}
	user := authenticationv1.UserInfo{
		Username: header.Get(authenticationv1.ImpersonateUserHeader),
		UID:      header.Get(authenticationv1.ImpersonateUIDHeader),
		Groups:   slices.Clone(header[authenticationv1.ImpersonateGroupHeader]),
	}
	extra := false
	for _, name := range slices.Sorted(maps.Keys(header)) {
		key, ok := strings.CutPrefix(name, authenticationv1.ImpersonateUserExtraHeaderPrefix)
		if !ok {
			continue
		}
		extra = true
		if user.Extra == nil {
			user.Extra = map[string]authenticationv1.ExtraValue{}
		}
		key = unescapeExtraKey(strings.ToLower(key))
		user.Extra[key] = append(user.Extra[key], header[name]...)
	}
	if user.Username != "" {
		return user, true, nil
	}
	if user.UID == "" && len(user.Groups) == 0 && !extra {
		return user, false, nil
	}
	return user, false, apierrors.NewBadRequest("requested " + formatUser(user) + " without impersonating a user name")
}

// hasImpersonationHeader reports whether there is a header of impersonation. Most requests have
// none.
func hasImpersonationHeader(header http.Header) bool {
	for name := range header {
		if strings.HasPrefix(name, "Impersonate-") {
			return true
		}
	}
	return false
}

// unescapeExtraKey decodes the key of an extra field, which is escaped as in a URL. An invalid one
// is returned unchanged.
func unescapeExtraKey(key string) string {
	if decoded, err := url.PathUnescape(key); err == nil {
		return decoded
	}
	return key
}

// formatUser returns the user as the API server prints its own Go type.
func formatUser(user authenticationv1.UserInfo) string {
	var extra map[string][]string
	for key, values := range user.Extra {
		if extra == nil {
			extra = map[string][]string{}
		}
		extra[key] = values
	}
	return fmt.Sprintf("&user.DefaultInfo{Name:%q, UID:%q, Groups:%#v, Extra:%#v}", user.Username, user.UID, user.Groups, extra)
}

// maxImpersonators is the number of users whose last mode Impersonation remembers.
const maxImpersonators = 10_000

// Impersonation decides who may act as another user. It is safe for concurrent use.
type Impersonation struct {
	authorizer authorizer.UnconditionalAuthorizer
	// last has the mode in which each user impersonated last, by name.
	last *lru.Cache
}

// NewImpersonation returns an Impersonation that asks by.
func NewImpersonation(by authorizer.UnconditionalAuthorizer) *Impersonation {
	return &Impersonation{by, lru.New(maxImpersonators)}
}

// Impersonate returns the user as which a request acts that has the attributes a and impersonates
// target. The error is the 403 of a user who may not impersonate target (AU-08).
//
// As in v1.36 and later, a permission to impersonate can be limited to some requests (KEP-5284).
// The modes for nodes, service accounts and other users are tried before the verb "impersonate",
// which is for all requests, but that in which the user impersonated last comes first, as on a real
// server. The error is that of the first mode. Observed are the permissions that the user has for
// the mode that is used, or, if there is none, the decisions of the verb "impersonate", which is
// enough.
func (i *Impersonation) Impersonate(ctx context.Context, a authorizer.AttributesRecord, target authenticationv1.UserInfo) (authenticationv1.UserInfo, error) {
	var first error
	var unlimited *HeldDecisions
	for _, m := range i.inOrder(a.User.GetName(), modesFor(a.User, target)) {
		modeCtx, held := HoldDecisions(ctx)
		user, err := m.impersonate(checker{modeCtx, i.authorizer}, a, target)
		if err == nil {
			i.last.Add(a.User.GetName(), m)
			held.ObserveAllowed()
			audit.LogImpersonatedUser(ctx, authn.NewInfo(user), m.constraint())
			return user, nil
		}
		if first == nil {
			first = err
		}
		if m == unconstrained {
			unlimited = held
		}
	}
	unlimited.ObserveAll()
	return authenticationv1.UserInfo{}, first
}

// inOrder returns modes in the order in which they are tried for a user. It changes modes.
func (i *Impersonation) inOrder(requestor string, modes []mode) []mode {
	last, ok := i.last.Get(requestor)
	if !ok {
		return modes
	}
	if at := slices.Index(modes, last.(mode)); at > 0 {
		copy(modes[1:], modes[:at])
		modes[0] = last.(mode)
	}
	return modes
}

// checker asks an authorizer in the context of a request.
type checker struct {
	ctx        context.Context
	authorizer authorizer.UnconditionalAuthorizer
}

// check returns nil if an action is allowed, or its 403.
func (c checker) check(a authorizer.AttributesRecord) error {
	decision, reason, err := c.authorizer.Authorize(c.ctx, a)
	if decision == authorizer.DecisionAllow {
		return nil
	}
	switch {
	case apierrors.IsForbidden(err):
		return err
	case err != nil && reason != "":
		reason = fmt.Sprintf("%v: %s", err, reason)
	case err != nil:
		reason = err.Error()
	}
	return Forbidden(a, reason)
}
