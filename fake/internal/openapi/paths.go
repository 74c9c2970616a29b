package openapi

import (
	"k8s.io/kube-openapi/pkg/common"

	"example.com/fakeapi/fake/internal/resource"
)

// versionRoutes returns the routes of one group and version.
func versionRoutes(table *resource.Table, group, version string) *container {
	c := &container{root: "/" + versionPath(group, version)}
	c.add(discoveryRoute(c.root, "get available resources", "APIResources", model(metaPrefix+"APIResourceList")))
	for _, r := range table.All() {
		if r.Group == group && r.Version == version {
			addResource(c, r)
		}
	}
	return c
}

// versionPath returns the name of the document of a group and version in the index.
func versionPath(group, version string) string {
	if group == "" {
		return "api/" + version
	}
	return "apis/" + group + "/" + version
}

// addResource adds the paths of a resource: its collection, object and subresources, the collection
// in all namespaces, and the deprecated watch paths.
func addResource(c *container, r *resource.Resource) {
	collection, scope := c.root+"/"+r.Plural, []common.Parameter(nil)
	watched := c.root + "/watch/" + r.Plural
	if r.Namespaced {
		if !r.IsOnlyCreated() {
			addEverywhere(c, r)
		}
		collection = c.root + "/namespaces/{namespace}/" + r.Plural
		watched = c.root + "/watch/namespaces/{namespace}/" + r.Plural
		scope = []common.Parameter{inPath("namespace", "object name and auth scope, such as for teams and projects")}
	}
	addCollection(c, r, collection, scope)
	if r.HasVerb("watch") {
		c.add(watchList(r, watched, scoped(r)+"List", scope))
		c.add(watchOne(r, watched+"/{name}", named(r.Kind, scope)))
	}
	if r.IsOnlyCreated() {
		return
	}
	addObject(c, r, collection+"/{name}", named(r.Kind, scope))
	for i := range r.Subresources {
		addSubresource(c, r, part{&r.Subresources[i]}, collection+"/{name}/", scope)
	}
}

// named returns the path parameters of an object.
func named(kind string, scope []common.Parameter) []common.Parameter {
	return append([]common.Parameter{inPath("name", "name of the "+kind)}, scope...)
}

// addEverywhere adds the collection in all namespaces, which is read-only.
func addEverywhere(c *container, r *resource.Resource) {
	const all = "ForAllNamespaces"
	c.add(list(r, c.root+"/"+r.Plural, r.Kind+all, nil))
	if r.HasVerb("watch") {
		c.add(watchList(r, c.root+"/watch/"+r.Plural, r.Kind+"List"+all, nil))
	}
}

func addCollection(c *container, r *resource.Resource, at string, scope []common.Parameter) {
	if r.HasVerb("list") {
		c.add(list(r, at, scoped(r), scope))
	}
	if r.HasVerb("create") {
		c.add(create(r, part{}, at, scope))
	}
	if r.HasVerb("deletecollection") {
		c.add(deleteCollection(r, at, scope))
	}
}

func addObject(c *container, r *resource.Resource, at string, names []common.Parameter) {
	if r.HasVerb("get") {
		c.add(read(r, part{}, at, names))
	}
	if r.HasVerb("update") {
		c.add(replace(r, part{}, at, names))
	}
	if r.HasVerb("patch") {
		c.add(patch(r, part{}, at, names))
	}
	if r.HasVerb("delete") {
		c.add(remove(r, at, names))
	}
}

// discoveryRoute returns a discovery path, whose response is a type of apimachinery.
func discoveryRoute(at, description, what string, answer model) *route {
	return &route{
		method: "GET", path: at + "/", verb: "get", what: what, description: description,
		consumes: objectTypes(), produces: objectTypes(), answers: ok(answer),
	}
}
