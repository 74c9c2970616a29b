package rbac

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// RuleAllows reports whether a rule of a role allows an action.
func RuleAllows(a authorizer.Attributes, rule *rbacv1.PolicyRule) bool {
	action := newAction(a)
	return action.isAllowedBy(rule)
}

// action is what rules are compared with.
type action struct {
	isResource                         bool
	verb                               string
	group, resource, subresource, name string
	path                               string
}

func newAction(a authorizer.Attributes) action {
	if !a.IsResourceRequest() {
		return action{verb: a.GetVerb(), path: a.GetPath()}
	}
	return action{
		isResource: true, verb: a.GetVerb(),
		group: a.GetAPIGroup(), resource: a.GetResource(), subresource: a.GetSubresource(), name: a.GetName(),
	}
}

func (a *action) isAllowedBy(rule *rbacv1.PolicyRule) bool {
	if !contains(rule.Verbs, a.verb, rbacv1.VerbAll) {
		return false
	}
	if !a.isResource {
		return a.hasPathIn(rule.NonResourceURLs)
	}
	return contains(rule.APIGroups, a.group, rbacv1.APIGroupAll) &&
		(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, a.name)) &&
		a.hasResourceIn(rule.Resources)
}

// contains reports whether list has value or the wildcard.
func contains(list []string, value, wildcard string) bool {
	for _, one := range list {
		if one == value || one == wildcard {
			return true
		}
	}
	return false
}

// hasResourceIn reports whether the resources of a rule include that of the action: "*", RESOURCE,
// or for a subresource RESOURCE/SUBRESOURCE or */SUBRESOURCE.
func (a *action) hasResourceIn(resources []string) bool {
	for _, one := range resources {
		if one == rbacv1.ResourceAll || a.subresource == "" && one == a.resource {
			return true
		}
		if of, ok := strings.CutSuffix(one, a.subresource); ok && a.subresource != "" && strings.HasSuffix(of, "/") {
			if of = of[:len(of)-1]; of == a.resource || of == rbacv1.ResourceAll {
				return true
			}
		}
	}
	return false
}

// hasPathIn reports whether the nonResourceURLs of a rule include the path of the action.
func (a *action) hasPathIn(urls []string) bool {
	for _, one := range urls {
		if one == a.path || isPattern(one) && strings.HasPrefix(a.path, strings.TrimRight(one, "*")) {
			return true
		}
	}
	return false
}

// isPattern reports whether a nonResourceURL includes all paths that begin with what precedes its
// asterisks.
func isPattern(url string) bool { return strings.HasSuffix(url, "*") }
