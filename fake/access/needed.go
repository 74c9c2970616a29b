package access

import (
	"cmp"
	"maps"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/component-helpers/auth/rbac/validation"

	"example.com/fakeapi/fake/internal/rbac"
)

// maxResourceNames is the number of objects up to which a rule is for their names.
const maxResourceNames = 3

// neededRules returns the smallest rules that allow accesses, by namespace, "" for the cluster; see
// Report.WriteManifests.
func neededRules(accesses []Access) map[string][]rbacv1.PolicyRule {
	n := newNeeded(accesses)
	atoms := map[string][]rbacv1.PolicyRule{"": n.atoms("")}
	for _, namespace := range slices.Sorted(maps.Keys(n.names)) {
		if namespace != "" {
			_, atoms[namespace] = validation.Covers(atoms[""], n.atoms(namespace))
		}
	}
	for i := range accesses {
		if a := &accesses[i]; len(a.Grants) > 0 {
			namespace := a.scopeNamespace()
			held := slices.Concat(n.everybodys, atoms[""])
			if namespace != "" {
				held = append(held, atoms[namespace]...)
			}
			atoms[namespace] = append(atoms[namespace], permissionsToGrant(a, held)...)
		}
	}
	rules := map[string][]rbacv1.PolicyRule{}
	for namespace, of := range atoms {
		if len(of) > 0 {
			rules[namespace] = compact(of)
		}
	}
	return rules
}

// needed has what accesses need, without those that grant permissions.
type needed struct {
	// everybodys are the rules of all service accounts.
	everybodys []rbacv1.PolicyRule
	// names has the names of the objects of each action, by namespace; "" is among them for requests
	// without a name or for more names than an Access has.
	names map[string]map[action]map[string]bool
}

func newNeeded(accesses []Access) *needed {
	n := &needed{names: map[string]map[action]map[string]bool{}}
	p := newPolicy(&Manifests{})
	for _, g := range p.grantsOf(subject{}, []string{user.AllAuthenticated, serviceaccount.AllServiceAccountsGroup}, "") {
		for _, part := range g.parts {
			if g.scope.cluster {
				n.everybodys = append(n.everybodys, part.rules...)
			}
		}
	}
	spread := map[action]map[string]bool{} // the namespaces of an action
	for i := range accesses {
		a := &accesses[i]
		if namespace := a.scopeNamespace(); namespace != "" {
			if spread[a.action()] == nil {
				spread[a.action()] = map[string]bool{}
			}
			spread[a.action()][namespace] = true
		}
	}
	for i := range accesses {
		a := &accesses[i]
		if len(a.Grants) > 0 || a.Path == "" && a.Resource == "" {
			continue
		}
		namespace := a.scopeNamespace()
		if len(spread[a.action()]) > maxNamespaces {
			namespace = ""
		}
		names := a.Names
		if len(names) == 0 || a.MoreNames {
			names = append(slices.Clone(names), "")
		}
		for _, name := range names {
			if n.isEverybodys(a, name) {
				continue
			}
			n.add(namespace, a.action(), name)
			if list := a.list(); a.Verb == "watch" {
				n.add(namespace, list.action(), name)
			}
		}
	}
	return n
}

func (n *needed) add(namespace string, a action, name string) {
	of := n.names[namespace]
	if of == nil {
		of = map[action]map[string]bool{}
		n.names[namespace] = of
	}
	if of[a] == nil {
		of[a] = map[string]bool{}
	}
	of[a][name] = true
}

// isEverybodys reports whether every service account has access to an object.
func (n *needed) isEverybodys(a *Access, name string) bool {
	attributes := a.attributes(name)
	return slices.ContainsFunc(n.everybodys, func(r rbacv1.PolicyRule) bool { return rbac.RuleAllows(attributes, &r) })
}

// atoms returns the rules that are needed in a namespace, "" for the cluster.
func (n *needed) atoms(namespace string) []rbacv1.PolicyRule {
	var atoms []rbacv1.PolicyRule
	for a, names := range n.names[namespace] {
		if names[""] || len(names) > maxResourceNames || !hasNames(a) || n.lists(namespace, a) {
			atoms = append(atoms, a.rule(""))
			continue
		}
		for name := range names {
			atoms = append(atoms, a.rule(name))
		}
	}
	slices.SortFunc(atoms, func(a, b rbacv1.PolicyRule) int {
		return cmp.Or(compareRules(a, b), slices.Compare(a.Verbs, b.Verbs))
	})
	return atoms
}

// lists reports whether the objects of an action are listed or watched in a namespace or in all.
func (n *needed) lists(namespace string, a action) bool {
	for _, in := range []string{"", namespace} {
		for _, verb := range []string{"list", "watch"} {
			if n.names[in][action{verb: verb, group: a.group, resource: parentOf(a.resource)}][""] {
				return true
			}
		}
	}
	return false
}

// permissionsToGrant returns the rules that an access that grants permissions needs, besides those
// that are held.
func permissionsToGrant(a *Access, held []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	_, lacking := validation.Covers(held, a.Grants)
	if len(lacking) == 0 {
		return nil
	}
	if a.Verb != "bind" {
		return lacking
	}
	if a.MoreNames || len(a.Names) == 0 || slices.Contains(a.Names, "") || len(a.Names) > maxResourceNames {
		return []rbacv1.PolicyRule{a.action().rule("")}
	}
	var atoms []rbacv1.PolicyRule
	for _, name := range a.Names {
		atoms = append(atoms, a.action().rule(name))
	}
	return atoms
}
