package authz

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// mode is a mode of impersonation. The mode without a name is for all requests. The others are
// constrained: they need a permission for the request as well.
type mode string

const (
	associatedNode mode = "associated-node"
	arbitraryNode  mode = "arbitrary-node"
	serviceAccount mode = "serviceaccount"
	userInfo       mode = "user-info"
	unconstrained  mode = ""
)

// modesFor returns the modes in which requestor may impersonate target, in the order in which they
// are tried.
func modesFor(requestor user.Info, target authenticationv1.UserInfo) []mode {
	nameOnly := target.UID == "" && len(target.Groups) == 0 && len(target.Extra) == 0
	_, _, isAccount := serviceAccountName(target.Username)
	node, isNode := nodeName(target.Username)
	var modes []mode
	switch {
	case isNode && nameOnly:
		if isBoundToNode(requestor, node) {
			modes = append(modes, associatedNode)
		}
		modes = append(modes, arbitraryNode)
	case isAccount && nameOnly:
		modes = append(modes, serviceAccount)
	case !isNode && !isAccount:
		modes = append(modes, userInfo)
	}
	return append(modes, unconstrained)
}

// isBoundToNode reports whether u is a service account with a token that is bound to a pod on the
// node.
func isBoundToNode(u user.Info, node string) bool {
	_, _, ok := serviceAccountName(u.GetName())
	at := u.GetExtra()["authentication.kubernetes.io/node-name"]
	return ok && len(at) == 1 && at[0] == node
}

// nodeName returns the node of the user name of a kubelet.
func nodeName(name string) (string, bool) {
	name, ok := strings.CutPrefix(name, "system:node:")
	return name, ok && len(validation.NameIsDNSSubdomain(name, false)) == 0
}

// serviceAccountName returns the service account of a user name.
func serviceAccountName(username string) (namespace, name string, ok bool) {
	rest, ok := strings.CutPrefix(username, "system:serviceaccount:")
	parts := strings.Split(rest, ":")
	if !ok || len(parts) != 2 || len(validation.ValidateNamespaceName(parts[0], false)) > 0 ||
		len(validation.ValidateServiceAccountName(parts[1], false)) > 0 {
		return "", "", false
	}
	return parts[0], parts[1], true
}

// impersonate checks all permissions that are needed to act as target, and returns the user as
// which the request then acts.
func (m mode) impersonate(c checker, a authorizer.AttributesRecord, target authenticationv1.UserInfo) (authenticationv1.UserInfo, error) {
	if m == associatedNode {
		a.User = withExtraKeysOnly(a.User)
	}
	if m != unconstrained {
		onRequest := a
		onRequest.Verb = "impersonate-on:" + string(m) + ":" + a.Verb
		if err := c.check(onRequest); err != nil {
			return target, err
		}
	}
	u := target
	u.Groups = slices.Clone(target.Groups)
	for _, check := range []func(checker, authorizer.AttributesRecord, *authenticationv1.UserInfo) error{m.checkName, m.checkUID, m.checkGroups, m.checkExtra} {
		attributes := authorizer.AttributesRecord{
			User: a.User, Verb: m.verb(), APIGroup: authenticationv1.GroupName, APIVersion: "v1", ResourceRequest: true,
		}
		if err := check(c, attributes, &u); err != nil {
			return target, err
		}
	}
	return withImpliedGroups(u), nil
}

// withExtraKeysOnly returns the service account of a pod on a node with the keys of its extra
// fields as their only value, so that a permission for one node is one for all.
func withExtraKeysOnly(u user.Info) user.Info {
	return &user.DefaultInfo{
		Name: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups(),
		Extra: map[string][]string{"authentication.kubernetes.io/associated-node-keys": slices.Sorted(maps.Keys(u.GetExtra()))},
	}
}

func (m mode) verb() string {
	if m == unconstrained {
		return "impersonate"
	}
	return "impersonate:" + string(m)
}

// constraint returns the impersonationConstraint in the audit log.
func (m mode) constraint() string {
	if m == unconstrained {
		return ""
	}
	return m.verb()
}

// inGroup sets the API group of users and groups, the resource and the name.
func (m mode) inGroup(a authorizer.AttributesRecord, resource, name string) authorizer.AttributesRecord {
	if m == unconstrained {
		a.APIGroup = ""
	}
	a.Resource, a.Name = resource, name
	return a
}

func (m mode) checkName(c checker, a authorizer.AttributesRecord, u *authenticationv1.UserInfo) error {
	target := m.inGroup(a, "users", u.Username)
	if node, ok := nodeName(u.Username); ok && m != unconstrained {
		target.Resource, target.Name = "nodes", node
		if m == associatedNode {
			target.Name = "*"
		}
		u.Groups = []string{user.NodesGroup}
	}
	if namespace, name, ok := serviceAccountName(u.Username); ok {
		target.Resource, target.Namespace, target.Name = "serviceaccounts", namespace, name
	}
	return c.check(target)
}

func (m mode) checkUID(c checker, a authorizer.AttributesRecord, u *authenticationv1.UserInfo) error {
	if u.UID == "" {
		return nil
	}
	a.Resource, a.Name = "uids", u.UID
	return c.check(a)
}

// minForWildcard is the number of groups or extra values from which a permission for all is checked
// first.
const minForWildcard = 4

func (m mode) checkGroups(c checker, a authorizer.AttributesRecord, u *authenticationv1.UserInfo) error {
	if len(u.Groups) == 0 || m == associatedNode || m == arbitraryNode { // these modes derive them from the name
		return nil
	}
	a = m.inGroup(a, "groups", "")
	if m != unconstrained {
		switch {
		case slices.Contains(u.Groups, ""):
			return Forbidden(a, "impersonating the empty string group is not allowed")
		case slices.Contains(u.Groups, user.SystemPrivilegedGroup):
			a.Name = user.SystemPrivilegedGroup
			return Forbidden(a, "impersonating the system:masters group is not allowed")
		}
		all := a
		if all.Name = "*"; len(u.Groups) >= minForWildcard && c.check(all) == nil {
			return nil
		}
	}
	for _, group := range u.Groups {
		a.Name = group
		if err := c.check(a); err != nil {
			return err
		}
	}
	return nil
}

func (m mode) checkExtra(c checker, a authorizer.AttributesRecord, u *authenticationv1.UserInfo) error {
	if len(u.Extra) == 0 {
		return nil
	}
	a.Resource = "userextras"
	if m != unconstrained {
		if err := validateExtra(u.Extra); err != nil {
			return Forbidden(a, err.Error())
		}
		all := a
		all.Subresource, all.Name = "*", "*"
		if hasManyValues(u.Extra) && c.check(all) == nil {
			return nil
		}
	}
	for _, key := range slices.Sorted(maps.Keys(u.Extra)) {
		a.Subresource = key
		for _, value := range u.Extra[key] {
			a.Name = value
			if err := c.check(a); err != nil {
				return err
			}
		}
	}
	return nil
}

func hasManyValues(extra map[string]authenticationv1.ExtraValue) bool {
	values := 0
	for _, v := range extra {
		values += len(v)
	}
	return len(extra) >= minForWildcard || values >= minForWildcard
}

// validateExtra validates extra fields. The constrained modes allow less than unconstrained
// requests may send.
func validateExtra(extra map[string]authenticationv1.ExtraValue) error {
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		if key == "" {
			return fmt.Errorf("impersonating the empty string key in extra is not allowed")
		}
		if err := utilvalidation.IsDomainPrefixedPath(field.NewPath("extra", "key"), key).ToAggregate(); err != nil {
			return fmt.Errorf("impersonating an invalid key in extra is not allowed: %w", err)
		}
		if key != strings.ToLower(key) {
			return fmt.Errorf("impersonating a non-lowercase key in extra is not allowed: %q", key)
		}
		if len(extra[key]) == 0 {
			return fmt.Errorf("impersonating empty values in extra is not allowed")
		}
		if slices.Contains(extra[key], "") {
			return fmt.Errorf("impersonating the empty string value in extra is not allowed")
		}
	}
	return nil
}

// withImpliedGroups adds the groups that follow from the user name.
func withImpliedGroups(u authenticationv1.UserInfo) authenticationv1.UserInfo {
	if namespace, _, ok := serviceAccountName(u.Username); ok && len(u.Groups) == 0 {
		u.Groups = []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace}
	}
	switch {
	case u.Username == user.Anonymous:
		u.Groups = addGroup(u.Groups, user.AllUnauthenticated)
	case !slices.Contains(u.Groups, user.AllUnauthenticated):
		u.Groups = addGroup(u.Groups, user.AllAuthenticated)
	}
	return u
}

func addGroup(groups []string, group string) []string {
	if slices.Contains(groups, group) {
		return groups
	}
	return append(groups, group)
}
