package registry

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"example.com/fakeapi/fake/internal/crd/lifecycle"
	"example.com/fakeapi/fake/internal/crd/versions"
	"example.com/fakeapi/fake/internal/resource"
)

// Preview returns the table that would be served if all were the only CustomResourceDefinitions,
// and a function that releases it. The error reports a definition that cannot be served.
func (t *Registry) Preview(all map[string]*apiextensionsv1.CustomResourceDefinition) (*resource.Table, func(), error) {
	entries := make(map[string]*entry)
	t.mu.Lock()
	for _, e := range t.entries {
		entries[e.object.Name] = e
	}
	t.mu.Unlock()
	var resources []*resource.Resource
	var crds []*versions.CRD
	stop := func() {
		for _, d := range crds {
			d.Stop()
		}
	}
	for name, crd := range all {
		if e := entries[name]; e != nil && e.object == crd {
			resources = append(resources, e.resources...)
			continue
		}
		if !lifecycle.ServesRequests(crd) {
			continue
		}
		d, err := versions.New(t.ctx, crd, 0, t.network)
		if err != nil {
			stop()
			return nil, nil, fmt.Errorf("%s cannot be served: %w", crd.Name, err)
		}
		crds = append(crds, d)
		served, _ := resource.ForCRD(d)
		resources = append(resources, served...)
	}
	return t.newTable(resources), stop, nil
}
