// Package resource knows what is served: the built-in types as data, a row
// each, and how to find a row from a path or a kind. Adding a built-in type is
// adding a row to one of the table files (core.go, apps.go, ...).
package resource

import (
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Resource is one served resource in one version: what discovery says of it
// and what the verbs need to know. Rows are immutable once a Table is made.
type Resource struct {
	Group, Version string
	// Plural is the name in paths, Singular the lower-case kind by default.
	Plural, Singular string
	Kind             string
	// ListKind is Kind + "List" by default.
	ListKind   string
	ShortNames []string
	Categories []string
	Namespaced bool
	// Verbs are the API verbs that work, sorted; the default is AllVerbs.
	Verbs []string
	// Status tells that the type has a status subresource.
	Status bool
	// Store names the group and plural under which the objects are kept. It is
	// the row's own unless two rows show the same objects (events in "" and in
	// events.k8s.io), and StoreVersion the version of the encoding kept: rows
	// whose Group, Version differ from it are converted on the way in and out.
	Store        schema.GroupResource
	StoreVersion schema.GroupVersion

	// UnconditionalUpdate allows a PUT without resourceVersion to overwrite.
	UnconditionalUpdate bool
	// CreateOnUpdate lets a PUT of a missing object create it.
	CreateOnUpdate bool
	// Generation tells that metadata.generation is kept: 1 at create, one more
	// when anything but metadata and status changes.
	Generation bool
	// ReturnsDeleted tells that DELETE answers with the object instead of a
	// Status when the object is gone at once.
	ReturnsDeleted bool
	// ValidateName is the rule for metadata.name; a DNS subdomain by default.
	ValidateName validation.ValidateNameFunc
	// Fields are the field selectors beside metadata.name and metadata.namespace.
	Fields []Field
}

// Field is a field selector of a type, for instance spec.nodeName of pods.
type Field struct {
	Label string
	// Value reads it from an object of the StoreVersion.
	Value func(runtime.Object) string
}

// GroupVersion, GroupVersionKind, GroupResource are the row's identities.
func (r *Resource) GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: r.Group, Version: r.Version}
}

// GroupVersionKind is the kind of one object.
func (r *Resource) GroupVersionKind() schema.GroupVersionKind {
	return r.GroupVersion().WithKind(r.Kind)
}

// GroupResource is the name that error messages and details use.
func (r *Resource) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: r.Group, Resource: r.Plural}
}

// GroupKind is what a 422 names.
func (r *Resource) GroupKind() schema.GroupKind {
	return schema.GroupKind{Group: r.Group, Kind: r.Kind}
}
