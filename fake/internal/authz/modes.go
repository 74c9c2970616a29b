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
)

// mode is one way to be allowed to impersonate. The one without a name is for all requests;
// the others are constrained: they have rights of their own for the request itself.
type mode string

const (
	associatedNode mode = "associated-node"
	arbitraryNode  mode = "arbitrary-node"
	serviceAccount mode = "serviceaccount"
	userInfo       mode = "user-info"
	unconstrained  mode = ""
)

// modesFor are the modes in which somebody may impersonate wanted, in the order in which
// they are tried.
func modesFor(requestor, target authenticationv1.UserInfo) []mode {
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

// isBoundToNode reports whether a user is a service account that is bound to a node.
func isBoundToNode(user authenticationv1.UserInfo, node string) bool {
	_, _, ok := serviceAccountName(user.Username)
	at := user.Extra["authentication.kubernetes.io/node-name"]
	return ok && len(at) == 1 && at[0] == node
}

// nodeName is the node whose kubelet has that user name.
func nodeName(user string) (string, bool) {
	name, ok := strings.CutPrefix(user, "system:node:")
	return name, ok && len(validation.NameIsDNSSubdomain(name, false)) == 0
}

// serviceAccountName is the service account that has that user name.
func serviceAccountName(user string) (namespace, name string, ok bool) {
	rest, ok := strings.CutPrefix(user, "system:serviceaccount:")
	parts := strings.Split(rest, ":")
	if !ok || len(parts) != 2 || len(validation.ValidateNamespaceName(parts[0], false)) > 0 ||
		len(validation.ValidateServiceAccountName(parts[1], false)) > 0 {
		return "", "", false
	}
	return parts[0], parts[1], true
}

// impersonate asks for all that somebody needs in order to act as wanted, and gives the user that
// comes of it.
func (m mode) impersonate(authorizer Authorizer, a Attributes, target authenticationv1.UserInfo) (authenticationv1.UserInfo, error) {
	if m == associatedNode {
		a.User = withExtraKeysOnly(a.User)
	}
	if m != unconstrained {
		onRequest := a
		onRequest.Verb = "impersonate-on:" + string(m) + ":" + a.Verb
		if err := authorize(authorizer, onRequest); err != nil {
			return target, err
		}
	}
	user := target
	user.Groups = slices.Clone(target.Groups)
	for _, check := range []func(Authorizer, Attributes, *authenticationv1.UserInfo) error{m.checkName, m.checkUID, m.checkGroups, m.checkExtra} {
		if err := check(authorizer, Attributes{User: a.User, Verb: m.verb(), Group: authenticationv1.GroupName, Version: "v1"}, &user); err != nil {
			return target, err
		}
	}
	return withImpliedGroups(user), nil
}

// withExtraKeysOnly is the account of a node's pod, its extras reduced to their names: what is
// allowed on one node is allowed on all.
func withExtraKeysOnly(user authenticationv1.UserInfo) authenticationv1.UserInfo {
	user.Extra = map[string]authenticationv1.ExtraValue{
		"authentication.kubernetes.io/associated-node-keys": slices.Sorted(maps.Keys(user.Extra)),
	}
	return user
}

func (m mode) verb() string {
	if m == unconstrained {
		return "impersonate"
	}
	return "impersonate:" + string(m)
}

// inGroup puts the attributes into the group in which users and groups are asked for.
func (m mode) inGroup(a Attributes, resource, name string) Attributes {
	if m == unconstrained {
		a.Group = ""
	}
	a.Resource, a.Name = resource, name
	return a
}

func (m mode) checkName(authorizer Authorizer, a Attributes, user *authenticationv1.UserInfo) error {
	target := m.inGroup(a, "users", user.Username)
	if node, ok := nodeName(user.Username); ok && m != unconstrained {
		target.Resource, target.Name = "nodes", node
		if m == associatedNode {
			target.Name = "*"
		}
		user.Groups = []string{nodesGroup}
	}
	if namespace, name, ok := serviceAccountName(user.Username); ok {
		target.Resource, target.Namespace, target.Name = "serviceaccounts", namespace, name
	}
	return authorize(authorizer, target)
}

func (m mode) checkUID(authorizer Authorizer, a Attributes, user *authenticationv1.UserInfo) error {
	if user.UID == "" {
		return nil
	}
	a.Resource, a.Name = "uids", user.UID
	return authorize(authorizer, a)
}

// minForWildcard is how many groups or extras are asked for in one, if that is allowed.
const minForWildcard = 4

func (m mode) checkGroups(authorizer Authorizer, a Attributes, user *authenticationv1.UserInfo) error {
	if len(user.Groups) == 0 || m == associatedNode || m == arbitraryNode { // there they follow from the name
		return nil
	}
	a = m.inGroup(a, "groups", "")
	if m != unconstrained {
		switch {
		case slices.Contains(user.Groups, ""):
			return Forbidden(a, "impersonating the empty string group is not allowed")
		case slices.Contains(user.Groups, SystemMasters):
			a.Name = SystemMasters
			return Forbidden(a, "impersonating the system:masters group is not allowed")
		}
		all := a
		if all.Name = "*"; len(user.Groups) >= minForWildcard && authorize(authorizer, all) == nil {
			return nil
		}
	}
	for _, group := range user.Groups {
		a.Name = group
		if err := authorize(authorizer, a); err != nil {
			return err
		}
	}
	return nil
}

func (m mode) checkExtra(authorizer Authorizer, a Attributes, user *authenticationv1.UserInfo) error {
	if len(user.Extra) == 0 {
		return nil
	}
	a.Resource = "userextras"
	if m != unconstrained {
		if err := validateExtra(user.Extra); err != nil {
			return Forbidden(a, err.Error())
		}
		all := a
		all.Subresource, all.Name = "*", "*"
		if hasManyValues(user.Extra) && authorize(authorizer, all) == nil {
			return nil
		}
	}
	for _, key := range slices.Sorted(maps.Keys(user.Extra)) {
		a.Subresource = key
		for _, value := range user.Extra[key] {
			a.Name = value
			if err := authorize(authorizer, a); err != nil {
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

// validateExtra is stricter than what a request may send without constraint.
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

// withImpliedGroups adds the groups that follow from who a user is.
func withImpliedGroups(user authenticationv1.UserInfo) authenticationv1.UserInfo {
	if namespace, _, ok := serviceAccountName(user.Username); ok && len(user.Groups) == 0 {
		user.Groups = []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace}
	}
	switch {
	case user.Username == Anonymous:
		user.Groups = addGroup(user.Groups, Unauthenticated)
	case !slices.Contains(user.Groups, Unauthenticated):
		user.Groups = addGroup(user.Groups, authenticated)
	}
	return user
}

func addGroup(groups []string, group string) []string {
	if slices.Contains(groups, group) {
		return groups
	}
	return append(groups, group)
}
