package access

import (
	"cmp"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
)

// maxNamespaces is the number of namespaces with a Role of their own. What is needed in more of
// them is needed in all.
const maxNamespaces = 3

// target is where a missing rule belongs.
type target struct {
	file, role string // of the role that has similar rules, or the kind of a new role
	namespace  string // of a new Role
}

// missing returns the rules that the needs lack, grouped by the role that would have them.
func (c *checker) missing() []MissingRule {
	slices.SortStableFunc(c.needs, func(a, b need) int { return first(a.access, b.access) })
	namespaces := map[string]bool{} // of the needs for which there is no role
	var order []target
	byTarget := map[target][]need{}
	add := func(t target, n need) {
		if byTarget[t] == nil {
			order = append(order, t)
		}
		byTarget[t] = append(byTarget[t], n)
	}
	var without []need
	for _, n := range c.needs {
		if r := c.similarRole(n.access); r != nil {
			add(target{file: r.file, role: r.String()}, n)
			continue
		}
		without = append(without, n)
		namespaces[n.access.scopeNamespace()] = true
	}
	for _, n := range without {
		if in := n.access.scopeNamespace(); in != "" && len(namespaces) <= maxNamespaces {
			add(target{role: "Role", namespace: in}, n)
		} else {
			add(target{role: "ClusterRole"}, n)
		}
	}
	var found []MissingRule
	for _, t := range order {
		found = append(found, c.missingIn(t, byTarget[t])...)
	}
	return found
}

// missingIn returns the missing rules of a role.
func (c *checker) missingIn(t target, needs []need) (found []MissingRule) {
	var plain []need
	var atoms []rbacv1.PolicyRule
	for _, n := range needs {
		names := c.namesFor(n)
		if len(n.access.Grants) > 0 { // has alternatives of its own
			found = append(found, c.missingRule(t, compact(n.atoms(names))[0], []need{n}, compact(n.or)))
			continue
		}
		plain = append(plain, n)
		atoms = append(atoms, n.atoms(names)...)
	}
	for _, r := range compact(atoms) {
		of := slices.DeleteFunc(slices.Clone(plain), func(n need) bool { return !contains(&r, n.access.action()) })
		found = append(found, c.missingRule(t, r, of, nil))
	}
	slices.SortStableFunc(found, func(a, b MissingRule) int {
		return cmp.Compare(a.Requests[0].Seq-1, b.Requests[0].Seq-1)
	})
	return found
}

// contains reports whether a compact rule has an action.
func contains(r *rbacv1.PolicyRule, a action) bool {
	if !slices.Contains(r.Verbs, a.verb) {
		return false
	}
	if a.path != "" {
		return slices.Contains(r.NonResourceURLs, a.path)
	}
	return slices.Contains(r.APIGroups, a.group) && slices.Contains(r.Resources, a.resource)
}

// atoms returns the rules that a need lacks, for objects of some names, or without names for all.
func (n *need) atoms(names []string) []rbacv1.PolicyRule {
	if len(names) == 0 {
		return []rbacv1.PolicyRule{n.access.action().rule("")}
	}
	var atoms []rbacv1.PolicyRule
	for _, name := range names {
		atoms = append(atoms, n.access.action().rule(name))
	}
	return atoms
}

// namesFor returns the resourceNames of the rule that a need lacks: none, unless there is a rule
// that only has other names, or the access grants permissions.
func (c *checker) namesFor(n need) []string {
	if len(n.names) == 0 || !hasNames(n.access.action()) {
		return nil
	}
	if len(n.access.Grants) > 0 {
		return n.names
	}
	for i := range c.held {
		h := &c.held[i]
		if len(h.rule.ResourceNames) == 0 || !h.grant.scope.includes(n.access.Namespace) {
			continue
		}
		for j := range h.atoms {
			if contains(&h.atoms[j].PolicyRule, n.access.action()) {
				return n.names
			}
		}
	}
	return nil
}

// hasNames reports whether rules for an action have resourceNames. Creating an object and selecting
// several are requests without a name, and the names of Events are generated.
func hasNames(a action) bool {
	return a.path == "" && parentOf(a.resource) != "events" &&
		!slices.Contains([]string{"list", "watch", "create", "deletecollection"}, a.verb)
}

// missingRule returns a missing rule that some needs lack.
func (c *checker) missingRule(t target, r rbacv1.PolicyRule, needs []need, or []rbacv1.PolicyRule) MissingRule {
	m := MissingRule{Rule: r, File: t.file, Role: t.role, Or: or}
	for _, n := range needs {
		m.Namespaces = append(m.Namespaces, n.access.scopeNamespace())
		m.Requests = append(m.Requests, c.request(n))
	}
	slices.Sort(m.Namespaces)
	m.Namespaces = slices.Compact(m.Namespaces)
	return m
}

// request returns the first request of a need.
func (c *checker) request(n need) Request {
	a := n.access
	r := Request{
		User: a.User, UserAgent: a.UserAgent, Verb: a.Verb, APIGroup: a.APIGroup,
		Resource: a.Resource, Subresource: a.Subresource, Namespace: a.Namespace, Path: a.Path,
	}
	switch {
	case len(n.names) > 0:
		r.Name = n.names[0]
	case len(a.Names) > 0:
		r.Name = a.Names[0]
	}
	if len(n.names) == 0 || len(n.names) == len(a.Names) && !a.MoreNames { // else the first request may be for another object
		r.Seq = a.First
	}
	if c.opts.Locate != nil {
		if seq, line := c.opts.Locate(r); seq > 0 {
			r.Seq, r.Line = seq, line
		}
	}
	return r
}

// scopeNamespace returns the namespace of the objects of an access. Requests for a Namespace are in
// that namespace, but it has none itself.
func (a *Access) scopeNamespace() string {
	if a.APIGroup == "" && a.Resource == "namespaces" {
		return ""
	}
	return a.Namespace
}

// similarRole returns the role of the manifests that an access belongs into, or nil: of those that
// apply there, one with the same resource, or with its parent or a subresource; else one for all
// namespaces; else one with the same API group; else the one with the most rules.
func (c *checker) similarRole(a *Access) *role {
	var best *role
	var bestScore []int
	for i := range c.grants {
		g := &c.grants[i]
		if c.isEverybodys(g) || !g.scope.includes(a.scopeNamespace()) {
			continue
		}
		cluster := 0
		if g.scope.cluster {
			cluster = 1
		}
		for _, part := range g.parts {
			if part.file == "" {
				continue
			}
			of := similarity(part.rules, a)
			score := []int{of - of%2, cluster, of, len(part.rules)}
			if best == nil || slices.Compare(score, bestScore) > 0 {
				best, bestScore = part, score
			}
		}
	}
	return best
}

// similarity returns how much some rules are about the resource of an access: 4 if one has it, 2
// for its parent or a subresource, 1 for the API group, 0 for nothing of it.
func similarity(rules []rbacv1.PolicyRule, a *Access) int {
	best := 0
	for i := range rules {
		r := &rules[i]
		switch {
		case a.Path != "":
			if len(r.NonResourceURLs) > 0 {
				best = max(best, 1)
			}
		case !slices.Contains(r.APIGroups, a.APIGroup):
		case slices.Contains(r.Resources, a.action().resource):
			best = max(best, 4)
		case slices.ContainsFunc(r.Resources, func(one string) bool { return parentOf(one) == a.Resource }):
			best = max(best, 2)
		default:
			best = max(best, 1)
		}
	}
	return best
}
