package openapi

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/rest"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"example.com/fakeapi/fake/internal/resource"
)

// documents are those of the built-in table, and all of them parsed: made once
// for the tests, for they are large.
var documents = sync.OnceValue(func() *Documents { return New(resource.Builtin()) })

var allParsed = sync.OnceValues(func() (map[string]*spec3.OpenAPI, error) {
	all := make(map[string]*spec3.OpenAPI)
	for name, get := range documents().documents {
		all[name] = new(spec3.OpenAPI)
		if err := json.Unmarshal(get().body, all[name]); err != nil {
			return nil, err
		}
	}
	return all, nil
})

// parsed gives the document of a version as its readers see it.
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

// Every kind has a PATCH that takes fieldValidation: that is what kubectl looks
// for, in the first such operation that it meets, before it leaves validation
// to the server.
func TestFieldValidationIsKnown(t *testing.T) {
	for _, r := range resource.Builtin().Kept() {
		doc := parsed(t, path(r.Group, r.Version))
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
			var types []string
			for media := range p.Patch.RequestBody.Content {
				types = append(types, media)
			}
			// With strategic merge listed, a client would build such patches from
			// schemas that have no merge keys.
			require.ElementsMatch(t, []string{"application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json"}, types, name)
		}
		require.True(t, found, r.GroupVersionKind())
	}
}

// Paths and operations are those of the table, no more and no less.
func TestPaths(t *testing.T) {
	for _, r := range resource.Builtin().Kept() {
		doc := parsed(t, path(r.Group, r.Version))
		root := "/" + path(r.Group, r.Version)
		collection := root + "/" + r.Plural
		if r.Namespaced {
			collection = root + "/namespaces/{namespace}/" + r.Plural
			all := doc.Paths.Paths[root+"/"+r.Plural]
			require.Equal(t, []string{"get"}, methods(all))
			require.True(t, has(all.Parameters, "labelSelector"))
		}
		want := []string{"delete", "get", "post"}
		if !r.HasVerb("deletecollection") {
			want = []string{"get", "post"}
		}
		require.Equal(t, want, methods(doc.Paths.Paths[collection]), collection)
		require.True(t, has(doc.Paths.Paths[collection].Get.Parameters, "resourceVersionMatch"))
		require.True(t, has(doc.Paths.Paths[collection].Post.Parameters, "fieldValidation"))
		require.Equal(t, []string{"delete", "get", "patch", "put"}, methods(doc.Paths.Paths[collection+"/{name}"]))
		for _, sub := range r.Subresources {
			at := collection + "/{name}/" + sub.Name
			require.Contains(t, doc.Paths.Paths, at)
			require.Len(t, methods(doc.Paths.Paths[at]), len(sub.Verbs), at)
			for method, op := range operations(doc.Paths.Paths[at]) {
				require.Equal(t, sub.Kind, kindOf(t, op), "%s %s", method, at)
			}
		}
		require.Equal(t, r.Status, doc.Paths.Paths[collection+"/{name}/status"] != nil, collection)
	}
	core := parsed(t, "api/v1")
	require.Equal(t, []string{"post"}, methods(core.Paths.Paths["/api/v1/namespaces/{namespace}/bindings"]))
	require.NotContains(t, core.Paths.Paths, "/api/v1/bindings")
	require.Contains(t, core.Paths.Paths, "/api/v1/nodes/{name}/proxy/{path}")
	require.NotContains(t, core.Paths.Paths, "/api/v1/deployments")
}

func methods(p *spec3.Path) []string {
	var names []string
	for method := range operations(p) {
		names = append(names, method)
	}
	slices.Sort(names)
	return names
}

func TestOperations(t *testing.T) {
	pods := parsed(t, "api/v1").Paths.Paths["/api/v1/namespaces/{namespace}/pods"]
	require.Equal(t, "listCoreV1NamespacedPod", pods.Get.OperationId)
	require.Equal(t, "createCoreV1NamespacedPod", pods.Post.OperationId)
	require.Equal(t, "deleteCoreV1CollectionNamespacedPod", pods.Delete.OperationId)
	require.Equal(t, []string{"core_v1"}, pods.Get.Tags)
	require.Equal(t, "deletecollection", pods.Delete.Extensions["x-kubernetes-action"])
	require.Contains(t, pods.Get.Responses.StatusCodeResponses[200].Content, "application/json;stream=watch")
	require.Equal(t, "#/components/schemas/io.k8s.api.core.v1.PodList",
		pods.Get.Responses.StatusCodeResponses[200].Content["application/json"].Schema.Ref.String())

	pod := parsed(t, "api/v1").Paths.Paths["/api/v1/namespaces/{namespace}/pods/{name}"]
	require.Equal(t, "#/components/schemas/io.k8s.api.core.v1.Pod", pod.Delete.Responses.StatusCodeResponses[200].Content["application/json"].Schema.Ref.String())
	configMap := parsed(t, "api/v1").Paths.Paths["/api/v1/namespaces/{namespace}/configmaps/{name}"]
	require.Equal(t, "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Status", configMap.Delete.Responses.StatusCodeResponses[200].Content["application/json"].Schema.Ref.String())

	roles := parsed(t, "apis/rbac.authorization.k8s.io/v1").Paths.Paths
	require.Equal(t, []string{"rbacAuthorization_v1"}, roles["/apis/rbac.authorization.k8s.io/v1/clusterroles"].Get.Tags)
	require.Equal(t, "listRbacAuthorizationV1ClusterRole", roles["/apis/rbac.authorization.k8s.io/v1/clusterroles"].Get.OperationId)
	require.Equal(t, "listRbacAuthorizationV1RoleForAllNamespaces", roles["/apis/rbac.authorization.k8s.io/v1/roles"].Get.OperationId)
	binding := parsed(t, "api/v1").Paths.Paths["/api/v1/namespaces/{namespace}/pods/{name}/binding"]
	require.Equal(t, "createCoreV1NamespacedPodBinding", binding.Post.OperationId)
	exec := parsed(t, "api/v1").Paths.Paths["/api/v1/namespaces/{namespace}/pods/{name}/exec"]
	require.Equal(t, "connectCoreV1GetNamespacedPodExec", exec.Get.OperationId)
	require.Equal(t, "connect", exec.Post.Extensions["x-kubernetes-action"])
	scale := parsed(t, "apis/apps/v1").Paths.Paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale"]
	require.Equal(t, "patchAppsV1NamespacedDeploymentScale", scale.Patch.OperationId)
	require.Equal(t, "#/components/schemas/io.k8s.api.autoscaling.v1.Scale",
		scale.Get.Responses.StatusCodeResponses[200].Content["application/json"].Schema.Ref.String())
	nodes := parsed(t, "api/v1").Paths.Paths["/api/v1/nodes/{name}/status"]
	require.Equal(t, "patchCoreV1NodeStatus", nodes.Patch.OperationId)
}

// Operation identifiers are unique in a document, as OpenAPI wants it, and all
// references lead somewhere.
func TestDocumentsAreConsistent(t *testing.T) {
	docs := documents()
	for name := range docs.documents {
		body, _, _ := docs.Document(name)
		doc := parsed(t, name)
		require.Equal(t, "3.0.0", doc.Version)
		seen := make(map[string]string)
		for at, p := range doc.Paths.Paths {
			for method, op := range operations(p) {
				require.Empty(t, seen[op.OperationId], "%s %s", method, at)
				seen[op.OperationId] = at
			}
		}
		for _, part := range strings.Split(string(body), `"$ref":"#/components/schemas/`)[1:] {
			target, _, _ := strings.Cut(part, `"`)
			require.Contains(t, doc.Components.Schemas, target, name)
		}
	}
}

func TestSchemas(t *testing.T) {
	for _, r := range resource.Builtin().Kept() {
		schemas := parsed(t, path(r.Group, r.Version)).Components.Schemas
		object, list := schemas[schemaName(r)], schemas[listSchemaName(r)]
		require.Equal(t, spec.StringOrArray{"object"}, object.Type)
		require.Equal(t, true, object.Extensions["x-kubernetes-preserve-unknown-fields"])
		var kinds []map[string]string
		require.NoError(t, object.Extensions.GetObject("x-kubernetes-group-version-kind", &kinds))
		require.Equal(t, []map[string]string{{"group": r.Group, "version": r.Version, "kind": r.Kind}}, kinds)
		require.Equal(t, "#/components/schemas/"+schemaName(r), list.Properties["items"].Items.Schema.Ref.String())
	}
	require.Contains(t, parsed(t, "apis/autoscaling/v2").Components.Schemas, "io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler")
}

// TestClient reads the documents as kubectl does, with client-go.
func TestClient(t *testing.T) {
	docs := documents()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == Root {
			_, _ = w.Write(docs.Index())
			return
		}
		body, hash, ok := docs.Document(strings.TrimPrefix(r.URL.Path, Root+"/"))
		if !ok || r.URL.Query().Get("hash") != hash {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(body)
	}))
	t.Cleanup(server.Close)
	client, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: server.URL})
	require.NoError(t, err)
	root := openapi3.NewRoot(client.OpenAPIV3())

	versions, err := root.GroupVersions()
	require.NoError(t, err)
	var want []schema.GroupVersion
	for _, g := range resource.Builtin().Groups() {
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
	one, other := documents(), New(resource.Builtin())
	for _, name := range []string{"", "api", "apis/apps", "apis/apps/v2", "/apis/apps/v1"} {
		_, _, ok := one.Document(name)
		require.False(t, ok, name)
	}
	require.Equal(t, string(one.Index()), string(other.Index()), "documents depend on the table only")
	var index struct {
		Paths map[string]entry `json:"paths"`
	}
	require.NoError(t, json.Unmarshal(one.Index(), &index))
	_, hash, _ := one.Document("apis/apps/v1")
	require.Equal(t, "/openapi/v3/apis/apps/v1?hash="+hash, index.Paths["apis/apps/v1"].ServerRelativeURL)
	body, again, _ := one.Document("apis/apps/v1")
	second, _, _ := one.Document("apis/apps/v1")
	require.Equal(t, hash, again)
	require.Regexp(t, "^[0-9A-F]{128}$", hash)
	require.Same(t, &body[0], &second[0], "made twice")
}
