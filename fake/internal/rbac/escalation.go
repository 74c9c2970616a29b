package rbac

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/component-helpers/auth/rbac/validation"
)

// maxGranted is how many combinations of an API group, a resource, a name and a verb
// ConfirmNoEscalation compares.
const maxGranted = 1 << 20

// ConfirmNoEscalation returns an error that lists the permissions of granted that u does not have
// in a namespace, or at the cluster scope for "". It returns nil if u has them all. The error has
// the roles of u that do not exist; they are named as objects of resource, that of the request.
// More than maxGranted permissions are a 413.
func (a *Authorizer) ConfirmNoEscalation(u user.Info, namespace string, resource schema.GroupResource, granted []rbacv1.PolicyRule) error {
	if !isCountAtMost(granted, maxGranted) {
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("the rules grant more than %d permissions", maxGranted))
	}
	held, resolution := a.Rules(u, namespace)
	covered, missing := validation.Covers(held, granted)
	if covered {
		return nil
	}
	text := fmt.Sprintf("user %q (groups=%q) is attempting to grant RBAC permissions not currently held:\n%s",
		u.GetName(), u.GetGroups(), strings.Join(describeRules(compact(missing)), "\n"))
	if resolution != nil {
		text += fmt.Sprintf("; resolution errors: [%v]", NamedByRequest(resolution, resource))
	}
	return errors.New(text)
}

// isCountAtMost reports whether rules grant at most limit permissions.
func isCountAtMost(rules []rbacv1.PolicyRule, limit int) bool {
	for _, r := range rules {
		n := len(r.Verbs)
		for _, factor := range []int{len(r.APIGroups), len(r.Resources), max(len(r.ResourceNames), 1)} {
			if n *= factor; n > limit {
				return false
			}
		}
		if limit -= n + len(r.Verbs)*len(r.NonResourceURLs); limit < 0 {
			return false
		}
	}
	return true
}

// NamedByRequest returns err, of Rules or RoleRules, with the resource of a request in the place of
// that of a role that does not exist. The storage of kube-apiserver reads roles in the context of
// the request and names the resource in it.
func NamedByRequest(err error, resource schema.GroupResource) error {
	var all utilerrors.Aggregate
	if errors.As(err, &all) {
		named := slices.Clone(all.Errors())
		for i := range named {
			named[i] = NamedByRequest(named[i], resource)
		}
		return utilerrors.NewAggregate(named)
	}
	var missing *apierrors.StatusError
	if errors.As(err, &missing) && apierrors.IsNotFound(err) && missing.ErrStatus.Details != nil {
		return apierrors.NewNotFound(resource, missing.ErrStatus.Details.Name)
	}
	return err
}

// compact joins the verbs of the rules for one resource of one API group, or for one object of it.
// rules have one resource, one verb and at most one name each, or a path.
func compact(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	type object struct {
		group, resource, name string
		isNamed               bool
	}
	var joined []rbacv1.PolicyRule
	at := map[object]int{}
	for _, r := range rules {
		if len(r.NonResourceURLs) > 0 {
			joined = append(joined, r)
			continue
		}
		of := object{group: r.APIGroups[0], resource: r.Resources[0], isNamed: len(r.ResourceNames) > 0}
		if of.isNamed {
			of.name = r.ResourceNames[0]
		}
		i, ok := at[of]
		if !ok {
			at[of] = len(joined)
			joined = append(joined, r)
			continue
		}
		joined[i].Verbs = append(joined[i].Verbs, r.Verbs...)
	}
	return joined
}

// describeRules returns the distinct texts of rules, sorted.
func describeRules(rules []rbacv1.PolicyRule) []string {
	texts := make([]string, 0, len(rules))
	for i := range rules {
		texts = append(texts, describeRule(&rules[i]))
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// describeRule returns a rule as it is in the error of an escalation.
func describeRule(r *rbacv1.PolicyRule) string {
	var parts []string
	for _, field := range []struct {
		name   string
		values []string
	}{
		{"APIGroups", r.APIGroups}, {"Resources", r.Resources}, {"NonResourceURLs", r.NonResourceURLs},
		{"ResourceNames", r.ResourceNames}, {"Verbs", r.Verbs},
	} {
		if len(field.values) > 0 {
			parts = append(parts, fmt.Sprintf("%s:%q", field.name, field.values))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
