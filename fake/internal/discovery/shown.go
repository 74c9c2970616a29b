package discovery

import (
	"slices"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Filter gives a document as it is when some groups are missing from it, and of others
// only the versions are known, which aggregated discovery calls stale. The document is
// not changed; the result has an ETag of its own.
func (d Document) Filter(hidden, stale func(group string) bool) Document {
	var object runtime.Object
	switch list := d.Object.(type) {
	case *metav1.APIGroupList:
		shown := list.DeepCopy()
		shown.Groups = slices.DeleteFunc(shown.Groups, func(g metav1.APIGroup) bool { return hidden(g.Name) })
		object = shown
	case *apidiscoveryv2.APIGroupDiscoveryList:
		shown := list.DeepCopy()
		shown.Items = slices.DeleteFunc(shown.Items, func(g apidiscoveryv2.APIGroupDiscovery) bool { return hidden(g.Name) })
		for i := range shown.Items {
			if stale(shown.Items[i].Name) {
				forget(&shown.Items[i])
			}
		}
		object = shown
	default:
		return d
	}
	if d.ETag == "" {
		return once(func() runtime.Object { return object })()
	}
	return tagged(func() runtime.Object { return object })()
}

// forget leaves of a group what an aggregator tells of one that it cannot reach.
func forget(g *apidiscoveryv2.APIGroupDiscovery) {
	for i := range g.Versions {
		g.Versions[i].Resources = nil
		g.Versions[i].Freshness = apidiscoveryv2.DiscoveryFreshnessStale
	}
}
