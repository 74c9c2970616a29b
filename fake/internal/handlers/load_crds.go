package handlers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/crd/lifecycle"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// errConcurrentWrite says that a definition was written while a load looked at it.
var errConcurrentWrite = errors.New("it was written meanwhile")

// crdKind is the kind of what defines others.
var crdKind = apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition")

// isCRD tells a CustomResourceDefinition, whatever its Go type.
func isCRD(obj runtime.Object) bool {
	_, typed := obj.(*crd)
	return typed || obj.GetObjectKind().GroupVersionKind() == crdKind
}

// recordVersion is the resourceVersion of a record, "" of none.
func recordVersion(rec *memstore.Record) string {
	if rec == nil {
		return ""
	}
	return rec.Revision.String()
}

// crdLoader is what a load knows of definitions: how all of them will be after it.
type crdLoader struct {
	api  *API
	res  *resource.Resource
	crds map[string]*crd
	// items are those of the definitions that it writes, and names their order.
	items map[string]Item
	order []string
	// versions has the resourceVersions of those that were there.
	versions map[string]string
}

// prepareFixtures makes items ready, the definitions first: what they define is known to the others.
func (a *API) prepareFixtures(items []Item) ([]fixture, error) {
	l := a.newLoad()
	var others []Item
	for _, item := range items {
		if !isCRD(item.Object) {
			others = append(others, item)
		} else if err := l.add(item); err != nil {
			return nil, item.wrapError(describe(item.Object), err)
		}
	}
	all, err := l.fixtures()
	if err != nil {
		return nil, err
	}
	table := a.types.Table()
	if len(all) > 0 && len(others) > 0 {
		future, end, err := a.types.Preview(l.crds)
		if err != nil {
			return nil, fmt.Errorf("fakeapi: load: %w", err)
		}
		defer end()
		table = future
	}
	for _, item := range others {
		f, err := a.prepareFixture(table, item.Object.DeepCopyObject())
		if err != nil {
			return nil, item.wrapError(describe(item.Object), err)
		}
		f.item = item
		all = append(all, f)
	}
	return all, nil
}

func (a *API) newLoad() *crdLoader {
	l := &crdLoader{
		api: a, res: a.types.Table().LookupKind(crdKind), crds: a.types.CRDs(),
		items: make(map[string]Item), versions: make(map[string]string),
	}
	for name, was := range l.crds {
		l.versions[name] = was.ResourceVersion
	}
	return l
}

// add takes a definition, as a create or an update does, and lets it become what the
// controllers of definitions would make of it. The status does not count, except for the
// versions in which objects were stored.
func (l *crdLoader) add(item Item) error {
	_, obj, err := l.api.toStorage(l.api.types.Table(), item.Object.DeepCopyObject())
	if err != nil {
		return err
	}
	next := obj.(*crd)
	stored := next.Status.StoredVersions
	_, twice := l.items[next.Name]
	switch was := l.crds[next.Name]; {
	case was != nil && isSameCRD(next, was):
		return nil
	case twice:
		return errors.New("there are two of the name, which do not say the same")
	case was != nil:
		if err := l.replace(next, was); err != nil {
			return err
		}
	default:
		next.ResourceVersion, next.DeletionTimestamp, next.DeletionGracePeriodSeconds = "", nil, nil
		l.api.prepareLoaded(l.res, next)
		lifecycle.PrepareForCreate(next)
		addStoredVersions(next, stored)
		if err := validateCreate(l.res, next); err != nil {
			return err
		}
	}
	l.order = append(l.order, next.Name)
	l.items[next.Name], l.crds[next.Name] = item, next
	for states := l.settle(next.Name); len(states) > 0; states = l.settle(next.Name) {
		for _, state := range states {
			l.crds[state.Name] = state
		}
	}
	return nil
}

func (l *crdLoader) settle(name string) []*crd {
	return lifecycle.Reconcile(slices.Collect(maps.Values(l.crds)), name, l.api.Now())
}

// isSameCRD reports whether a definition says what another says already.
func isSameCRD(next, was *crd) bool {
	return apiequality.Semantic.DeepEqual(next.Spec, was.Spec) &&
		apiequality.Semantic.DeepEqual(next.Labels, was.Labels) &&
		apiequality.Semantic.DeepEqual(next.Annotations, was.Annotations) &&
		was.DeletionTimestamp == nil
}

// replace makes a definition ready to take the place of another.
func (l *crdLoader) replace(next, was *crd) error {
	if was.DeletionTimestamp != nil {
		return errors.New("the one that is there is being deleted")
	}
	labels, annotations, spec := next.Labels, next.Annotations, next.Spec
	was.DeepCopyInto(next)
	next.Labels, next.Annotations, next.Spec = labels, annotations, spec
	lifecycle.PrepareForUpdate(next, was)
	return validateUpdate(context.Background(), l.res, nil, next, was)
}

// addStoredVersions adds versions to those in which objects were stored.
func addStoredVersions(next *crd, versions []string) {
	for _, version := range versions {
		if !slices.Contains(next.Status.StoredVersions, version) {
			next.Status.StoredVersions = append(next.Status.StoredVersions, version)
		}
	}
}

// fixtures are the definitions that the load writes.
func (l *crdLoader) fixtures() ([]fixture, error) {
	var all []fixture
	for _, name := range l.order {
		before := l.versions[name]
		draft, err := codec.EncodeDraft(l.res, l.crds[name].DeepCopy())
		if err != nil {
			return nil, l.items[name].wrapError(name, err)
		}
		all = append(all, fixture{item: l.items[name], key: resource.CRDKey(name), draft: draft, expectedVersion: &before})
	}
	return all, nil
}
