package resource

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/crd/versions"
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
	// Status tells that the type has a status that only the subresource of that name
	// writes; StatusOnCreate that a new object keeps the one that it comes with.
	Status, StatusOnCreate bool
	// Subresources are sorted by name. status is among them where Status is set; a
	// row names it if it keeps more than the spec.
	Subresources []Subresource
	// PrepareForUpdate carries over what an update of the object itself cannot change beside its
	// status, nil for nothing; Resets are the fields of both (SA-32), the status by
	// default.
	PrepareForUpdate func(obj, old runtime.Object)
	ResetFields      []string
	// Deprecation is the warning that every request is answered with, "" if the
	// type is not deprecated. It is filled in when a Table is made.
	Deprecation string
	// StorageResource names the group and plural under which the objects are kept. It is
	// the row's own unless two rows show the same objects (events in "" and in
	// events.k8s.io), and StoreVersion the version of the encoding kept: rows
	// whose Group, Version differ from it are converted on the way in and out.
	StorageResource schema.GroupResource
	StorageVersion  schema.GroupVersion

	// AllowUnconditionalUpdate allows a PUT without resourceVersion to overwrite.
	AllowUnconditionalUpdate bool
	// AllowCreateOnUpdate lets a PUT of a missing object create it.
	AllowCreateOnUpdate bool
	// HasGeneration tells that metadata.generation is kept: 1 at create, one more
	// when anything but metadata and status changes.
	HasGeneration bool
	// GenerationCountsAnnotations tells that a change of the annotations raises it, too.
	GenerationCountsAnnotations bool
	// ReturnDeletedObject tells that DELETE answers with the object instead of a
	// Status when the object is gone at once.
	ReturnDeletedObject bool
	// Canonicalize brings an object of the StoreVersion that a client sent into the
	// form that is stored, where the type does more than keep its fields; nil for
	// most. Defaults of a type would belong here.
	Canonicalize func(runtime.Object)
	// GracePeriod gives the seconds that an object of a graceful type has left when it is
	// deleted; asked is the option of the delete, nil if there is none. It is nil for
	// the types that go at once (DL-26).
	GracePeriod func(obj runtime.Object, asked *int64) int64
	// MarkTerminating marks an object as deleted that is not removed before the server has
	// done something; nil for most.
	MarkTerminating func(obj runtime.Object, now time.Time)
	// PrepareForCreate sets what every new object of the type begins with, its status having
	// been emptied; nil for most.
	PrepareForCreate func(runtime.Object)
	// Validate returns the errors of a new object, ValidateUpdate those of an object that replaces
	// old. metadata has the errors of the object's metadata, and the result includes them. Warnings go
	// to the recorder in ctx. nil means that only the metadata is validated.
	Validate       func(ctx context.Context, obj runtime.Object, metadata field.ErrorList) field.ErrorList
	ValidateUpdate func(ctx context.Context, obj, old runtime.Object, metadata field.ErrorList) field.ErrorList
	// WarningsOnCreate and WarningsOnUpdate return the warnings for an object that is valid, nil for no
	// warnings.
	WarningsOnCreate func(obj runtime.Object) []string
	WarningsOnUpdate func(obj, old runtime.Object) []string
	// ValidateName is the rule for metadata.name; a DNS subdomain by default.
	ValidateName validation.ValidateNameFunc
	// Fields are the field selectors beside metadata.name and metadata.namespace.
	Fields []Field

	// FieldErrorFormat is the format of the error for a field label that cannot be selected by. Its
	// only operand is the label. The default is "field label not supported: %s".
	FieldErrorFormat string
	// Scheme has the Go types of the resource. The default is client-go's scheme.
	Scheme *runtime.Scheme
	// ToStorage and FromStorage convert an object between the resource's version and StorageVersion.
	// They are nil if the two are equal.
	ToStorage, FromStorage Conversion

	// Custom is the version of a custom resource, nil for built-in types. Its objects
	// are *unstructured.Unstructured of the row's own version.
	Custom *versions.Version

	// Terminating tells that the definition of a custom resource is on its way out, see
	// DiscoveredVerbs.
	Terminating bool
	// ScaleOf is set in the row of the Scales of a custom resource.
	ScaleOf *versions.Version

	// objectType and list are the Go types of Kind and ListKind, stored that of
	// Kind in StoreVersion.
	objectType, listType, storageType reflect.Type
	// convertAccepted is that of a Subresource, for the row of what is sent to it.
	convertAccepted func(runtime.Object) runtime.Object
	// storedFields are the Fields of every row over the same Store.
	storedFields []Field
}

// Field is a field selector of a type, for instance spec.nodeName of pods.
type Field struct {
	Label string
	// Value reads it from an object of the StoreVersion.
	Value func(runtime.Object) string
}

// GroupVersion is the version that the row serves, without the kind.
func (r *Resource) GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: r.Group, Version: r.Version}
}

// GroupVersionKind is the kind of one object.
func (r *Resource) GroupVersionKind() schema.GroupVersionKind {
	return r.GroupVersion().WithKind(r.Kind)
}

// ListGroupVersionKind is the kind of a list of the objects.
func (r *Resource) ListGroupVersionKind() schema.GroupVersionKind {
	return r.GroupVersion().WithKind(r.ListKind)
}

// GroupVersionResource is what dynamic clients and selectors call the row.
func (r *Resource) GroupVersionResource() schema.GroupVersionResource {
	return r.GroupVersion().WithResource(r.Plural)
}

// GroupResource is the name that error messages and details use.
func (r *Resource) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: r.Group, Resource: r.Plural}
}

// GroupKind is what a 422 names.
func (r *Resource) GroupKind() schema.GroupKind {
	return schema.GroupKind{Group: r.Group, Kind: r.Kind}
}

// HasVerb reports whether verb (as discovery spells it, "deletecollection")
// works on the resource.
func (r *Resource) HasVerb(verb string) bool {
	for _, v := range r.Verbs {
		if v == verb {
			return true
		}
	}
	return false
}

// DiscoveredVerbs are the verbs that discovery tells of. While a definition is being
// deleted it keeps silent about those that write, most of which still work.
func (r *Resource) DiscoveredVerbs() []string {
	if !r.Terminating {
		return r.Verbs
	}
	return slices.DeleteFunc(slices.Clone(r.Verbs), func(verb string) bool {
		return verb == "create" || verb == "patch" || verb == "update"
	})
}

// IsStored reports whether objects of the row are in the store; a row of which they are
// not is only there to be posted to.
func (r *Resource) IsStored() bool { return r.HasVerb("list") }

// Canonical gives obj, which is of the StoreVersion, in the form that is stored. It
// may change obj.
func (r *Resource) Canonical(obj runtime.Object) runtime.Object {
	if r.Canonicalize != nil {
		r.Canonicalize(obj)
	}
	return obj
}

// New gives an empty object of the row's version, its TypeMeta not filled in.
func (r *Resource) New() runtime.Object {
	return reflect.New(r.objectType).Interface().(runtime.Object)
}

// ConvertAccepted gives an object that was sent in another version than the row's as one of
// the row's kind, nil if that is not to be had.
func (r *Resource) ConvertAccepted(sent runtime.Object) runtime.Object {
	if r.convertAccepted == nil {
		return nil
	}
	return r.convertAccepted(sent)
}

// NewList gives an empty list of the row's version, its TypeMeta not filled in.
func (r *Resource) NewList() runtime.Object {
	return reflect.New(r.listType).Interface().(runtime.Object)
}

// CheckField tells why label is no field selector of the row, in the words of
// the 400 that a real server answers; nil if it is one (SE-05). All types know
// metadata.name. metadata.namespace is known to namespaced types and also to
// cluster-scoped ones, unless they have Fields.
func (r *Resource) CheckField(label string) error {
	if len(r.Fields) == 0 && r.Custom == nil {
		_, _, err := runtime.DefaultMetaV1FieldSelectorConversion(label, "")
		return err
	}
	if label == "metadata.name" || label == "metadata.namespace" && r.Namespaced {
		return nil
	}
	for _, f := range r.Fields {
		if f.Label == label {
			return nil
		}
	}
	return fmt.Errorf(r.FieldErrorFormat, label)
}

// FieldSet reads the values that field selectors compare from a stored object
// (one of StoreVersion). It has the labels of every row that shows the object,
// so that a record made through one version can be selected through another;
// metadata.name and metadata.namespace are not in it.
func (r *Resource) FieldSet(stored runtime.Object) fields.Set {
	if len(r.storedFields) == 0 {
		return nil
	}
	set := make(fields.Set, len(r.storedFields))
	for _, f := range r.storedFields {
		set[f.Label] = f.Value(stored)
	}
	return set
}
