package registry

import (
	"errors"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"example.com/fakeapi/fake/internal/crd/lifecycle"
	"example.com/fakeapi/fake/internal/crd/versions"
	"example.com/fakeapi/fake/internal/resource"
)

// AddSchemes makes the Go types of schemes known, beside those of client-go: see KindsOf.
func (t *Registry) AddSchemes(schemes ...*runtime.Scheme) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range schemes {
		if !slices.Contains(t.schemes, s) {
			t.schemes = append(t.schemes, s)
		}
	}
}

// ObjectKinds gives the kinds, at least one, that a Go type has in the schemes that are known.
func (t *Registry) ObjectKinds(obj runtime.Object) ([]schema.GroupVersionKind, error) {
	switch obj.(type) {
	case *apiextensionsv1.CustomResourceDefinition:
		return []schema.GroupVersionKind{apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition")}, nil
	case runtime.Unstructured:
		return nil, errors.New("it has no apiVersion and no kind")
	}
	t.mu.Lock()
	known := append([]*runtime.Scheme{scheme.Scheme}, t.schemes...)
	t.mu.Unlock()
	var first error
	for _, s := range known {
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

// Preview gives what would be served if these were all definitions that there are, and what
// ends that. An error tells of definitions that cannot be served.
func (t *Registry) Preview(all map[string]*apiextensionsv1.CustomResourceDefinition) (*resource.Table, func(), error) {
	now := make(map[string]*known)
	t.mu.Lock()
	for _, k := range t.known {
		now[k.crd.Name] = k
	}
	t.mu.Unlock()
	var rows []*resource.Resource
	var made []*versions.CRD
	end := func() {
		for _, d := range made {
			d.Stop()
		}
	}
	for name, crd := range all {
		if k := now[name]; k != nil && k.crd == crd {
			rows = append(rows, k.rows...)
			continue
		}
		if !lifecycle.ServingOf(crd).Requests() {
			continue
		}
		d, err := versions.New(t.life, crd, t.network)
		if err != nil {
			end()
			return nil, nil, fmt.Errorf("%s cannot be served: %w", crd.Name, err)
		}
		made = append(made, d)
		served, _ := resource.ForCRD(d)
		rows = append(rows, served...)
	}
	return tableOf(rows), end, nil
}
