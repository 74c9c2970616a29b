package resource

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/crd/versions"
	"example.com/fakeapi/fake/internal/typedjson"
)

// Resource is a served resource in one version. It is immutable after NewTable.
type Resource struct {
	Group, Version string
	// Plural is the name in paths. The default of Singular is the kind in lower case.
	Plural, Singular string
	Kind             string
	// ListKind is the kind of lists. The default is Kind + "List".
	ListKind   string
	ShortNames []string
	Categories []string
	Namespaced bool
	// Verbs are the supported API verbs, sorted. The default is AllVerbs.
	Verbs []string
	// IsComputed reports whether the objects are computed for each read, and not stored.
	IsComputed bool
	// Status reports whether the type has a status that only its status subresource writes.
	// StatusOnCreate reports whether a new object keeps the status of the request.
	Status, StatusOnCreate bool
	// Subresources are sorted by name. If Status is set, NewTable adds a status subresource that
	// keeps the spec, unless there is one.
	Subresources []Subresource
	// PrepareForUpdate restores fields, besides the status, that an update of the object itself
	// cannot change. ResetFields are all such fields (SA-32). Its default is the status if Status
	// is set.
	PrepareForUpdate func(ctx context.Context, obj, old runtime.Object)
	ResetFields      []string
	// Deprecation is the warning in every response, "" if the type is not deprecated. RemovedRelease
	// is the release that removes a deprecated type, such as 1.40, "" if that is not planned. NewTable
	// sets both for built-in types.
	Deprecation, RemovedRelease string
	// StorageResource is the group and plural under which objects are stored, StorageVersion the
	// version in which they are encoded. The default is the resource's own. Events in events.k8s.io
	// and in the core group, for instance, have the same StorageResource.
	StorageResource schema.GroupResource
	StorageVersion  schema.GroupVersion
	// HashedVersion is the version in which a real server stores objects, if it is not
	// StorageVersion: the release that introduces a version stores the one before, which the release
	// before can read, and CustomResourceDefinitions are stored in v1beta1, which is not served. It is
	// seen in storageVersionHash only.
	HashedVersion string
	// StoredAsJSON reports whether a real server stores objects in JSON, and not in protobuf, so that
	// empty lists stay empty lists.
	StoredAsJSON bool

	// AllowUnconditionalUpdate reports whether an update without resourceVersion may overwrite an
	// object.
	AllowUnconditionalUpdate bool
	// AllowCreateOnUpdate reports whether an update may create an object.
	AllowCreateOnUpdate bool
	// HasGeneration reports whether metadata.generation is counted: 1 on create, incremented when
	// anything but metadata and status changes.
	HasGeneration bool
	// GenerationCountsAnnotations reports whether a change of annotations increments the generation
	// too.
	GenerationCountsAnnotations bool
	// GenerationCountsEmpty reports whether an empty list or map that is sent where none is stored
	// increments the generation too. The strategy compares with reflect.DeepEqual then.
	GenerationCountsEmpty bool
	// ReturnDeletedObject reports whether a delete that removes the object returns it, instead of a
	// Status.
	ReturnDeletedObject bool
	// GarbageCollection is the default propagation policy of a delete. DeleteWarning is the warning
	// for a delete without a propagation policy, "" for most types.
	GarbageCollection GarbageCollectionPolicy
	DeleteWarning     string
	// CheckDelete returns the error of a request that deletes the object of a name, which need not
	// exist. It does not apply to deletecollection. nil for most types.
	CheckDelete func(name string) error
	// ProtectionFinalizer is the finalizer that keeps an object while it is in use. The admission
	// plugin StorageObjectInUseProtection adds it to new objects, and a controller removes it. ""
	// for most types.
	ProtectionFinalizer string
	// SetDefaults sets the defaults of a decoded object of StorageVersion. It changes nothing in an
	// object that has been stored. nil if the type has none.
	SetDefaults func(runtime.Object)
	// Canonicalize changes a decoded object of StorageVersion, whose defaults are set, to the form
	// that is stored. nil if the two are the same.
	Canonicalize func(runtime.Object)
	// InternalPackage is the Go package of the internal type in TypeName, "" for that of the version.
	InternalPackage string
	// CheckDecoded returns the error of a decoded object that is possible in protobuf only. nil for
	// most types.
	CheckDecoded func(runtime.Object) error
	// CheckConversion returns the error of an object that a real server cannot convert to its internal
	// type. nil for most types. A type that has it has one version only.
	CheckConversion func(runtime.Object) error
	// DefaultOnRead sets fields that follow from others in an object that was not created by a
	// request, as a real server does when it reads one. nil for most types.
	DefaultOnRead func(runtime.Object)
	// Decorator changes objects of responses. nil for most types.
	Decorator *Decorator
	// GracePeriod returns the grace period of a delete in seconds. requested is that of the delete
	// options, nil if there is none. It is nil for types without graceful deletion (DL-26).
	GracePeriod func(obj runtime.Object, requested *int64) int64
	// MarkTerminating changes an object that is deleted but not removed yet. nil for most types.
	MarkTerminating func(obj runtime.Object, now time.Time)
	// PrepareForCreate sets fields of a new object, after its status has been cleared. ctx has the
	// user, see authn.UserFrom. nil for most types.
	PrepareForCreate func(ctx context.Context, obj runtime.Object)
	// Validate returns the errors of a new object, ValidateUpdate those of an object that replaces
	// old. metadata has the errors of the object's metadata, and the result includes them. Warnings
	// go to the recorder in ctx. nil means that only the metadata is validated.
	Validate       func(ctx context.Context, obj runtime.Object, metadata field.ErrorList) field.ErrorList
	ValidateUpdate func(ctx context.Context, obj, old runtime.Object, metadata MetadataErrors) field.ErrorList
	// ValidateStatusUpdate returns the errors of the status that replaces the one of old, and those of
	// the metadata, for the status subresource.
	ValidateStatusUpdate func(ctx context.Context, obj, old runtime.Object, metadata MetadataErrors) field.ErrorList
	// ValidateDeclaratively returns the errors by the validation tags of the Go type (KEP-5073), for
	// an object and for subresources that write it. old is nil for a create. They follow those of
	// Validate and ValidateUpdate. nil for types without tags that are in force.
	ValidateDeclaratively func(ctx context.Context, op operation.Operation, obj, old runtime.Object) field.ErrorList
	// ReadsNamespace reports whether the validation reads the namespace of the object, see
	// NamespaceFrom.
	ReadsNamespace bool
	// ChecksAccess reports whether the validation of an update checks what else the user may do, see
	// AccessFrom.
	ChecksAccess bool
	// WarningsOnCreate and WarningsOnUpdate return the warnings for a valid object. nil for most
	// types.
	WarningsOnCreate func(obj runtime.Object) []string
	WarningsOnUpdate func(obj, old runtime.Object) []string
	// AnyFinalizers reports whether finalizers may have names without a domain besides those of
	// Kubernetes itself. Custom resources may have them, but most built-in types may not.
	AnyFinalizers bool
	// MetadataChecksOnUpdate are the checks of the metadata that an update makes for the type, and
	// MetadataChecksOnStatusUpdate are those of an update of the status.
	MetadataChecksOnUpdate, MetadataChecksOnStatusUpdate MetadataChecks
	// ValidateName validates metadata.name. The default accepts DNS subdomains.
	ValidateName validation.ValidateNameFunc
	// GenerateNameWithoutSuffix reports whether the name of a new object with only a generateName is
	// the generateName itself, without a random suffix.
	GenerateNameWithoutSuffix bool
	// Fields are the field selectors besides metadata.name and metadata.namespace.
	Fields []Field
	// NotSelectableByNamespace reports whether metadata.namespace is not a field selector of a
	// namespaced type with Fields.
	NotSelectableByNamespace bool
	// FieldErrorFormat is the format of the error for a field label that cannot be selected by. Its
	// only operand is the label. The default is "field label not supported: %s".
	FieldErrorFormat string
	// Scheme has the Go types of the resource. The default is client-go's scheme.
	Scheme *runtime.Scheme
	// ToStorage and FromStorage convert an object between the resource's version and
	// StorageVersion. They are nil if the two are equal.
	ToStorage, FromStorage Conversion

	// Custom is the version of a custom resource, nil for built-in types. Objects are
	// *unstructured.Unstructured of that version.
	Custom *versions.Version

	// Terminating reports whether the CustomResourceDefinition is being deleted, see
	// DiscoveredVerbs.
	Terminating bool
	// ScaleOf is the version of a custom resource whose Scales this resource encodes, see
	// Subresource.BodyResource.
	ScaleOf *versions.Version

	// objectType and listType are the Go types of Kind and ListKind, storageType is that of Kind in
	// StorageVersion.
	objectType, listType, storageType reflect.Type
	// objectJSON and storageJSON describe objectType and storageType. They are nil for custom
	// resources and for bodies of subresources.
	objectJSON, storageJSON *typedjson.Type
	// convertAccepted is ConvertAccepted of the subresource whose bodies this resource encodes.
	convertAccepted func(runtime.Object) runtime.Object
	// storedFields are the Fields of all resources with the same StorageResource, ordered by label.
	storedFields []Field
}

// Decorator changes objects before clients get them, but for responses of the status subresource,
// as the decorator of a real server's store does. Their stored form stays.
type Decorator struct {
	// Field and Value are a field selector that selects the objects that may be changed.
	Field, Value string
	// Decorate changes an object, which need not have that value.
	Decorate func(runtime.Object)
}

// Field is a field selector, for instance spec.nodeName of pods.
type Field struct {
	Label string
	// Value returns the value for an object of StorageVersion.
	Value func(runtime.Object) string
}

// GroupVersion returns the group and version of the resource.
func (r *Resource) GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: r.Group, Version: r.Version}
}

// GroupVersionKind returns the kind of the objects.
func (r *Resource) GroupVersionKind() schema.GroupVersionKind {
	return r.GroupVersion().WithKind(r.Kind)
}

// ListGroupVersionKind returns the kind of lists.
func (r *Resource) ListGroupVersionKind() schema.GroupVersionKind {
	return r.GroupVersion().WithKind(r.ListKind)
}

// GroupVersionResource returns the group, version and plural.
func (r *Resource) GroupVersionResource() schema.GroupVersionResource {
	return r.GroupVersion().WithResource(r.Plural)
}

// GroupResource returns the group and plural, as in the details of errors.
func (r *Resource) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: r.Group, Resource: r.Plural}
}

// GroupKind returns the group and kind, as in the message of a 422.
func (r *Resource) GroupKind() schema.GroupKind {
	return schema.GroupKind{Group: r.Group, Kind: r.Kind}
}

// HasVerb reports whether the resource supports an API verb, for instance "deletecollection".
func (r *Resource) HasVerb(verb string) bool { return slices.Contains(r.Verbs, verb) }

// DiscoveredVerbs returns the verbs in discovery documents. While a CustomResourceDefinition is
// being deleted they do not include those that write, although most of those still work.
func (r *Resource) DiscoveredVerbs() []string {
	if !r.Terminating {
		return r.Verbs
	}
	return slices.DeleteFunc(slices.Clone(r.Verbs), func(verb string) bool {
		return verb == "create" || verb == "patch" || verb == "update"
	})
}

// IsStored reports whether objects are stored. Other resources, unless IsComputed is set, can only
// be created, and the response is computed.
func (r *Resource) IsStored() bool { return r.HasVerb("list") && !r.IsComputed }

// IsOnlyCreated reports whether objects can only be created, and the response is computed.
func (r *Resource) IsOnlyCreated() bool { return !r.HasVerb("list") }

// Canonical returns obj, which has StorageVersion, with its defaults and in the form that is
// stored. It may change obj.
func (r *Resource) Canonical(obj runtime.Object) runtime.Object {
	if r.SetDefaults != nil {
		r.SetDefaults(obj)
	}
	if r.Canonicalize != nil {
		r.Canonicalize(obj)
	}
	return obj
}

// ConversionError returns the error of CheckConversion, nil if the resource has none.
func (r *Resource) ConversionError(obj runtime.Object) error {
	if r.CheckConversion == nil {
		return nil
	}
	return r.CheckConversion(obj)
}

// New returns an empty object of the resource's version, without TypeMeta.
func (r *Resource) New() runtime.Object {
	return reflect.New(r.objectType).Interface().(runtime.Object)
}

// NewStored returns an empty object of StorageVersion, without TypeMeta.
func (r *Resource) NewStored() runtime.Object {
	return reflect.New(r.storageType).Interface().(runtime.Object)
}

// JSON returns the description of the JSON of obj, an object of the resource's version or of
// StorageVersion. It is nil if there is none; a nil Type supports nothing.
func (r *Resource) JSON(obj runtime.Object) *typedjson.Type {
	switch reflect.TypeOf(obj) {
	case reflect.PointerTo(r.storageType):
		return r.storageJSON
	case reflect.PointerTo(r.objectType):
		return r.objectJSON
	}
	return nil
}

// TypeName returns the name of the Go type of the kind on a real server, such as v1.ConfigMap. Some
// errors have it.
func (r *Resource) TypeName() string { return r.typeName(r.objectType) }

// ListTypeName returns the name of the Go type of lists on a real server, such as v1.ConfigMapList.
func (r *Resource) ListTypeName() string { return r.typeName(r.listType) }

func (r *Resource) typeName(t reflect.Type) string {
	if r.InternalPackage != "" {
		return r.InternalPackage + "." + t.Name()
	}
	return t.String()
}

// ConvertAccepted converts a request body of another version to the resource's kind. It returns nil
// if that version is not accepted.
func (r *Resource) ConvertAccepted(sent runtime.Object) runtime.Object {
	if r.convertAccepted == nil {
		return nil
	}
	return r.convertAccepted(sent)
}

// NewList returns an empty list of the resource's version, without TypeMeta.
func (r *Resource) NewList() runtime.Object {
	return reflect.New(r.listType).Interface().(runtime.Object)
}

// CheckField returns the error of a real server's 400 if label is not a field selector of the
// resource (SE-05). All types support metadata.name. Namespaced types but few, and built-in types
// without Fields, support metadata.namespace.
func (r *Resource) CheckField(label string) error {
	if len(r.Fields) == 0 && r.Custom == nil {
		_, _, err := runtime.DefaultMetaV1FieldSelectorConversion(label, "")
		return err
	}
	if label == "metadata.name" || label == "metadata.namespace" && r.Namespaced && !r.NotSelectableByNamespace {
		return nil
	}
	for _, f := range r.Fields {
		if f.Label == label {
			return nil
		}
	}
	return fmt.Errorf(r.FieldErrorFormat, label)
}

// StoredFields returns the field selectors of all resources with the same storage, in the order of
// their labels, so that a record written in one version can be selected in another. They do not
// include metadata.name and metadata.namespace.
func (r *Resource) StoredFields() []Field { return r.storedFields }
