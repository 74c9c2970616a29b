package resource

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/scheme"
)

// Subresource is a subresource of a Resource (SU-15).
type Subresource struct {
	// Name is the last segment of the path, for instance "status".
	Name string
	// Kind is the kind of request bodies. For a connection it is the kind of the options. The
	// default is the kind of the resource.
	Kind schema.GroupVersionKind
	// Verbs are the supported API verbs, sorted.
	Verbs []string
	// IsConnect reports whether requests are connections to a node, a pod or a service.
	IsConnect bool

	// PrepareForUpdate changes an object of StorageVersion from a request body to the object that
	// is stored, by restoring what the subresource does not write from old. It is nil if the body
	// is not the object itself.
	PrepareForUpdate func(ctx context.Context, obj, old runtime.Object)
	// ValidateUpdate returns the errors of the fields that the subresource writes, and those of the
	// metadata. nil for most subresources.
	ValidateUpdate func(ctx context.Context, obj, old runtime.Object, metadata MetadataErrors) field.ErrorList
	// WarningsOnUpdate returns the warnings for a valid object. nil for most subresources.
	WarningsOnUpdate func(obj, old runtime.Object) []string
	// ResetFields are the fields that a write cannot change and therefore does not own (SA-32), for
	// instance "metadata.labels". If OwnedFields is not empty, it has the only fields that a write
	// can own; "*" stands for any list element.
	ResetFields, OwnedFields []string

	// ConvertAccepted converts a body of another version, which clients may send too, to Kind. It
	// returns nil for other versions.
	ConvertAccepted func(runtime.Object) runtime.Object

	// SetDefaults sets the defaults of a decoded body of Kind. nil if it has none, or is the object
	// itself.
	SetDefaults func(runtime.Object)

	// body is the result of BodyResource, or of OptionsResource for a connection.
	body *Resource
}

// WritesObject reports whether the request body is the object itself.
func (s *Subresource) WritesObject() bool { return s.PrepareForUpdate != nil }

// BodyResource returns a Resource for decoding and encoding request bodies of Kind. It has the
// plural and scope of the subresource's resource. It is nil if the body is the object itself, and
// for connections.
func (s *Subresource) BodyResource() *Resource {
	if s.IsConnect {
		return nil
	}
	return s.body
}

// OptionsResource returns a Resource for the options of a connection, which admission plugins see
// as its object. It is nil for other subresources.
func (s *Subresource) OptionsResource() *Resource {
	if !s.IsConnect {
		return nil
	}
	return s.body
}

// HasVerb reports whether the subresource supports an API verb.
func (s *Subresource) HasVerb(verb string) bool { return slices.Contains(s.Verbs, verb) }

// Subresource returns the subresource with a name, nil if there is none.
func (r *Resource) Subresource(name string) *Subresource {
	for i := range r.Subresources {
		if s := &r.Subresources[i]; s.Name == name {
			return s
		}
	}
	return nil
}

// ObjectSubresourceVerbs returns the verbs of a subresource whose body is the object itself.
func ObjectSubresourceVerbs() []string { return []string{"get", "patch", "update"} }

// ScaleSubresource returns the scale subresource (SU-08).
func ScaleSubresource() Subresource {
	return Subresource{
		Name: "scale", Verbs: ObjectSubresourceVerbs(),
		Kind: autoscalingv1.SchemeGroupVersion.WithKind("Scale"),
	}
}

// completeSubresources adds the status subresource, sorts the subresources and fills in their
// defaults.
func completeSubresources(r *Resource) {
	if r.Status && r.Subresource("status") == nil {
		r.Subresources = append(r.Subresources, StatusSubresource())
	}
	if r.ValidateStatusUpdate != nil {
		r.Subresource("status").ValidateUpdate = r.ValidateStatusUpdate
	}
	slices.SortFunc(r.Subresources, func(a, b Subresource) int { return strings.Compare(a.Name, b.Name) })
	for i := range r.Subresources {
		s := &r.Subresources[i]
		if s.Kind.Empty() {
			s.Kind = r.GroupVersionKind()
		}
		if s.Kind != r.GroupVersionKind() {
			s.body = newBodyResource(r, s)
		}
	}
}

// newBodyResource returns the result of BodyResource or OptionsResource for s.
func newBodyResource(r *Resource, s *Subresource) *Resource {
	kind := s.Kind
	object := scheme.Scheme.AllKnownTypes()[kind]
	if object == nil {
		panic(fmt.Sprintf("resource: the scheme does not have %s", kind))
	}
	return &Resource{
		Group: kind.Group, Version: kind.Version, Kind: kind.Kind,
		Plural: r.Plural, Namespaced: r.Namespaced,
		StorageResource: schema.GroupResource{Group: kind.Group, Resource: strings.ToLower(kind.Kind)},
		StorageVersion:  kind.GroupVersion(),
		SetDefaults:     s.SetDefaults,
		ValidateName:    r.ValidateName, convertAccepted: s.ConvertAccepted, ScaleOf: r.Custom, Scheme: scheme.Scheme,
		objectType: object, storageType: object, listType: reflect.TypeFor[struct{}](),
	}
}
