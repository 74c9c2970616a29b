package resource

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// AllVerbs are the verbs of a type that is kept in the store, sorted as
// discovery prints them (DI-12). The result is the caller's own.
func AllVerbs() []string {
	return []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
}

// Table is what a server serves. It is immutable and safe for any number of
// readers.
type Table struct {
	resources []*Resource
	groups    []Group
	byPlural  map[schema.GroupVersionResource]*Resource
	byKind    map[schema.GroupVersionKind]*Resource
	versions  map[schema.GroupVersion]bool
	// builtinGroups has the groups with a resource that is not custom.
	builtinGroups map[string]bool
}

// Group is an API group of a Table with the versions that are served.
type Group struct {
	// Name is "" for the core group.
	Name string
	// Versions are in order of preference (DI-03).
	Versions []string
	// Preferred is the first of Versions.
	Preferred string
}

// NewTable completes the rows and indexes them. It takes them over. A row that
// the scheme does not know is a slip in this package and panics, as a regular
// expression that does not compile would; a test builds every row.
func NewTable(resources []Resource) *Table {
	t := &Table{
		resources: make([]*Resource, 0, len(resources)),
		byPlural:  make(map[schema.GroupVersionResource]*Resource, len(resources)),
		byKind:    make(map[schema.GroupVersionKind]*Resource, len(resources)),
		versions:  make(map[schema.GroupVersion]bool),

		builtinGroups: make(map[string]bool),
	}
	stored := make(map[schema.GroupResource][]Field)
	for i := range resources {
		r := &resources[i]
		complete(r)
		stored[r.StorageResource] = append(stored[r.StorageResource], r.Fields...)
		t.add(r)
	}
	for _, r := range t.resources {
		r.storedFields = stored[r.StorageResource]
	}
	return t
}

// add appends a row. The first row of a kind counts.
func (t *Table) add(r *Resource) {
	t.resources = append(t.resources, r)
	t.byPlural[r.GroupVersionResource()] = r
	if kind := r.GroupVersionKind(); r.IsStored() && t.byKind[kind] == nil {
		t.byKind[kind] = r
	}
	if r.Custom == nil {
		t.builtinGroups[r.Group] = true
	}
	t.addVersion(r.GroupVersion())
}

// addVersion notes a version of a row; the first version of a group is preferred.
func (t *Table) addVersion(gv schema.GroupVersion) {
	if t.versions[gv] {
		return
	}
	t.versions[gv] = true
	for i := range t.groups {
		if g := &t.groups[i]; g.Name == gv.Group {
			g.Versions = append(g.Versions, gv.Version)
			return
		}
	}
	t.groups = append(t.groups, Group{Name: gv.Group, Versions: []string{gv.Version}, Preferred: gv.Version})
}

// complete fills in what a row leaves to the defaults.
func complete(r *Resource) {
	if r.Singular == "" {
		r.Singular = strings.ToLower(r.Kind)
	}
	if r.ListKind == "" {
		r.ListKind = r.Kind + "List"
	}
	if r.Verbs == nil {
		r.Verbs = AllVerbs()
	}
	if r.StorageResource.Resource == "" {
		r.StorageResource = r.GroupResource()
	}
	if r.StorageVersion.Version == "" {
		r.StorageVersion = r.GroupVersion()
	}
	if r.FieldErrorFormat == "" {
		r.FieldErrorFormat = "field label not supported: %s"
	}
	if r.ValidateName == nil {
		r.ValidateName = validation.NameIsDNSSubdomain
	}
	if r.ResetFields == nil && r.Status {
		r.ResetFields = []string{"status"}
	}
	if r.Scheme == nil {
		r.Scheme = scheme.Scheme
	}
	completeSubresources(r)
	if r.Custom != nil {
		setUnstructuredTypes(r)
		return
	}
	types := r.Scheme.AllKnownTypes()
	r.objectType, r.listType = types[r.GroupVersionKind()], types[r.ListGroupVersionKind()]
	r.storageType = types[r.StorageVersion.WithKind(r.Kind)]
	if r.objectType == nil || r.listType == nil && r.IsStored() || r.storageType == nil {
		panic(fmt.Sprintf("resource: the scheme lacks %s, its list or its stored form", r.GroupVersionKind()))
	}
	r.Deprecation = deprecationWarning(r.GroupVersionKind(), r.objectType)
}

// Lookup finds the row behind the path /apis/GROUP/VERSION/PLURAL, group ""
// being /api; nil if there is none.
func (t *Table) Lookup(group, version, plural string) *Resource {
	return t.byPlural[schema.GroupVersionResource{Group: group, Version: version, Resource: plural}]
}

// LookupKind finds the row of a kind; nil if there is none. List kinds and kinds
// that are not kept (Scale, Binding) have none.
func (t *Table) LookupKind(gvk schema.GroupVersionKind) *Resource {
	return t.byKind[gvk]
}

// All gives the rows in discovery order: groups by priority, versions by
// preference, resources by name.
func (t *Table) All() []*Resource { return slices.Clone(t.resources) }

// Stored gives those of All whose objects are in the store.
func (t *Table) Stored() []*Resource {
	return slices.DeleteFunc(t.All(), func(r *Resource) bool { return !r.IsStored() })
}

// Groups gives the groups in discovery order, the core group first.
func (t *Table) Groups() []Group {
	groups := slices.Clone(t.groups)
	for i := range groups {
		groups[i].Versions = slices.Clone(groups[i].Versions)
	}
	return groups
}

// HasGroup reports whether any version of group is served.
func (t *Table) HasGroup(group string) bool {
	return slices.ContainsFunc(t.groups, func(g Group) bool { return g.Name == group })
}

// IsCustomGroup reports whether group is served for custom resources only.
func (t *Table) IsCustomGroup(group string) bool {
	return t.HasGroup(group) && !t.builtinGroups[group]
}

// HasVersion reports whether anything is served in group and version.
func (t *Table) HasVersion(group, version string) bool {
	return t.versions[schema.GroupVersion{Group: group, Version: version}]
}
