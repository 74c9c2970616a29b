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

// Impersonate returns the user as which a request acts that has the attributes a and impersonates
// target. The error is the 403 of a user who may not impersonate target (AU-08).
//
// As in v1.36 and later, a permission to impersonate can be limited to some requests (KEP-5284).
// The modes for nodes, service accounts and other users are tried before the verb "impersonate",
// which is for all requests. The error is that of the first mode. Observed are the permissions that
// the user has for the mode that is used, or, if there is none, the decisions of the last mode, whose
// permission is enough.
func Impersonate(ctx context.Context, by authorizer.UnconditionalAuthorizer, a authorizer.AttributesRecord, target authenticationv1.UserInfo) (authenticationv1.UserInfo, error) {
	var first error
	var latest *HeldDecisions
	for _, m := range modesFor(a.User, target) {
		modeCtx, held := HoldDecisions(ctx)
		user, err := m.impersonate(checker{modeCtx, by}, a, target)
		if err == nil {
			held.ObserveAllowed()
			audit.LogImpersonatedUser(ctx, authn.NewInfo(user), m.constraint())
			return user, nil
		}
		if first == nil {
			first = err
		}
		latest = held
	}
	latest.ObserveAll()
	return authenticationv1.UserInfo{}, first
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
