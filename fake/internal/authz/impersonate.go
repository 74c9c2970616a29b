package authz

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// The names of users and groups that mean something by themselves.
const (
	Anonymous       = "system:anonymous"
	Unauthenticated = "system:unauthenticated"
	authenticated   = "system:authenticated"
	nodesGroup      = "system:nodes"
)

// RequestedImpersonation is whom the headers of a request ask to impersonate, exactly as they say it, and
// false if they ask for nobody. A part without the name of a user is a 400 (AU-07).
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

// hasImpersonationHeader is a cheap look that passes almost all requests by.
func hasImpersonationHeader(header http.Header) bool {
	for name := range header {
		if strings.HasPrefix(name, "Impersonate-") {
			return true
		}
	}
	return false
}

// unescapeExtraKey reads the name of an extra, which is encoded as in a URL; what is not stays
// as it is.
func unescapeExtraKey(key string) string {
	if decoded, err := url.PathUnescape(key); err == nil {
		return decoded
	}
	return key
}

// formatUser is a user as the API server prints it: as its own Go type.
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

// Impersonate finds the user as whom a request acts whose own attributes are a, if it wants
// to act as wanted. An error is the 403 of a user who may not (AU-08).
//
// As in v1.36 and later a user may be allowed to impersonate for some requests only (KEP-5284):
// the modes for nodes, service accounts and other users are tried before the verb
// "impersonate", which is for all requests. The error is that of the first.
func Impersonate(authorizer Authorizer, a Attributes, target authenticationv1.UserInfo) (authenticationv1.UserInfo, error) {
	var first error
	for _, m := range modesFor(a.User, target) {
		user, err := m.impersonate(authorizer, a, target)
		if err == nil {
			return user, nil
		}
		if first == nil {
			first = err
		}
	}
	return authenticationv1.UserInfo{}, first
}

// authorize is nil if an action is allowed, and its 403 if not.
func authorize(authorizer Authorizer, a Attributes) error {
	d := authorizer.Authorize(a)
	if d.Allowed() {
		return nil
	}
	reason := d.Reason()
	switch err := d.Err(); {
	case err != nil && reason != "":
		reason = fmt.Sprintf("%v: %s", err, reason)
	case err != nil:
		reason = err.Error()
	}
	return Forbidden(a, reason)
}
