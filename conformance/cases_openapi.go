package conformance

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// openAPICases returns the cases about OpenAPI (DI-18).
func openAPICases() []Case {
	about := func(id, title, why string, check checkFunc) Case {
		return Case{
			ID: "DI-18/" + id, Level: Must, Title: title, Why: why,
			Source: "Kubernetes API Concepts, OpenAPI interface definition; KEP-2896", check: check,
		}
	}
	return []Case{
		about("index", "the index of OpenAPI v3 lists each group and version with a URL that contains a hash",
			"clients find the documents with it, and read only those that changed", checkOpenAPIIndex),
		about("hash", "a document requested with its hash can be cached forever, one without it not; another hash redirects to it",
			"kubectl caches documents by URL", checkOpenAPIByHash),
		about("unchanged", "If-None-Match with the current ETag of a document is answered 304",
			"documents have megabytes, and clients request them often", checkOpenAPIETag),
		about("operations", "a document of v3 has the paths of its group and version, with the kind of each operation",
			"kubectl detects the features of a kind there, such as validation", checkOpenAPIOperations),
		about("schemas", "a document of v3 has the schemas of its kinds, and all referenced schemas",
			"kubectl explain shows them, and kubectl apply merges lists with them", checkOpenAPISchemas),
		about("secondVersion", "the document of OpenAPI v2 has paths and definitions",
			"older clients read v2 only", checkOpenAPIV2),
		about("protobuf", "both versions are served in protobuf, also with the older media type",
			"client-go reads v2 in protobuf only", checkOpenAPIProtobuf),
		about("notAcceptable", "an unsupported media type is rejected",
			"a client that cannot read JSON must not get JSON", checkOpenAPINotAcceptable),
	}
}

// openAPIURLs returns the URL of each document in the index, by its path.
func openAPIURLs(ctx context.Context, s *session) (map[string]string, *response, error) {
	r, err := s.do(ctx, get("/openapi/v3"), code(200))
	if err != nil {
		return nil, nil, err
	}
	var index struct {
		Paths map[string]struct {
			ServerRelativeURL string `json:"serverRelativeURL"`
		} `json:"paths"`
	}
	if err := r.decode(&index); err != nil {
		return nil, nil, err
	}
	addresses := make(map[string]string, len(index.Paths))
	for path, entry := range index.Paths {
		addresses[path] = entry.ServerRelativeURL
	}
	if addresses["api/v1"] == "" {
		return nil, nil, r.errorf("expected api/v1 among %v", slices.Sorted(maps.Keys(addresses)))
	}
	return addresses, r, nil
}

func checkOpenAPIIndex(ctx context.Context, s *session) error {
	addresses, r, err := openAPIURLs(ctx, s)
	if err != nil {
		return err
	}
	for path, address := range addresses {
		if hash, ok := strings.CutPrefix(address, "/openapi/v3/"+path+"?hash="); !ok || hash == "" {
			return r.errorf("expected the path of %s with its hash, got %s", path, address)
		}
	}
	return nil
}

func checkOpenAPIByHash(ctx context.Context, s *session) error {
	addresses, _, err := openAPIURLs(ctx, s)
	if err != nil {
		return err
	}
	address, err := url.Parse(addresses["api/v1"])
	if err != nil {
		return err
	}
	hash := address.Query().Get("hash")
	tag := headerIs("ETag", `"`+hash+`"`)
	if err := s.expect(ctx, get(address.String()), code(200), tag, headerIs("Cache-Control", "public, immutable")); err != nil {
		return err
	}
	if err := s.expect(ctx, get(address.Path), code(200), tag, headerIs("Cache-Control", "no-cache, private")); err != nil {
		return err
	}
	// A client follows the redirect unless it is configured not to.
	other, err := s.do(ctx, get(address.Path+"?hash=other"), code(200, 301), tag)
	if err == nil && other.code == 301 {
		return other.expect(headerIs("Location", address.String()))
	}
	return err
}

func checkOpenAPIETag(ctx context.Context, s *session) error {
	for _, path := range []string{"/openapi/v3/api/v1", "/openapi/v2"} {
		// The combined document may change at the same time, as CRDs are added and removed.
		if err := poll(ctx, func(ctx context.Context) error {
			r, err := s.do(ctx, get(path), code(200))
			if err != nil {
				return err
			}
			tag := r.header.Get("ETag")
			if tag == "" {
				return r.errorf("expected an ETag")
			}
			return s.expect(ctx, get(path).withIfNoneMatch(tag), code(304))
		}); err != nil {
			return err
		}
		if err := s.expect(ctx, get(path).withIfNoneMatch(`"other"`), code(200)); err != nil {
			return err
		}
	}
	return nil
}

func checkOpenAPIOperations(ctx context.Context, s *session) error {
	secret := []string{"paths", "/api/v1/namespaces/{namespace}/secrets/{name}"}
	for method, action := range sortedByKey(map[string]string{"get": "get", "put": "put", "patch": "patch", "delete": "delete"}) {
		at := append(slices.Clone(secret), method)
		if err := s.expect(ctx, get("/openapi/v3/api/v1"), code(200),
			field(action, append(at, "x-kubernetes-action")...),
			field("Secret", append(at, gvkExtension, "kind")...),
			field("v1", append(at, gvkExtension, "version")...)); err != nil {
			return err
		}
	}
	return s.expect(ctx, get("/openapi/v3/api/v1"), openAPIHasParameter("fieldValidation"))
}

const gvkExtension = "x-kubernetes-group-version-kind"

// openAPIHasParameter expects that the patch of a secret has a parameter.
func openAPIHasParameter(name string) expectation {
	return func(r *response) error {
		type parameters []struct{ Name, In string }
		var doc struct {
			Paths map[string]struct {
				Parameters parameters
				Patch      struct{ Parameters parameters }
			}
		}
		if err := r.decode(&doc); err != nil {
			return err
		}
		path := doc.Paths["/api/v1/namespaces/{namespace}/secrets/{name}"]
		for _, p := range slices.Concat(path.Parameters, path.Patch.Parameters) {
			if p.Name == name && p.In == "query" {
				return nil
			}
		}
		return fmt.Errorf("expected a parameter %s of the patch of a secret", name)
	}
}

func checkOpenAPISchemas(ctx context.Context, s *session) error {
	r, err := s.do(ctx, get("/openapi/v3/api/v1"), code(200))
	if err != nil {
		return err
	}
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]map[string]any
				Required   []string
			}
		}
	}
	if err := r.decode(&doc); err != nil {
		return err
	}
	schemas := doc.Components.Schemas
	for _, reference := range strings.Split(string(r.body), `"#/components/schemas/`)[1:] {
		name, _, _ := strings.Cut(reference, `"`)
		if _, ok := schemas[name]; !ok {
			return r.errorf("expected the schema %s, which is referenced", name)
		}
	}
	port := schemas["io.k8s.api.core.v1.ServicePort"]
	if port.Properties["port"]["type"] != "integer" || !slices.Contains(port.Required, "port") {
		return r.errorf("expected the port of a ServicePort to be a required number, got %v", port)
	}
	ports := schemas["io.k8s.api.core.v1.ServiceSpec"].Properties["ports"]
	for extension, want := range sortedByKey(map[string]string{
		"x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "port", "x-kubernetes-list-type": "map",
	}) {
		if ports[extension] != want {
			return r.errorf("expected %s %s of the ports of a Service, got %v", extension, want, ports[extension])
		}
	}
	return nil
}

func checkOpenAPIV2(ctx context.Context, s *session) error {
	return s.expect(ctx, get("/openapi/v2"), code(200), mediaType("application/json"),
		field("2.0", "swagger"),
		field("listCoreV1NamespacedSecret", "paths", "/api/v1/namespaces/{namespace}/secrets", "get", "operationId"),
		field("integer", "definitions", "io.k8s.api.core.v1.ServicePort", "properties", "port", "type"))
}

func checkOpenAPIProtobuf(ctx context.Context, s *session) error {
	for version, path := range sortedByKey(map[string]string{"v2": "/openapi/v2", "v3": "/openapi/v3/api/v1"}) {
		want := "application/com.github.proto-openapi.spec." + version + ".v1.0+protobuf"
		for _, requested := range []string{want, strings.Replace(want, version+".", version+"@", 1)} {
			r, err := s.do(ctx, get(path).withAccept(requested), code(200), mediaType(want))
			if err != nil {
				return err
			}
			// The first field of the message is the OpenAPI version.
			if begin := map[string]string{"v2": "\n\x032.0", "v3": "\n\x053.0.0"}[version]; !strings.HasPrefix(string(r.body), begin) {
				return r.errorf("expected a message that starts with %q", begin)
			}
		}
	}
	return nil
}

func checkOpenAPINotAcceptable(ctx context.Context, s *session) error {
	for _, path := range []string{"/openapi/v2", "/openapi/v3/api/v1"} {
		if err := s.expect(ctx, get(path).withAccept("application/xml"), code(406)); err != nil {
			return err
		}
	}
	return nil
}

// headerIs expects a header.
func headerIs(name, want string) expectation {
	return func(r *response) error {
		if got := r.header.Get(name); got != want {
			return r.errorf("expected the header %s: %s, got %q", name, want, got)
		}
		return nil
	}
}
