package fakeapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fakeapi "example.com/fakeapi/fake"
)

const (
	podJSON       = `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`
	scheduledJSON = `{"metadata":{"name":"p"},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}}`
)

// A connection is reviewed before anything else, with its options as the object.
func TestReviewOfConnections(t *testing.T) {
	for path, want := range map[string]struct{ kind, object string }{
		"/pods/p/exec?command=sh&command=-c&stdin=true&tty=1&container=c": {"PodExecOptions", `"stdin":true,"tty":true,"container":"c","command":["sh","-c"]`},
		"/pods/p/attach?stdout=1&stderr=false":                            {"PodAttachOptions", `"stdout":true`},
		"/pods/p/portforward?ports=1&ports=2,3":                           {"PodPortForwardOptions", `"ports":[1,2,3]`},
		"/pods/p/proxy/a/b/?path=x":                                       {"PodProxyOptions", `"path":"/a/b/"`},
		"/services/https:s:1/proxy":                                       {"ServiceProxyOptions", ``},
		"/nodes/n/proxy/metrics":                                          {"NodeProxyOptions", `"path":"/metrics"`},
	} {
		t.Run(want.kind, func(t *testing.T) {
			srv, h := startReviewed(t)
			url, isNode := "/api/v1/namespaces/default"+path, strings.HasPrefix(path, "/nodes")
			if isNode {
				url = "/api/v1" + path
			}
			requireCode(t, srv, 404, "POST", url, "")
			calls := h.take()
			require.Len(t, calls, 2)
			require.Equal(t, "/mutate", calls[0].path)
			require.Equal(t, "/validate", calls[1].path)
			got := calls[1]
			segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
			require.Equal(t, admissionv1.Connect, got.Operation)
			require.Equal(t, metav1.GroupVersionKind{Version: "v1", Kind: want.kind}, got.Kind)
			require.Equal(t, metav1.GroupVersionResource{Version: "v1", Resource: segments[0]}, got.Resource)
			require.Equal(t, segments[1], got.Name)
			require.Equal(t, isNode, got.Namespace == "")
			require.Empty(t, got.OldObject.Raw)
			require.Empty(t, got.Options.Raw)
			object := `{"kind":"` + want.kind + `","apiVersion":"v1"`
			if want.object != "" {
				object += "," + want.object
			}
			require.JSONEq(t, object+"}", string(got.Object.Raw))

			h.respondWith(func(*http.Request, *admissionRequest) *admissionResponse { return deny(403, "no") })
			denied := requireStatus(t, srv, 403, "GET", url, "")
			require.Equal(t, `admission webhook "mutate.example.com" denied the request: no`, denied.Message)
			h.take()
			requireCode(t, srv, 400, "GET", strings.SplitN(url, "?", 2)[0]+"?dryRun=All", "")
			require.Empty(t, h.take())
		})
	}
}

// Options that do not decode are a 400 without a review.
func TestReviewOfInvalidConnections(t *testing.T) {
	srv, h := startReviewed(t)
	requireCode(t, srv, 400, "GET", "/api/v1/namespaces/default/pods/p/portforward?ports=x", "")
	require.Empty(t, h.take())
}

// Admission functions and the plugins of kube-apiserver get connections, too.
func TestConnectionsWithAllPlugins(t *testing.T) {
	seen := &reviewer{}
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(),
		fakeapi.WithAdmissionPlugins("NamespaceExists", "ServiceAccount", "AlwaysPullImages", "ExtendedResourceToleration", "DenyServiceExternalIPs"),
		fakeapi.WithAdmission(fakeapi.Admission{Name: "see.example.com", Review: seen.review}, fakeapi.Admission{Name: "patch.example.com", Mutating: true,
			Review: func(_ context.Context, request *admissionRequest) *admissionResponse {
				return patchResponse(`[{"op":"add","path":"/container","value":"other"}]`)
			}}))
	requireCode(t, srv, 404, "POST", "/api/v1/namespaces/none/pods/p/exec?command=sh", "")
	require.Equal(t, admissionv1.Connect, seen.last().Operation)
	require.Nil(t, seen.last().Options.Raw)
	require.Contains(t, string(seen.last().Object.Raw), `"container":"other"`)
}

// The name in a review is that of the path, or that of the object that was sent, or the generated
// one. An object can be renamed by a webhook.
func TestNameInReviews(t *testing.T) {
	srv, h := startReviewed(t)
	rename := func(r *http.Request, _ *admissionRequest) *admissionResponse {
		if r.URL.Path == "/mutate" {
			return patchResponse(`[{"op":"add","path":"/metadata/name","value":"renamed"}]`)
		}
		return allow()
	}
	const configMaps = "/api/v1/namespaces/default/configmaps"
	h.respondWith(rename)
	created := requireCode(t, srv, 201, "POST", configMaps, `{"metadata":{"name":"sent"}}`)
	require.Equal(t, "renamed", created.GetName())
	require.Equal(t, both("CREATE configmaps sent"), h.takeTexts())
	requireCode(t, srv, 200, "GET", configMaps+"/renamed", "")
	requireCode(t, srv, 404, "GET", configMaps+"/sent", "")

	requireCode(t, srv, 409, "POST", configMaps, `{"metadata":{"name":"sent"}}`)
	require.Equal(t, both("CREATE configmaps sent"), h.takeTexts())
	requireCode(t, srv, 409, "POST", configMaps, `{"metadata":{"generateName":"g-"}}`)
	require.Equal(t, []string{"mutate: CREATE configmaps ", "validate: CREATE configmaps renamed"}, h.takeTexts())

	requireCode(t, srv, 422, "PUT", configMaps+"/renamed", `{"metadata":{"name":"renamed","labels":{"a b":"c"}}}`)
	require.Equal(t, []string{"mutate: UPDATE configmaps renamed"}, h.takeTexts())

	h.respondWith(nil)
	generated := requireCode(t, srv, 201, "POST", configMaps, `{"metadata":{"generateName":"g-"}}`)
	calls := h.take()
	require.Empty(t, calls[0].Name)
	require.NotContains(t, string(calls[0].Object.Raw), "uid")
	require.Equal(t, generated.GetName(), calls[1].Name)
	require.Contains(t, string(calls[1].Object.Raw), string(generated.GetUID()))

	requireCode(t, srv, 200, "DELETE", configMaps, "")
	require.Equal(t, both("DELETE configmaps ", "DELETE configmaps "), h.takeTexts())
}

// Which writes of a request are reviewed, and by which of the two webhooks.
func TestReviewsOfWrites(t *testing.T) {
	const (
		configMaps = "/api/v1/namespaces/default/configmaps"
		pods       = "/api/v1/namespaces/default/pods"
		scale      = "/apis/apps/v1/namespaces/default/deployments/d/scale"
	)
	create := func(path, body string) func(*testing.T, *fakeapi.Server) {
		return func(t *testing.T, srv *fakeapi.Server) { requireCode(t, srv, 201, "POST", path, body) }
	}
	const deployment = `{"metadata":{"name":"d"},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
	none := func(*testing.T, *fakeapi.Server) {}
	deletedPod := func(t *testing.T, srv *fakeapi.Server) {
		requireCode(t, srv, 201, "POST", pods, scheduledJSON)
		requireCode(t, srv, 200, "DELETE", pods+"/p", `{"gracePeriodSeconds":20}`)
	}
	for name, c := range map[string]struct {
		before             func(*testing.T, *fakeapi.Server)
		code               int
		method, path, body string
		want               []string
	}{
		"create":                           {none, 201, "POST", configMaps, `{"metadata":{"name":"a"}}`, both("CREATE configmaps a")},
		"create that is invalid":           {none, 422, "POST", configMaps, `{"metadata":{"name":"A"}}`, []string{"mutate: CREATE configmaps A"}},
		"create with a taken name":         {create(configMaps, `{"metadata":{"name":"a"}}`), 409, "POST", configMaps, `{"metadata":{"name":"a"}}`, both("CREATE configmaps a")},
		"create in a missing namespace":    {none, 404, "POST", "/api/v1/namespaces/none/configmaps", `{"metadata":{"name":"a"}}`, both()},
		"stale update":                     {create(configMaps, `{"metadata":{"name":"a"}}`), 409, "PUT", configMaps + "/a", `{"metadata":{"name":"a","resourceVersion":"1"}}`, []string{"mutate: UPDATE configmaps a"}},
		"update with another uid":          {create(configMaps, `{"metadata":{"name":"a"}}`), 409, "PUT", configMaps + "/a", `{"metadata":{"name":"a","uid":"x"}}`, both()},
		"patch of the uid":                 {create(configMaps, `{"metadata":{"name":"a"}}`), 422, "PATCH", configMaps + "/a", `{"metadata":{"uid":"x"}}`, []string{"mutate: UPDATE configmaps a"}},
		"patch of a missing object":        {none, 404, "PATCH", configMaps + "/a", `{}`, both()},
		"apply that creates":               {none, 201, "PATCH", configMaps + "/a?fieldManager=m", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`, both("CREATE configmaps a")},
		"apply with a conflict":            {create(configMaps, `{"metadata":{"name":"a"},"data":{"a":"1"}}`), 409, "PATCH", configMaps + "/a?fieldManager=m", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"2"}}`, both()},
		"update that changes nothing":      {create(configMaps, `{"metadata":{"name":"a"}}`), 200, "PATCH", configMaps + "/a", `{}`, both("UPDATE configmaps a")},
		"delete":                           {create(configMaps, `{"metadata":{"name":"a"}}`), 200, "DELETE", configMaps + "/a", ``, both("DELETE configmaps a")},
		"delete of a missing object":       {none, 404, "DELETE", configMaps + "/a", ``, both()},
		"delete with another uid":          {create(configMaps, `{"metadata":{"name":"a"}}`), 409, "DELETE", configMaps + "/a", `{"preconditions":{"uid":"x"}}`, both()},
		"delete with a finalizer":          {create(configMaps, `{"metadata":{"name":"a","finalizers":["a.example.com/b"]}}`), 200, "DELETE", configMaps + "/a", ``, both("DELETE configmaps a")},
		"delete that removes finalizers":   {create(configMaps, `{"metadata":{"name":"a","finalizers":["orphan"]}}`), 200, "DELETE", configMaps + "/a", `{"propagationPolicy":"Background"}`, both("DELETE configmaps a", "DELETE configmaps a")},
		"dry run of that":                  {create(configMaps, `{"metadata":{"name":"a","finalizers":["orphan"]}}`), 200, "DELETE", configMaps + "/a?x", `{"propagationPolicy":"Background","dryRun":["All"]}`, both("DELETE configmaps a")},
		"delete of a pod without a node":   {create(pods, podJSON), 200, "DELETE", pods + "/p", ``, both("DELETE pods p", "DELETE pods p")},
		"delete of a pod with a node":      {create(pods, scheduledJSON), 200, "DELETE", pods + "/p", ``, both("DELETE pods p")},
		"delete of a pod that is deleted":  {deletedPod, 200, "DELETE", pods + "/p", ``, both()},
		"delete of it with a shorter time": {deletedPod, 200, "DELETE", pods + "/p", `{"gracePeriodSeconds":10}`, both("DELETE pods p")},
		"forced delete":                    {deletedPod, 200, "DELETE", pods + "/p", `{"gracePeriodSeconds":0}`, both("DELETE pods p", "DELETE pods p")},
		"delete of a namespace":            {create("/api/v1/namespaces", `{"metadata":{"name":"n"}}`), 200, "DELETE", "/api/v1/namespaces/n", ``, both("DELETE namespaces n")},
		"delete of a terminating namespace": {func(t *testing.T, srv *fakeapi.Server) {
			requireCode(t, srv, 201, "POST", "/api/v1/namespaces", `{"metadata":{"name":"n"}}`)
			requireCode(t, srv, 200, "DELETE", "/api/v1/namespaces/n", ``)
		}, 200, "DELETE", "/api/v1/namespaces/n", ``, both()},
		"eviction":       {create(pods, podJSON), 201, "POST", pods + "/p/eviction", `{"metadata":{"name":"p"}}`, both("CREATE pods/eviction p")},
		"other eviction": {create(pods, podJSON), 400, "POST", pods + "/p/eviction", `{"metadata":{"name":"q"}}`, []string{"mutate: CREATE pods/eviction p"}},
		"binding":        {create(pods, podJSON), 201, "POST", pods + "/p/binding", `{"metadata":{"name":"p"},"target":{"name":"n"}}`, both("CREATE pods/binding p")},
		"bindings":       {create(pods, podJSON), 201, "POST", "/api/v1/namespaces/default/bindings", `{"metadata":{"name":"p"},"target":{"name":"n"}}`, both("CREATE bindings p")},
		"token": {create("/api/v1/namespaces/default/serviceaccounts", `{"metadata":{"name":"s"}}`), 201, "POST", "/api/v1/namespaces/default/serviceaccounts/s/token", `{}`,
			both("CREATE serviceaccounts/token s")},
		"status":        {create(pods, podJSON), 200, "PATCH", pods + "/p/status", `{"status":{"phase":"Running"}}`, both("UPDATE pods/status p")},
		"scale":         {create("/apis/apps/v1/namespaces/default/deployments", deployment), 200, "PATCH", scale, `{"spec":{"replicas":2}}`, both("UPDATE deployments/scale d")},
		"stale scale":   {create("/apis/apps/v1/namespaces/default/deployments", deployment), 409, "PATCH", scale, `{"metadata":{"resourceVersion":"1"}}`, []string{"mutate: UPDATE deployments/scale d"}},
		"invalid scale": {create("/apis/apps/v1/namespaces/default/deployments", deployment), 422, "PATCH", scale, `{"spec":{"replicas":-1}}`, []string{"mutate: UPDATE deployments/scale d"}},
		"missing scale": {none, 404, "PATCH", scale, `{"spec":{"replicas":2}}`, both()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, h := startReviewed(t, fakeapi.WithoutControllers())
			c.before(t, srv)
			h.take()
			requireCode(t, srv, c.code, c.method, c.path, c.body)
			require.Equal(t, c.want, h.takeTexts())
		})
	}
}

// The objects in the reviews of a Scale are Scales without managedFields of the parent.
func TestScaleInReviews(t *testing.T) {
	srv, h := startReviewed(t)
	requireCode(t, srv, 201, "POST", "/apis/apps/v1/namespaces/default/deployments", `{"metadata":{"name":"d"},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
	h.take()
	requireCode(t, srv, 200, "PATCH", "/apis/apps/v1/namespaces/default/deployments/d/scale", `{"spec":{"replicas":5}}`)
	got := h.take()[1]
	require.Equal(t, "Scale", got.Kind.Kind)
	require.Contains(t, string(got.Object.Raw), `"replicas":5`)
	require.Contains(t, string(got.OldObject.Raw), `"replicas":1`)
	require.NotContains(t, string(got.Object.Raw), "managedFields")
	require.Contains(t, string(got.Options.Raw), `"kind":"UpdateOptions"`)
}

// A webhook changes the Scale of a custom resource, and with it the resource.
func TestScaleOfCustomResourceInReviews(t *testing.T) {
	const crd = `{"metadata":{"name":"pumps.shop.example.com"},"spec":{"group":"shop.example.com","scope":"Cluster","names":{"plural":"pumps","kind":"Pump"},"versions":[{
		"name":"v1","served":true,"storage":true,
		"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"replicas":{"type":"integer"}}},"status":{"type":"object","properties":{"replicas":{"type":"integer"}}}}}},
		"subresources":{"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}}}]}}`
	srv, h := startReviewed(t, fakeapi.WithoutControllers())
	requireCode(t, srv, 201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)
	requireCode(t, srv, 201, "POST", "/apis/shop.example.com/v1/pumps", `{"apiVersion":"shop.example.com/v1","kind":"Pump","metadata":{"name":"a"},"spec":{"replicas":1}}`)
	var replicas string
	h.respondWith(func(r *http.Request, request *admissionRequest) *admissionResponse {
		if request.Kind.Kind == "Scale" && r.URL.Path == "/mutate" {
			return patchResponse(`[{"op":"replace","path":"/spec/replicas","value":` + replicas + `}]`)
		}
		return allow()
	})
	replicas = `"many"`
	failed := requireStatus(t, srv, 500, "PATCH", "/apis/shop.example.com/v1/pumps/a/scale", `{"spec":{"replicas":3}}`)
	require.Equal(t, "unable to convert unstructured object to autoscaling/v1, Kind=Scale: unrecognized type: int32", failed.Message)
	replicas = "9.0"
	scale := requireCode(t, srv, 200, "PATCH", "/apis/shop.example.com/v1/pumps/a/scale", `{"spec":{"replicas":3}}`)
	require.Equal(t, map[string]any{"replicas": int64(9)}, scale.Object["spec"])
	validated := h.take()
	require.Regexp(t, `^{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"a","uid":`, string(validated[len(validated)-1].Object.Raw), "the keys in the order of the Go type")
	require.Equal(t, map[string]any{"replicas": int64(9)}, requireCode(t, srv, 200, "GET", "/apis/shop.example.com/v1/pumps/a", "").Object["spec"])

	scale = requireCode(t, srv, 200, "PATCH", "/apis/shop.example.com/v1/pumps/a/scale", `{"metadata":{"uid":"other"},"spec":{"replicas":3}}`)
	require.NotEqual(t, "other", string(scale.GetUID()))
	scale.SetUID("other")
	body, err := scale.MarshalJSON()
	require.NoError(t, err)
	requireCode(t, srv, 409, "PUT", "/apis/shop.example.com/v1/pumps/a/scale", string(body))
}

// A selfLink that an update or a webhook sets is in reviews and in the result of a dry run. It is
// not stored.
func TestSelfLinkIsNotStored(t *testing.T) {
	for _, c := range []struct{ path, body string }{
		{"/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"c","selfLink":"/x"}}`},
		{"/apis/shop.example.com/v1/namespaces/team/widgets", `{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"c","selfLink":"/x"},"spec":{"size":1}}`},
	} {
		srv, h := startReviewed(t, withWidgets(), fakeapi.WithoutControllers())
		for _, write := range []struct{ method, path, want string }{
			{"POST", c.path + "?dryRun=All", ""},
			{"POST", c.path, ""},
			{"PATCH", c.path + "/c?dryRun=All", "/x"},
			{"PATCH", c.path + "/c", ""},
		} {
			h.take()
			code := map[string]int{"POST": 201}[write.method]
			obj := requireCode(t, srv, max(code, 200), write.method, write.path, c.body)
			require.Equal(t, write.want, obj.GetSelfLink(), "%s %s", write.method, write.path)
			for _, call := range h.take() {
				require.Equal(t, write.method != "POST", strings.Contains(string(call.Object.Raw), `"selfLink":"/x"`), "%s", call.Object.Raw)
			}
		}
		h.respondWith(func(r *http.Request, _ *admissionRequest) *admissionResponse {
			if r.URL.Path == "/mutate" {
				return patchResponse(`[{"op":"add","path":"/metadata/selfLink","value":"/x"}]`)
			}
			return allow()
		})
		named := strings.Replace(c.body, `"name":"c","selfLink":"/x"`, `"name":"d"`, 1)
		require.Equal(t, "/x", requireCode(t, srv, 201, "POST", c.path+"?dryRun=All", named).GetSelfLink())
		require.Empty(t, requireCode(t, srv, 201, "POST", c.path, named).GetSelfLink())
	}
}

// managedFields that a webhook has made invalid are reset with a warning. Valid ones stay.
func TestManagedFieldsAfterWebhooks(t *testing.T) {
	const widgets = "/apis/shop.example.com/v1/namespaces/team/widgets"
	patch := func(operation, group string) string {
		return `[{"op":"replace","path":"/metadata/managedFields","value":[{"manager":"m","operation":"` + operation + `","apiVersion":"` +
			strings.TrimPrefix(group+"/v1", "/") + `","fieldsType":"FieldsV1","fieldsV1":{}}]}]`
	}
	srv, h := startReviewed(t, withWidgets(), fakeapi.WithoutControllers())
	var operation string
	h.respondWith(func(r *http.Request, request *admissionRequest) *admissionResponse {
		if r.URL.Path == "/mutate" {
			return patchResponse(patch(operation, request.Kind.Group))
		}
		return allow()
	})
	for _, write := range []struct{ method, path, body string }{
		{"POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"},"data":{"a":"1"}}`},
		{"PATCH", "/api/v1/namespaces/default/configmaps/a", `{"data":{"a":"2"}}`},
		{"PATCH", "/api/v1/namespaces/default/configmaps/a?fieldManager=applier", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"b":"2"}}`},
		{"POST", widgets, `{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"b"},"spec":{"size":1}}`},
		{"PATCH", widgets + "/b", `{"metadata":{"labels":{"a":"1"}}}`},
		{"PATCH", widgets + "/b?fieldManager=applier", `{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"b","labels":{"b":"1"}}}`},
	} {
		media := "application/json"
		switch {
		case strings.Contains(write.path, "fieldManager"):
			media = "application/apply-patch+yaml"
		case write.method == "PATCH":
			media = "application/merge-patch+json"
		}
		operation = "Steal"
		code, header, body := send(t, srv, write.method, write.path, media, []byte(write.body))
		require.Less(t, code, 300, "%s", body)
		require.Contains(t, header.Get("Warning"), `299 - ".metadata.managedFields was in an invalid state after admission; this could be caused by an `+
			`outdated mutating admission controller; please fix your requests: operation must be`)
		manager := "Go-http-client"
		if media == "application/apply-patch+yaml" {
			manager = "applier"
		}
		require.Contains(t, string(body), `"manager":"`+manager+`"`)
		require.NotContains(t, string(body), "Steal")
		if write.method == "POST" {
			continue
		}
		operation = "Update"
		code, header, body = send(t, srv, write.method, write.path, media, []byte(strings.ReplaceAll(write.body, `"1"`, `"3"`)))
		require.Equal(t, 200, code)
		require.Empty(t, header.Get("Warning"))
		require.Contains(t, string(body), `"manager":"m"`)
		require.NotContains(t, string(body), `"manager":"`+manager+`"`)
	}
}

// A webhook may write to the server, also the object that it reviews.
func TestWebhookWritesToServer(t *testing.T) {
	srv, h := startReviewed(t)
	requireCode(t, srv, 201, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`)
	wrote := false
	h.respondWith(func(r *http.Request, request *admissionRequest) *admissionResponse {
		if request.Name == "a" && request.UserInfo.Username != "" && r.URL.Path == "/validate" && !wrote {
			wrote = true
			requireCode(t, srv, 200, "PATCH", "/api/v1/namespaces/default/configmaps/a", `{"data":{"by":"webhook"}}`)
			requireCode(t, srv, 201, "POST", "/api/v1/namespaces/default/services", `{"metadata":{"name":"s"},"spec":{"ports":[{"port":1}]}}`)
		}
		return allow()
	})
	h.take()
	got := requireCode(t, srv, 200, "PATCH", "/api/v1/namespaces/default/configmaps/a", `{"metadata":{"labels":{"by":"client"}}}`)
	data, err := json.Marshal(got.Object["data"])
	require.NoError(t, err)
	require.JSONEq(t, `{"by":"webhook"}`, string(data))
	require.Equal(t, map[string]string{"by": "client"}, got.GetLabels())
	require.Equal(t, []string{
		"mutate: UPDATE configmaps a", "validate: UPDATE configmaps a",
		"mutate: UPDATE configmaps a", "validate: UPDATE configmaps a", "mutate: CREATE services s", "validate: CREATE services s",
		"mutate: UPDATE configmaps a", "validate: UPDATE configmaps a",
	}, h.takeTexts(), "the write is evaluated again after the conflict")
}

// A write that webhooks delay beyond its time, or that of its client, is not carried out.
func TestEndedRequestWritesNothingAfterWebhooks(t *testing.T) {
	for _, slow := range []string{"/mutate", "/validate"} {
		for _, write := range slowWrites {
			t.Run(write.name+slow, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					srv, h := startReviewed(t, fakeapi.WithoutControllers())
					loadForSlowWrites(t, srv)
					h.respondWith(func(r *http.Request, _ *admissionRequest) *admissionResponse {
						if r.URL.Path == slow {
							select {
							case <-time.After(20 * time.Second):
							case <-r.Context().Done():
							}
						}
						return allow()
					})
					path, separator := write.path, "?"
					if strings.Contains(path, "?") {
						separator = "&"
					}
					before := srv.ResourceVersion()
					start := time.Now()
					code, _, body := send(t, srv, write.method, path+separator+"timeout=5s", write.contentType, []byte(write.body))
					require.Equal(t, http.StatusGatewayTimeout, code)
					require.Equal(t, timeoutBody, string(body))
					require.Equal(t, 5*time.Second, time.Since(start))
					time.Sleep(time.Minute)
					require.NotEmpty(t, h.take())
					require.Equal(t, before, srv.ResourceVersion(), "after the timeout")

					ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
					defer cancel()
					r, err := http.NewRequestWithContext(ctx, write.method, srv.URL()+path, strings.NewReader(write.body))
					require.NoError(t, err)
					r.Header.Set("Content-Type", write.contentType)
					_, err = srv.Client().Do(r)
					require.ErrorIs(t, err, context.DeadlineExceeded)
					time.Sleep(time.Minute)
					require.NotEmpty(t, h.take())
					require.Equal(t, before, srv.ResourceVersion(), "after the client has gone")
				})
			})
		}
	}
}

// A write takes 34 seconds at most on a server with webhooks, as the handlers of a real server do.
func TestTimeLimitOfReviewedWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startReviewed(t)
		h.respondWith(func(r *http.Request, _ *admissionRequest) *admissionResponse {
			select {
			case <-time.After(29 * time.Second):
			case <-r.Context().Done():
			}
			return allow()
		})
		start := time.Now()
		timeout := requireStatus(t, srv, 504, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`)
		require.Equal(t, 34*time.Second, time.Since(start))
		require.Equal(t, "Timeout: request did not complete within requested timeout - context deadline exceeded", timeout.Message)
		require.Equal(t, metav1.StatusReasonTimeout, timeout.Reason)
		requireCode(t, srv, 404, "GET", "/api/v1/namespaces/default/configmaps/a", "")
	})
}
