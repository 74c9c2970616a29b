// Package custom is what a server knows of a custom resource: a definition with its
// versions, their schemas, and the way from one version to another.
//
// A Definition is made of a CustomResourceDefinition that has been accepted. It does
// not change: when the CustomResourceDefinition does, another takes its place, and the
// watches that were opened under it end (CD rules; apiextensions' handler does so).
//
// Objects are *unstructured.Unstructured. They are stored in the definition's storage
// version; whoever asks for another version gets a converted one. The verbs only ever
// see objects of the version of the request:
//
//	from a client: Version.Take, which prunes and defaults by its schema
//	to the store:  Version.Keep, which converts to the storage version
//	from it:       Version.Read, which defaults by the schema of the version that an
//	               object was stored in, and converts from there
package versions

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"sync"

	"golang.org/x/sync/singleflight"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/crd/conversion"
	"example.com/fakeapi/fake/internal/crd/structural"
)

// Network is how conversion webhooks are reached. The zero value uses the network, on
// which there are no services.
type Network struct {
	Dial     conversion.Dialer
	Services conversion.ServiceResolver
}

// CRD is an accepted CustomResourceDefinition. It is safe for concurrent use.
type CRD struct {
	object      *apiextensionsv1.CustomResourceDefinition
	storage     *Version
	versions    map[string]*Version
	converter   *conversion.Converter
	cache       sync.Map
	calls       singleflight.Group
	digest      func() string   // of all that conversions depend on
	callContext context.Context // of the conversion webhook
	ctx         context.Context
	cancel      context.CancelFunc
}

// Version is one version of a Definition.
type Version struct {
	*structural.Schema
	crd  *CRD
	spec *apiextensionsv1.CustomResourceDefinitionVersion
}

// New makes the Definition of a CustomResourceDefinition, which nobody may change any
// more. End it when it is replaced. ctx ends the calls of its conversion webhook.
func New(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, network Network) (*CRD, error) {
	converter, err := conversion.New(crd, network.Dial, network.Services)
	if err != nil {
		return nil, err
	}
	d := &CRD{object: crd, versions: make(map[string]*Version), converter: converter, callContext: ctx}
	for i := range crd.Spec.Versions {
		spec := &crd.Spec.Versions[i]
		s, err := structural.New(crd, spec.Name)
		if err != nil {
			return nil, fmt.Errorf("%s of %s: %w", spec.Name, crd.Name, err)
		}
		v := &Version{Schema: s, crd: d, spec: spec}
		d.versions[spec.Name] = v
		if spec.Storage {
			d.storage = v
		}
	}
	if d.storage == nil {
		return nil, fmt.Errorf("%s has no storage version", crd.Name)
	}
	d.digest = sync.OnceValue(func() string { return conversionDigest(d) })
	d.ctx, d.cancel = context.WithCancel(ctx)
	context.AfterFunc(ctx, converter.Close)
	return d, nil
}

// Stop ends the watches that were opened under the definition. Requests that have begun
// under it go on, their calls of the webhook too, until the context of New ends.
func (d *CRD) Stop() {
	d.cancel()
	d.converter.Drain()
}

// Close is End, and breaks the calls that are under way.
func (d *CRD) Close() {
	d.cancel()
	d.converter.Close()
}

// Done ends when the definition is replaced.
func (d *CRD) Done() context.Context { return d.ctx }

// Object is what the definition was made of. Nobody may change it.
func (d *CRD) Object() *apiextensionsv1.CustomResourceDefinition { return d.object }

// Cache keeps what others have made for the definition, by keys of their own, as long as
// it lasts.
func (d *CRD) Cache() *sync.Map { return &d.cache }

// Do calls fn and returns its results. Concurrent calls with the same key share one call of fn, also
// its error: many watches of one version need the webhook only once.
func (d *CRD) Do(key string, fn func() ([]byte, error)) ([]byte, error) {
	data, err, _ := d.calls.Do(key, func() (any, error) { return fn() })
	return data.([]byte), err
}

// Versions are all versions, served or not, in no order.
func (d *CRD) Versions() iter.Seq[*Version] { return maps.Values(d.versions) }

// Version gives a version by its name, whether or not it is served; nil if there is none.
func (d *CRD) Version(name string) *Version { return d.versions[name] }

// CRD is what the version belongs to.
func (v *Version) CRD() *CRD { return v.crd }

// Object is what the CustomResourceDefinition says of the version. Nobody may change it.
func (v *Version) Object() *apiextensionsv1.CustomResourceDefinitionVersion { return v.spec }

// HasStatus reports whether only the status subresource writes the status.
func (v *Version) HasStatus() bool {
	return v.spec.Subresources != nil && v.spec.Subresources.Status != nil
}

// Scale is where the version has its replicas, nil if it has no scale subresource.
func (v *Version) Scale() *apiextensionsv1.CustomResourceSubresourceScale {
	if v.spec.Subresources == nil {
		return nil
	}
	return v.spec.Subresources.Scale
}

// GroupVersion is the version with its group.
func (v *Version) GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: v.crd.object.Spec.Group, Version: v.spec.Name}
}
