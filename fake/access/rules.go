package access

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/component-helpers/auth/rbac/validation"
)

// action is what an atomic rule allows: a verb on a resource or a path.
type action struct{ verb, group, resource, path string }

// actionOf returns the action of an atomic rule, which has one value of each kind, as those of
// validation.BreakdownRule.
func actionOf(atom *rbacv1.PolicyRule) action {
	if len(atom.NonResourceURLs) > 0 {
		return action{verb: atom.Verbs[0], path: atom.NonResourceURLs[0]}
	}
	return action{verb: atom.Verbs[0], group: atom.APIGroups[0], resource: atom.Resources[0]}
}

// resourceName returns the resource of a rule: RESOURCE or RESOURCE/SUBRESOURCE.
func resourceName(resource, subresource string) string {
	if subresource == "" {
		return resource
	}
	return resource + "/" + subresource
}

// breakDown returns the atomic rules of rules.
func breakDown(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	var atoms []rbacv1.PolicyRule
	for _, r := range rules {
		atoms = append(atoms, validation.BreakdownRule(r)...)
	}
	return atoms
}

// compact returns the fewest rules that are the same as atomic ones, in a fixed order: one for the
// resources of an API group that have the same verbs and names, and one for the paths that have the
// same verbs.
func compact(atoms []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	names := map[action]map[string]bool{} // without names, all objects
	for i := range atoms {
		a := actionOf(&atoms[i])
		switch of, found := names[a]; {
		case len(atoms[i].ResourceNames) == 0:
			names[a] = nil
		case !found:
			names[a] = map[string]bool{atoms[i].ResourceNames[0]: true}
		case of != nil:
			of[atoms[i].ResourceNames[0]] = true
		}
	}
	type object struct{ group, resource, path, names string }
	verbs := map[object][]string{}
	for a, of := range names {
		o := object{a.group, a.resource, a.path, joinKey(slices.Sorted(maps.Keys(of)))}
		verbs[o] = append(verbs[o], a.verb)
	}
	rules := map[object]*rbacv1.PolicyRule{} // the key has the verbs in place of the resource
	for o, of := range verbs {
		slices.SortFunc(of, compareVerbs)
		key := object{group: o.group, resource: joinKey(of), names: o.names}
		if o.path != "" {
			key.path = "path"
		}
		r := rules[key]
		if r == nil {
			r = &rbacv1.PolicyRule{Verbs: of}
			rules[key] = r
		}
		if o.path != "" {
			r.NonResourceURLs = append(r.NonResourceURLs, o.path)
			continue
		}
		r.APIGroups = []string{o.group}
		r.Resources = append(r.Resources, o.resource)
		if o.names != "" {
			r.ResourceNames = splitKey(o.names)
		}
	}
	var found []rbacv1.PolicyRule
	for _, r := range rules {
		slices.Sort(r.Resources)
		slices.Sort(r.NonResourceURLs)
		found = append(found, *r)
	}
	slices.SortFunc(found, compareRules)
	return found
}

// joinKey returns a list of strings, which may be empty, as a string.
func joinKey(list []string) string {
	var b strings.Builder
	for _, one := range list {
		b.WriteString(one)
		b.WriteByte(0)
	}
	return b.String()
}

// splitKey returns the strings of joinKey.
func splitKey(key string) []string {
	return strings.Split(strings.TrimSuffix(key, "\x00"), "\x00")
}

// compareRules orders rules: by API group, resources, verbs and names, and those for paths last.
func compareRules(a, b rbacv1.PolicyRule) int {
	return cmp.Or(
		cmp.Compare(len(a.NonResourceURLs), len(b.NonResourceURLs)),
		slices.Compare(a.APIGroups, b.APIGroups),
		slices.Compare(a.Resources, b.Resources),
		slices.CompareFunc(a.Verbs, b.Verbs, compareVerbs),
		slices.Compare(a.ResourceNames, b.ResourceNames),
		slices.Compare(a.NonResourceURLs, b.NonResourceURLs),
	)
}
