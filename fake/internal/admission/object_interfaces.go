package admission

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	library "k8s.io/apiserver/pkg/admission"

	"example.com/fakeapi/fake/internal/resource"
)

// objectInterfaces makes, converts and defaults the objects of one write, also in other versions of
// the resource. It implements admission.ObjectInterfaces of k8s.io/apiserver and the interfaces
// that it consists of.
type objectInterfaces struct {
	attrs *Attributes
	table *resource.Table

	// mu guards the last result of EquivalentResourcesFor. Every webhook and policy that does not
	// select the resource of the write asks for the same.
	mu         sync.Mutex
	asked      resourceAndSubresource
	equivalent []schema.GroupVersionResource
}

type resourceAndSubresource struct {
	schema.GroupVersionResource
	subresource string
}

var _ library.ObjectInterfaces = &objectInterfaces{}

// ObjectInterfaces returns what the API server's plugins handle the objects of the write with.
// table has the served types.
func (a *Attributes) ObjectInterfaces(table *resource.Table) library.ObjectInterfaces {
	return &objectInterfaces{attrs: a, table: table}
}

// GetObjectCreater implements library.ObjectInterfaces.
func (o *objectInterfaces) GetObjectCreater() runtime.ObjectCreater { return o }

// GetObjectTyper implements library.ObjectInterfaces.
func (o *objectInterfaces) GetObjectTyper() runtime.ObjectTyper { return o }

// GetObjectDefaulter implements library.ObjectInterfaces.
func (o *objectInterfaces) GetObjectDefaulter() runtime.ObjectDefaulter { return o }

// GetObjectConvertor implements library.ObjectInterfaces.
func (o *objectInterfaces) GetObjectConvertor() runtime.ObjectConvertor { return o }

// GetEquivalentResourceMapper implements library.ObjectInterfaces.
func (o *objectInterfaces) GetEquivalentResourceMapper() runtime.EquivalentResourceMapper { return o }

// resourceOf returns the resource with a kind: that of the body, or another one with the same
// storage. It is nil if there is none.
func (o *objectInterfaces) resourceOf(kind schema.GroupVersionKind) *resource.Resource {
	if kind == o.attrs.Resource.GroupVersionKind() {
		return o.attrs.Resource
	}
	return o.table.LookupKind(kind)
}

// New implements runtime.ObjectCreater. All objects of custom resources are unstructured, also
// their Scales. For a write of a built-in type there are no other kinds than those of its scheme.
func (o *objectInterfaces) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	if o.attrs.RequestResource().Custom != nil {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(kind)
		return u, nil
	}
	return o.attrs.Resource.Scheme.New(kind)
}

// isScaleOfCustom reports whether the write is one of the Scale of a custom resource.
func (o *objectInterfaces) isScaleOfCustom() bool {
	return o.attrs.Resource.Custom == nil && o.attrs.RequestResource().Custom != nil
}

// ObjectKinds implements runtime.ObjectTyper.
func (o *objectInterfaces) ObjectKinds(obj runtime.Object) ([]schema.GroupVersionKind, bool, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return []schema.GroupVersionKind{u.GroupVersionKind()}, false, nil
	}
	return o.attrs.Resource.Scheme.ObjectKinds(obj)
}

// Recognizes implements runtime.ObjectTyper.
func (o *objectInterfaces) Recognizes(kind schema.GroupVersionKind) bool {
	return o.resourceOf(kind) != nil || o.attrs.Resource.Scheme.Recognizes(kind)
}

// Default implements runtime.ObjectDefaulter.
func (o *objectInterfaces) Default(obj runtime.Object) {
	kind, err := groupVersionKind(o, obj)
	if err != nil {
		return
	}
	res := o.resourceOf(kind)
	switch {
	case res == nil:
	case res.Custom != nil:
		res.Custom.SetDefaults(obj.(*unstructured.Unstructured).Object)
	case res.SetDefaults == nil:
	case res.GroupVersion() == res.StorageVersion:
		res.SetDefaults(obj)
	default: // the defaults are those of the storage version
		stored, err := res.Convert(obj, res.StorageVersion)
		if err != nil {
			return
		}
		res.SetDefaults(stored)
		if served, err := res.Convert(stored, res.GroupVersion()); err == nil {
			assign(obj, served)
		}
	}
}

// Convert implements runtime.ObjectConvertor. If out is the object of the write and of a built-in
// type, it becomes what a request with in has as its object: with defaults.
func (o *objectInterfaces) Convert(in, out, _ any) error {
	from, ok1 := in.(runtime.Object)
	to, ok2 := out.(runtime.Object)
	if !ok1 || !ok2 {
		return fmt.Errorf("%T cannot be converted to %T", in, out)
	}
	if err := o.convert(from, to); err != nil {
		return err
	}
	if _, ok := to.(*unstructured.Unstructured); !ok && to == o.attrs.Object {
		to.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		o.attrs.Resource.Canonical(to)
	}
	return nil
}

func (o *objectInterfaces) convert(from, to runtime.Object) error {
	if o.isScaleOfCustom() {
		return o.attrs.Resource.Scheme.Convert(from, to, nil)
	}
	if u, ok := to.(*unstructured.Unstructured); ok {
		return o.convertCustom(from, u)
	}
	kind, err := groupVersionKind(o, to)
	if err != nil {
		return err
	}
	converted, err := o.convertTyped(from, kind, reflect.TypeOf(to))
	if err != nil {
		return err
	}
	assign(to, converted)
	return nil
}

// convertTyped returns an object of a built-in type as one of another kind, which the Go type has.
func (o *objectInterfaces) convertTyped(from runtime.Object, kind schema.GroupVersionKind, want reflect.Type) (runtime.Object, error) {
	if u, ok := from.(*unstructured.Unstructured); ok {
		typed, err := o.New(u.GroupVersionKind())
		if err != nil {
			return nil, err
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, typed); err != nil {
			return nil, err
		}
		from = typed
	}
	if reflect.TypeOf(from) == want {
		return from, nil
	}
	sourceKind, err := groupVersionKind(o, from)
	if err != nil {
		return nil, err
	}
	source, target := o.resourceOf(sourceKind), o.resourceOf(kind)
	if source == nil || target == nil {
		return nil, fmt.Errorf("%s cannot be converted to %s", sourceKind, kind)
	}
	stored, err := source.Convert(from, source.StorageVersion)
	if err != nil {
		return nil, err
	}
	return target.Convert(stored, target.GroupVersion())
}

// convertCustom converts a custom resource to the version that into has. It does not prune: the
// object is pruned when it is stored.
func (o *objectInterfaces) convertCustom(in runtime.Object, into *unstructured.Unstructured) error {
	u, ok := in.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("%T cannot be converted to a custom resource", in)
	}
	custom := o.attrs.Resource.Custom
	if custom == nil {
		return fmt.Errorf("%s is no custom resource", o.attrs.Resource.Kind)
	}
	from, to := u.GroupVersionKind().GroupVersion(), into.GroupVersionKind().GroupVersion()
	switch {
	case from == to:
		u = u.DeepCopy() // the caller sets the kind of into
	case from.Group == to.Group && custom.CRD().Version(from.Version) == nil:
		return fmt.Errorf("request to convert CR from an invalid group/version: %s", from)
	case from.Group != to.Group:
		return fmt.Errorf("%v is unstructured and is not suitable for converting to %q", u.GroupVersionKind(), to)
	default:
		converted, err := custom.CRD().ConvertUnpruned(u, to.Version)
		if err != nil {
			return err
		}
		u = converted
	}
	into.Object = u.Object
	return nil
}

// ConvertToVersion implements runtime.ObjectConvertor.
func (o *objectInterfaces) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	kinds, _, err := o.ObjectKinds(in)
	if err != nil {
		return nil, err
	}
	kind, ok := target.KindForGroupVersionKinds(kinds)
	if !ok {
		return nil, runtime.NewNotRegisteredErrForTarget("admission", reflect.TypeOf(in), target)
	}
	out, err := o.New(kind)
	if err != nil {
		return nil, err
	}
	if err := o.Convert(in, out, nil); err != nil {
		return nil, err
	}
	out.GetObjectKind().SetGroupVersionKind(kind)
	return out, nil
}

// ConvertFieldLabel implements runtime.ObjectConvertor.
func (o *objectInterfaces) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, o.attrs.Resource.CheckField(label)
}

// EquivalentResourcesFor implements runtime.EquivalentResourceMapper: other versions, and other
// resources with the same storage, such as Events.
func (o *objectInterfaces) EquivalentResourcesFor(gvr schema.GroupVersionResource, subresource string) []schema.GroupVersionResource {
	o.mu.Lock()
	defer o.mu.Unlock()
	if asked := (resourceAndSubresource{gvr, subresource}); o.asked != asked {
		o.asked, o.equivalent = asked, o.findEquivalent(gvr, subresource)
	}
	return o.equivalent
}

func (o *objectInterfaces) findEquivalent(gvr schema.GroupVersionResource, subresource string) (equivalent []schema.GroupVersionResource) {
	res := o.table.Lookup(gvr.Group, gvr.Version, gvr.Resource)
	if res == nil {
		return nil
	}
	for _, other := range o.table.All() {
		if other.StorageResource == res.StorageResource && (subresource == "" || other.Subresource(subresource) != nil) {
			equivalent = append(equivalent, other.GroupVersionResource())
		}
	}
	if res.Custom != nil { // in the order of the definition
		versions := res.Custom.CRD().Object().Spec.Versions
		position := func(gvr schema.GroupVersionResource) int {
			return slices.IndexFunc(versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == gvr.Version })
		}
		slices.SortFunc(equivalent, func(a, b schema.GroupVersionResource) int { return cmp.Compare(position(a), position(b)) })
	}
	return equivalent
}

// KindFor implements runtime.EquivalentResourceMapper.
func (o *objectInterfaces) KindFor(gvr schema.GroupVersionResource, subresource string) schema.GroupVersionKind {
	res := o.table.Lookup(gvr.Group, gvr.Version, gvr.Resource)
	if res == nil {
		return schema.GroupVersionKind{}
	}
	if subresource == "" {
		return res.GroupVersionKind()
	}
	if s := res.Subresource(subresource); s != nil {
		return s.Kind
	}
	return schema.GroupVersionKind{}
}

// assign sets what to points to. Both have the same type.
func assign(to, value runtime.Object) {
	reflect.ValueOf(to).Elem().Set(reflect.ValueOf(value).Elem())
}
