package fakeapi_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	fakeapi "example.com/fakeapi/fake"
)

// writes are requests of all operations: resources, subresources, in and out of namespaces.
var writes = []struct{ method, path, body string }{
	{"POST", configMapsPath, `{"metadata":{"name":"a"}}`},
	{"PUT", configMapsPath + "/a", `{"metadata":{"name":"a"},"data":{"k":"1"}}`},
	{"PATCH", configMapsPath + "/a", `{"data":{"k":"2"}}`},
	{"PATCH", configMapsPath + "/b?fieldManager=me", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}}`},
	{"GET", configMapsPath + "/a", ""},
	{"GET", configMapsPath, ""},
	{"DELETE", configMapsPath + "/a", ""},
	{"POST", "/api/v1/namespaces", `{"metadata":{"name":"team"}}`},
	{"POST", "/api/v1/namespaces/default/pods", `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`},
	{"POST", "/api/v1/namespaces/default/pods/p/binding", `{"metadata":{"name":"p"},"target":{"name":"n"}}`},
	{"PATCH", "/api/v1/namespaces/default/pods/p/status", `{"status":{"phase":"Running"}}`},
	{"POST", "/apis/apps/v1/namespaces/default/deployments", `{"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},
		"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`},
	{"PATCH", "/apis/apps/v1/namespaces/default/deployments/d/scale", `{"spec":{"replicas":3}}`},
	{"DELETE", configMapsPath + "?fieldSelector=metadata.name!=kube-root-ca.crt", ""},
}

// sendWrites sends the writes, which must succeed.
func sendWrites(t *testing.T, srv *fakeapi.Server) {
	t.Helper()
	for _, w := range writes {
		media := "application/json"
		switch {
		case strings.Contains(w.path, "fieldManager"):
			media = "application/apply-patch+yaml"
		case w.method == "PATCH":
			media = "application/merge-patch+json"
		}
		code, _, body := send(t, srv, w.method, w.path, media, []byte(w.body))
		require.Less(t, code, 300, "%s %s: %s", w.method, w.path, body)
	}
}

// Rules select writes by operation, group, version, resource, subresource and scope. The requests
// of a deletecollection have no name.
func TestWebhookRules(t *testing.T) {
	for name, tt := range map[string]struct {
		rules string
		want  []string
	}{
		"create":         {rule("CREATE", "", "v1", "configmaps"), []string{"CREATE configmaps a", "CREATE configmaps b"}},
		"update":         {rule("UPDATE", "", "v1", "configmaps"), []string{"UPDATE configmaps a", "UPDATE configmaps a"}},
		"delete":         {rule("DELETE", "", "v1", "configmaps"), []string{"DELETE configmaps a", "DELETE configmaps "}},
		"two operations": {rule("UPDATE DELETE", "", "*", "namespaces configmaps"), []string{"UPDATE configmaps a", "UPDATE configmaps a", "DELETE configmaps a", "DELETE configmaps "}},
		"resources":      {rule("CREATE", "", "v1", "*"), []string{"CREATE configmaps a", "CREATE configmaps b", "CREATE namespaces team", "CREATE pods p"}},
		"all": {rule("CREATE", "*", "*", "*/*"), []string{
			"CREATE configmaps a", "CREATE configmaps b", "CREATE namespaces team", "CREATE pods p", "CREATE pods/binding p", "CREATE deployments d",
		}},
		"subresource":   {rule("*", "", "v1", "pods/status"), []string{"UPDATE pods/status p"}},
		"subresources":  {rule("*", "", "v1", "pods/*"), []string{"CREATE pods p", "CREATE pods/binding p", "UPDATE pods/status p"}},
		"any status":    {rule("*", "*", "*", "*/status"), []string{"UPDATE pods/status p"}},
		"scale":         {rule("*", "apps", "v1", "*/scale"), []string{"UPDATE deployments/scale d"}},
		"cluster scope": {strings.Replace(rule("CREATE", "", "v1", "*"), `{`, `{"scope":"Cluster",`, 1), []string{"CREATE namespaces team"}},
		"namespaced":    {strings.Replace(rule("CREATE", "", "v1", "*"), `{`, `{"scope":"Namespaced",`, 1), []string{"CREATE configmaps a", "CREATE configmaps b", "CREATE pods p"}},
		"other group":   {rule("*", "example.com", "v1", "configmaps"), []string{}},
		"other version": {rule("*", "", "v2", "configmaps"), []string{}},
		"one of two":    {rule("CONNECT", "", "v1", "*/*") + "," + rule("DELETE", "", "v1", "configmaps"), []string{"DELETE configmaps a", "DELETE configmaps "}},
		"both":          {rule("DELETE", "", "v1", "*") + "," + rule("DELETE", "", "v1", "configmaps"), []string{"DELETE configmaps a", "DELETE configmaps "}},
		"no rule":       {"", []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, h := startWithWebhooks(t, fakeapi.WithoutControllers(), fakeapi.WithObjects(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}))
				more := `"rules":[` + tt.rules + `]`
				requireCode(t, srv, 201, "POST", validatingPath, configuration("v", h.webhook(t, "allow", more)))
				requireCode(t, srv, 201, "POST", mutatingPath, configuration("m", h.webhook(t, "allow", more)))
				sendWrites(t, srv)
				var want []string
				for _, call := range tt.want {
					want = append(want, "allow: "+call, "allow: "+call)
				}
				require.Equal(t, want, append([]string(nil), h.takeTexts()...))
			})
		})
	}
}

// Selectors and conditions select writes among those of the rules.
func TestWebhookSelectors(t *testing.T) {
	for name, tt := range map[string]struct {
		fields string
		want   string // the calls for the requests below
	}{
		"no selector":           {``, "CREATE a, CREATE b, UPDATE a, UPDATE a, DELETE a, DELETE b, CREATE node, CREATE team"},
		"namespace":             {`"namespaceSelector":{"matchLabels":{"env":"test"}}`, "CREATE b, DELETE b, CREATE node, CREATE team"},
		"namespace by name":     {`"namespaceSelector":{"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["testing","team"]}]}`, "CREATE a, UPDATE a, UPDATE a, DELETE a, CREATE node"},
		"new and old object":    {`"objectSelector":{"matchLabels":{"app":"web"}}`, "UPDATE a, UPDATE a"},
		"both":                  {`"objectSelector":{"matchLabels":{"app":"web"}},"namespaceSelector":{"matchLabels":{"env":"test"}}`, ""},
		"object":                {condition("object != null && object.metadata.name == 'a'"), "CREATE a, UPDATE a, UPDATE a"},
		"old object":            {condition("oldObject != null && has(oldObject.metadata.labels)"), "UPDATE a"},
		"request":               {condition("request.operation == 'DELETE' && request.namespace == 'testing'"), "DELETE b"},
		"user":                  {condition("request.userInfo.username == 'system:admin' || 'system:masters' in request.userInfo.groups"), "CREATE a, CREATE b, UPDATE a, UPDATE a, DELETE a, DELETE b, CREATE node, CREATE team"},
		"authorizer":            {condition("authorizer.group('').resource('configmaps').namespace('default').check('create').allowed()"), "CREATE a, CREATE b, UPDATE a, UPDATE a, DELETE a, DELETE b, CREATE node, CREATE team"},
		"all of the conditions": {condition("request.operation == 'UPDATE'", "has(object.metadata.labels)"), "UPDATE a"},
		"failed with Ignore":    {condition("object.metadata.labels.app == 'web'") + `,"failurePolicy":"Ignore"`, "UPDATE a"},
		"failed beside false":   {condition("object.metadata.labels.app == 'web'", "request.operation == 'CONNECT'"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, h := startWithWebhooks(t, fakeapi.WithoutControllers())
				requireCode(t, srv, 201, "POST", "/api/v1/namespaces", `{"metadata":{"name":"testing","labels":{"env":"test"}}}`)
				fields := `"rules":[` + rule("*", "", "v1", "configmaps nodes namespaces") + `]`
				if tt.fields != "" {
					fields += "," + tt.fields
				}
				requireCode(t, srv, 201, "POST", validatingPath, configuration("v", h.webhook(t, "allow", fields)))
				const testing = "/api/v1/namespaces/testing/configmaps"
				requireCode(t, srv, 201, "POST", configMapsPath, `{"metadata":{"name":"a"}}`)
				requireCode(t, srv, 201, "POST", testing, `{"metadata":{"name":"b"}}`)
				requireCode(t, srv, 200, "PATCH", configMapsPath+"/a", `{"metadata":{"labels":{"app":"web"}}}`)
				requireCode(t, srv, 200, "PATCH", configMapsPath+"/a", `{"metadata":{"labels":null}}`)
				requireCode(t, srv, 200, "DELETE", configMapsPath+"/a", "")
				requireCode(t, srv, 200, "DELETE", testing+"/b", "")
				requireCode(t, srv, 201, "POST", "/api/v1/nodes", `{"metadata":{"name":"node"}}`)
				requireCode(t, srv, 201, "POST", "/api/v1/namespaces", `{"metadata":{"name":"team","labels":{"env":"test"}}}`)
				var calls []string
				for _, c := range h.take() {
					calls = append(calls, fmt.Sprintf("%s %s", c.Operation, c.Name))
				}
				require.Equal(t, tt.want, strings.Join(calls, ", "))
			})
		})
	}
}

// condition returns the field matchConditions.
func condition(expressions ...string) string {
	var conditions []string
	for i, e := range expressions {
		conditions = append(conditions, fmt.Sprintf(`{"name":"c%d","expression":%q}`, i, e))
	}
	return `"matchConditions":[` + strings.Join(conditions, ",") + `]`
}

// A condition that cannot be evaluated refuses the write, with the failurePolicy Fail. The webhook
// is not called.
func TestWebhookConditionFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startWithWebhooks(t)
		requireCode(t, srv, 201, "POST", validatingPath, configuration("v", h.webhook(t, "allow", condition("object.metadata.labels.app == 'web'"))))
		s := requireStatus(t, srv, 403, "POST", configMapsPath, `{"metadata":{"name":"a"}}`)
		require.EqualValues(t, "Forbidden", s.Reason)
		require.Equal(t, `configmaps "a" is forbidden: expression 'object.metadata.labels.app == 'web'' resulted in error: no such key: labels`, s.Message)
		require.Empty(t, h.take())
	})
}

// Without matchPolicy a rule selects requests for other versions, too. The webhook gets and changes
// the object in the version of the rule.
func TestWebhookMatchPolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startWithWebhooks(t)
		h.Handle("/convert", &gadgetWebhook{})
		requireCode(t, srv, 201, "POST", crdsPath, gadgetCRD("v2", webhookConversion(h.clientConfig("convert"))))
		var objects []string
		h.review("grow", func(request *admissionRequest) *admissionResponse {
			u := &unstructured.Unstructured{}
			if err := u.UnmarshalJSON(request.Object.Raw); err != nil {
				return &admissionResponse{}
			}
			objects = append(objects, fmt.Sprintf("%s %s in %s, requested in %s", u.GetAPIVersion(), specJSON(t, u), request.Resource.Version, request.RequestResource.Version))
			return patchResponse(`[{"op":"add","path":"/spec/size","value":9}]`)
		})
		requireCode(t, srv, 201, "POST", mutatingPath, configuration("m",
			h.webhook(t, "grow", `"rules":[`+rule("*", "example.com", "v1", "gadgets")+`]`),
			h.webhook(t, "allow", `"matchPolicy":"Exact","rules":[`+rule("*", "example.com", "v1", "gadgets")+`]`)))
		made := requireCode(t, srv, 201, "POST", gadgetsV2, gadgetJSON("v2", "two", 1))
		require.JSONEq(t, `{"width":9,"ofv2":"set in v2"}`, specJSON(t, made))
		require.Equal(t, []string{"grow: CREATE gadgets two"}, h.takeTexts(), "not the one with Exact")
		made = requireCode(t, srv, 201, "POST", gadgetsV1, gadgetJSON("v1", "one", 1))
		require.JSONEq(t, `{"size":9}`, specJSON(t, made))
		require.Equal(t, []string{"grow: CREATE gadgets one", "allow: CREATE gadgets one"}, h.takeTexts())
		require.Equal(t, []string{
			`example.com/v1 {"ofv2":"set in v2","size":1} in v1, requested in v2`, // a conversion for admission does not prune
			`example.com/v1 {"ofv1":"set in v1","size":1} in v1, requested in v1`,
		}, objects)
		require.JSONEq(t, `{"width":9,"ofv2":"set in v2"}`, specJSON(t, requireCode(t, srv, 200, "GET", gadgetsV2+"/two", "")))
	})
}

// A deletecollection calls the webhook for each object and stops at the first denial.
func TestWebhookOfDeleteCollection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startWithWebhooks(t, fakeapi.WithoutControllers(), fakeapi.WithObjects(newConfigMap("a"), newConfigMap("b"), newConfigMap("c")))
		h.review("keep", func(request *admissionRequest) *admissionResponse {
			return &admissionResponse{Allowed: !strings.Contains(string(request.OldObject.Raw), `"name":"b"`)}
		})
		requireCode(t, srv, 201, "POST", validatingPath, configuration("v", h.webhook(t, "keep", "")))
		s := requireStatus(t, srv, 400, "DELETE", configMapsPath, "")
		require.Equal(t, `admission webhook "keep.example.com" denied the request without explanation`, s.Message)
		requireCode(t, srv, 404, "GET", configMapsPath+"/a", "")
		requireCode(t, srv, 200, "GET", configMapsPath+"/b", "")
		require.Contains(t, h.takeTexts(), "keep: DELETE configmaps ")
	})
}

// Webhooks are not called for webhook configurations and policies, so that a webhook that is down
// can be removed.
func TestWebhooksAreNotAskedAboutConfigurations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startWithWebhooks(t)
		all := `"rules":[` + rule("*", "*", "*", "*/*") + `]`
		requireCode(t, srv, 201, "POST", validatingPath, configuration("v", h.webhook(t, "down", all)))
		requireCode(t, srv, 201, "POST", mutatingPath, configuration("m", h.webhook(t, "down", all)))
		requireStatus(t, srv, 500, "POST", configMapsPath, `{"metadata":{"name":"a"}}`)
		requireCode(t, srv, 201, "POST", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
			`{"metadata":{"name":"p"},"spec":{"matchConstraints":{"resourceRules":[`+rule("*", "", "v1", "secrets")+`]},"validations":[{"expression":"true"}]}}`)
		for _, path := range []string{validatingPath + "/v", mutatingPath + "/m"} {
			requireCode(t, srv, 200, "PATCH", path, `{"metadata":{"labels":{"a":"b"}}}`)
			requireCode(t, srv, 200, "DELETE", path, "")
		}
		requireCode(t, srv, 201, "POST", configMapsPath, `{"metadata":{"name":"a"}}`)
	})
}

// No webhook is called for the reviews of tokens and of access, whatever its rules (KEP-5793).
func TestWebhooksAreNotCalledForAccessReviews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startWithWebhooks(t)
		all := `"rules":[` + rule("*", "*", "*", "*/*") + `]`
		requireCode(t, srv, 201, "POST", validatingPath, configuration("v", h.webhook(t, "allow", all)))
		requireCode(t, srv, 201, "POST", mutatingPath, configuration("m", h.webhook(t, "allow", all)))
		requireCode(t, srv, 201, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", `{"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}`)
		requireCode(t, srv, 201, "POST", "/apis/authentication.k8s.io/v1/tokenreviews", `{"spec":{"token":"t"}}`)
		require.Empty(t, h.takeTexts())
		requireCode(t, srv, 201, "POST", configMapsPath, `{"metadata":{"name":"a"}}`)
		require.Len(t, h.takeTexts(), 2)
	})
}
