package resource

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"example.com/fakeapi/fake/internal/typedjson"
)

// AllVerbs returns the verbs of a stored type in the order of discovery documents (DI-12). The
// caller may change the result.
func AllVerbs() []string {
	return []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
}

// Table has the resources of a server. It is immutable and safe for concurrent use.
type Table struct {
	resources []*Resource
	groups    []Group
	byPlural  map[schema.GroupVersionResource]*Resource
	byKind    map[schema.GroupVersionKind]*Resource
	versions  map[schema.GroupVersion]bool
	// builtinGroups has the groups of resources that are not custom.
	builtinGroups map[string]bool
	// notServed has the resources that are in byPlural and byKind only.
	notServed map[schema.GroupVersionResource]bool
}

// Group is an API group with its served versions.
type Group struct {
	// Name is the name of the group, "" for the core group.
	Name string
	// Versions are in order of preference (DI-03).
	Versions []string
	// Preferred is the first of Versions.
	Preferred string
}

// NewTable returns a table of resources, which it fills in with defaults. The caller must not use
// the slice afterwards. NewTable panics if a kind is not in the scheme of its resource.
func NewTable(resources []Resource) *Table {
	t := &Table{
		resources: make([]*Resource, 0, len(resources)),
		byPlural:  make(map[schema.GroupVersionResource]*Resource, len(resources)),
		byKind:    make(map[schema.GroupVersionKind]*Resource, len(resources)),
		versions:  make(map[schema.GroupVersion]bool),

		builtinGroups: make(map[string]bool),
	}
	stored := make(map[schema.GroupResource][]Field)
	var types typedjson.Types
	for i := range resources {
		r := &resources[i]
		complete(r, &types)
		stored[r.StorageResource] = append(stored[r.StorageResource], r.Fields...)
		t.add(r)
	}
	for res, fields := range stored {
		stored[res] = sortedFields(fields)
	}
	for _, r := range t.resources {
		r.storedFields = stored[r.StorageResource]
	}
	return t
}

// sortedFields returns the fields in the order of their labels, the first one for each label.
func sortedFields(fields []Field) []Field {
	sorted := slices.Clone(fields)
	slices.SortStableFunc(sorted, func(a, b Field) int { return strings.Compare(a.Label, b.Label) })
	return slices.CompactFunc(sorted, func(a, b Field) bool { return a.Label == b.Label })
}

// add appends a resource. If a kind has several resources, LookupKind returns the first one.
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

// addVersion adds the version of a resource. The first version of a group is the preferred one.
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

// complete fills in the defaults of a resource.
func complete(r *Resource, jsonTypes *typedjson.Types) {
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
	if r.objectType == nil || r.listType == nil && !r.IsOnlyCreated() || r.storageType == nil {
		panic(fmt.Sprintf("resource: the scheme does not have %s, its list kind or its storage version", r.GroupVersionKind()))
	}
	r.objectJSON, r.storageJSON = jsonTypes.NewType(r.objectType), jsonTypes.NewType(r.storageType)
	r.Deprecation, r.RemovedRelease = deprecation(r.GroupVersionKind(), r.objectType)
}

// WithServed returns a table that serves the resources of t for which isServed returns true. Lookup
// and LookupKind return the others, too.
func (t *Table) WithServed(isServed func(schema.GroupVersionResource) bool) *Table {
	out := &Table{
		byPlural: t.byPlural, byKind: t.byKind,
		versions: make(map[schema.GroupVersion]bool), builtinGroups: make(map[string]bool), notServed: make(map[schema.GroupVersionResource]bool),
	}
	for _, r := range t.resources {
		if !isServed(r.GroupVersionResource()) {
			out.notServed[r.GroupVersionResource()] = true
			continue
		}
		out.resources = append(out.resources, r)
		out.builtinGroups[r.Group] = true
		out.addVersion(r.GroupVersion())
	}
	return out
}

// IsServed reports whether a resource of the table is served, see WithServed.
func (t *Table) IsServed(r *Resource) bool { return !t.notServed[r.GroupVersionResource()] }

// LookupServed is Lookup for resources that are served.
func (t *Table) LookupServed(group, version, plural string) *Resource {
	gvr := schema.GroupVersionResource{Group: group, Version: version, Resource: plural}
	if t.notServed[gvr] {
		return nil
	}
	return t.byPlural[gvr]
}

// Lookup returns the resource with the path /apis/GROUP/VERSION/PLURAL, or /api/VERSION/PLURAL if
// group is "". It returns nil if there is none. The resource need not be served, see WithServed.
func (t *Table) Lookup(group, version, plural string) *Resource {
	return t.byPlural[schema.GroupVersionResource{Group: group, Version: version, Resource: plural}]
}

// LookupKind returns the resource of a kind, nil if there is none. List kinds and kinds that are
// not stored, such as Scale and Binding, have none.
func (t *Table) LookupKind(gvk schema.GroupVersionKind) *Resource {
	return t.byKind[gvk]
}

// All returns the resources in discovery order: groups by priority, versions by preference,
// resources by name.
func (t *Table) All() []*Resource { return slices.Clone(t.resources) }

// Stored returns the resources of All whose objects are stored.
func (t *Table) Stored() []*Resource {
	return slices.DeleteFunc(t.All(), func(r *Resource) bool { return !r.IsStored() })
}

// Groups returns the groups in discovery order, beginning with the core group.
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

// IsCustomGroup reports whether all resources of a group are custom resources.
func (t *Table) IsCustomGroup(group string) bool {
	return t.HasGroup(group) && !t.builtinGroups[group]
}

// HasVersion reports whether any resource of a group and version is served.
func (t *Table) HasVersion(group, version string) bool {
	return t.versions[schema.GroupVersion{Group: group, Version: version}]
}
