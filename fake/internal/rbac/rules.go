package rbac

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// RuleAllows reports whether a rule of a role allows an action.
func RuleAllows(a authorizer.Attributes, rule *rbacv1.PolicyRule) bool {
	if !contains(rule.Verbs, a.GetVerb(), rbacv1.VerbAll) {
		return false
	}
	if !a.IsResourceRequest() {
		return allowsPath(rule.NonResourceURLs, a.GetPath())
	}
	return contains(rule.APIGroups, a.GetAPIGroup(), rbacv1.APIGroupAll) &&
		allowsResource(rule.Resources, a.GetResource(), a.GetSubresource()) &&
		(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, a.GetName()))
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

// allowsResource reports whether the resources of a rule include a resource, or a subresource
// unless that is "".
func allowsResource(resources []string, resource, subresource string) bool {
	for _, one := range resources {
		if one == rbacv1.ResourceAll {
			return true
		}
		if subresource == "" {
			if one == resource {
				return true
			}
			continue
		}
		of, sub, ok := strings.Cut(one, "/")
		if ok && sub == subresource && (of == resource || of == "*") {
			return true
		}
	}
	return false
}

// allowsPath reports whether the nonResourceURLs of a rule include a path. A URL that ends in "*"
// includes all paths that begin with the rest.
func allowsPath(urls []string, path string) bool {
	for _, one := range urls {
		if one == path || one == rbacv1.NonResourceAll {
			return true
		}
		if strings.HasSuffix(one, "*") && strings.HasPrefix(path, strings.TrimRight(one, "*")) {
			return true
		}
	}
	return false
}
