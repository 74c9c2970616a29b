package discovery

import (
	"cmp"
	"maps"
	"slices"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"example.com/fakeapi/fake/internal/resource/builtin/apiregistration"
)

// RemoteVersion is a group and version of an aggregated API server.
type RemoteVersion struct {
	Group, Version string
	// The priorities are those of the APIService.
	GroupPriority, VersionPriority int32
	// Discovery is the aggregated document. It is needed for aggregated documents only.
	Discovery apidiscoveryv2.APIVersionDiscovery
}

// WithRemote returns a document of groups with those of aggregated API servers, in the order of
// their priorities. A remote version replaces a local one. It does not change d; the result has
// another ETag. Documents of other kinds are returned as they are.
func (d Document) WithRemote(remote []RemoteVersion) Document {
	if len(remote) == 0 {
		return d
	}
	switch doc := d.Object.(type) {
	case *metav1.APIGroupList:
		merged := *doc
		merged.Groups = mergeGroups(doc.Groups, remote, legacyForm)
		return once(func() runtime.Object { return &merged })()
	case *metav1.APIGroup:
		remote = slices.DeleteFunc(slices.Clone(remote), func(v RemoteVersion) bool { return v.Group != doc.Name })
		if len(remote) == 0 {
			return d
		}
		merged := mergeGroups([]metav1.APIGroup{*doc}, remote, legacyForm)[0]
		return once(func() runtime.Object { return &merged })()
	case *apidiscoveryv2.APIGroupDiscoveryList:
		merged := *doc
		merged.Items = mergeGroups(doc.Items, remote, aggregatedForm)
		return withETag(func() runtime.Object { return &merged })()
	}
	return d
}

// NewRemoteGroup returns the document of a group that only aggregated API servers have. ok is false
// if none has it.
func NewRemoteGroup(group string, remote []RemoteVersion) (d Document, ok bool) {
	if !slices.ContainsFunc(remote, func(v RemoteVersion) bool { return v.Group == group }) {
		return d, false
	}
	empty := &metav1.APIGroup{TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}, Name: group}
	return Document{Object: empty}.WithRemote(remote), true
}

// form is how a document has groups: G, with versions V.
type form[G, V any] struct {
	name       func(*G) string
	versions   func(*G) []V
	version    func(*V) string
	newGroup   func(name string) G
	newVersion func(RemoteVersion) V
	// setVersions sets the versions of a copy of a group, in the order of preference.
	setVersions func(*G, []V)
	// byAPIService reports whether groups of the same priority are in the order of their APIServices,
	// instead of their names.
	byAPIService bool
}

// mergeGroups returns groups with remote versions. The order of groups that have none stays.
func mergeGroups[G, V any](local []G, remote []RemoteVersion, f form[G, V]) []G {
	byGroup := make(map[string][]RemoteVersion)
	for _, v := range remote {
		byGroup[v.Group] = append(byGroup[v.Group], v)
	}
	var sorted, changed []G
	for _, g := range local {
		if versions := byGroup[f.name(&g)]; versions != nil {
			changed = append(changed, addVersions(g, versions, f))
		} else {
			sorted = append(sorted, g)
		}
		delete(byGroup, f.name(&g))
	}
	for _, name := range slices.Sorted(maps.Keys(byGroup)) {
		changed = append(changed, addVersions(f.newGroup(name), byGroup[name], f))
	}
	for _, g := range changed {
		at := slices.IndexFunc(sorted, func(other G) bool { return compareGroups(&g, &other, remote, f) < 0 })
		if at < 0 {
			at = len(sorted)
		}
		sorted = slices.Insert(sorted, at, g)
	}
	return sorted
}

// addVersions returns a group with remote versions, in the order of their priorities.
func addVersions[G, V any](g G, remote []RemoteVersion, f form[G, V]) G {
	versions := slices.Clone(f.versions(&g))
	for _, v := range remote {
		versions = slices.DeleteFunc(versions, func(have V) bool { return f.version(&have) == v.Version })
		versions = append(versions, f.newVersion(v))
	}
	slices.SortStableFunc(versions, func(a, b V) int {
		_, first := priorities(f.name(&g), f.version(&a), remote)
		_, second := priorities(f.name(&g), f.version(&b), remote)
		return cmp.Or(cmp.Compare(second, first), version.CompareKubeAwareVersionStrings(f.version(&b), f.version(&a)))
	})
	f.setVersions(&g, versions)
	return g
}

// groupPriority returns the priority of a group, the highest one of its versions.
func groupPriority[G, V any](g *G, remote []RemoteVersion, f form[G, V]) (highest int32) {
	for _, v := range f.versions(g) {
		priority, _ := priorities(f.name(g), f.version(&v), remote)
		highest = max(highest, priority)
	}
	return highest
}

// compareGroups compares groups by their priorities, the highest one first.
func compareGroups[G, V any](a, b *G, remote []RemoteVersion, f form[G, V]) int {
	c := cmp.Compare(groupPriority(b, remote, f), groupPriority(a, remote, f))
	switch {
	case c != 0:
		return c
	case f.byAPIService:
		return cmp.Compare(firstAPIService(a, remote, f), firstAPIService(b, remote, f))
	}
	return cmp.Compare(f.name(a), f.name(b))
}

// firstAPIService returns the name of the first APIService of a group: of those with the highest
// priority, the first one in the alphabet, which need not be that of the preferred version.
func firstAPIService[G, V any](g *G, remote []RemoteVersion, f form[G, V]) (first string) {
	highest := groupPriority(g, remote, f)
	for _, v := range f.versions(g) {
		priority, _ := priorities(f.name(g), f.version(&v), remote)
		if name := f.version(&v) + "." + f.name(g); priority == highest && (first == "" || name < first) {
			first = name
		}
	}
	return first
}

// priorities returns the priorities of a group and version.
func priorities(group, version string, remote []RemoteVersion) (ofGroup, ofVersion int32) {
	for _, v := range remote {
		if v.Group == group && v.Version == version {
			return v.GroupPriority, v.VersionPriority
		}
	}
	spec := localAPIService(schema.GroupVersion{Group: group, Version: version}).Spec
	return spec.GroupPriorityMinimum, spec.VersionPriority
}

// aggregatorGroupPriority is that of apiregistration.k8s.io, which is above all others.
const aggregatorGroupPriority = 20001

// localAPIService returns the APIService of a local group and version.
func localAPIService(gv schema.GroupVersion) *apiregistrationv1.APIService {
	if gv.Group == apiregistrationv1.GroupName {
		return &apiregistrationv1.APIService{Spec: apiregistrationv1.APIServiceSpec{GroupPriorityMinimum: aggregatorGroupPriority}}
	}
	if s := apiregistration.ForBuiltin(gv); s != nil {
		return s
	}
	return apiregistration.ForCustom(gv)
}

// legacyForm is that of lists of groups.
var legacyForm = form[metav1.APIGroup, metav1.GroupVersionForDiscovery]{
	name:     func(g *metav1.APIGroup) string { return g.Name },
	versions: func(g *metav1.APIGroup) []metav1.GroupVersionForDiscovery { return g.Versions },
	version:  func(v *metav1.GroupVersionForDiscovery) string { return v.Version },
	newGroup: func(name string) metav1.APIGroup { return metav1.APIGroup{Name: name} },
	newVersion: func(v RemoteVersion) metav1.GroupVersionForDiscovery {
		return metav1.GroupVersionForDiscovery{GroupVersion: v.Group + "/" + v.Version, Version: v.Version}
	},
	setVersions: func(g *metav1.APIGroup, versions []metav1.GroupVersionForDiscovery) {
		g.Versions, g.PreferredVersion = versions, versions[0]
	},
	byAPIService: true,
}

// aggregatedForm is that of the aggregated document.
var aggregatedForm = form[apidiscoveryv2.APIGroupDiscovery, apidiscoveryv2.APIVersionDiscovery]{
	name:     func(g *apidiscoveryv2.APIGroupDiscovery) string { return g.Name },
	versions: func(g *apidiscoveryv2.APIGroupDiscovery) []apidiscoveryv2.APIVersionDiscovery { return g.Versions },
	version:  func(v *apidiscoveryv2.APIVersionDiscovery) string { return v.Version },
	newGroup: func(name string) apidiscoveryv2.APIGroupDiscovery {
		return apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: name}}
	},
	newVersion: func(v RemoteVersion) apidiscoveryv2.APIVersionDiscovery { return v.Discovery },
	setVersions: func(g *apidiscoveryv2.APIGroupDiscovery, versions []apidiscoveryv2.APIVersionDiscovery) {
		g.Versions = versions
	},
}
