package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"example.com/fakeapi/memstore"
)

// maxScan is the number of rules up to which they are compared one after the other.
const maxScan = 32

// ruleIndex has the rules of the roles of one subject. Each list is in the order of the grants.
type ruleIndex struct {
	// roles and clusterRoles identify the records of roles that the index is made of.
	roles, clusterRoles memstore.Identity
	rules               []grantedRule
	// byName has the rules with resourceNames, by each of them, and byResource those without by each
	// of their resources, which are RESOURCE, RESOURCE/SUBRESOURCE, */SUBRESOURCE or *. byPath has
	// the rules by each of their nonResourceURLs; those with a pattern are under "*". They are nil
	// for at most maxScan rules.
	byName, byResource, byPath map[string][]grantedRule
	// failed are the grants whose roles do not exist or cannot be decoded.
	failed []*grant
}

// grantedRule is a rule with the first grant that gives it to the subject.
type grantedRule struct {
	grant *grant
	rule  *rbacv1.PolicyRule
}

// newRuleIndex returns the index of the rules of grants. rulesOf returns the rules of the role of a
// binding.
func newRuleIndex(grants []*grant, rulesOf func(*binding) ([]rbacv1.PolicyRule, error)) *ruleIndex {
	x := &ruleIndex{}
	roles := map[rbacv1.RoleRef]bool{}
	for _, g := range grants {
		if g.err == nil && roles[g.roleRef] {
			continue // the first grant of a role gives its rules
		}
		roles[g.roleRef] = true
		rules, err := rulesOf(g.binding)
		if err != nil {
			x.failed = append(x.failed, g)
		}
		for i := range rules {
			x.rules = append(x.rules, grantedRule{g, &rules[i]})
		}
	}
	if len(x.rules) > maxScan {
		x.group()
	}
	return x
}

// group fills byName, byResource and byPath.
func (x *ruleIndex) group() {
	x.byName, x.byResource, x.byPath = map[string][]grantedRule{}, map[string][]grantedRule{}, map[string][]grantedRule{}
	for _, r := range x.rules {
		index, keys := x.byResource, r.rule.Resources
		if len(r.rule.ResourceNames) > 0 {
			index, keys = x.byName, r.rule.ResourceNames
		}
		for _, key := range keys {
			index[key] = append(index[key], r)
		}
		for _, url := range r.rule.NonResourceURLs {
			if isPattern(url) {
				url = rbacv1.NonResourceAll
			}
			x.byPath[url] = append(x.byPath[url], r)
		}
	}
}

// find returns the first grant of a rule that allows an action, or best if that comes before or
// there is none.
func (x *ruleIndex) find(a *action, best *grant) *grant {
	if x.byResource == nil {
		return first(x.rules, a, best)
	}
	if !a.isResource {
		best = first(x.byPath[rbacv1.NonResourceAll], a, best)
		return first(x.byPath[a.path], a, best)
	}
	best = first(x.byName[a.name], a, best)
	best = first(x.byResource[rbacv1.ResourceAll], a, best)
	if a.subresource == "" {
		return first(x.byResource[a.resource], a, best)
	}
	var buf [64]byte
	key := append(append(append(buf[:0], a.resource...), '/'), a.subresource...)
	best = first(x.byResource[string(key)], a, best)
	key = append(append(buf[:0], "*/"...), a.subresource...)
	return first(x.byResource[string(key)], a, best)
}

// first is find in a list of rules.
func first(rules []grantedRule, a *action, best *grant) *grant {
	for i := range rules {
		g := rules[i].grant
		if best != nil && compareGrants(best, g) <= 0 {
			return best
		}
		if a.isAllowedBy(rules[i].rule) {
			return g
		}
	}
	return best
}
