package versions

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/crd/conversion"
	"example.com/fakeapi/fake/internal/crd/structural"
	"example.com/fakeapi/fake/internal/webhookclient"
	"example.com/fakeapi/memstore"
)

// CRD is an accepted CustomResourceDefinition with its versions. It is immutable and safe for
// concurrent use.
type CRD struct {
	object      *apiextensionsv1.CustomResourceDefinition
	since       memstore.Revision
	created     time.Time
	storage     *Version
	versions    map[string]*Version
	converter   *conversion.Converter
	cache       sync.Map
	calls       singleflight.Group
	digest      func() string   // digest of everything that conversions depend on
	callContext context.Context // for calls of the conversion webhook
	ctx         context.Context
	cancel      context.CancelFunc
}

// Version is one version of a CRD, with its schema.
type Version struct {
	*structural.Schema
	crd  *CRD
	spec *apiextensionsv1.CustomResourceDefinitionVersion
	form StoredForm // the current one
}

// New returns the CRD of a CustomResourceDefinition, which must not change afterwards. It has been
// as it is since a revision. The caller must call Stop when the CustomResourceDefinition changes.
// When ctx is done, calls of the conversion webhook are canceled.
func New(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, since memstore.Revision, network webhookclient.Network) (*CRD, error) {
	converter, err := conversion.New(crd, network)
	if err != nil {
		return nil, err
	}
	d := &CRD{
		object: crd, since: since, created: time.Now(),
		versions: make(map[string]*Version), converter: converter, callContext: ctx,
	}
	for i := range crd.Spec.Versions {
		spec := &crd.Spec.Versions[i]
		s, err := structural.New(crd, spec.Name)
		if err != nil {
			return nil, fmt.Errorf("%s of %s: %w", spec.Name, crd.Name, err)
		}
		v := &Version{Schema: s, crd: d, spec: spec, form: StoredForm(spec.Name + " " + s.Hash())}
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
	return d, nil
}

// Stop ends the watches of the CRD. Requests in progress continue, also their calls of the webhook,
// until the context of New is done.
func (d *CRD) Stop() {
	d.cancel()
	d.converter.Drain()
}

// Close is Stop, and also cancels calls of the webhook.
func (d *CRD) Close() {
	d.cancel()
	d.converter.Close()
}

// Done returns a context that is canceled by Stop. Watches of the CRD end then.
func (d *CRD) Done() context.Context { return d.ctx }

// Since returns the revision since which the CustomResourceDefinition has been as it is. The watch
// cache of a real server begins there.
func (d *CRD) Since() memstore.Revision { return d.since }

// Created returns when New was called.
func (d *CRD) Created() time.Time { return d.created }

// Object returns the CustomResourceDefinition. It must not be changed.
func (d *CRD) Object() *apiextensionsv1.CustomResourceDefinition { return d.object }

// Cache holds values that other packages compute from the CRD, by keys of their own types.
func (d *CRD) Cache() *sync.Map { return &d.cache }

// Do calls fn and returns its results. Concurrent calls with the same key share one call of fn,
// including its error, so that many watches of one version call the webhook once.
func (d *CRD) Do(key string, fn func() ([]byte, error)) ([]byte, error) {
	data, err, _ := d.calls.Do(key, func() (any, error) { return fn() })
	return data.([]byte), err
}

// Versions returns all versions, served or not, in no order.
func (d *CRD) Versions() iter.Seq[*Version] { return maps.Values(d.versions) }

// Version returns the version with a name, served or not, or nil.
func (d *CRD) Version(name string) *Version { return d.versions[name] }

// PruneAndDefaultAs is PruneAndDefault for an object that a client sends to v with this group,
// version and kind. The schema is that of the version of the object, which has no fields if the
// definition does not have the version. For another kind only the metadata is decoded. Such objects
// are refused later.
func (v *Version) PruneAndDefaultAs(sent schema.GroupVersionKind, obj map[string]any, unknown bool) ([]string, error) {
	own := v.GroupVersion()
	switch other := v.crd.Version(sent.Version); {
	case sent.Group != own.Group || sent.Kind != v.crd.object.Status.AcceptedNames.Kind:
		return structural.MetadataOnly().PruneAndDefault(obj, unknown)
	case sent.Version == own.Version:
		return v.PruneAndDefault(obj, unknown)
	case other != nil:
		return other.PruneAndDefault(obj, unknown)
	}
	return structural.WithoutFields().PruneAndDefault(obj, unknown)
}

// CRD returns the CRD of the version.
func (v *Version) CRD() *CRD { return v.crd }

// Object returns the version's part of the CustomResourceDefinition. It must not be changed.
func (v *Version) Object() *apiextensionsv1.CustomResourceDefinitionVersion { return v.spec }

// HasStatus reports whether the version has a status subresource.
func (v *Version) HasStatus() bool {
	return v.spec.Subresources != nil && v.spec.Subresources.Status != nil
}

// Scale returns the paths of the scale subresource, nil if there is none.
func (v *Version) Scale() *apiextensionsv1.CustomResourceSubresourceScale {
	if v.spec.Subresources == nil {
		return nil
	}
	return v.spec.Subresources.Scale
}

// GroupVersion returns the group and the name of the version.
func (v *Version) GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: v.crd.object.Spec.Group, Version: v.spec.Name}
}
