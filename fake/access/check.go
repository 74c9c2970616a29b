package access

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/component-helpers/auth/rbac/validation"

	"example.com/fakeapi/fake/internal/rbac"
)

// CheckOptions says what Check compares.
type CheckOptions struct {
	// Client selects the accesses, as Report.Of does; "" for all of them.
	Client string
	// Subject selects the roles: those that are bound to this subject, or to its groups. It is
	// system:serviceaccount:NAMESPACE:NAME, NAMESPACE/NAME for a service account, or the name of a
	// user, a service account or a group. With "" it is the only subject that the manifests bind roles
	// to, or else the one that Client names, or else the only one that is a ServiceAccount of the
	// manifests. Without any binding, all Roles and ClusterRoles count.
	Subject string
	// Namespace is the namespace of Roles, RoleBindings and ServiceAccounts that have none, as
	// kustomize sets it. With "", such a Role applies to all namespaces.
	Namespace string
	// Locate returns the number in the timeline and the request line, such as "GET /api/v1/pods", of
	// the first request that r stands for; 0 and "" if they are not known. r.Seq is the number, or 0
	// if the report does not have it. Locate may be nil.
	Locate func(r Request) (seq uint64, line string)
}

// Check compares the accesses of a client with the roles that manifests bind to it. What every
// authenticated user may do by the bootstrap policy, such as discovery, is allowed. Accesses that
// were denied are needed like others. The error is that of a subject that cannot be found.
func Check(r Report, m *Manifests, opts CheckOptions) (*Result, error) {
	if m == nil {
		return nil, errors.New("access: Check needs manifests")
	}
	r = r.Of(opts.Client)
	s, err := m.findSubject(r, opts)
	if err != nil {
		return nil, err
	}
	c := newChecker(newPolicy(m), s, r, opts)
	for i := range r.Accesses {
		c.check(&r.Accesses[i])
	}
	return &Result{
		Client: opts.Client, Subject: s.String(), Accesses: len(r.Accesses),
		Missing: c.missing(), Unused: c.unused(), Notes: c.notes(),
	}, nil
}

// atom is a rule with one verb, one resource and at most one name, or with one verb and one path.
type atom struct {
	rbacv1.PolicyRule
	// used are the actions that it allowed, for a rule with wildcards; otherwise one of them.
	used map[action]bool
}

// heldRule is a rule that the subject has.
type heldRule struct {
	rule  *rbacv1.PolicyRule
	role  *role // that has the rule
	grant *grant
	atoms []atom
}

// need is an access that no rule allows.
type need struct {
	access *Access
	names  []string            // that are not allowed; nil for every object
	or     []rbacv1.PolicyRule // the rules that would do instead; nil if none would
}

// checker compares accesses with the rules of a subject.
type checker struct {
	policy *policy
	opts   CheckOptions
	grants []grant
	held   []heldRule
	needs  []need
	// spread has the namespaces in which only grants without a namespace allow requests.
	spread map[*grant]map[string]bool
}

func newChecker(p *policy, s subject, r Report, opts CheckOptions) *checker {
	c := &checker{
		policy: p, opts: opts, grants: p.grantsOf(s, s.groups(r), opts.Namespace),
		spread: map[*grant]map[string]bool{},
	}
	if s.kind == "" {
		c.grants = append(c.grants, p.allGrants(opts.Namespace)...)
	}
	for i := range c.grants {
		g := &c.grants[i]
		for _, part := range g.parts {
			for j := range part.rules {
				h := heldRule{rule: &part.rules[j], role: part, grant: g}
				for _, one := range validation.BreakdownRule(part.rules[j]) {
					h.atoms = append(h.atoms, atom{PolicyRule: one, used: map[action]bool{}})
				}
				c.held = append(c.held, h)
			}
		}
	}
	return c
}

// check notes the rules that allow an access as used, or the access as a need.
func (c *checker) check(a *Access) {
	names := a.Names
	if len(names) == 0 || a.MoreNames && !slices.Contains(names, "") {
		names = append(slices.Clone(names), "") // which no rule with resourceNames allows
	}
	var denied []string
	for _, name := range names {
		if !c.use(a, name) {
			denied = append(denied, name)
		}
		if a.Verb == "watch" {
			c.use(new(a.list()), name)
		}
	}
	lacking := c.useHeld(a)
	switch {
	case len(denied) == 0, len(a.Grants) > 0 && len(lacking) == 0:
		return
	case slices.Contains(denied, ""):
		denied = nil
	}
	c.needs = append(c.needs, need{access: a, names: denied, or: lacking})
}

// attributes returns the attributes of a request of an access for an object.
func (a *Access) attributes(name string) authorizer.AttributesRecord {
	return authorizer.AttributesRecord{
		Verb: a.Verb, Namespace: a.Namespace, APIGroup: a.APIGroup, Resource: a.Resource, Subresource: a.Subresource,
		Name: name, ResourceRequest: a.Path == "", Path: a.Path,
	}
}

// list returns the access that a client needs besides that of a watch: an informer watches only if
// the server has streaming lists, and otherwise lists first (KEP-3157).
func (a Access) list() Access {
	a.Verb = "list"
	return a
}

// action returns what an access does.
func (a *Access) action() action {
	if a.Path != "" {
		return action{verb: a.Verb, path: a.Path}
	}
	return action{verb: a.Verb, group: a.APIGroup, resource: resourceName(a.Resource, a.Subresource)}
}

// use reports whether a rule allows an access to an object, and notes all such rules as used.
func (c *checker) use(a *Access, name string) bool {
	attributes := a.attributes(name)
	allowed, fixed := false, false
	var open []*grant // those without a namespace that allow the access
	for i := range c.held {
		h := &c.held[i]
		if !h.grant.scope.includes(a.Namespace) || !rbac.RuleAllows(attributes, h.rule) {
			continue
		}
		allowed = true
		if at := h.grant.scope; !at.cluster && at.namespace == "" {
			open = append(open, h.grant)
		} else {
			fixed = true
		}
		for j := range h.atoms {
			if rbac.RuleAllows(attributes, &h.atoms[j].PolicyRule) {
				h.atoms[j].used[a.action()] = true
			}
		}
	}
	if !fixed {
		for _, g := range open {
			if c.spread[g] == nil {
				c.spread[g] = map[string]bool{}
			}
			c.spread[g][a.Namespace] = true
		}
	}
	return allowed
}

// useHeld returns what the subject does not hold of the rules that an access grants, and notes the
// rules by which it holds the others as used.
func (c *checker) useHeld(a *Access) []rbacv1.PolicyRule {
	if len(a.Grants) == 0 {
		return nil
	}
	var rules []rbacv1.PolicyRule
	for i := range c.held {
		if c.held[i].grant.scope.includes(a.Namespace) {
			rules = append(rules, *c.held[i].rule)
		}
	}
	for _, granted := range breakDown(a.Grants) {
		for i := range c.held {
			h := &c.held[i]
			if !h.grant.scope.includes(a.Namespace) {
				continue
			}
			for j := range h.atoms {
				if ok, _ := validation.Covers([]rbacv1.PolicyRule{h.atoms[j].PolicyRule}, []rbacv1.PolicyRule{granted}); ok {
					h.atoms[j].used[actionOf(&granted)] = true
				}
			}
		}
	}
	_, lacking := validation.Covers(rules, a.Grants)
	return lacking
}

// unused returns the rules of the manifests that no access used.
func (c *checker) unused() []UnusedRule {
	merged := map[*rbacv1.PolicyRule]*heldRule{} // a role that is bound twice is used if one of them is
	var order []*heldRule
	partly := map[*role]bool{} // the roles with a rule that is used
	for i := range c.held {
		h := &c.held[i]
		if c.isEverybodys(h.grant) {
			continue
		}
		if merged[h.rule] == nil {
			merged[h.rule] = h
			order = append(order, h)
		}
		for j := range h.atoms {
			if len(h.atoms[j].used) > 0 {
				partly[h.grant.role] = true
			}
			maps.Copy(merged[h.rule].atoms[j].used, h.atoms[j].used)
		}
	}
	var found []UnusedRule
	for _, h := range order {
		u := UnusedRule{File: h.role.file, Role: h.role.String()}
		if u.File == "" {
			u.File = h.grant.binding.file
		}
		var none []rbacv1.PolicyRule
		for i := range h.atoms {
			switch one := &h.atoms[i]; {
			case len(one.used) == 0 && isForOwners(&one.PolicyRule):
			case len(one.used) == 0:
				none = append(none, one.PolicyRule)
			case isWider(&one.PolicyRule, one.used):
				u.Rule, u.Used = one.PolicyRule, actionsToRules(one.used)
				found = append(found, u)
			}
		}
		if h.role.file != "" {
			for _, r := range compact(none) {
				u.Rule, u.Used = r, nil
				found = append(found, u)
			}
		}
	}
	for i := range c.grants { // what is not of the manifests is unused as a whole
		if g := &c.grants[i]; g.role.file == "" && !c.isEverybodys(g) && !partly[g.role] {
			found = append(found, UnusedRule{File: g.binding.file, Role: g.role.String(), Binding: g.binding.String()})
		}
	}
	return found
}

// isForOwners reports whether a rule with one resource is for the subresource finalizers. It is
// needed for owner references with blockOwnerDeletion where the admission plugin
// OwnerReferencesPermissionEnforcement is enabled, which it is not by default.
func isForOwners(rule *rbacv1.PolicyRule) bool {
	return len(rule.Resources) == 1 && strings.HasSuffix(rule.Resources[0], "/finalizers")
}

// isEverybodys reports whether a grant is by the bootstrap policy.
func (c *checker) isEverybodys(g *grant) bool { return g.binding != nil && g.binding.file == "" }

// notes returns what the manifests leave open.
func (c *checker) notes() (found []string) {
	if !slices.ContainsFunc(c.policy.roles, func(r *role) bool { return r.file != "" }) {
		found = append(found, "the manifests have no Role and no ClusterRole")
	}
	for _, b := range c.policy.unresolved {
		if b.file != "" {
			found = append(found, fmt.Sprintf("%s: %s refers to %s %s, which does not exist", b.file, b, b.ref.Kind, b.ref.Name))
		}
	}
	for i := range c.grants {
		if g := &c.grants[i]; len(c.spread[g]) > 1 {
			found = append(found, fmt.Sprintf("%s: %s has no namespace, and allows requests in several: %s",
				g.role.file, g.role, strings.Join(slices.Sorted(maps.Keys(c.spread[g])), ", ")))
		}
	}
	return found
}

// isWider reports whether a rule has a wildcard in place of which the values that were used do.
func isWider(rule *rbacv1.PolicyRule, used map[action]bool) bool {
	all := actionOf(rule)
	if all.verb != "*" && all.group != "*" && all.resource != "*" && all.path != "*" {
		return false
	}
	return !used[all]
}

// actionsToRules returns the rules that allow actions.
func actionsToRules(actions map[action]bool) []rbacv1.PolicyRule {
	var atoms []rbacv1.PolicyRule
	for a := range actions {
		atoms = append(atoms, a.rule(""))
	}
	return compact(atoms)
}

// rule returns the atomic rule that allows an action, on the object of a name or with "" on all.
func (a action) rule(name string) rbacv1.PolicyRule {
	r := rbacv1.PolicyRule{Verbs: []string{a.verb}}
	if a.path != "" {
		r.NonResourceURLs = []string{a.path}
		return r
	}
	r.APIGroups, r.Resources = []string{a.group}, []string{a.resource}
	if name != "" {
		r.ResourceNames = []string{name}
	}
	return r
}

// first returns the order of accesses by their first request. Those without a number are last.
func first(a, b *Access) int {
	return cmp.Compare(a.First-1, b.First-1) // 0 becomes the maximum
}
