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

// Subresource is a part of an object, or something that can be done with it,
// under a path below the object's (SU-15).
type Subresource struct {
	// Name is the last part of the path, for instance "status".
	Name string
	// Kind is what is sent or, where nothing is, what the options of a request are
	// called; the row's own kind by default.
	Kind schema.GroupVersionKind
	// Verbs are those that work, sorted.
	Verbs []string
	// IsConnect tells that a request is a connection to a node, a pod or a service
	// and that Kind is only what its options are called.
	IsConnect bool

	// PrepareForUpdate turns an object that a client sent, of the StoreVersion, into what is
	// stored: what the subresource does not write comes from old. It is nil where
	// the object itself is not what is sent.
	PrepareForUpdate func(obj, old runtime.Object)
	// ValidateUpdate checks what the subresource writes; nil for most.
	ValidateUpdate func(ctx context.Context, obj, old runtime.Object) field.ErrorList
	// ResetFields are fields that a write cannot change and so must not own (SA-32), in
	// the form "metadata.labels". Owns, if there are any, are the only ones that it
	// can; a "*" in it stands for any element.
	ResetFields, OwnedFields []string

	// ConvertAccepted turns an object of another version that clients may send, too, into one
	// of Kind, and gives nil for any other; it is nil where there is none.
	ConvertAccepted func(runtime.Object) runtime.Object

	// body is a row for what is sent, nil if that is the object itself.
	body *Resource
}

// WritesObject reports whether a client sends the object itself in order to change a
// part of it.
func (s *Subresource) WritesObject() bool { return s.PrepareForUpdate != nil }

// BodyResource is what a request carries, as a row of its own, by which it can be decoded
// and shown: it has a kind and the plural and scope of the row that it belongs to.
// It is nil where the object itself is sent, and for connections.
func (s *Subresource) BodyResource() *Resource { return s.body }

// HasVerb reports whether verb, as discovery spells it, works.
func (s *Subresource) HasVerb(verb string) bool { return slices.Contains(s.Verbs, verb) }

// Subresource finds a subresource by its name, nil if there is none.
func (r *Resource) Subresource(name string) *Subresource {
	for i := range r.Subresources {
		if s := &r.Subresources[i]; s.Name == name {
			return s
		}
	}
	return nil
}

// ObjectSubresourceVerbs are the verbs of a subresource that shows the object and changes a
// part of it.
func ObjectSubresourceVerbs() []string { return []string{"get", "patch", "update"} }

// ScaleSubresource is the subresource of the types that have replicas (SU-08).
func ScaleSubresource() Subresource {
	return Subresource{
		Name: "scale", Verbs: ObjectSubresourceVerbs(),
		Kind: autoscalingv1.SchemeGroupVersion.WithKind("Scale"),
	}
}

// completeSubresources adds the status subresource, puts all in the order of
// discovery and fills in what they leave to the defaults.
func completeSubresources(r *Resource) {
	if r.Status && r.Subresource("status") == nil {
		r.Subresources = append(r.Subresources, StatusSubresource())
	}
	slices.SortFunc(r.Subresources, func(a, b Subresource) int { return strings.Compare(a.Name, b.Name) })
	for i := range r.Subresources {
		s := &r.Subresources[i]
		if s.Kind.Empty() {
			s.Kind = r.GroupVersionKind()
		}
		if s.Kind != r.GroupVersionKind() && !s.IsConnect {
			s.body = newBodyResource(r, s)
		}
	}
}

// newBodyResource makes the row of a kind that is only sent.
func newBodyResource(r *Resource, s *Subresource) *Resource {
	kind := s.Kind
	object := scheme.Scheme.AllKnownTypes()[kind]
	if object == nil {
		panic(fmt.Sprintf("resource: the scheme lacks %s", kind))
	}
	return &Resource{
		Group: kind.Group, Version: kind.Version, Kind: kind.Kind,
		Plural: r.Plural, Namespaced: r.Namespaced,
		StorageResource: schema.GroupResource{Group: kind.Group, Resource: strings.ToLower(kind.Kind)},
		StorageVersion:  kind.GroupVersion(),
		ValidateName:    r.ValidateName, convertAccepted: s.ConvertAccepted, ScaleOf: r.Custom, Scheme: scheme.Scheme,
		objectType: object, storageType: object, listType: reflect.TypeFor[struct{}](),
	}
}
