package registry

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/crd/lifecycle"
	"example.com/fakeapi/fake/internal/crd/versions"
	"example.com/fakeapi/fake/internal/openapi"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin"
	"example.com/fakeapi/fake/internal/webhookclient"
	"example.com/fakeapi/memstore"
)

// Registry has the resources of a store. It is safe for concurrent use.
type Registry struct {
	builtin *resource.Table
	network webhookclient.Network
	ctx     context.Context
	cancel  context.CancelFunc
	table   atomic.Pointer[resource.Table]
	openapi atomic.Pointer[openapi.Documents]

	// AfterSync, if it is not nil, is called after a Sync that has found a change. It must not be
	// changed after the first Sync.
	AfterSync func()

	// mu guards the fields below.
	mu      sync.Mutex
	entries map[string]*entry // by the keys of the CustomResourceDefinitions
	// schemes are those of AddSchemes.
	schemes []*runtime.Scheme
}

// entry is a CustomResourceDefinition as it was last read.
type entry struct {
	record *memstore.Record
	object *apiextensionsv1.CustomResourceDefinition
	// crd is nil while the CustomResourceDefinition is not served or cannot be. resources is empty
	// then.
	crd       *versions.CRD
	resources []*resource.Resource
	openAPI   []*openapi.CustomResource
	// storage is the resource of the storage version, which need not be in resources.
	storage *resource.Resource
}

// New returns a registry of the built-in types, which are builtin.Table or a variant of it.
// Conversion webhooks are called over network.
func New(types *resource.Table, network webhookclient.Network) *Registry {
	t := &Registry{builtin: types, network: network, entries: make(map[string]*entry)}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	t.table.Store(types)
	t.openapi.Store(documentsOf(types))
	return t
}

// Fork returns a registry for a copy of the store, with the same schemes. The arguments are those
// of New.
func (t *Registry) Fork(types *resource.Table, network webhookclient.Network) *Registry {
	f := New(types, network)
	t.mu.Lock()
	defer t.mu.Unlock()
	f.schemes = slices.Clone(t.schemes)
	return f
}

// Table returns the resources that are served now.
func (t *Registry) Table() *resource.Table { return t.table.Load() }

// OpenAPI returns the OpenAPI documents of Table.
func (t *Registry) OpenAPI() *openapi.Documents { return t.openapi.Load() }

// CRDs returns the CustomResourceDefinitions at the last Sync, served or not, by name. They must
// not be changed.
func (t *Registry) CRDs() map[string]*apiextensionsv1.CustomResourceDefinition {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make(map[string]*apiextensionsv1.CustomResourceDefinition, len(t.entries))
	for _, e := range t.entries {
		all[e.object.Name] = e.object
	}
	return all
}

// Decoder decodes a record. The caller may change the result.
type Decoder func(*resource.Resource, *memstore.Record) (runtime.Object, error)

// Sync reads the CustomResourceDefinitions of a store and serves them. Resources of unchanged
// definitions stay the same; the watches of changed ones end. A definition that cannot be served
// has no resources, while a real server responds with 500 to requests for its objects. The error
// has the records that could not be decoded; the others are served.
func (t *Registry) Sync(store *memstore.Store, decode Decoder) error {
	changed, err := t.sync(store, decode)
	if changed && t.AfterSync != nil {
		t.AfterSync()
	}
	return err
}

// sync is Sync without AfterSync. It reports whether a definition has changed.
func (t *Registry) sync(store *memstore.Store, decode Decoder) (written bool, _ error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	view := store.View()
	prefix := resource.CRDKey("")
	if len(t.entries) == 0 && view.Count(prefix) == 0 {
		return false, nil
	}
	var failed []error
	changed := false // what is served
	seen := make(map[string]bool, len(t.entries))
	for rec := range view.Range(prefix, "") {
		seen[rec.Key] = true
		before := t.entries[rec.Key]
		if before != nil && before.record == rec {
			continue
		}
		written = true
		now, err := t.readEntry(rec, before, decode)
		if err != nil {
			failed = append(failed, err)
		}
		changed = changed || crdOf(before) != crdOf(now) || before.isTerminating() != now.isTerminating()
		t.entries[rec.Key] = now
	}
	for key, removed := range t.entries {
		if !seen[key] {
			written = true
			changed = changed || removed.crd != nil
			removed.stop()
			delete(t.entries, key)
		}
	}
	if changed {
		t.rebuild()
	}
	return written, errors.Join(failed...)
}

func crdOf(e *entry) *versions.CRD {
	if e == nil {
		return nil
	}
	return e.crd
}

// readEntry returns the entry of a record. It reuses the CRD of the entry before if both define the
// same type.
func (t *Registry) readEntry(rec *memstore.Record, before *entry, decode Decoder) (*entry, error) {
	res := t.builtin.LookupKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	obj, err := decode(res, rec)
	if err != nil {
		before.stop()
		return &entry{record: rec, object: &apiextensionsv1.CustomResourceDefinition{}}, err
	}
	now := &entry{record: rec, object: obj.(*apiextensionsv1.CustomResourceDefinition)}
	if before != nil && before.crd != nil && definesSameType(before.object, now.object) &&
		before.crd.Since() <= rec.Revision { // which is not so after a restore to an earlier revision
		now.crd, now.resources, now.storage, now.openAPI = before.crd, before.resources, before.storage, before.openAPI
		return now, nil
	}
	before.stop()
	if !lifecycle.ServesRequests(now.object) {
		return now, nil
	}
	now.crd, err = versions.New(t.ctx, now.object, rec.Revision, t.network)
	if err != nil { // the caBundle of the webhook is invalid; the condition Established reports it
		return now, nil
	}
	now.resources, now.storage = resource.ForCRD(now.crd)
	now.resources = slices.DeleteFunc(now.resources, func(res *resource.Resource) bool {
		return t.builtin.HasVersion(res.Group, res.Version) // its built-in types take precedence
	})
	for _, res := range now.resources {
		now.openAPI = append(now.openAPI, newOpenAPIResource(res))
	}
	return now, nil
}

// definesSameType reports whether no change from a to b affects the objects.
func definesSameType(a, b *apiextensionsv1.CustomResourceDefinition) bool {
	return a.UID == b.UID && lifecycle.ServesRequests(b) &&
		equality.Semantic.DeepEqual(a.Status.AcceptedNames, b.Status.AcceptedNames) &&
		equality.Semantic.DeepEqual(a.Spec, b.Spec)
}

// IsTerminating reports whether the CustomResourceDefinition of a custom resource is being deleted,
// so that no objects can be created (CD-07).
func (t *Registry) IsTerminating(r *resource.Resource) bool {
	if r.Custom == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[resource.CRDKey(r.Custom.CRD().Object().Name)]
	return e == nil || !lifecycle.AllowsCreate(e.object)
}

// stop ends the watches. e may be nil.
func (e *entry) stop() {
	if e != nil && e.crd != nil {
		e.crd.Stop()
	}
}

// isTerminating reports whether discovery omits the verbs that write. e may be nil.
func (e *entry) isTerminating() bool {
	return e != nil && !lifecycle.DiscoversWriteVerbs(e.object)
}

// servedResources returns the resources as they are served now.
func (e *entry) servedResources() []*resource.Resource {
	if !e.isTerminating() {
		return e.resources
	}
	terminating := make([]*resource.Resource, len(e.resources))
	for i, res := range e.resources {
		copied := *res
		copied.Terminating = true
		terminating[i] = &copied
	}
	return terminating
}

// rebuild replaces the table and the OpenAPI documents.
func (t *Registry) rebuild() {
	var resources []*resource.Resource
	var customResources []*openapi.CustomResource
	for _, e := range t.entries {
		resources, customResources = append(resources, e.servedResources()...), append(customResources, e.openAPI...)
	}
	t.openapi.Store(t.openapi.Load().WithCustomResources(customResources))
	t.table.Store(t.newTable(resources))
}

// newTable returns a table of the built-in types and of custom resources.
func (t *Registry) newTable(resources []*resource.Resource) *resource.Table {
	if len(resources) == 0 {
		return t.builtin
	}
	return t.builtin.WithResources(resources)
}

// documentsOf returns the documents of a table of built-in types.
func documentsOf(types *resource.Table) *openapi.Documents {
	if types == builtin.Table() || types == builtin.TableWithoutValidation() {
		return builtinDocuments()
	}
	return openapi.New(types)
}

// builtinDocuments describe the built-in types. All servers of the process share them.
var builtinDocuments = sync.OnceValue(func() *openapi.Documents { return openapi.New(builtin.Table()) })

// newOpenAPIResource returns a custom resource for its OpenAPI document.
func newOpenAPIResource(res *resource.Resource) *openapi.CustomResource {
	c := &openapi.CustomResource{
		Group: res.Group, Version: res.Version,
		Plural: res.Plural, Kind: res.Kind, ListKind: res.ListKind,
		Namespaced: res.Namespaced,
		Status:     res.Custom.HasStatus(), Scale: res.Custom.Scale() != nil,
		Schema: res.Custom.Structural(),
	}
	for _, f := range res.Custom.Object().SelectableFields {
		c.SelectableFields = append(c.SelectableFields, f.JSONPath)
	}
	return c
}

// StorageResource returns the resource of the objects of a CustomResourceDefinition in their
// storage version. It is nil for a definition that is not served.
func (t *Registry) StorageResource(name string) *resource.Resource {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[resource.CRDKey(name)]
	if e == nil {
		return nil
	}
	return e.storage
}

// Close ends all watches of custom resources and cancels calls of webhooks.
func (t *Registry) Close() {
	t.cancel()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.entries {
		if e.crd != nil {
			e.crd.Close()
		}
	}
}
