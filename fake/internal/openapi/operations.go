package openapi

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kube-openapi/pkg/common"

	"example.com/fakeapi/fake/internal/resource"
)

const metaPrefix = "io.k8s.apimachinery.pkg.apis.meta.v1."

// The schemas that belong to no resource, and the type of texts.
const (
	modelText          model = "string"
	modelDeleteOptions model = metaPrefix + "DeleteOptions"
	modelPatch         model = metaPrefix + "Patch"
	modelStatus        model = metaPrefix + "Status"
	modelWatchEvent    model = metaPrefix + "WatchEvent"
	modelVersion       model = "io.k8s.apimachinery.pkg.version.Info"
)

func anyType() []string { return []string{"*/*"} }

// objectTypes returns the media types of objects, listTypes those of lists and watches.
func objectTypes() []string {
	return []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"}
}

func listTypes() []string {
	return append(objectTypes(), "application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch")
}

func list(r *resource.Resource, at, what string, scope []common.Parameter) *route {
	op := operation(r, part{}, at, scope, listParameters())
	op.method, op.verb, op.what, op.action = "GET", "list", what, "list"
	op.description = "list objects of kind " + r.Kind
	if r.HasVerb("watch") {
		op.description = "list or watch objects of kind " + r.Kind
	}
	op.produces = listTypes()
	op.answers = ok(listModel(r))
	return op
}

func create(r *resource.Resource, p part, at string, names []common.Parameter) *route {
	op := operation(r, p, at, names, createParameters())
	op.method, op.verb, op.action = "POST", "create", "post"
	op.description = "create " + p.of(withArticle(r.Kind))
	op.reads, op.answers = p.model(r), okCreatedOrAccepted(p.model(r))
	return op
}

func read(r *resource.Resource, p part, at string, names []common.Parameter) *route {
	op := operation(r, p, at, names, nil)
	op.method, op.verb, op.action = "GET", "read", "get"
	op.description = "read " + p.of("the specified "+r.Kind)
	op.answers = ok(p.model(r))
	return op
}

func replace(r *resource.Resource, p part, at string, names []common.Parameter) *route {
	op := operation(r, p, at, names, updateParameters())
	op.method, op.verb, op.action = "PUT", "replace", "put"
	op.description = "replace " + p.of("the specified "+r.Kind)
	op.reads, op.answers = p.model(r), okOrCreated(p.model(r))
	return op
}

func patch(r *resource.Resource, p part, at string, names []common.Parameter) *route {
	op := operation(r, p, at, names, patchParameters())
	op.method, op.verb, op.action = "PATCH", "patch", "patch"
	op.description = "partially update " + p.of("the specified "+r.Kind)
	op.consumes = []string{
		"application/json-patch+json", "application/merge-patch+json",
		"application/strategic-merge-patch+json", "application/apply-patch+yaml",
	}
	op.reads, op.answers = modelPatch, okOrCreated(p.model(r))
	return op
}

// remove returns the route that deletes an object. That of a Namespace has a Status, as on a real
// server, although the response is the Namespace.
func remove(r *resource.Resource, at string, names []common.Parameter) *route {
	op := operation(r, part{}, at, names, deleteParameters())
	op.method, op.verb, op.action = "DELETE", "delete", "delete"
	op.description = "delete " + withArticle(r.Kind)
	op.reads, op.optional, op.answers = modelDeleteOptions, true, okOrAccepted(modelStatus)
	if r.ReturnDeletedObject && r.GroupResource() != corev1.Resource("namespaces") {
		op.answers = okOrAccepted(part{}.model(r))
	}
	return op
}

func deleteCollection(r *resource.Resource, at string, scope []common.Parameter) *route {
	op := operation(r, part{}, at, scope, deleteCollectionParameters())
	op.method, op.verb, op.what, op.action = "DELETE", "delete", "Collection"+scoped(r), "deletecollection"
	op.description = "delete collection of " + r.Kind
	op.reads, op.optional, op.answers = modelDeleteOptions, true, ok(modelStatus)
	return op
}

// watchList and watchOne are the deprecated watch paths.
func watchList(r *resource.Resource, at, what string, scope []common.Parameter) *route {
	op := operation(r, part{}, at, scope, listParameters())
	op.method, op.verb, op.what, op.action = "GET", "watch", what, "watchlist"
	op.description = "watch individual changes to a list of " + r.Kind +
		". deprecated: use the 'watch' parameter with a list operation instead."
	op.produces, op.answers = listTypes(), ok(modelWatchEvent)
	return op
}

func watchOne(r *resource.Resource, at string, names []common.Parameter) *route {
	op := operation(r, part{}, at, names, listParameters())
	op.method, op.verb, op.action = "GET", "watch", "watch"
	op.description = "watch changes to an object of kind " + r.Kind + ". deprecated: use the 'watch' parameter " +
		"with a list operation instead, filtered to a single item with the 'fieldSelector' parameter."
	op.produces, op.answers = listTypes(), ok(modelWatchEvent)
	return op
}

// operation returns a route with what most operations have in common.
func operation(r *resource.Resource, p part, at string, names, options []common.Parameter) *route {
	parameters := append(names[:len(names):len(names)], prettyParameter())
	return &route{
		path: at, what: scoped(r) + p.id(), kind: p.kind(r), parameters: append(parameters, options...),
		consumes: anyType(), produces: objectTypes(),
	}
}

func scoped(r *resource.Resource) string {
	if r.Namespaced {
		return "Namespaced" + r.Kind
	}
	return r.Kind
}

// withArticle returns a kind with its article: "an Ingress", but "Endpoints".
func withArticle(kind string) string {
	switch {
	case strings.HasSuffix(kind, "s") && !strings.HasSuffix(kind, "ss"):
		return kind
	case strings.ContainsAny(kind[:1], "AEIOU"):
		return "an " + kind
	}
	return "a " + kind
}
