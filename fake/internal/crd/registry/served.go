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
	"example.com/fakeapi/memstore"
)

// Registry is what a store serves. It is safe for concurrent use.
type Registry struct {
	network versions.Network
	life    context.Context
	end     context.CancelFunc
	table   atomic.Pointer[resource.Table]
	openapi atomic.Pointer[openapi.Documents]

	// mu guards all below.
	mu    sync.Mutex
	known map[string]*known // by the keys of the definitions
	// schemes are those that Learn was given.
	schemes []*runtime.Scheme
}

// known is a definition as it was last read.
type known struct {
	record *memstore.Record
	crd    *apiextensionsv1.CustomResourceDefinition
	// definition is nil while it is not served, or cannot be; rows are its rows then.
	definition *versions.CRD
	rows       []*resource.Resource
	described  []*openapi.CustomResource
	// stored is the row of the storage version, which need not be one of rows.
	stored *resource.Resource
}

// New serves the built-in types. Conversion webhooks are reached over network.
func New(network versions.Network) *Registry {
	t := &Registry{network: network, known: make(map[string]*known)}
	t.life, t.end = context.WithCancel(context.Background())
	t.table.Store(resource.Builtin())
	t.openapi.Store(documents())
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
	all := make(map[string]*apiextensionsv1.CustomResourceDefinition, len(t.known))
	for _, k := range t.known {
		all[k.crd.Name] = k.crd
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
	if len(t.known) == 0 && view.Count(prefix) == 0 {
		return nil
	}
	var failed []error
	changed := false
	seen := make(map[string]bool, len(t.known))
	for rec := range view.Range(prefix, "") {
		seen[rec.Key] = true
		before := t.known[rec.Key]
		if before != nil && before.record == rec {
			continue
		}
		now, err := t.read(rec, before, decode)
		if err != nil {
			failed = append(failed, err)
		}
		changed = changed || definitionOf(before) != definitionOf(now) || before.ending() != now.ending()
		t.known[rec.Key] = now
	}
	for key, gone := range t.known {
		if !seen[key] {
			changed = changed || gone.definition != nil
			gone.end()
			delete(t.known, key)
		}
	}
	if changed {
		t.build()
	}
	return errors.Join(failed...)
}

func definitionOf(k *known) *versions.CRD {
	if k == nil {
		return nil
	}
	return k.definition
}

// read makes of a record what is known of it. It goes on with the definition from before if
// that says the same.
func (t *Registry) read(rec *memstore.Record, before *known, decode Decoder) (*known, error) {
	row := resource.Builtin().LookupKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	obj, err := decode(row, rec)
	if err != nil {
		return &known{record: rec, crd: &apiextensionsv1.CustomResourceDefinition{}}, err
	}
	now := &known{record: rec, crd: obj.(*apiextensionsv1.CustomResourceDefinition)}
	switch {
	case before != nil && before.definition != nil && sameType(before.crd, now.crd):
		now.definition, now.rows, now.stored, now.described = before.definition, before.rows, before.stored, before.described
		return now, nil
	case !lifecycle.ServingOf(now.crd).Requests():
		before.end()
		return now, nil
	}
	before.end()
	now.definition, err = versions.New(t.life, now.crd, t.network)
	if err != nil { // a webhook's caBundle that is none: its condition tells so, and the write was fine
		return now, nil
	}
	now.rows, now.stored = resource.ForCRD(now.definition)
	for _, row := range now.rows {
		now.described = append(now.described, describe(row))
	}
	return now, nil
}

// sameType reports whether a definition has changed in nothing that its type is made of.
func sameType(a, b *apiextensionsv1.CustomResourceDefinition) bool {
	return a.UID == b.UID && lifecycle.ServingOf(b).Requests() &&
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
	k := t.known[resource.CRDKey(r.Custom.CRD().Object().Name)]
	return k == nil || !lifecycle.ServingOf(k.crd).Creates()
}

// end ends what was served. Nil is nothing.
func (k *known) end() {
	if k != nil && k.definition != nil {
		k.definition.Stop()
	}
}

// ending reports whether discovery tells that nothing can be written any more. Nil is not.
func (k *known) ending() bool { return k != nil && !lifecycle.ServingOf(k.crd).Changes() }

// shown are the rows as they are served now.
func (k *known) shown() []*resource.Resource {
	if !k.ending() {
		return k.rows
	}
	ending := make([]*resource.Resource, len(k.rows))
	for i, row := range k.rows {
		copied := *row
		copied.Terminating = true
		ending[i] = &copied
	}
	return ending
}

// build makes the table and its description.
func (t *Registry) build() {
	var rows []*resource.Resource
	var described []*openapi.CustomResource
	for _, k := range t.known {
		rows, described = append(rows, k.shown()...), append(described, k.described...)
	}
	t.openapi.Store(t.openapi.Load().WithCustomResources(described))
	t.table.Store(tableOf(rows))
}

// tableOf is the table of the built-in types and of rows of custom resources.
func tableOf(rows []*resource.Resource) *resource.Table {
	if len(rows) == 0 {
		return resource.Builtin()
	}
	return resource.Builtin().With(rows)
}

// documents describe the built-in types. They are the same for every server of the process.
var documents = sync.OnceValue(func() *openapi.Documents { return openapi.New(resource.Builtin()) })

// describe is a row of a custom resource as its OpenAPI document shows it.
func describe(row *resource.Resource) *openapi.CustomResource {
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
	k := t.known[resource.CRDKey(name)]
	if k == nil {
		return nil
	}
	return k.stored
}

// Close ends everything that waits for a definition, and breaks the calls of webhooks.
func (t *Registry) Close() {
	t.end()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range t.known {
		if k.definition != nil {
			k.definition.Close()
		}
	}
}
