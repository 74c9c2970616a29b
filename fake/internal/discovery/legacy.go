package discovery

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/fake/internal/resource"
)

// coreVersions returns the document of /api (DI-01).
func coreVersions(table *resource.Table, address string) *metav1.APIVersions {
	doc := &metav1.APIVersions{
		TypeMeta: metav1.TypeMeta{Kind: "APIVersions"},
		Versions: []string{},
		ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{
			{ClientCIDR: "0.0.0.0/0", ServerAddress: address},
		},
	}
	for _, g := range table.Groups() {
		if g.Name == "" {
			doc.Versions = append(doc.Versions, g.Versions...)
		}
	}
	return doc
}

// groupList returns the document of /apis (DI-02), without the core group. The groups of custom
// resources are in another order than in the table.
func groupList(table *resource.Table) *metav1.APIGroupList {
	doc := &metav1.APIGroupList{
		TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"},
		Groups:   []metav1.APIGroup{},
	}
	for _, g := range table.Groups() {
		if g.Name != "" {
			doc.Groups = append(doc.Groups, group(g))
		}
	}
	slices.SortStableFunc(doc.Groups, func(a, b metav1.APIGroup) int { return compareGroups(&a, &b, nil, legacyForm) })
	return doc
}

// groupDocument returns the document of /apis/GROUP.
func groupDocument(g resource.Group) *metav1.APIGroup {
	doc := group(g)
	doc.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
	return &doc
}

// group returns a group with its versions in order of preference (DI-03).
func group(g resource.Group) metav1.APIGroup {
	out := metav1.APIGroup{Name: g.Name}
	for _, version := range g.Versions {
		entry := metav1.GroupVersionForDiscovery{GroupVersion: g.Name + "/" + version, Version: version}
		out.Versions = append(out.Versions, entry)
		if version == g.Preferred {
			out.PreferredVersion = entry
		}
	}
	return out
}

// resourceList returns the document of a group and version (DI-04), sorted by path: a resource,
// then its subresources.
func resourceList(table *resource.Table, group, version string) *metav1.APIResourceList {
	doc := &metav1.APIResourceList{
		TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		APIResources: []metav1.APIResource{},
	}
	if group == "" {
		doc.APIVersion = ""
	}
	for _, r := range table.All() {
		if r.Group != group || r.Version != version {
			continue
		}
		doc.GroupVersion = r.GroupVersion().String()
		doc.APIResources = append(doc.APIResources, metav1.APIResource{
			Name:               r.Plural,
			SingularName:       r.Singular,
			Namespaced:         r.Namespaced,
			Kind:               r.Kind,
			Verbs:              r.DiscoveredVerbs(),
			ShortNames:         r.ShortNames,
			Categories:         r.Categories,
			StorageVersionHash: storageVersionHash(r),
		})
		for _, s := range subresources(r) {
			kind := kindOf(r, s)
			doc.APIResources = append(doc.APIResources, metav1.APIResource{
				Name:       r.Plural + "/" + s.Name, // SU-15
				Namespaced: r.Namespaced,
				Group:      kind.Group,
				Version:    kind.Version,
				Kind:       kind.Kind,
				Verbs:      s.Verbs,
			})
		}
	}
	return doc
}

// kindOf returns the kind of a subresource. Group and version are empty if they are those of the
// document.
func kindOf(r *resource.Resource, s resource.Subresource) metav1.GroupVersionKind {
	if s.Kind.GroupVersion() == r.GroupVersion() {
		return metav1.GroupVersionKind{Kind: s.Kind.Kind}
	}
	return metav1.GroupVersionKind{Group: s.Kind.Group, Version: s.Kind.Version, Kind: s.Kind.Kind}
}

// storageVersionHash returns the first eight bytes of the SHA-256 of GROUP/VERSION/KIND of the
// version that a real server stores, in base64. Resources that share storage have the same hash.
// The hash of a resource that is not stored, and of a custom resource whose storage version is not
// served, is empty.
func storageVersionHash(r *resource.Resource) string {
	if !r.IsStored() {
		return ""
	}
	version := cmp.Or(r.HashedVersion, r.StorageVersion.Version)
	if r.Custom != nil {
		storage := r.Custom.CRD().Storage().Object()
		if !storage.Served {
			return ""
		}
		version = storage.Name
	}
	sum := sha256.Sum256([]byte(r.StorageVersion.Group + "/" + version + "/" + r.Kind))
	return base64.StdEncoding.EncodeToString(sum[:8])
}
