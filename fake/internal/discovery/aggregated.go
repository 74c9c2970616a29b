package discovery

import (
	"slices"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/fake/internal/resource"
)

// aggregate returns the aggregated document of /api (core) or of /apis, with groups, versions and
// resources (KEP-3352, DI-06, DI-09, DI-10).
func aggregate(table *resource.Table, core bool) *apidiscoveryv2.APIGroupDiscoveryList {
	doc := &apidiscoveryv2.APIGroupDiscoveryList{
		TypeMeta: metav1.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: apidiscoveryv2.SchemeGroupVersion.String()},
		Items:    []apidiscoveryv2.APIGroupDiscovery{},
	}
	byVersion := make(map[string]map[string][]apidiscoveryv2.APIResourceDiscovery)
	for _, r := range table.All() {
		if byVersion[r.Group] == nil {
			byVersion[r.Group] = make(map[string][]apidiscoveryv2.APIResourceDiscovery)
		}
		byVersion[r.Group][r.Version] = append(byVersion[r.Group][r.Version], aggregatedResource(r))
	}
	for _, g := range table.Groups() {
		if (g.Name == "") != core {
			continue
		}
		item := apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: g.Name}}
		for _, version := range g.Versions {
			item.Versions = append(item.Versions, apidiscoveryv2.APIVersionDiscovery{
				Version:   version,
				Resources: byVersion[g.Name][version],
				Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent,
			})
		}
		doc.Items = append(doc.Items, item)
	}
	return doc
}

// subresources returns the subresources of a resource in the order of discovery: for a custom
// resource, status comes first.
func subresources(r *resource.Resource) []resource.Subresource {
	all := slices.Clone(r.Subresources)
	if r.Custom != nil {
		slices.Reverse(all) // scale, status
	}
	return all
}

func aggregatedResource(r *resource.Resource) apidiscoveryv2.APIResourceDiscovery {
	out := apidiscoveryv2.APIResourceDiscovery{
		Resource:         r.Plural,
		ResponseKind:     &metav1.GroupVersionKind{Kind: r.Kind},
		Scope:            apidiscoveryv2.ScopeCluster,
		SingularResource: r.Singular,
		Verbs:            r.DiscoveredVerbs(),
		ShortNames:       r.ShortNames,
		Categories:       r.Categories,
	}
	if r.Namespaced {
		out.Scope = apidiscoveryv2.ScopeNamespace
	}
	if r.Custom != nil { // complete for a custom resource
		*out.ResponseKind = metav1.GroupVersionKind(r.GroupVersionKind())
	}
	for _, s := range subresources(r) {
		kind := kindOf(r, s)
		if r.Custom != nil {
			kind = metav1.GroupVersionKind(s.Kind)
		}
		out.Subresources = append(out.Subresources, apidiscoveryv2.APISubresourceDiscovery{
			Subresource:  s.Name,
			ResponseKind: &kind,
			Verbs:        s.Verbs,
		})
	}
	return out
}
