package admission

import (
	"fmt"
	"iter"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/recordcache"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// Lister reads the objects that admission depends on, such as webhook configurations and
// namespaces, from the state of the store that is in force for writes. It is safe for concurrent
// use.
type Lister struct {
	view  func() memstore.View
	table func() *resource.Table
	cache *recordcache.Cache[runtime.Object]
}

// NewLister returns a Lister of the objects in view, whose types are those of table.
func NewLister(view func() memstore.View, table func() *resource.Table) *Lister {
	return &Lister{view, table, recordcache.New[runtime.Object]()}
}

// View returns the state that is in force now.
func (l *Lister) View() memstore.View { return l.view() }

// Table returns the served types.
func (l *Lister) Table() *resource.Table { return l.table() }

// Decode returns the object of a record in the version of res. It must not be changed.
func (l *Lister) Decode(res *resource.Resource, rec *memstore.Record) (runtime.Object, error) {
	if obj, ok := l.cache.Get(rec); ok && (res.Custom == nil || obj.GetObjectKind().GroupVersionKind() == res.GroupVersionKind()) {
		return obj, nil
	}
	obj, err := codec.DecodeStored(res, rec)
	if err == nil {
		l.cache.Put(rec, obj)
	}
	return obj, err
}

// Records returns the records of a resource in a namespace, or in all namespaces for "".
func (l *Lister) Records(res *resource.Resource, namespace string) iter.Seq[*memstore.Record] {
	return l.view().Range(codec.Key(res, namespace, ""), "")
}

// Get returns an object in the version of res, or NotFound. It must not be changed.
func (l *Lister) Get(res *resource.Resource, namespace, name string) (runtime.Object, error) {
	rec := l.view().Get(codec.Key(res, namespace, name))
	if rec == nil {
		return nil, apierrors.NewNotFound(res.GroupResource(), name)
	}
	return l.Decode(res, rec)
}

// Namespace returns a namespace, or NotFound. It must not be changed.
func (l *Lister) Namespace(name string) (*corev1.Namespace, error) {
	res, err := l.Lookup(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	if err != nil {
		return nil, err
	}
	obj, err := l.Get(res, "", name)
	if err != nil {
		return nil, err
	}
	return obj.(*corev1.Namespace), nil
}

// Lookup returns a served resource.
func (l *Lister) Lookup(gvr schema.GroupVersionResource) (*resource.Resource, error) {
	if res := l.table().Lookup(gvr.Group, gvr.Version, gvr.Resource); res != nil {
		return res, nil
	}
	return nil, apierrors.NewInternalError(fmt.Errorf("%s is not served", gvr))
}
