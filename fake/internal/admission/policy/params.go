package policy

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/recordcache"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// params reads the parameters of policies: the objects of one resource, from the state that is in
// force. It is the informer and the lister that the library reads them with.
type params struct {
	lister *admission.Lister
	res    *resource.Resource
	cache  *recordcache.Cache[runtime.Object]
}

func newParamInformer(lister *admission.Lister, res *resource.Resource) informers.GenericInformer {
	return &params{lister, res, recordcache.New[runtime.Object]()}
}

// scopeOf returns the scope of a resource.
func scopeOf(res *resource.Resource) meta.RESTScope {
	if res.Namespaced {
		return meta.RESTScopeNamespace
	}
	return meta.RESTScopeRoot
}

// Informer implements informers.GenericInformer.
func (p *params) Informer() cache.SharedIndexInformer { return admission.SyncedInformer{} }

// Lister implements informers.GenericInformer.
func (p *params) Lister() cache.GenericLister { return paramLister{p, ""} }

// paramLister is the lister of the parameters in a namespace, or in all namespaces for "".
type paramLister struct {
	*params
	namespace string
}

// ByNamespace implements cache.GenericLister.
func (l paramLister) ByNamespace(namespace string) cache.GenericNamespaceLister {
	return paramLister{l.params, namespace}
}

// Get implements cache.GenericLister and cache.GenericNamespaceLister.
func (l paramLister) Get(name string) (runtime.Object, error) {
	rec := l.lister.View().Get(codec.Key(l.res, l.namespace, name))
	if rec == nil {
		return nil, apierrors.NewNotFound(l.res.GroupResource(), name)
	}
	return l.decode(rec)
}

// List implements cache.GenericLister and cache.GenericNamespaceLister.
func (l paramLister) List(selector labels.Selector) (objects []runtime.Object, err error) {
	for rec := range l.lister.Records(l.res, l.namespace) {
		obj, err := l.decode(rec)
		if err != nil {
			return nil, err
		}
		if selector.Matches(labels.Set(resource.Accessor(obj).GetLabels())) {
			objects = append(objects, obj)
		}
	}
	return objects, nil
}

// decode returns an object as informers have it: objects of built-in types have neither apiVersion
// nor kind.
func (p *params) decode(rec *memstore.Record) (runtime.Object, error) {
	if obj, ok := p.cache.Get(rec); ok {
		return obj, nil
	}
	obj, err := codec.DecodeServed(p.res, rec)
	if err != nil {
		return nil, err
	}
	if p.res.Custom == nil {
		obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	p.cache.Put(rec, obj)
	return obj, nil
}
