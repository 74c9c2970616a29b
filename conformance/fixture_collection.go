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

// object is a body to send.
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

// withLabel sets the labels to just this one.
func (o object) withLabel(key, value string) object { return o.withMeta("labels", object{key: value}) }

// withFinalizer puts the suite's finalizer on it.
func (o object) withFinalizer() object { return o.withMeta("finalizers", []string{finalizer}) }

// collection is a place for objects of one kind, in a namespace of the case's own.
type collection struct {
	s                       *session
	root                    string // of the group version, such as /api/v1
	apiVersion, group, kind string
	resource, namespace     string
}

// secrets gives a fresh namespace and its Secrets: a typed resource that no controller fills unasked.
func (s *session) secrets(ctx context.Context, names ...string) (collection, error) {
	return s.newCollection(ctx, collection{root: "/api/v1", apiVersion: "v1", kind: "Secret", resource: "secrets"}, names)
}

// leases gives a fresh namespace and its Leases: a typed resource of a named group.
func (s *session) leases(ctx context.Context, names ...string) (collection, error) {
	if err := s.skipUnlessServed(ctx, "coordination.k8s.io/v1", "leases"); err != nil {
		return collection{}, err
	}
	const group = "coordination.k8s.io"
	return s.newCollection(ctx, collection{root: "/apis/" + group + "/v1", apiVersion: group + "/v1", group: group, kind: "Lease", resource: "leases"}, names)
}

// roles gives a fresh namespace and its Roles: a typed resource whose names only need to fit into a path, and whose size nothing but
// the storage limits.
func (s *session) roles(ctx context.Context) (collection, error) {
	const group = "rbac.authorization.k8s.io"
	if err := s.skipUnlessServed(ctx, group+"/v1", "roles"); err != nil {
		return collection{}, err
	}
	return s.newCollection(ctx, collection{root: "/apis/" + group + "/v1", apiVersion: group + "/v1", group: group, kind: "Role", resource: "roles"}, nil)
}

// policies gives a fresh namespace and its NetworkPolicies: a typed resource with a generation, which no controller writes to.
func (s *session) policies(ctx context.Context) (collection, error) {
	const group = "networking.k8s.io"
	if err := s.skipUnlessServed(ctx, group+"/v1", "networkpolicies"); err != nil {
		return collection{}, err
	}
	return s.newCollection(ctx, collection{root: "/apis/" + group + "/v1", apiVersion: group + "/v1", group: group, kind: "NetworkPolicy", resource: "networkpolicies"}, nil)
}

// budgets gives a fresh namespace and its PodDisruptionBudgets: a typed resource with a generation and a status, which
// a controller may write to.
func (s *session) budgets(ctx context.Context) (collection, error) {
	const group = "policy"
	if err := s.skipUnlessServed(ctx, group+"/v1", "poddisruptionbudgets"); err != nil {
		return collection{}, err
	}
	return s.newCollection(ctx, collection{
		root: "/apis/" + group + "/v1", apiVersion: group + "/v1", group: group, kind: "PodDisruptionBudget", resource: "poddisruptionbudgets",
	}, nil)
}

// newCollection puts the collection into a fresh namespace and creates objects with these names in it.
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

// inNewNamespace is the same kind in another fresh namespace.
func (c collection) inNewNamespace(ctx context.Context) (collection, error) {
	return c.s.newCollection(ctx, c, nil)
}

// path is the URL path of the collection.
func (c collection) path() string {
	return c.root + "/namespaces/" + c.namespace + "/" + c.resource
}

// item is the URL path of an object in it.
func (c collection) item(name string) string { return c.path() + "/" + url.PathEscape(name) }

// allNamespacesPath is the path of the same resource across all namespaces.
func (c collection) allNamespacesPath() string { return c.root + "/" + c.resource }

// object is a body for this collection.
func (c collection) object(name string) object { return newObject(c.apiVersion, c.kind, name) }

// groupResource is the resource as it stands in messages: "widgets.example.com", or "secrets" in the core group.
func (c collection) groupResource() string {
	return schema.GroupResource{Group: c.group, Resource: c.resource}.String()
}

// groupKind is the kind as it stands in messages about invalid objects.
func (c collection) groupKind() string {
	return schema.GroupKind{Group: c.group, Kind: c.kind}.String()
}

// statusDetails are the details of a Status about an object of this collection, as all but validation errors have them.
func (c collection) statusDetails(name string) *metav1.StatusDetails {
	return &metav1.StatusDetails{Name: name, Group: c.group, Kind: c.resource}
}

// create stores an object.
func (c collection) create(ctx context.Context, o object) (metav1.PartialObjectMetadata, error) {
	return c.s.doObject(ctx, post(c.path(), o), code(http.StatusCreated))
}

// annotate gives the object an annotation with a new value: the smallest change that every kind knows.
func (c collection) annotate(ctx context.Context, name, value string) (metav1.PartialObjectMetadata, error) {
	patch := object{"metadata": object{"annotations": object{"conformance.example.com/step": value}}}
	return c.s.doObject(ctx, mergePatch(c.item(name), patch), code(http.StatusOK))
}

// setLabel sets a label, or takes it away if the value is "".
func (c collection) setLabel(ctx context.Context, name, key, value string) (metav1.PartialObjectMetadata, error) {
	labels := object{key: value}
	if value == "" {
		labels[key] = nil
	}
	return c.s.doObject(ctx, mergePatch(c.item(name), object{"metadata": object{"labels": labels}}), code(http.StatusOK))
}

// delete removes an object, which must work at once.
func (c collection) delete(ctx context.Context, name string) error {
	return c.s.expect(ctx, del(c.item(name)), code(http.StatusOK))
}

// objectList is a list as the server sends it, its items down to their metadata.
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

// list reads a collection at a path.
func (s *session) list(ctx context.Context, path string) (objectList, error) {
	var l objectList
	a, err := s.do(ctx, get(path), code(http.StatusOK))
	if err != nil {
		return l, err
	}
	l.response = a
	return l, a.decode(&l)
}

// names are the names of the items, in their order.
func (l objectList) names() []string {
	var names []string
	for _, item := range l.Items {
		names = append(names, item.Name)
	}
	return names
}

// expectNames expects just these items, in this order.
func (l objectList) expectNames(names ...string) error {
	if got := l.names(); fmt.Sprint(got) != fmt.Sprint(names) {
		return l.response.errorf("expected the items %v, got %v", names, got)
	}
	return nil
}

// expectResourceVersion expects the list to be of this resourceVersion.
func (l objectList) expectResourceVersion(resourceVersion string) error {
	if l.Metadata.ResourceVersion != resourceVersion {
		return l.response.errorf("expected a list at resourceVersion %s, got %q", resourceVersion, l.Metadata.ResourceVersion)
	}
	return nil
}

// sortedByKey gives a map in the order of its keys, so that a case makes the same requests each time.
func sortedByKey[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}
