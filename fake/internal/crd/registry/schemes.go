package registry

import (
	"errors"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// AddSchemes adds schemes to those that ObjectKinds looks in.
func (t *Registry) AddSchemes(schemes ...*runtime.Scheme) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range schemes {
		if !slices.Contains(t.schemes, s) {
			t.schemes = append(t.schemes, s)
		}
	}
}

// ObjectKinds returns the kinds, at least one, of a Go type in client-go's scheme, of a built-in
// type that is not in it, or of a type in the schemes of AddSchemes.
func (t *Registry) ObjectKinds(obj runtime.Object) ([]schema.GroupVersionKind, error) {
	switch obj.(type) {
	case *apiextensionsv1.CustomResourceDefinition:
		return []schema.GroupVersionKind{apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition")}, nil
	case *apiregistrationv1.APIService:
		return []schema.GroupVersionKind{apiregistrationv1.SchemeGroupVersion.WithKind("APIService")}, nil
	case *apiregistrationv1.APIServiceList:
		return []schema.GroupVersionKind{apiregistrationv1.SchemeGroupVersion.WithKind("APIServiceList")}, nil
	case runtime.Unstructured:
		return nil, errors.New("the object has no apiVersion and kind")
	}
	t.mu.Lock()
	schemes := append([]*runtime.Scheme{scheme.Scheme}, t.schemes...)
	t.mu.Unlock()
	var first error
	for _, s := range schemes {
		kinds, _, err := s.ObjectKinds(obj)
		if err == nil {
			return kinds, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}
