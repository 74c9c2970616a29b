// Package served knows what a store serves: the built-in types, and the custom resources
// whose CustomResourceDefinitions are in it.
//
// A CustomResourceDefinition is an object like any other until it is Established. Types
// reads the definitions whenever one may have changed (Follow) and then gives another
// resource.Table: whoever asks for the Table sees the types of now, and discovery,
// OpenAPI and the routes follow by that. There is one for a store, which all its front
// doors share.
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
	"example.com/fakeapi/memstore"
)

// Registry is what a store serves. It is safe for concurrent use.
type Registry struct {
	network versions.Network
	ctx     context.Context
	cancel  context.CancelFunc
	table   atomic.Pointer[resource.Table]
	openapi atomic.Pointer[openapi.Documents]

	// mu guards all below.
	mu      sync.Mutex
	entries map[string]*entry // by the keys of the definitions
	// schemes are those that Learn was given.
	schemes []*runtime.Scheme
}

// entry is a definition as it was last read.
type entry struct {
	record *memstore.Record
	object *apiextensionsv1.CustomResourceDefinition
	// crd is nil while it is not served, or cannot be; rows are its rows then.
	crd       *versions.CRD
	resources []*resource.Resource
	openAPI   []*openapi.CustomResource
	// storage is the row of the storage version, which need not be one of rows.
	storage *resource.Resource
}

// New serves the built-in types. Conversion webhooks are reached over network.
func New(network versions.Network) *Registry {
	t := &Registry{network: network, entries: make(map[string]*entry)}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	t.table.Store(builtin.Table())
	t.openapi.Store(builtinDocuments())
	return t
}

// Fork serves another store, which begins as the one of t: it knows the same Go types.
func (t *Registry) Fork(network versions.Network) *Registry {
	f := New(network)
	t.mu.Lock()
	defer t.mu.Unlock()
	f.schemes = slices.Clone(t.schemes)
	return f
}

// Table is what is served now.
func (t *Registry) Table() *resource.Table { return t.table.Load() }

// OpenAPI describes what is served now.
func (t *Registry) OpenAPI() *openapi.Documents { return t.openapi.Load() }

// CRDs are all CustomResourceDefinitions that were there at the last Follow, served
// or not, by their names. Nobody may change them.
func (t *Registry) CRDs() map[string]*apiextensionsv1.CustomResourceDefinition {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make(map[string]*apiextensionsv1.CustomResourceDefinition, len(t.entries))
	for _, e := range t.entries {
		all[e.object.Name] = e.object
	}
	return all
}

// Decoder gives the object of a record, which is the caller's from then on.
type Decoder func(*resource.Resource, *memstore.Record) (runtime.Object, error)

// Sync reads the definitions of a store, and serves what they say from then on. What has
// not changed stays as it is, down to its rows; the watches of what has changed end. A
// definition that cannot be served is not: a real server answers requests for its objects with
// 500, here they have no path. An error tells of records that cannot be read, which does not
// stop the others.
func (t *Registry) Sync(store *memstore.Store, decode Decoder) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	view := store.View()
	prefix := resource.CRDKey("")
	if len(t.entries) == 0 && view.Count(prefix) == 0 {
		return nil
	}
	var failed []error
	changed := false
	seen := make(map[string]bool, len(t.entries))
	for rec := range view.Range(prefix, "") {
		seen[rec.Key] = true
		before := t.entries[rec.Key]
		if before != nil && before.record == rec {
			continue
		}
		now, err := t.readEntry(rec, before, decode)
		if err != nil {
			failed = append(failed, err)
		}
		changed = changed || crdOf(before) != crdOf(now) || before.isTerminating() != now.isTerminating()
		t.entries[rec.Key] = now
	}
	for key, gone := range t.entries {
		if !seen[key] {
			changed = changed || gone.crd != nil
			gone.stop()
			delete(t.entries, key)
		}
	}
	if changed {
		t.rebuild()
	}
	return errors.Join(failed...)
}

func crdOf(e *entry) *versions.CRD {
	if e == nil {
		return nil
	}
	return e.crd
}

// readEntry makes of a record what is known of it. It goes on with the definition from before if
// that says the same.
func (t *Registry) readEntry(rec *memstore.Record, before *entry, decode Decoder) (*entry, error) {
	row := builtin.Table().LookupKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	obj, err := decode(row, rec)
	if err != nil {
		return &entry{record: rec, object: &apiextensionsv1.CustomResourceDefinition{}}, err
	}
	now := &entry{record: rec, object: obj.(*apiextensionsv1.CustomResourceDefinition)}
	switch {
	case before != nil && before.crd != nil && definesSameType(before.object, now.object):
		now.crd, now.resources, now.storage, now.openAPI = before.crd, before.resources, before.storage, before.openAPI
		return now, nil
	case !lifecycle.ServingOf(now.object).ServesRequests():
		before.stop()
		return now, nil
	}
	before.stop()
	now.crd, err = versions.New(t.ctx, now.object, t.network)
	if err != nil { // a webhook's caBundle that is none: its condition tells so, and the write was fine
		return now, nil
	}
	now.resources, now.storage = resource.ForCRD(now.crd)
	for _, row := range now.resources {
		now.openAPI = append(now.openAPI, newOpenAPIResource(row))
	}
	return now, nil
}

// definesSameType reports whether a definition has changed in nothing that its type is made of.
func definesSameType(a, b *apiextensionsv1.CustomResourceDefinition) bool {
	return a.UID == b.UID && lifecycle.ServingOf(b).ServesRequests() &&
		equality.Semantic.DeepEqual(a.Status.AcceptedNames, b.Status.AcceptedNames) &&
		equality.Semantic.DeepEqual(a.Spec, b.Spec)
}

// IsTerminating reports whether the definition of a custom resource is on its way out: then
// there are no new objects (CD-07).
func (t *Registry) IsTerminating(r *resource.Resource) bool {
	if r.Custom == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[resource.CRDKey(r.Custom.CRD().Object().Name)]
	return e == nil || !lifecycle.ServingOf(e.object).AllowsCreate()
}

// stop ends what was served. Nil is nothing.
func (e *entry) stop() {
	if e != nil && e.crd != nil {
		e.crd.Stop()
	}
}

// isTerminating reports whether discovery tells that nothing can be written any more. Nil is not.
func (e *entry) isTerminating() bool {
	return e != nil && !lifecycle.ServingOf(e.object).DiscoversWriteVerbs()
}

// servedResources are the rows as they are served now.
func (e *entry) servedResources() []*resource.Resource {
	if !e.isTerminating() {
		return e.resources
	}
	ending := make([]*resource.Resource, len(e.resources))
	for i, row := range e.resources {
		copied := *row
		copied.Terminating = true
		ending[i] = &copied
	}
	return ending
}

// rebuild makes the table and its description.
func (t *Registry) rebuild() {
	var rows []*resource.Resource
	var described []*openapi.CustomResource
	for _, e := range t.entries {
		rows, described = append(rows, e.servedResources()...), append(described, e.openAPI...)
	}
	t.openapi.Store(t.openapi.Load().WithCustomResources(described))
	t.table.Store(newTable(rows))
}

// newTable is the table of the built-in types and of rows of custom resources.
func newTable(rows []*resource.Resource) *resource.Table {
	if len(rows) == 0 {
		return builtin.Table()
	}
	return builtin.Table().WithResources(rows)
}

// builtinDocuments describe the built-in types. They are the same for every server of the process.
var builtinDocuments = sync.OnceValue(func() *openapi.Documents { return openapi.New(builtin.Table()) })

// newOpenAPIResource is a row of a custom resource as its OpenAPI document shows it.
func newOpenAPIResource(row *resource.Resource) *openapi.CustomResource {
	c := &openapi.CustomResource{
		Group: row.Group, Version: row.Version,
		Plural: row.Plural, Kind: row.Kind, ListKind: row.ListKind,
		Namespaced: row.Namespaced,
		Status:     row.Custom.HasStatus(), Scale: row.Custom.Scale() != nil,
		Schema: row.Custom.Structural(),
	}
	for _, f := range row.Custom.Object().SelectableFields {
		c.SelectableFields = append(c.SelectableFields, f.JSONPath)
	}
	return c
}

// StorageResource is the row of the objects that a definition has defined, in the version in which
// they are stored: the server itself converts nothing. It is nil for a definition whose objects
// cannot be asked for.
func (t *Registry) StorageResource(name string) *resource.Resource {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[resource.CRDKey(name)]
	if e == nil {
		return nil
	}
	return e.storage
}

// Close ends everything that waits for a definition, and breaks the calls of webhooks.
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
