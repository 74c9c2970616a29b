package aggregator

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"

	fakediscovery "example.com/fakeapi/fake/internal/discovery"
)

// versionDiscovery is the aggregated document of a group and version.
type versionDiscovery = apidiscoveryv2.APIVersionDiscovery

// Versions returns the groups and versions of other servers for discovery. With their resources,
// those of all servers are fetched at once.
func (a *Aggregator) Versions(ctx context.Context, withResources bool) []fakediscovery.RemoteVersion {
	all := a.current().sorted
	versions := make([]fakediscovery.RemoteVersion, len(all))
	var group sync.WaitGroup
	for i, s := range all {
		versions[i] = fakediscovery.RemoteVersion{
			Group: s.Spec.Group, Version: s.Spec.Version,
			GroupPriority: s.Spec.GroupPriorityMinimum, VersionPriority: s.Spec.VersionPriority,
		}
		if withResources {
			group.Go(func() { versions[i].Discovery = a.discover(ctx, s) })
		}
	}
	group.Wait()
	return versions
}

// discover returns the aggregated document of a group and version. It is stale, without resources,
// if the server does not return it.
func (a *Aggregator) discover(ctx context.Context, s *APIService) versionDiscovery {
	stale := versionDiscovery{Version: s.Spec.Version, Freshness: apidiscoveryv2.DiscoveryFreshnessStale}
	if !s.IsAvailable() {
		return stale
	}
	d := a.documentsOf(ctx, s)
	if d == nil {
		return stale
	}
	defer d.unlock()
	v, err := d.discovery.get(ctx, func(ctx context.Context) (versionDiscovery, error) { return a.fetchDiscovery(ctx, s) })
	if err != nil {
		return stale
	}
	v.Version, v.Freshness = s.Spec.Version, apidiscoveryv2.DiscoveryFreshnessCurrent
	return v
}

// fetchDiscovery requests the aggregated document of /apis, and if the server has none the one of
// the group and version.
func (a *Aggregator) fetchDiscovery(ctx context.Context, s *APIService) (v versionDiscovery, err error) {
	w, err := a.fetch(ctx, s, "/apis", discovery.AcceptV2)
	if err != nil {
		return v, err
	}
	kind := apidiscoveryv2.SchemeGroupVersion.WithKind("APIGroupDiscoveryList")
	if isList, _ := discovery.ContentTypeIsGVK(w.Header().Get("Content-Type"), kind); w.Code != http.StatusOK || !isList {
		return a.fetchResourceList(ctx, s)
	}
	var list apidiscoveryv2.APIGroupDiscoveryList
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil {
		return v, err
	}
	for _, g := range list.Items {
		for _, found := range g.Versions {
			if g.Name == s.Spec.Group && found.Version == s.Spec.Version {
				setKinds(found.Resources)
				return found, nil
			}
		}
	}
	return v, nil // the server does not have the group and version
}

// setKinds sets kinds that are missing, because old clients rely on them.
func setKinds(resources []apidiscoveryv2.APIResourceDiscovery) {
	for i := range resources {
		r := &resources[i]
		if r.ResponseKind == nil {
			r.ResponseKind = &metav1.GroupVersionKind{}
		}
		for j := range r.Subresources {
			if r.Subresources[j].ResponseKind == nil {
				r.Subresources[j].ResponseKind = &metav1.GroupVersionKind{}
			}
		}
	}
}

// fetchResourceList requests the document of a group and version, and converts it to the aggregated
// form.
func (a *Aggregator) fetchResourceList(ctx context.Context, s *APIService) (v versionDiscovery, err error) {
	path := "/apis/" + s.Spec.Group + "/" + s.Spec.Version
	w, err := a.fetch(ctx, s, path, runtime.ContentTypeJSON)
	if err != nil {
		return v, err
	}
	if w.Code != http.StatusOK {
		return v, fmt.Errorf("%s: %d", path, w.Code)
	}
	var list metav1.APIResourceList
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil {
		return v, err
	}
	v.Resources, err = convertResources(list.APIResources)
	return v, err
}

// convertResources returns resources with their subresources. A subresource without a resource gets
// one, with a name only.
func convertResources(list []metav1.APIResource) (resources []apidiscoveryv2.APIResourceDiscovery, err error) {
	index := make(map[string]int)
	add := func(r apidiscoveryv2.APIResourceDiscovery) int {
		index[r.Resource] = len(resources)
		resources = append(resources, r)
		return len(resources) - 1
	}
	for _, r := range list {
		if !strings.Contains(r.Name, "/") {
			add(apidiscoveryv2.APIResourceDiscovery{
				Resource: r.Name, Scope: scopeOf(r), SingularResource: r.SingularName,
				ResponseKind: &metav1.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind},
				Verbs:        r.Verbs, ShortNames: r.ShortNames, Categories: r.Categories,
			})
		}
	}
	for _, r := range list {
		parent, name, isSubresource := strings.Cut(r.Name, "/")
		if !isSubresource {
			continue
		}
		i, ok := index[parent]
		if !ok {
			i = add(apidiscoveryv2.APIResourceDiscovery{Resource: parent, Scope: scopeOf(r), ResponseKind: &metav1.GroupVersionKind{}})
		}
		if resources[i].Scope != scopeOf(r) {
			return nil, fmt.Errorf("%s has another scope than %s", r.Name, parent)
		}
		kind := &metav1.GroupVersionKind{}
		if r.Kind != "" {
			*kind = metav1.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
		}
		resources[i].Subresources = append(resources[i].Subresources, apidiscoveryv2.APISubresourceDiscovery{
			Subresource: name, ResponseKind: kind, Verbs: r.Verbs,
		})
	}
	return resources, nil
}

func scopeOf(r metav1.APIResource) apidiscoveryv2.ResourceScope {
	if r.Namespaced {
		return apidiscoveryv2.ScopeNamespace
	}
	return apidiscoveryv2.ScopeCluster
}
