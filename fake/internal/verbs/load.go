package verbs

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

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

// Load stores objects as they are, all or none. A list counts as its items. What
// can be wrong with an object by itself is found before the store is locked.
func (a *API) Load(objects []runtime.Object) error {
	fixtures, err := a.fixtures(objects)
	if err != nil {
		return err
	}
	err = a.store.Load(func(tx *memstore.Tx) error {
		for _, f := range fixtures {
			if err := a.put(tx, f); err != nil {
				return fmt.Errorf("fakeapi: load %s: %w", f.name, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return a.Follow()
}

// fixture is an object that is ready to be stored.
type fixture struct {
	name      string // in error messages
	key       string
	namespace string
	draft     *memstore.Draft
	replaces  bool // an object that is there already
}

func (a *API) fixtures(objects []runtime.Object) ([]fixture, error) {
	var all []fixture
	for _, obj := range objects {
		if meta.IsListType(obj) {
			items, err := meta.ExtractList(obj)
			if err != nil {
				return nil, fmt.Errorf("fakeapi: load %s: %w", typeName(obj), err)
			}
			more, err := a.fixtures(items)
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
			continue
		}
		f, err := a.fixture(obj.DeepCopyObject())
		if err != nil {
			return nil, fmt.Errorf("fakeapi: load %s: %w", describe(obj), err)
		}
		f.name = describe(obj)
		all = append(all, f)
	}
	return all, nil
}

func (a *API) fixture(obj runtime.Object) (fixture, error) {
	res, obj, err := a.typed(obj)
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
	draft, err := codec.Draft(res, obj)
	return fixture{
		key:       codec.Key(res, m.GetNamespace(), m.GetName()),
		namespace: m.GetNamespace(),
		draft:     draft,
		// A namespace may be there already: every cluster has some, and one object
		// in it is enough to make another.
		replaces: isNamespaces(res),
	}, err
}

// put stores a fixture, and its namespace before it if there is none.
func (a *API) put(tx *memstore.Tx, f fixture) error {
	if f.namespace != "" && tx.Get(namespaceKey(f.namespace)) == nil {
		namespace := &corev1.Namespace{}
		namespace.Name = f.namespace
		home, err := a.fixture(namespace)
		if err != nil {
			return err
		}
		if err := a.put(tx, home); err != nil {
			return err
		}
	}
	if tx.Get(f.key) != nil && !f.replaces {
		return errors.New("the name is in use")
	}
	return tx.Put(f.key, *f.draft)
}

// prepareLoaded fills in what a fixture leaves out, and keeps what it has.
func (a *API) prepareLoaded(res *resource.Resource, obj runtime.Object) {
	m := accessor(obj)
	if m.GetName() == "" && m.GetGenerateName() != "" {
		m.SetName(a.ids.Name(m.GetGenerateName()))
	}
	if m.GetUID() == "" {
		m.SetUID(a.ids.UID())
	}
	if created := m.GetCreationTimestamp(); created.IsZero() {
		m.SetCreationTimestamp(a.now())
	}
	if res.Generation && m.GetGeneration() == 0 {
		m.SetGeneration(1)
	}
	if ns, ok := obj.(*corev1.Namespace); ok && ns.Status.Phase == "" {
		res.Begin(ns) // one without a phase would never end
	}
}

// typed finds the resource of an object and gives it in the StoreVersion.
func (a *API) typed(obj runtime.Object) (*resource.Resource, runtime.Object, error) {
	kind := obj.GetObjectKind().GroupVersionKind()
	if kind.Empty() {
		kinds, _, err := scheme.Scheme.ObjectKinds(obj)
		if err != nil {
			return nil, nil, err
		}
		kind = kinds[0]
	}
	res := a.types.Table().LookupKind(kind)
	if res == nil {
		return nil, nil, fmt.Errorf("%s is not served", kind)
	}
	if _, ok := obj.(runtime.Unstructured); ok {
		body, err := json.Marshal(obj)
		if err != nil {
			return nil, nil, err
		}
		if obj, _, err = codec.Body(res, negotiate.JSON, body, "Strict"); err != nil {
			return nil, nil, err
		}
	}
	obj, err := res.Convert(obj, res.StoreVersion)
	if err != nil {
		return nil, nil, err
	}
	return res, res.Normal(obj), nil
}

// Manifest decodes one YAML or JSON document: an object, a List of objects, or
// nothing but white space and comments. Fields that a type does not have are an
// error.
func (a *API) Manifest(document []byte) ([]runtime.Object, error) {
	body, err := yaml.YAMLToJSON(document)
	if err != nil {
		return nil, err
	}
	if string(body) == "null" {
		return nil, nil
	}
	var one unstructured.Unstructured
	if err := one.UnmarshalJSON(body); err != nil {
		return nil, err
	}
	var objects []runtime.Object
	add := func(item runtime.Object) error {
		res, obj, err := a.typed(item)
		if err != nil {
			return fmt.Errorf("%s: %w", describe(item), err)
		}
		obj.GetObjectKind().SetGroupVersionKind(res.StoreVersion.WithKind(res.Kind))
		objects = append(objects, obj)
		return nil
	}
	if one.IsList() {
		err = one.EachListItem(add)
	} else {
		err = add(&one)
	}
	return objects, err
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
