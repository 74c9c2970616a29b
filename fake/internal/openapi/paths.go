package openapi

import (
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"example.com/fakeapi/fake/internal/resource"
)

// build makes the document of one group and version.
func build(table *resource.Table, group, version string) *spec3.OpenAPI {
	paths := make(map[string]*spec3.Path)
	schemas := commonSchemas()
	for _, r := range table.All() {
		if r.Group != group || r.Version != version {
			continue
		}
		addSchemas(schemas, r)
		addPaths(paths, r)
	}
	return &spec3.OpenAPI{
		Version:    "3.0.0",
		Info:       &spec.Info{InfoProps: spec.InfoProps{Title: "Kubernetes", Version: "1.37"}},
		Paths:      &spec3.Paths{Paths: paths},
		Components: &spec3.Components{Schemas: schemas},
	}
}

// addPaths adds the collection, the object and the subresources of a resource, and
// for a namespaced one the collection across all namespaces.
func addPaths(paths map[string]*spec3.Path, r *resource.Resource) {
	root := "/" + path(r.Group, r.Version)
	collection := root + "/" + r.Plural
	var scope []*spec3.Parameter
	if r.Namespaced {
		if r.Kept() {
			paths[collection] = everywhere(r)
		}
		collection = root + "/namespaces/{namespace}/" + r.Plural
		scope = []*spec3.Parameter{pathParameter("namespace", "the namespace of the object")}
	}
	paths[collection] = collectionPath(r, scope)
	if !r.Kept() {
		return
	}
	named := append([]*spec3.Parameter{pathParameter("name", "the name of the "+r.Kind)}, scope...)
	paths[collection+"/{name}"] = objectPath(r, named)
	for i := range r.Subresources {
		addSubresource(paths, collection+"/{name}/", r, &r.Subresources[i], named)
	}
}

// everywhere is the collection across all namespaces, which can only be read.
func everywhere(r *resource.Resource) *spec3.Path {
	props := spec3.PathProps{Parameters: append(listParameters(), prettyParameter())}
	if r.HasVerb("list") {
		props.Get = list(r, r.Kind+"ForAllNamespaces", nil)
	}
	return &spec3.Path{PathProps: props}
}

func collectionPath(r *resource.Resource, scope []*spec3.Parameter) *spec3.Path {
	props := spec3.PathProps{Parameters: append(scope[:len(scope):len(scope)], prettyParameter())}
	if r.HasVerb("list") {
		props.Get = list(r, scoped(r), listParameters())
	}
	if r.HasVerb("create") {
		props.Post = create(r, whole)
	}
	if r.HasVerb("deletecollection") {
		props.Delete = deleteCollection(r)
	}
	return &spec3.Path{PathProps: props}
}

func objectPath(r *resource.Resource, named []*spec3.Parameter) *spec3.Path {
	props := spec3.PathProps{Parameters: append(named[:len(named):len(named)], prettyParameter())}
	if r.HasVerb("get") {
		props.Get = read(r, whole)
	}
	if r.HasVerb("update") {
		props.Put = replace(r, whole)
	}
	if r.HasVerb("patch") {
		props.Patch = patch(r, whole)
	}
	if r.HasVerb("delete") {
		props.Delete = remove(r)
	}
	return &spec3.Path{PathProps: props}
}
