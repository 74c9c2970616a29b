package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// customCases say of custom resources what has a case on built-in types under the same rule (NM-01, NM-19, LS-03, WA-28, WA-33).
func customCases() []Case {
	return []Case{
		onWidgets(Case{
			ID: "NM-01/custom", Level: Must, Title: "the name of a custom object may be used again in another namespace, and by another type",
			Why: "names are unique within a namespace and type, and nowhere else", Source: docMetadata,
		}, func(ctx context.Context, s *session, c collection) error {
			other, err := c.sibling(ctx)
			if err != nil {
				return err
			}
			secrets := collection{s: s, root: "/api/v1", apiVersion: "v1", kind: "Secret", resource: "secrets", namespace: c.namespace}
			for _, in := range []collection{c, other, secrets} {
				if _, err := in.create(ctx, in.object("a")); err != nil {
					return err
				}
			}
			return nil
		}),
		defining(Case{
			ID: "NM-19/custom", Level: Must, Title: "a namespace sent for a custom object of the cluster is taken away",
			Why: "the object would seem to be where it is not", Source: "apiserver registry/rest/meta.go",
		}, object{}, namespaceOfClusterGear),
		onWidgets(Case{
			ID: "LS-03/custom", Level: Must, Title: "a list of custom objects in a namespace that does not exist is empty",
			Why: "listing must work before and after the life of a namespace", Source: "apiserver registry/generic/registry/store.go",
		}, func(ctx context.Context, s *session, c collection) error {
			c.namespace = s.absent()
			return s.try(ctx, get(c.path()), code(200), kind(c.apiVersion, c.kind+"List"), holds([]any{}, "items"))
		}),
		onWidgets(Case{
			ID: "WA-28/custom", Level: Must, Title: "a watch of custom objects across namespaces has the events of each namespace's own watch",
			Why: "one informer for all must see what many would", Source: docURIs,
		}, acrossAndWithin),
		onWidgets(Case{
			ID: "WA-33/custom", Level: Must, Title: "a watch of custom objects can be a WebSocket",
			Why: "browsers have no other way to follow a stream", Source: "Kubernetes API conventions, WebSockets and SPDY",
		}, watchOverSocket),
	}
}

func namespaceOfClusterGear(ctx context.Context, d definition) error {
	d.spec()["scope"] = "Cluster"
	if err := d.send(ctx, code(201)); err != nil {
		return err
	}
	c := d.in("v1")
	if err := d.s.until(ctx, get(c.everywhere()), code(200)); err != nil {
		return fmt.Errorf("waiting for the custom resource to be served: %w", err)
	}
	path, cleared := c.everywhere()+"/a", absent("metadata", "namespace")
	misplaced := func() object { return c.object("a").meta("namespace", "somewhere") }
	made, err := d.s.object(ctx, post(c.everywhere(), misplaced()), code(201), cleared)
	if err != nil {
		return err
	}
	return d.s.all(ctx,
		ask(put(path, misplaced().meta("resourceVersion", made.ResourceVersion)), code(200), cleared),
		ask(mergePatch(path, object{"metadata": object{"namespace": "somewhere"}}), code(200), cleared),
		ask(apply(path, misplaced()), code(200), cleared),
		ask(get(path), code(200), cleared),
	)
}

// customDocumentCases are about custom resources in the documents of the API (DI-02, DI-04, DI-10, DI-12, DI-18).
func customDocumentCases() []Case {
	about := func(id, title, why string, check gearCheck) Case {
		return onGears(Case{ID: id, Level: Must, Title: title, Why: why, Source: docCRHandler}, object{"spec": record(object{"size": typed("integer")})}, check)
	}
	return []Case{
		about("DI-02/custom", "the group of a custom resource and its version have documents", "clients find custom resources nowhere else",
			func(ctx context.Context, d definition, c collection) error {
				if err := d.s.until(ctx, get("/apis/"+d.group), code(200), kind("v1", "APIGroup"), field(d.group, "name"), field("v1", "preferredVersion", "version")); err != nil {
					return err
				}
				return d.s.until(ctx, get(c.root), code(200), kind("v1", "APIResourceList"), field(c.apiVersion, "groupVersion"), lists([]string{"gears", "gears/status"}, "name", "resources"))
			}),
		about("DI-04/custom", "a custom resource is described by its names, scope, kind, verbs, and the hash of its stored version",
			"clients map kinds to paths by it", describedGear),
		about("DI-10/custom", "a custom resource in the aggregated form has its kind, scope, verbs and subresources", "clients know nothing else of it", aggregatedGear),
		about("DI-12/custom", "the verbs of a custom resource are those that work", "controllers choose what to watch by its verbs",
			func(ctx context.Context, d definition, c collection) error {
				for _, one := range trials {
					path := c.path()
					if one.item {
						path = c.item("absent")
					}
					if err := d.s.tryVerb(ctx, call{method: one.method, path: path}, true); err != nil {
						return fmt.Errorf("%s: %w", one.verb, err)
					}
				}
				return d.s.try(ctx, get(c.path()+"?watch=1&timeoutSeconds=1"), code(200))
			}),
		about("DI-18/custom", "OpenAPI v3 has a document of the custom resource, which follows its schema", "kubectl explain and validation read it there", openAPIOfGears),
	}
}

// customVerbs are those of every custom resource, in order.
var customVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

func describedGear(ctx context.Context, d definition, c collection) error {
	return poll(ctx, func(ctx context.Context) error {
		gears, err := d.s.resource(ctx, c.apiVersion, "gears")
		if err != nil {
			return err
		}
		switch {
		case gears == nil:
			return fmt.Errorf("expected gears among the resources of %s", c.apiVersion)
		case gears.SingularName != "gear" || !gears.Namespaced || gears.Kind != "Gear":
			return fmt.Errorf("expected the namespaced gear of kind Gear, got %+v", gears)
		case !slices.Equal(slices.Sorted(slices.Values(gears.Verbs)), customVerbs):
			return fmt.Errorf("expected the verbs %v, got %v", customVerbs, gears.Verbs)
		case !hash.MatchString(gears.StorageVersionHash):
			return fmt.Errorf("expected a hash of the stored version, got %q", gears.StorageVersionHash)
		}
		status, err := d.s.resource(ctx, c.apiVersion, "gears/status")
		if err != nil {
			return err
		}
		if status == nil || status.Kind != "Gear" || status.SingularName != "" || !slices.Equal(slices.Sorted(slices.Values(status.Verbs)), []string{"get", "patch", "update"}) {
			return fmt.Errorf("expected the subresource gears/status of kind Gear to get, patch and update, got %+v", status)
		}
		return nil
	})
}

func aggregatedGear(ctx context.Context, d definition, c collection) error {
	return poll(ctx, func(ctx context.Context) error { // what is put together from several servers is late
		groups, a, err := d.s.aggregated(ctx, "/apis")
		if err != nil {
			return err
		}
		i := slices.IndexFunc(groups, func(g groupDiscovery) bool { return g.Metadata.Name == d.group })
		if i < 0 || len(groups[i].Versions) != 1 || len(groups[i].Versions[0].Resources) != 1 {
			return a.errorf("expected the group %s with gears alone", d.group)
		}
		version := groups[i].Versions[0]
		gears := version.Resources[0]
		if version.Version != "v1" || version.Freshness != "Current" {
			return a.errorf("expected v1 of %s to be Current, got %s %s", d.group, version.Version, version.Freshness)
		}
		kind := gears.ResponseKind
		if gears.Resource != "gears" || gears.SingularResource != "gear" || gears.Scope != "Namespaced" || kind.Group != d.group || kind.Version != "v1" || kind.Kind != "Gear" {
			return a.errorf("expected the namespaced gear of kind Gear, got %+v", gears)
		}
		if !slices.Equal(slices.Sorted(slices.Values(gears.Verbs)), customVerbs) {
			return a.errorf("expected the verbs %v, got %v", customVerbs, gears.Verbs)
		}
		if len(gears.Subresources) != 1 || gears.Subresources[0].Subresource != "status" || gears.Subresources[0].ResponseKind.Kind != "Gear" {
			return a.errorf("expected the subresource status of kind Gear, got %+v", gears.Subresources)
		}
		return nil
	})
}

// openAPIOfGears reads the document until it has the schema, and again after a change.
func openAPIOfGears(ctx context.Context, d definition, c collection) error {
	path := "apis/" + c.apiVersion
	item := []string{"paths", "/" + path + "/namespaces/{namespace}/gears/{name}", "get"}
	var before string
	for _, size := range []string{"integer", "string"} {
		if size == "string" {
			if err := d.change(ctx, set(property("spec/properties/size"), typed("string"))); err != nil {
				return err
			}
		}
		err := poll(ctx, func(ctx context.Context) error {
			addresses, a, err := openAPIAddresses(ctx, d.s)
			if err != nil {
				return err
			}
			address := addresses[path]
			if !strings.HasPrefix(address, "/openapi/v3/"+path+"?hash=") || address == before {
				return a.errorf("expected a new address of %s with its hash, got %q", path, address)
			}
			before = address
			return nil
		})
		if err != nil {
			return err
		}
		if err := d.s.until(ctx, get("/openapi/v3/"+path), code(200), field("get", append(slices.Clone(item), "x-kubernetes-action")...),
			field("Gear", append(slices.Clone(item), extensionOfKind, "kind")...), gearHasSize(size)); err != nil {
			return err
		}
	}
	return nil
}

// gearHasSize expects a schema of Gears whose spec has a size of this type.
func gearHasSize(kind string) expectation {
	return func(a *answer) error {
		type schema struct {
			Type       string
			Properties map[string]struct {
				Properties map[string]struct{ Type string }
			}
		}
		var doc struct {
			Components struct{ Schemas map[string]schema }
		}
		if err := a.decode(&doc); err != nil {
			return err
		}
		for name, one := range doc.Components.Schemas {
			if !strings.HasSuffix(name, ".v1.Gear") {
				continue
			}
			if got := one.Properties["spec"].Properties["size"].Type; got != kind {
				return fmt.Errorf("expected spec.size to be of type %s in %s, got %q", kind, name, got)
			}
			return nil
		}
		return fmt.Errorf("expected a schema of Gear")
	}
}
