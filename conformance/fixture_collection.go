package conformance

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// object is the body of a request.
type object map[string]any

func newObject(apiVersion, kind, name string) object {
	meta := object{}
	if name != "" {
		meta["name"] = name
	}
	return object{"apiVersion": apiVersion, "kind": kind, "metadata": meta}
}

// withMeta sets a field of the metadata.
func (o object) withMeta(field string, value any) object {
	o["metadata"].(object)[field] = value
	return o
}

// withLabel sets the labels to a single one.
func (o object) withLabel(key, value string) object { return o.withMeta("labels", object{key: value}) }

// withFinalizer sets the finalizers to that of the suite.
func (o object) withFinalizer() object { return o.withMeta("finalizers", []string{finalizer}) }

// collection is the objects of one type in a namespace of the case.
type collection struct {
	s                       *session
	root                    string // path of the group version, such as /api/v1
	apiVersion, group, kind string
	resource, namespace     string
}

// secrets returns the Secrets of a new namespace. No controller creates Secrets in it.
func (s *session) secrets(ctx context.Context, names ...string) (collection, error) {
	return s.newCollection(ctx, collection{root: "/api/v1", apiVersion: "v1", kind: "Secret", resource: "secrets"}, names)
}

// leases returns the Leases of a new namespace, a type of a named group.
func (s *session) leases(ctx context.Context, names ...string) (collection, error) {
	if err := s.skipUnlessServed(ctx, "coordination.k8s.io/v1", "leases"); err != nil {
		return collection{}, err
	}
	const group = "coordination.k8s.io"
	return s.newCollection(ctx, collection{root: "/apis/" + group + "/v1", apiVersion: group + "/v1", group: group, kind: "Lease", resource: "leases"}, names)
}

// roles returns the Roles of a new namespace. Their names must only be valid path segments, and
// only the storage limits their size.
func (s *session) roles(ctx context.Context) (collection, error) {
	const group = "rbac.authorization.k8s.io"
	if err := s.skipUnlessServed(ctx, group+"/v1", "roles"); err != nil {
		return collection{}, err
	}
	return s.newCollection(ctx, collection{root: "/apis/" + group + "/v1", apiVersion: group + "/v1", group: group, kind: "Role", resource: "roles"}, nil)
}

// policies returns the NetworkPolicies of a new namespace. They have a generation, and no
// controller writes to them.
func (s *session) policies(ctx context.Context) (collection, error) {
	const group = "networking.k8s.io"
	if err := s.skipUnlessServed(ctx, group+"/v1", "networkpolicies"); err != nil {
		return collection{}, err
	}
	return s.newCollection(ctx, collection{root: "/apis/" + group + "/v1", apiVersion: group + "/v1", group: group, kind: "NetworkPolicy", resource: "networkpolicies"}, nil)
}

// budgets returns the PodDisruptionBudgets of a new namespace. They have a generation and a status,
// and a controller may write to them.
func (s *session) budgets(ctx context.Context) (collection, error) {
	const group = "policy"
	if err := s.skipUnlessServed(ctx, group+"/v1", "poddisruptionbudgets"); err != nil {
		return collection{}, err
	}
	return s.newCollection(ctx, collection{
		root: "/apis/" + group + "/v1", apiVersion: group + "/v1", group: group, kind: "PodDisruptionBudget", resource: "poddisruptionbudgets",
	}, nil)
}

// newCollection creates a namespace for the collection, and objects with these names in it.
func (s *session) newCollection(ctx context.Context, c collection, names []string) (collection, error) {
	namespace, err := s.namespace(ctx)
	if err != nil {
		return c, err
	}
	c.s, c.namespace = s, namespace
	for _, name := range names {
		if _, err := c.create(ctx, c.object(name)); err != nil {
			return c, err
		}
	}
	return c, nil
}

// inNewNamespace returns the collection of the same type in another new namespace.
func (c collection) inNewNamespace(ctx context.Context) (collection, error) {
	return c.s.newCollection(ctx, c, nil)
}

// path returns the URL path of the collection, which has no namespace for a cluster-scoped type.
func (c collection) path() string {
	if c.namespace == "" {
		return c.allNamespacesPath()
	}
	return c.root + "/namespaces/" + c.namespace + "/" + c.resource
}

// item returns the URL path of an object in the collection.
func (c collection) item(name string) string { return c.path() + "/" + url.PathEscape(name) }

// allNamespacesPath returns the URL path of the type across all namespaces.
func (c collection) allNamespacesPath() string { return c.root + "/" + c.resource }

// object returns a body for the collection.
func (c collection) object(name string) object { return newObject(c.apiVersion, c.kind, name) }

// groupResource returns the resource as in messages: "widgets.example.com", or "secrets" in the
// core group.
func (c collection) groupResource() string {
	return schema.GroupResource{Group: c.group, Resource: c.resource}.String()
}

// groupKind returns the kind as in messages about invalid objects.
func (c collection) groupKind() string {
	return schema.GroupKind{Group: c.group, Kind: c.kind}.String()
}

// statusDetails returns the details of a Status about an object of the collection, for other errors
// than Invalid.
func (c collection) statusDetails(name string) *metav1.StatusDetails {
	return &metav1.StatusDetails{Name: name, Group: c.group, Kind: c.resource}
}

// create creates an object.
func (c collection) create(ctx context.Context, o object) (metav1.PartialObjectMetadata, error) {
	return c.s.doObject(ctx, post(c.path(), o), code(http.StatusCreated))
}

// annotate sets an annotation of the suite, a change that every type supports.
func (c collection) annotate(ctx context.Context, name, value string) (metav1.PartialObjectMetadata, error) {
	patch := object{"metadata": object{"annotations": object{"conformance.example.com/step": value}}}
	return c.s.doObject(ctx, mergePatch(c.item(name), patch), code(http.StatusOK))
}

// setLabel sets a label, or removes it if the value is "".
func (c collection) setLabel(ctx context.Context, name, key, value string) (metav1.PartialObjectMetadata, error) {
	labels := object{key: value}
	if value == "" {
		labels[key] = nil
	}
	return c.s.doObject(ctx, mergePatch(c.item(name), object{"metadata": object{"labels": labels}}), code(http.StatusOK))
}

// delete deletes an object, and expects 200.
func (c collection) delete(ctx context.Context, name string) error {
	return c.s.expect(ctx, del(c.item(name)), code(http.StatusOK))
}

// objectList is a list with the metadata of its items.
type objectList struct {
	metav1.TypeMeta
	Metadata metav1.ListMeta                `json:"metadata"`
	Items    []metav1.PartialObjectMetadata `json:"items"`
	response *response
}

// list reads the collection. The query begins with "?" or is empty.
func (c collection) list(ctx context.Context, query string) (objectList, error) {
	return c.s.list(ctx, c.path()+query)
}

// list reads the list at a path.
func (s *session) list(ctx context.Context, path string) (objectList, error) {
	var l objectList
	r, err := s.do(ctx, get(path), code(http.StatusOK))
	if err != nil {
		return l, err
	}
	l.response = r
	return l, r.decode(&l)
}

// names returns the names of the items.
func (l objectList) names() []string {
	var names []string
	for _, item := range l.Items {
		names = append(names, item.Name)
	}
	return names
}

// expectNames expects items with exactly these names, in this order.
func (l objectList) expectNames(names ...string) error {
	if got := l.names(); fmt.Sprint(got) != fmt.Sprint(names) {
		return l.response.errorf("expected the items %v, got %v", names, got)
	}
	return nil
}

// expectResourceVersion expects the resourceVersion of the list.
func (l objectList) expectResourceVersion(resourceVersion string) error {
	if l.Metadata.ResourceVersion != resourceVersion {
		return l.response.errorf("expected a list at resourceVersion %s, got %q", resourceVersion, l.Metadata.ResourceVersion)
	}
	return nil
}

// sortedByKey iterates over a map in the order of its keys, so that a case sends the same requests
// each time.
func sortedByKey[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}
