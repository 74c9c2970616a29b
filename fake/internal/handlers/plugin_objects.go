package handlers

import (
	"fmt"
	"iter"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/crd/registry"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/storage"
	"example.com/fakeapi/memstore"
)

// pluginObjects are the stored objects that admission plugins read.
type pluginObjects struct {
	store *storage.Store
	types *registry.Registry
}

func (o *pluginObjects) lookup(res schema.GroupVersionResource) (*resource.Resource, error) {
	if found := o.types.Table().Lookup(res.Group, res.Version, res.Resource); found != nil {
		return found, nil
	}
	return nil, apierrors.NewInternalError(fmt.Errorf("%s is not served", res))
}

// ResourceOf returns the served resource of a kind.
func (o *pluginObjects) ResourceOf(kind schema.GroupVersionKind) (*resource.Resource, error) {
	table := o.types.Table()
	if res := table.LookupKind(kind); res != nil && table.IsServed(res) {
		return res, nil
	}
	return nil, &meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}
}

// Record returns the stored record of an object, nil if there is none.
func (o *pluginObjects) Record(gvr schema.GroupVersionResource, namespace, name string) *memstore.Record {
	res, err := o.lookup(gvr)
	if err != nil {
		return nil
	}
	return o.store.View().Get(codec.Key(res, namespace, name))
}

// Get returns an object in the storage version, or NotFound.
func (o *pluginObjects) Get(gvr schema.GroupVersionResource, namespace, name string) (runtime.Object, error) {
	res, err := o.lookup(gvr)
	if err != nil {
		return nil, err
	}
	return o.store.GetObject(res, namespace, name)
}

// Records returns the stored records in a namespace, or in all namespaces for "".
func (o *pluginObjects) Records(gvr schema.GroupVersionResource, namespace string) iter.Seq[*memstore.Record] {
	res, err := o.lookup(gvr)
	if err != nil {
		return noRecords
	}
	view, prefix := o.store.View(), codec.Key(res, namespace, "")
	if view.Count(prefix) == 0 { // the usual case, which is cheaper to find out than to iterate
		return noRecords
	}
	return view.Range(prefix, "")
}

func noRecords(func(*memstore.Record) bool) {}

// Count returns the number of objects in a namespace, or in all namespaces for "".
func (o *pluginObjects) Count(gvr schema.GroupVersionResource, namespace string) int {
	res, err := o.lookup(gvr)
	if err != nil {
		return 0
	}
	return o.store.View().Count(codec.Key(res, namespace, ""))
}

// Prefix returns the prefix of the keys in a namespace.
func (o *pluginObjects) Prefix(gvr schema.GroupVersionResource, namespace string) string {
	res, err := o.lookup(gvr)
	if err != nil {
		return ""
	}
	return codec.Key(res, namespace, "")
}

// Decode returns the object of a record in the storage version.
func (o *pluginObjects) Decode(gvr schema.GroupVersionResource, rec *memstore.Record) (runtime.Object, error) {
	res, err := o.lookup(gvr)
	if err != nil {
		return nil, err
	}
	return o.store.Decode(res, rec)
}

// List returns the objects in a namespace, or in all namespaces for "", in the storage version.
func (o *pluginObjects) List(gvr schema.GroupVersionResource, namespace string) ([]runtime.Object, error) {
	if o.Count(gvr, namespace) == 0 { // the usual case, without allocations
		return nil, nil
	}
	var objects []runtime.Object
	for rec := range o.Records(gvr, namespace) {
		obj, err := o.Decode(gvr, rec)
		if err != nil {
			return nil, err
		}
		objects = append(objects, obj)
	}
	return objects, nil
}
