package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// customCases returns the cases on custom resources for rules whose cases on built-in types are
// elsewhere (NM-01, NM-19, LS-03, WA-28, WA-33).
func customCases() []Case {
	return []Case{
		onBasicCRs(Case{
			ID: "NM-01/custom", Level: Must, Title: "the name of a custom object can be used again in another namespace and by another type",
			Why: "names are unique within a namespace and type only", Source: docMetadata,
		}, func(ctx context.Context, s *session, c collection) error {
			other, err := c.inNewNamespace(ctx)
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
		withCRDPerCase(Case{
			ID: "NM-19/custom", Level: Must, Title: "the namespace of a cluster-scoped custom object is cleared",
			Why: "the object has no namespace", Source: "apiserver registry/rest/meta.go",
		}, object{}, checkNamespaceOfClusterCR),
		onBasicCRs(Case{
			ID: "LS-03/custom", Level: Must, Title: "a list of custom objects in a namespace that does not exist is empty",
			Why: "listing must work before and after the namespace exists", Source: "apiserver registry/generic/registry/store.go",
		}, func(ctx context.Context, s *session, c collection) error {
			c.namespace = s.absentNamespace()
			return s.expect(ctx, get(c.path()), code(200), kind(c.apiVersion, c.kind+"List"), valueAt([]any{}, "items"))
		}),
		onBasicCRs(Case{
			ID: "WA-28/custom", Level: Must, Title: "a watch of custom objects across namespaces sends the events of the watches of each namespace",
			Why: "one informer for all namespaces must see what single ones see", Source: docURIs,
		}, checkWatchAcrossNamespaces),
		onBasicCRs(Case{
			ID: "WA-33/custom", Level: Must, Title: "a watch of custom objects can use a WebSocket",
			Why: "browsers cannot read a stream in another way", Source: "Kubernetes API conventions, WebSockets and SPDY",
		}, checkWatchOverWebSocket),
	}
}

func checkNamespaceOfClusterCR(ctx context.Context, d crdPerCase) error {
	d.spec()["scope"] = "Cluster"
	if err := d.create(ctx, code(201)); err != nil {
		return err
	}
	c := d.collection("v1")
	if err := d.s.waitFor(ctx, get(c.allNamespacesPath()), code(200)); err != nil {
		return fmt.Errorf("waiting for the custom resource to be served: %w", err)
	}
	path, cleared := c.allNamespacesPath()+"/a", noField("metadata", "namespace")
	wrongNamespace := func() object { return c.object("a").withMeta("namespace", "somewhere") }
	made, err := d.s.doObject(ctx, post(c.allNamespacesPath(), wrongNamespace()), code(201), cleared)
	if err != nil {
		return err
	}
	return d.s.expectAll(ctx,
		send(put(path, wrongNamespace().withMeta("resourceVersion", made.ResourceVersion)), code(200), cleared),
		send(mergePatch(path, object{"metadata": object{"namespace": "somewhere"}}), code(200), cleared),
		send(apply(path, wrongNamespace()), code(200), cleared),
		send(get(path), code(200), cleared),
	)
}

// customDocumentCases returns the cases about custom resources in discovery and OpenAPI (DI-02,
// DI-04, DI-10, DI-12, DI-18).
func customDocumentCases() []Case {
	about := func(id, title, why string, check perCaseCheck) Case {
		return onCRDPerCase(Case{ID: id, Level: Must, Title: title, Why: why, Source: docCRHandler}, object{"spec": objectSchema(object{"size": typeSchema("integer")})}, check)
	}
	return []Case{
		about("DI-02/custom", "the group and the version of a custom resource have discovery documents", "clients find custom resources in discovery only",
			func(ctx context.Context, d crdPerCase, c collection) error {
				if err := d.s.waitFor(ctx, get("/apis/"+d.group), code(200), kind("v1", "APIGroup"), field(d.group, "name"), field("v1", "preferredVersion", "version")); err != nil {
					return err
				}
				return d.s.waitFor(ctx, get(c.root), code(200), kind("v1", "APIResourceList"), field(c.apiVersion, "groupVersion"), itemsHave([]string{"gears", "gears/status"}, "name", "resources"))
			}),
		about("DI-04/custom", "discovery describes a custom resource by its names, scope, kind, verbs and the hash of its storage version",
			"clients map kinds to paths with it", checkCRDiscovery),
		about("DI-10/custom", "a custom resource in the aggregated form has its kind, scope, verbs and subresources", "clients have no other source for them", checkCRAggregatedDiscovery),
		about("DI-12/custom", "the listed verbs of a custom resource are those that are supported", "controllers choose what to watch by its verbs",
			func(ctx context.Context, d crdPerCase, c collection) error {
				if err := d.s.expectVerbs(ctx, c.path(), customVerbs); err != nil {
					return err
				}
				return d.s.expect(ctx, get(c.path()+"?watch=1&timeoutSeconds=1"), code(200))
			}),
		about("DI-18/custom", "OpenAPI v3 has a document for the custom resource, which follows changes of its schema", "kubectl explain and client-side validation use it", checkCROpenAPI),
	}
}

// customVerbs are the verbs of every custom resource, sorted.
var customVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

func checkCRDiscovery(ctx context.Context, d crdPerCase, c collection) error {
	return poll(ctx, func(ctx context.Context) error {
		found, err := d.s.discoverResource(ctx, c.apiVersion, "gears")
		if err != nil {
			return err
		}
		switch {
		case found == nil:
			return fmt.Errorf("expected gears among the resources of %s", c.apiVersion)
		case found.SingularName != "gear" || !found.Namespaced || found.Kind != "Gear":
			return fmt.Errorf("expected the namespaced gear of kind Gear, got %+v", found)
		case !slices.Equal(slices.Sorted(slices.Values(found.Verbs)), customVerbs):
			return fmt.Errorf("expected the verbs %v, got %v", customVerbs, found.Verbs)
		case !storageHashPattern.MatchString(found.StorageVersionHash):
			return fmt.Errorf("expected a hash of the stored version, got %q", found.StorageVersionHash)
		}
		status, err := d.s.discoverResource(ctx, c.apiVersion, "gears/status")
		if err != nil {
			return err
		}
		if status == nil || status.Kind != "Gear" || status.SingularName != "" || !slices.Equal(slices.Sorted(slices.Values(status.Verbs)), []string{"get", "patch", "update"}) {
			return fmt.Errorf("expected the subresource gears/status of kind Gear to get, patch and update, got %+v", status)
		}
		return nil
	})
}

func checkCRAggregatedDiscovery(ctx context.Context, d crdPerCase, c collection) error {
	return poll(ctx, func(ctx context.Context) error { // documents that are merged from several servers are updated late
		groups, r, err := d.s.aggregatedDiscovery(ctx, "/apis")
		if err != nil {
			return err
		}
		i := slices.IndexFunc(groups, func(g groupDiscovery) bool { return g.Metadata.Name == d.group })
		if i < 0 || len(groups[i].Versions) != 1 || len(groups[i].Versions[0].Resources) != 1 {
			return r.errorf("expected the group %s with gears only", d.group)
		}
		version := groups[i].Versions[0]
		found := version.Resources[0]
		if version.Version != "v1" || version.Freshness != "Current" {
			return r.errorf("expected v1 of %s to be Current, got %s %s", d.group, version.Version, version.Freshness)
		}
		kind := found.ResponseKind
		if found.Resource != "gears" || found.SingularResource != "gear" || found.Scope != "Namespaced" || kind.Group != d.group || kind.Version != "v1" || kind.Kind != "Gear" {
			return r.errorf("expected the namespaced gear of kind Gear, got %+v", found)
		}
		if !slices.Equal(slices.Sorted(slices.Values(found.Verbs)), customVerbs) {
			return r.errorf("expected the verbs %v, got %v", customVerbs, found.Verbs)
		}
		if len(found.Subresources) != 1 || found.Subresources[0].Subresource != "status" || found.Subresources[0].ResponseKind.Kind != "Gear" {
			return r.errorf("expected the subresource status of kind Gear, got %+v", found.Subresources)
		}
		return nil
	})
}

// checkCROpenAPI waits until the document has the schema, and again after a change.
func checkCROpenAPI(ctx context.Context, d crdPerCase, c collection) error {
	path := "apis/" + c.apiVersion
	item := []string{"paths", "/" + path + "/namespaces/{namespace}/gears/{name}", "get"}
	var before string
	for _, size := range []string{"integer", "string"} {
		if size == "string" {
			if err := d.patch(ctx, setOp(propertyPath("spec/properties/size"), typeSchema("string"))); err != nil {
				return err
			}
		}
		err := poll(ctx, func(ctx context.Context) error {
			addresses, r, err := openAPIURLs(ctx, d.s)
			if err != nil {
				return err
			}
			address := addresses[path]
			if !strings.HasPrefix(address, "/openapi/v3/"+path+"?hash=") || address == before {
				return r.errorf("expected a new path of %s with its hash, got %q", path, address)
			}
			before = address
			return nil
		})
		if err != nil {
			return err
		}
		if err := d.s.waitFor(ctx, get("/openapi/v3/"+path), code(200), field("get", append(slices.Clone(item), "x-kubernetes-action")...),
			field("Gear", append(slices.Clone(item), gvkExtension, "kind")...), hasSizeOfType(size)); err != nil {
			return err
		}
	}
	return nil
}

// hasSizeOfType expects a schema of Gears with a field spec.size of this type.
func hasSizeOfType(kind string) expectation {
	return func(r *response) error {
		type schema struct {
			Type       string
			Properties map[string]struct {
				Properties map[string]struct{ Type string }
			}
		}
		var doc struct {
			Components struct{ Schemas map[string]schema }
		}
		if err := r.decode(&doc); err != nil {
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
