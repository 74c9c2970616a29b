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

// meta sets a field of the metadata.
func (o object) meta(field string, value any) object {
	o["metadata"].(object)[field] = value
	return o
}

// label sets the labels to just this one.
func (o object) label(key, value string) object { return o.meta("labels", object{key: value}) }

// held puts the suite's finalizer on it.
func (o object) held() object { return o.meta("finalizers", []string{finalizer}) }

// collection is a place for objects of one kind, in a namespace of the case's own.
type collection struct {
	s                       *session
	root                    string // of the group version, such as /api/v1
	apiVersion, group, kind string
	resource, namespace     string
}

// secrets gives a fresh namespace and its Secrets: a typed resource that no controller fills unasked.
func (s *session) secrets(ctx context.Context, names ...string) (collection, error) {
	return s.fill(ctx, collection{root: "/api/v1", apiVersion: "v1", kind: "Secret", resource: "secrets"}, names)
}

// leases gives a fresh namespace and its Leases: a typed resource of a named group.
func (s *session) leases(ctx context.Context, names ...string) (collection, error) {
	if err := s.needs(ctx, "coordination.k8s.io/v1", "leases"); err != nil {
		return collection{}, err
	}
	const group = "coordination.k8s.io"
	return s.fill(ctx, collection{root: "/apis/" + group + "/v1", apiVersion: group + "/v1", group: group, kind: "Lease", resource: "leases"}, names)
}

// roles gives a fresh namespace and its Roles: a typed resource whose names only need to fit into a path, and whose size nothing but
// the storage limits.
func (s *session) roles(ctx context.Context) (collection, error) {
	const group = "rbac.authorization.k8s.io"
	if err := s.needs(ctx, group+"/v1", "roles"); err != nil {
		return collection{}, err
	}
	return s.fill(ctx, collection{root: "/apis/" + group + "/v1", apiVersion: group + "/v1", group: group, kind: "Role", resource: "roles"}, nil)
}

// policies gives a fresh namespace and its NetworkPolicies: a typed resource with a generation, which no controller writes to.
func (s *session) policies(ctx context.Context) (collection, error) {
	const group = "networking.k8s.io"
	if err := s.needs(ctx, group+"/v1", "networkpolicies"); err != nil {
		return collection{}, err
	}
	return s.fill(ctx, collection{root: "/apis/" + group + "/v1", apiVersion: group + "/v1", group: group, kind: "NetworkPolicy", resource: "networkpolicies"}, nil)
}

// budgets gives a fresh namespace and its PodDisruptionBudgets: a typed resource with a generation and a status, which
// a controller may write to.
func (s *session) budgets(ctx context.Context) (collection, error) {
	const group = "policy"
	if err := s.needs(ctx, group+"/v1", "poddisruptionbudgets"); err != nil {
		return collection{}, err
	}
	return s.fill(ctx, collection{
		root: "/apis/" + group + "/v1", apiVersion: group + "/v1", group: group, kind: "PodDisruptionBudget", resource: "poddisruptionbudgets",
	}, nil)
}

// fill puts the collection into a fresh namespace and creates objects with these names in it.
func (s *session) fill(ctx context.Context, c collection, names []string) (collection, error) {
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

// sibling is the same kind in another fresh namespace.
func (c collection) sibling(ctx context.Context) (collection, error) {
	return c.s.fill(ctx, c, nil)
}

// path is the URL path of the collection.
func (c collection) path() string {
	return c.root + "/namespaces/" + c.namespace + "/" + c.resource
}

// item is the URL path of an object in it.
func (c collection) item(name string) string { return c.path() + "/" + url.PathEscape(name) }

// everywhere is the path of the same resource across all namespaces.
func (c collection) everywhere() string { return c.root + "/" + c.resource }

// object is a body for this collection.
func (c collection) object(name string) object { return newObject(c.apiVersion, c.kind, name) }

// qualified is the resource as it stands in messages: "widgets.example.com", or "secrets" in the core group.
func (c collection) qualified() string {
	return schema.GroupResource{Group: c.group, Resource: c.resource}.String()
}

// qualifiedKind is the kind as it stands in messages about invalid objects.
func (c collection) qualifiedKind() string {
	return schema.GroupKind{Group: c.group, Kind: c.kind}.String()
}

// about are the details of a Status about an object of this collection, as all but validation errors have them.
func (c collection) about(name string) *metav1.StatusDetails {
	return &metav1.StatusDetails{Name: name, Group: c.group, Kind: c.resource}
}

// create stores an object.
func (c collection) create(ctx context.Context, o object) (metav1.PartialObjectMetadata, error) {
	return c.s.object(ctx, post(c.path(), o), code(http.StatusCreated))
}

// change gives the object an annotation with a new value: the smallest change that every kind knows.
func (c collection) change(ctx context.Context, name, value string) (metav1.PartialObjectMetadata, error) {
	patch := object{"metadata": object{"annotations": object{"conformance.example.com/step": value}}}
	return c.s.object(ctx, mergePatch(c.item(name), patch), code(http.StatusOK))
}

// relabel sets a label, or takes it away if the value is "".
func (c collection) relabel(ctx context.Context, name, key, value string) (metav1.PartialObjectMetadata, error) {
	labels := object{key: value}
	if value == "" {
		labels[key] = nil
	}
	return c.s.object(ctx, mergePatch(c.item(name), object{"metadata": object{"labels": labels}}), code(http.StatusOK))
}

// delete removes an object, which must work at once.
func (c collection) delete(ctx context.Context, name string) error {
	return c.s.try(ctx, del(c.item(name)), code(http.StatusOK))
}

// objectList is a list as the server sends it, its items down to their metadata.
type objectList struct {
	metav1.TypeMeta
	Metadata metav1.ListMeta                `json:"metadata"`
	Items    []metav1.PartialObjectMetadata `json:"items"`
	from     *answer
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
	l.from = a
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

// has expects just these items, in this order.
func (l objectList) has(names ...string) error {
	if got := l.names(); fmt.Sprint(got) != fmt.Sprint(names) {
		return l.from.errorf("expected the items %v, got %v", names, got)
	}
	return nil
}

// at expects the list to be of this resourceVersion.
func (l objectList) at(resourceVersion string) error {
	if l.Metadata.ResourceVersion != resourceVersion {
		return l.from.errorf("expected a list at resourceVersion %s, got %q", resourceVersion, l.Metadata.ResourceVersion)
	}
	return nil
}

// inOrder gives a map in the order of its keys, so that a case makes the same requests each time.
func inOrder[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}
