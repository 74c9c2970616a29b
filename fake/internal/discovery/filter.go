package discovery

import (
	"slices"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Filter returns a document without hidden groups and with stale groups, of which aggregated
// discovery lists only the versions. It does not change d; the result has another ETag.
func (d Document) Filter(hidden, stale func(group string) bool) Document {
	var object runtime.Object
	switch list := d.Object.(type) {
	case *metav1.APIGroupList:
		visible := list.DeepCopy()
		visible.Groups = slices.DeleteFunc(visible.Groups, func(g metav1.APIGroup) bool { return hidden(g.Name) })
		object = visible
	case *apidiscoveryv2.APIGroupDiscoveryList:
		visible := list.DeepCopy()
		visible.Items = slices.DeleteFunc(visible.Items, func(g apidiscoveryv2.APIGroupDiscovery) bool { return hidden(g.Name) })
		for i := range visible.Items {
			if stale(visible.Items[i].Name) {
				clearGroup(&visible.Items[i])
			}
		}
		object = visible
	default:
		return d
	}
	if d.ETag == "" {
		return once(func() runtime.Object { return object })()
	}
	return withETag(func() runtime.Object { return object })()
}

// clearGroup reduces a group to what an aggregator lists of an unreachable one.
func clearGroup(g *apidiscoveryv2.APIGroupDiscovery) {
	for i := range g.Versions {
		g.Versions[i].Resources = nil
		g.Versions[i].Freshness = apidiscoveryv2.DiscoveryFreshnessStale
	}
}
