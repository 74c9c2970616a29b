package openapi

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/rest"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin"
)

// documents has the documents of the built-in table, and allParsed all v3 documents parsed. They
// are built once for all tests.
var documents = sync.OnceValue(func() *Documents { return New(builtin.Table()) })

var allParsed = sync.OnceValues(func() (map[string]*spec3.OpenAPI, error) {
	all := make(map[string]*spec3.OpenAPI)
	for name, get := range documents().v3 {
		all[name] = new(spec3.OpenAPI)
		if err := json.Unmarshal(get().JSON, all[name]); err != nil {
			return nil, err
		}
	}
	return all, nil
})

// parsed returns the parsed document of a version.
func parsed(t *testing.T, path string) *spec3.OpenAPI {
	t.Helper()
	all, err := allParsed()
	require.NoError(t, err)
	require.Contains(t, all, path)
	return all[path]
}

func operations(p *spec3.Path) map[string]*spec3.Operation {
	all := map[string]*spec3.Operation{"get": p.Get, "put": p.Put, "post": p.Post, "patch": p.Patch, "delete": p.Delete}
	for method, op := range all {
		if op == nil {
			delete(all, method)
		}
	}
	return all
}

func kindOf(t *testing.T, op *spec3.Operation) schema.GroupVersionKind {
	t.Helper()
	var gvk map[string]string
	require.NoError(t, op.Extensions.GetObject("x-kubernetes-group-version-kind", &gvk))
	return schema.GroupVersionKind{Group: gvk["group"], Version: gvk["version"], Kind: gvk["kind"]}
}

func has(parameters []*spec3.Parameter, name string) bool {
	return slices.ContainsFunc(parameters, func(p *spec3.Parameter) bool { return p.Name == name && p.In == "query" })
}

// Every kind has a PATCH with fieldValidation. kubectl looks for it in the first such operation
// before it relies on validation by the server.
func TestFieldValidationIsKnown(t *testing.T) {
	for _, r := range builtin.Table().Stored() {
		doc := parsed(t, versionPath(r.Group, r.Version))
		found := false
		for name, p := range doc.Paths.Paths {
			if p.Patch == nil || kindOf(t, p.Patch) != r.GroupVersionKind() {
				continue
			}
			found = true
			require.True(t, has(p.Patch.Parameters, "fieldValidation"), name)
			require.True(t, has(p.Patch.Parameters, "dryRun"), name)
			require.True(t, has(p.Patch.Parameters, "fieldManager"), name)
			require.True(t, has(p.Patch.Parameters, "force"), name)
			require.Len(t, p.Patch.RequestBody.Content, 4, name)
			require.Contains(t, p.Patch.RequestBody.Content, "application/strategic-merge-patch+json", name)
		}
		require.True(t, found, r.GroupVersionKind())
	}
}

// servedPaths returns the operations of a version of the table, as "GET /path".
func servedPaths(table *resource.Table, group, version string) []string {
	root := "/" + versionPath(group, version)
	all := []string{"get " + root + "/"}
	methods := map[string]string{"get": "get", "list": "get", "create": "post", "update": "put", "patch": "patch", "delete": "delete", "deletecollection": "delete"}
	add := func(at string, verbs []string, which ...string) {
		for _, verb := range which {
			if slices.Contains(verbs, verb) {
				all = append(all, methods[verb]+" "+at)
			}
		}
	}
	for _, r := range table.All() {
		if r.Group != group || r.Version != version {
			continue
		}
		at, watched := root+"/"+r.Plural, root+"/watch/"+r.Plural
		if r.Namespaced {
			add(at, r.Verbs, "list")
			if r.HasVerb("watch") {
				all = append(all, "get "+watched)
			}
			at, watched = root+"/namespaces/{namespace}/"+r.Plural, root+"/watch/namespaces/{namespace}/"+r.Plural
		}
		if r.HasVerb("watch") {
			all = append(all, "get "+watched, "get "+watched+"/{name}")
		}
		add(at, r.Verbs, "list", "create", "deletecollection")
		add(at+"/{name}", r.Verbs, "get", "update", "patch", "delete")
		for _, sub := range r.Subresources {
			add(at+"/{name}/"+sub.Name, sub.Verbs, "get", "create", "update", "patch", "delete")
			if sub.Name == "proxy" {
				add(at+"/{name}/proxy/{path}", sub.Verbs, "get", "create", "update", "patch", "delete")
			}
		}
	}
	return all
}

// The paths and operations are exactly those of the table, in v3 and in v2.
func TestPaths(t *testing.T) {
	all := []string{"get /api/", "get /apis/", "get /version/", "get /.well-known/openid-configuration/", "get /openid/v1/jwks/"}
	for _, g := range builtin.Table().Groups() {
		if g.Name != "" {
			all = append(all, "get /apis/"+g.Name+"/")
			require.Equal(t, []string{"get /apis/" + g.Name + "/"}, listed(parsed(t, "apis/"+g.Name).Paths.Paths))
		}
		for _, version := range g.Versions {
			want := servedPaths(builtin.Table(), g.Name, version)
			require.ElementsMatch(t, want, listed(parsed(t, versionPath(g.Name, version)).Paths.Paths))
			all = append(all, want...)
		}
	}
	var have []string
	for at, p := range swagger(t).Paths.Paths {
		for method, op := range operationsV2(p) {
			if op != nil {
				have = append(have, method+" "+at)
			}
		}
	}
	require.ElementsMatch(t, all, have)
	require.Greater(t, len(all), 700)
}

func listed(paths map[string]*spec3.Path) []string {
	var all []string
	for at, p := range paths {
		for method := range operations(p) {
			all = append(all, method+" "+at)
		}
	}
	return all
}

// The documents about the tokens of service accounts are described as texts.
func TestOpenIDDocuments(t *testing.T) {
	for name, c := range map[string]struct{ id, tag, media string }{
		".well-known/openid-configuration": {"getServiceAccountIssuerOpenIDConfiguration", "WellKnown", "application/json"},
		"openid/v1/jwks":                   {"getServiceAccountIssuerOpenIDKeyset", "openid", "application/jwk-set+json"},
	} {
		doc := parsed(t, name)
		require.Empty(t, doc.Components.Schemas)
		get := doc.Paths.Paths["/"+name+"/"].Get
		require.Equal(t, c.id, get.OperationId)
		require.Equal(t, []string{c.tag}, get.Tags)
		require.Equal(t, []string{c.media}, slices.Collect(maps.Keys(get.Responses.StatusCodeResponses[200].Content)))
		require.Equal(t, spec.StringOrArray{"string"}, get.Responses.StatusCodeResponses[200].Content[c.media].Schema.Type)
		require.Equal(t, "Unauthorized", get.Responses.StatusCodeResponses[401].Description)
		get2 := swagger(t).Paths.Paths["/"+name+"/"].Get
		require.Equal(t, []string{c.media}, get2.Produces)
		require.Empty(t, get2.Consumes)
		require.Equal(t, spec.StringOrArray{"string"}, get2.Responses.StatusCodeResponses[200].Schema.Type)
	}
}

func TestOperations(t *testing.T) {
	pods := parsed(t, "api/v1").Paths.Paths["/api/v1/namespaces/{namespace}/pods"]
	require.Equal(t, "listCoreV1NamespacedPod", pods.Get.OperationId)
	require.Equal(t, "createCoreV1NamespacedPod", pods.Post.OperationId)
	require.Equal(t, "deleteCoreV1CollectionNamespacedPod", pods.Delete.OperationId)
	require.Equal(t, []string{"core_v1"}, pods.Get.Tags)
	require.Equal(t, "deletecollection", pods.Delete.Extensions["x-kubernetes-action"])
	require.False(t, has(pods.Delete.Parameters, "watch"))
	require.True(t, has(pods.Delete.Parameters, "propagationPolicy"))
	require.True(t, has(pods.Get.Parameters, "resourceVersionMatch"))
	require.Equal(t, "create a Pod", pods.Post.Description)
	require.True(t, pods.Post.RequestBody.Required)
	require.Equal(t, modelRef("io.k8s.api.core.v1.Pod"), pods.Post.RequestBody.Content["*/*"].Schema.Ref.String())
	require.Contains(t, pods.Get.Responses.StatusCodeResponses[200].Content, "application/json;stream=watch")
	require.Equal(t, "Unauthorized", pods.Get.Responses.StatusCodeResponses[401].Description)
	require.Equal(t, modelRef("io.k8s.api.core.v1.PodList"), answered(pods.Get, "application/json"))

	pod := parsed(t, "api/v1").Paths.Paths["/api/v1/namespaces/{namespace}/pods/{name}"]
	require.Equal(t, modelRef("io.k8s.api.core.v1.Pod"), answered(pod.Delete, "application/json"))
	require.False(t, pod.Delete.RequestBody.Required)
	status := parsed(t, "api/v1").Paths.Paths["/api/v1/namespaces/{namespace}/pods/{name}/status"]
	for want, op := range map[string]*spec3.Operation{
		"list or watch objects of kind Pod":            pods.Get,
		"delete collection of Pod":                     pods.Delete,
		"read the specified Pod":                       pod.Get,
		"replace the specified Pod":                    pod.Put,
		"partially update the specified Pod":           pod.Patch,
		"delete a Pod":                                 pod.Delete,
		"read status of the specified Pod":             status.Get,
		"replace status of the specified Pod":          status.Put,
		"partially update status of the specified Pod": status.Patch,
	} {
		require.Equal(t, want, op.Description)
	}
	configMap := parsed(t, "api/v1").Paths.Paths["/api/v1/namespaces/{namespace}/configmaps/{name}"]
	require.Equal(t, modelRef(string(modelStatus)), answered(configMap.Delete, "application/json"))
	namespace := parsed(t, "api/v1").Paths.Paths["/api/v1/namespaces/{name}"]
	require.Equal(t, modelRef(string(modelStatus)), answered(namespace.Delete, "application/json"), "although it returns the Namespace")

	roles := parsed(t, "apis/rbac.authorization.k8s.io/v1").Paths.Paths
	require.Equal(t, []string{"rbacAuthorization_v1"}, roles["/apis/rbac.authorization.k8s.io/v1/clusterroles"].Get.Tags)
	require.Equal(t, "listRbacAuthorizationV1ClusterRole", roles["/apis/rbac.authorization.k8s.io/v1/clusterroles"].Get.OperationId)
	require.Equal(t, "listRbacAuthorizationV1RoleForAllNamespaces", roles["/apis/rbac.authorization.k8s.io/v1/roles"].Get.OperationId)
	watch := roles["/apis/rbac.authorization.k8s.io/v1/watch/roles"].Get
	require.Equal(t, "watchRbacAuthorizationV1RoleListForAllNamespaces", watch.OperationId)
	require.Equal(t, modelRef(string(modelWatchEvent)), answered(watch, "application/json;stream=watch"))
	require.Equal(t, "getRbacAuthorizationV1APIResources", roles["/apis/rbac.authorization.k8s.io/v1/"].Get.OperationId)
}

func TestOperationsOfSubresources(t *testing.T) {
	pod := "/api/v1/namespaces/{namespace}/pods/{name}/"
	core := parsed(t, "api/v1").Paths.Paths
	require.Equal(t, "createCoreV1NamespacedPodBinding", core[pod+"binding"].Post.OperationId)
	require.Equal(t, "create binding of a Pod", core[pod+"binding"].Post.Description)
	eviction := core[pod+"eviction"].Post
	require.Equal(t, schema.GroupVersionKind{Group: "policy", Version: "v1", Kind: "Eviction"}, kindOf(t, eviction))
	require.Equal(t, modelRef("io.k8s.api.policy.v1.Eviction"), answered(eviction, "application/json"))
	exec := core[pod+"exec"]
	require.Equal(t, "connectCoreV1GetNamespacedPodExec", exec.Get.OperationId)
	require.Equal(t, "connect", exec.Post.Extensions["x-kubernetes-action"])
	require.True(t, has(exec.Parameters, "command"))
	require.Equal(t, []string{"string"}, []string(core[pod+"log"].Get.Responses.StatusCodeResponses[200].Content["text/plain"].Schema.Type))
	require.True(t, has(core[pod+"log"].Parameters, "sinceTime"))
	scale := parsed(t, "apis/apps/v1").Paths.Paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale"]
	require.Equal(t, "patchAppsV1NamespacedDeploymentScale", scale.Patch.OperationId)
	require.Equal(t, modelRef("io.k8s.api.autoscaling.v1.Scale"), answered(scale.Get, "application/json"))
	require.Equal(t, "patchCoreV1NodeStatus", core["/api/v1/nodes/{name}/status"].Patch.OperationId)
	token := core["/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"].Post
	require.Equal(t, modelRef("io.k8s.api.authentication.v1.TokenRequest"), answered(token, "application/json"))
}

func modelRef(name string) string { return "#/components/schemas/" + name }

func answered(op *spec3.Operation, media string) string {
	return op.Responses.StatusCodeResponses[200].Content[media].Schema.Ref.String()
}

// Operation identifiers are unique in a document, all references resolve, and every schema is
// referenced.
func TestDocumentsAreConsistent(t *testing.T) {
	docs := documents()
	for name := range docs.v3 {
		body := docs.V3(name).JSON
		doc := parsed(t, name)
		require.Equal(t, "3.0.0", doc.Version)
		seen := make(map[string]string)
		for at, p := range doc.Paths.Paths {
			for method, op := range operations(p) {
				require.Empty(t, seen[op.OperationId], "%s %s", method, at)
				seen[op.OperationId] = at
			}
		}
		requireReferences(t, body, "#/components/schemas/", doc.Components.Schemas)
		again, err := json.Marshal(doc)
		require.NoError(t, err)
		require.JSONEq(t, string(body), string(again), "%s is what the types of OpenAPI hold", name)
	}
}

// requireReferences checks that the references in body are exactly the schemas.
func requireReferences[V any](t *testing.T, body []byte, prefix string, schemas map[string]V) {
	t.Helper()
	targets := make(map[string]bool)
	for _, part := range strings.Split(string(body), `"$ref":"`+prefix)[1:] {
		target, _, _ := strings.Cut(part, `"`)
		targets[target] = true
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(schemas)), slices.Collect(maps.Keys(targets)))
}

// TestClient reads the documents with client-go, as kubectl does.
func TestClient(t *testing.T) {
	docs := documents()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == V3Root {
			_, _ = w.Write(docs.V3Index())
			return
		}
		doc := docs.V3(strings.TrimPrefix(r.URL.Path, V3Root+"/"))
		if doc == nil || r.URL.Query().Get("hash") != doc.Hash {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(doc.JSON)
	}))
	t.Cleanup(server.Close)
	client, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: server.URL})
	require.NoError(t, err)
	root := openapi3.NewRoot(client.OpenAPIV3())

	versions, err := root.GroupVersions()
	require.NoError(t, err)
	var want []schema.GroupVersion
	for _, g := range builtin.Table().Groups() {
		for _, v := range g.Versions {
			want = append(want, schema.GroupVersion{Group: g.Name, Version: v})
		}
	}
	require.ElementsMatch(t, want, versions)
	for _, gv := range versions {
		doc, err := root.GVSpec(gv)
		require.NoError(t, err)
		require.NotEmpty(t, doc.Paths.Paths)
	}
	_, err = root.GVSpec(schema.GroupVersion{Group: "example.com", Version: "v1"})
	require.ErrorAs(t, err, new(*openapi3.GroupVersionNotFoundError))
}

func TestDocuments(t *testing.T) {
	one, other := documents(), New(builtin.Table())
	for _, name := range []string{"", "apis/apps/v2", "/apis/apps/v1", "apis/apps/v1/", "apis/"} {
		require.Nil(t, one.V3(name), name)
	}
	require.Equal(t, string(one.V3Index()), string(other.V3Index()), "documents depend on the table only")
	require.Equal(t, one.V2().Hash, other.V2().Hash)
	var index struct {
		Paths map[string]IndexEntry `json:"paths"`
	}
	require.NoError(t, json.Unmarshal(one.V3Index(), &index))
	require.Len(t, index.Paths, len(one.v3))
	doc := one.V3("apis/apps/v1")
	require.Equal(t, "/openapi/v3/apis/apps/v1?hash="+doc.Hash, index.Paths["apis/apps/v1"].ServerRelativeURL)
	require.Regexp(t, "^[0-9A-F]{128}$", doc.Hash)
	require.Same(t, doc, one.V3("apis/apps/v1"), "made twice")
}

// The protobuf document equals the JSON document.
func TestProtobufV3(t *testing.T) {
	doc := documents().V3("apis/apps/v1")
	message := new(openapi_v3.Document)
	require.NoError(t, proto.Unmarshal(doc.Protobuf(), message))
	require.Equal(t, "3.0.0", message.Openapi)
	require.Len(t, message.Paths.Path, len(parsed(t, "apis/apps/v1").Paths.Paths))
	require.Len(t, message.Components.Schemas.AdditionalProperties, len(parsed(t, "apis/apps/v1").Components.Schemas))
}

// BenchmarkDocuments builds documents without any cache. The case parse is a client's parsing of
// the v2 document.
func BenchmarkDocuments(b *testing.B) {
	table := builtin.Table()
	for _, c := range []struct {
		name string
		ask  func(*Documents) []byte
	}{
		{"core", func(d *Documents) []byte { return d.V3("api/v1").JSON }},
		{"index", (*Documents).V3Index},
		{"v2", func(d *Documents) []byte { return d.V2().JSON }},
		{"v2-protobuf", func(d *Documents) []byte { return d.V2().Protobuf() }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.SetBytes(int64(len(c.ask(New(table)))))
			}
		})
	}
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			require.NoError(b, json.Unmarshal(documents().V2().JSON, new(spec.Swagger)))
		}
	})
}
