package handlers

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// Item is an object to load.
type Item struct {
	// Source says in errors where it is from, "" for nowhere in particular.
	Source string
	Object runtime.Object
}

// Items are objects from nowhere in particular.
func Items(objects []runtime.Object) []Item {
	var items []Item
	for _, obj := range objects {
		items = append(items, Item{Object: obj})
	}
	return items
}

// LoadSystem stores the namespaces that every cluster has.
func (a *API) LoadSystem() error {
	var objects []runtime.Object
	for _, name := range []string{"default", "kube-node-lease", "kube-public", "kube-system"} {
		ns := &corev1.Namespace{}
		ns.Name = name
		objects = append(objects, ns)
	}
	return a.Load(objects)
}

// maxLoadAttempts is how often a load begins anew because a definition in it was written meanwhile.
const maxLoadAttempts = 8

// Load stores objects as they are; see LoadItems.
func (a *API) Load(objects []runtime.Object) error { return a.LoadItems(Items(objects)) }

// LoadItems stores objects as they are, all or none: definitions first, and then what they
// may define. A list counts as its items. What can be wrong with an object by itself is found
// before the store is locked.
func (a *API) LoadItems(items []Item) error {
	items, err := flatten(items)
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		err := a.loadOnce(items)
		switch {
		case err == nil:
			return a.SyncCRDs()
		case !errors.Is(err, errConcurrentWrite) || try == maxLoadAttempts:
			return err
		}
	}
}

// flatten is the items with those of lists in the place of the lists.
func flatten(items []Item) ([]Item, error) {
	var all []Item
	for _, item := range items {
		if !meta.IsListType(item.Object) {
			all = append(all, item)
			continue
		}
		inside, err := meta.ExtractList(item.Object)
		if err != nil {
			return nil, item.wrapError(typeName(item.Object), err)
		}
		for _, obj := range inside {
			more, err := flatten([]Item{{item.Source, obj}})
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		}
	}
	return all, nil
}

func (a *API) loadOnce(items []Item) error {
	fixtures, err := a.prepareFixtures(items)
	if err != nil {
		return err
	}
	return a.store.Load(func(tx *memstore.Tx) error {
		for _, f := range fixtures {
			if err := a.putFixture(tx, f); err != nil {
				return f.item.wrapError(describe(f.item.Object), err)
			}
		}
		return nil
	})
}

// wrapError is the error of an item that is called by a name.
func (i Item) wrapError(name string, err error) error {
	if i.Source != "" {
		return fmt.Errorf("fakeapi: manifests: %s: %s: %w", i.Source, name, err)
	}
	return fmt.Errorf("fakeapi: load %s: %w", name, err)
}

// fixture is an object that is ready to be stored.
type fixture struct {
	item      Item
	key       string
	namespace string
	draft     *memstore.Draft
	// overwrite tells whether an object of the name may be there already.
	overwrite bool
	// expectedVersion is the resourceVersion of what is replaced, if that must be nothing else; nil
	// if it does not matter, and "" for no object.
	expectedVersion *string
}

// prepareFixture makes one object ready that table has the type of. It changes the object.
func (a *API) prepareFixture(table *resource.Table, obj runtime.Object) (fixture, error) {
	res, obj, err := a.toStorage(table, obj)
	if err != nil {
		return fixture{}, err
	}
	m := accessor(obj)
	if res.Namespaced && m.GetNamespace() == "" {
		m.SetNamespace("default")
	}
	if !res.Namespaced {
		m.SetNamespace("")
	}
	a.prepareLoaded(res, obj)
	if err := validateCreate(res, obj); err != nil {
		return fixture{}, err
	}
	draft, err := codec.EncodeDraft(res, obj)
	return fixture{
		key:       codec.Key(res, m.GetNamespace(), m.GetName()),
		namespace: m.GetNamespace(),
		draft:     draft,
		// A namespace may be there already: every cluster has some, and one object
		// in it is enough to make another.
		overwrite: isNamespaces(res),
	}, err
}

// putFixture stores a fixture, and its namespace before it if there is none.
func (a *API) putFixture(tx *memstore.Tx, f fixture) error {
	if f.namespace != "" && tx.Get(namespaceKey(f.namespace)) == nil {
		namespace := &corev1.Namespace{}
		namespace.Name = f.namespace
		home, err := a.prepareFixture(a.types.Table(), namespace)
		if err != nil {
			return err
		}
		if err := a.putFixture(tx, home); err != nil {
			return err
		}
	}
	rec := tx.Get(f.key)
	switch {
	case f.expectedVersion != nil && *f.expectedVersion != recordVersion(rec):
		return errConcurrentWrite
	case f.expectedVersion == nil && rec != nil && !f.overwrite:
		return errors.New("the name is in use")
	}
	return tx.Put(f.key, *f.draft)
}

// prepareLoaded fills in what a fixture leaves out, and keeps what it has.
func (a *API) prepareLoaded(res *resource.Resource, obj runtime.Object) {
	m := accessor(obj)
	if m.GetName() == "" && m.GetGenerateName() != "" {
		m.SetName(a.ids.GenerateName(m.GetGenerateName()))
	}
	if m.GetUID() == "" {
		m.SetUID(a.ids.UID())
	}
	if created := m.GetCreationTimestamp(); created.IsZero() {
		m.SetCreationTimestamp(a.now())
	}
	if res.HasGeneration && m.GetGeneration() == 0 {
		m.SetGeneration(1)
	}
	if ns, ok := obj.(*corev1.Namespace); ok && ns.Status.Phase == "" {
		res.PrepareForCreate(ns) // one without a phase would never end
	}
}

// toStorage finds the resource of an object and gives it in the StoreVersion. It changes the
// object.
func (a *API) toStorage(table *resource.Table, obj runtime.Object) (*resource.Resource, runtime.Object, error) {
	kind := obj.GetObjectKind().GroupVersionKind()
	if kind.Empty() {
		kinds, err := a.types.ObjectKinds(obj)
		if err != nil {
			return nil, nil, err
		}
		kind = servedKind(table, kinds)
	}
	res := table.LookupKind(kind)
	if res == nil {
		return nil, nil, fmt.Errorf("%s is not served", kind)
	}
	if _, ok := obj.(runtime.Unstructured); ok || res.Custom != nil {
		obj.GetObjectKind().SetGroupVersionKind(kind)
		body, err := json.Marshal(obj)
		if err != nil {
			return nil, nil, err
		}
		if obj, _, err = codec.DecodeBody(res, negotiate.JSON, body, "Strict"); err != nil {
			return nil, nil, err
		}
	}
	obj, err := res.Convert(obj, res.StorageVersion)
	if err != nil {
		return nil, nil, err
	}
	return res, res.Canonical(obj), nil
}

// servedKind is the first of several kinds that is served, or just the first.
func servedKind(table *resource.Table, kinds []schema.GroupVersionKind) schema.GroupVersionKind {
	for _, kind := range kinds {
		if table.LookupKind(kind) != nil {
			return kind
		}
	}
	return kinds[0]
}

// describe names an object in an error message.
func describe(obj runtime.Object) string {
	name := obj.GetObjectKind().GroupVersionKind().Kind
	if name == "" {
		name = typeName(obj)
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return name
	}
	return name + " " + strings.TrimPrefix(m.GetNamespace()+"/"+m.GetName(), "/")
}
