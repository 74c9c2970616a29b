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
	if !mentioned(header) {
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
		key = unescape(strings.ToLower(key))
		user.Extra[key] = append(user.Extra[key], header[name]...)
	}
	if user.Username != "" {
		return user, true, nil
	}
	if user.UID == "" && len(user.Groups) == 0 && !extra {
		return user, false, nil
	}
	return user, false, apierrors.NewBadRequest("requested " + printed(user) + " without impersonating a user name")
}

// mentioned is a cheap look that passes almost all requests by.
func mentioned(header http.Header) bool {
	for name := range header {
		if strings.HasPrefix(name, "Impersonate-") {
			return true
		}
	}
	return false
}

// unescape reads the name of an extra, which is encoded as in a URL; what is not stays
// as it is.
func unescape(key string) string {
	if decoded, err := url.PathUnescape(key); err == nil {
		return decoded
	}
	return key
}

// printed is a user as the API server prints it: as its own Go type.
func printed(user authenticationv1.UserInfo) string {
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
func Impersonate(by Authorizer, a Attributes, wanted authenticationv1.UserInfo) (authenticationv1.UserInfo, error) {
	var first error
	for _, m := range modesFor(a.User, wanted) {
		user, err := m.check(by, a, wanted)
		if err == nil {
			return user, nil
		}
		if first == nil {
			first = err
		}
	}
	return authenticationv1.UserInfo{}, first
}

// ask is nil if an action is allowed, and its 403 if not.
func ask(by Authorizer, a Attributes) error {
	d := by.Authorize(a)
	if d.Allowed() {
		return nil
	}
	why := d.Reason()
	switch err := d.Err(); {
	case err != nil && why != "":
		why = fmt.Sprintf("%v: %s", err, why)
	case err != nil:
		why = err.Error()
	}
	return Forbidden(a, why)
}
