package fakeapi_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fakeapi "example.com/fakeapi/fake"
)

// reviewWebhook is an admission webhook. Its paths are what it does with a write.
type reviewWebhook struct{}

// ServeHTTP implements http.Handler.
func (reviewWebhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || r.URL.Path == "/broken" {
		http.Error(w, "broken", http.StatusInternalServerError)
		return
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	switch r.URL.Path {
	case "/label":
		if review.Request.Operation == admissionv1.Delete {
			break
		}
		kind := admissionv1.PatchTypeJSONPatch
		review.Response.PatchType = &kind
		review.Response.Patch = []byte(`[{"op":"add","path":"/metadata/labels","value":{"size":"xl"}},{"op":"add","path":"/data","value":{"p":"aHVudGVyMi1wYXNz"}}]`)
		review.Response.AuditAnnotations = map[string]string{"seen": "yes"}
	case "/deny":
		review.Response.Allowed = !strings.HasPrefix(review.Request.Name, "bad")
		review.Response.Result = &metav1.Status{Code: http.StatusForbidden, Message: "no owner"}
		review.Response.Warnings = []string{"ask for an owner"}
	}
	review.Request = nil
	_ = json.NewEncoder(w).Encode(review)
}

// webhookJSON returns a webhook for ConfigMaps and Secrets, with a failurePolicy.
func webhookJSON(client, name, path, policy string) string {
	client = strings.Replace(client, `","caBundle"`, path+`","caBundle"`, 1)
	return fmt.Sprintf(`{"name":%q,"clientConfig":%s,"failurePolicy":%q,"sideEffects":"None","admissionReviewVersions":["v1"],`+
		`"rules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["*"],"resources":["configmaps","secrets"]}]}`, name, client, policy)
}

// registerReviewers registers webhooks and policies that change, deny and warn about writes.
func registerReviewers(t *testing.T, srv *fakeapi.Server) {
	const group = "/apis/admissionregistration.k8s.io/v1/"
	client := startLoopbackWebhook(t, reviewWebhook{})
	requireCode(t, srv, 201, "POST", group+"mutatingwebhookconfigurations", `{"metadata":{"name":"defaults"},"webhooks":[`+
		webhookJSON(client, "down.example.com", "/broken", "Ignore")+","+webhookJSON(client, "size.example.com", "/label", "Fail")+`]}`)
	requireCode(t, srv, 201, "POST", group+"validatingwebhookconfigurations", `{"metadata":{"name":"checks"},"webhooks":[`+
		webhookJSON(client, "owner.example.com", "/deny", "Fail")+`]}`)
	const rules = `"matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps","secrets"]}]}`
	requireCode(t, srv, 201, "POST", group+"validatingadmissionpolicies", `{"metadata":{"name":"old"},"spec":{`+rules+
		`,"validations":[{"expression":"!object.metadata.name.startsWith('old')","messageExpression":"'old: ' + object.metadata.name"}]}}`)
	requireCode(t, srv, 201, "POST", group+"validatingadmissionpolicybindings", `{"metadata":{"name":"old-warn"},"spec":{"policyName":"old","validationActions":["Warn"]}}`)
	requireCode(t, srv, 201, "POST", group+"mutatingadmissionpolicies", `{"metadata":{"name":"team"},"spec":{`+rules+
		`,"reinvocationPolicy":"Never","mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{metadata: Object.metadata{annotations: {'team': 'a'}}}"}}]}}`)
	requireCode(t, srv, 201, "POST", group+"mutatingadmissionpolicybindings", `{"metadata":{"name":"team-all"},"spec":{"policyName":"team"}}`)
}

// The timeline, its page, its JSON and the metrics have what webhooks and policies did to writes.
func TestAdmissionDecisions(t *testing.T) {
	c := newControlClient(t)
	registerReviewers(t, c.srv)
	const maps = "/api/v1/namespaces/default/configmaps"
	requireCode(t, c.srv, 201, "POST", maps, `{"metadata":{"name":"old-one"}}`)
	requireCode(t, c.srv, 403, "POST", maps, `{"metadata":{"name":"bad"}}`)
	requireCode(t, c.srv, 200, "DELETE", maps, "")

	tl := c.srv.Timeline()
	decisions := tl.Exchanges[len(tl.Exchanges)-3].Admission
	require.Len(t, decisions, 5)
	size := decisions[2]
	require.Equal(t, "MutatingAdmissionWebhook", size.Plugin)
	require.Equal(t, "configmaps default/old-one", size.Object)
	require.Equal(t, []fakeapi.AdmissionChange{
		{Op: "add", Path: "/metadata/labels", Value: `{"size":"xl"}`}, {Op: "add", Path: "/data", Value: `{"p":"aHVudGVyMi1wYXNz"}`},
	}, size.Changes)
	require.Equal(t, map[string]string{"seen": "yes"}, size.AuditAnnotations)
	require.Positive(t, size.Duration)

	text := tl.String()
	for _, line := range []string{
		`#\d+ policy team \(binding team-all\) allowed( in \d+ms)?: add /metadata/annotations`,
		`#\d+ webhook defaults/down.example.com failed, ignored with 500( in \d+ms)?: the webhook responded with 500 Internal Server Error`,
		`#\d+ webhook defaults/size.example.com allowed( in \d+ms)?: add /metadata/labels, add /data, audit seen="yes"`,
		`#\d+ policy old \(binding old-warn\) warned( in \d+ms)?: old: old-one`,
		`#\d+ webhook checks/owner.example.com allowed( in \d+ms)?: warning "ask for an owner"`,
		`#\d+ webhook checks/owner.example.com denied with 403( in \d+ms)?: admission webhook "owner.example.com" denied the request: no owner, warning`,
		`#\d+ DELETE configmaps default/old-one: webhook checks/owner.example.com allowed`,
	} {
		require.Regexp(t, `(?m)^ +\+[0-9.]+s     `+line, text)
	}

	var page strings.Builder
	require.NoError(t, tl.WriteHTML(&page, "x"))
	require.Contains(t, page.String(), "webhook defaults/size.example.com changed /metadata/labels /data")
	require.Contains(t, page.String(), "webhook checks/owner.example.com denied")
	var got struct {
		Exchanges []struct {
			Admission []struct {
				Time, Duration, Plugin, Configuration, Name, Operation, Object, Outcome, Message string
				Code                                                                             int
				Changes                                                                          []struct{ Op, Path, Value string }
				Warnings                                                                         []string
				AuditAnnotations                                                                 map[string]string
			}
		}
	}
	c.getJSON("timeline", &got)
	denied := got.Exchanges[len(got.Exchanges)-2].Admission
	require.Len(t, denied, 5)
	last := denied[4]
	require.Equal(t, []string{"ValidatingAdmissionWebhook", "checks", "owner.example.com", "CREATE", "configmaps default/bad", "denied"},
		[]string{last.Plugin, last.Configuration, last.Name, last.Operation, last.Object, last.Outcome})
	require.Equal(t, 403, last.Code)
	require.Contains(t, last.Message, "no owner")
	require.Equal(t, []string{"ask for an owner"}, last.Warnings)
	require.Len(t, denied[2].Changes, 2)
	require.Equal(t, map[string]string{"seen": "yes"}, denied[2].AuditAnnotations)
	require.NotEmpty(t, last.Time)
	require.NotContains(t, []string{"", "0s"}, last.Duration)

	_, _, metrics := send(t, c.srv, "GET", "/metrics", "", nil)
	samples := slices.Collect(strings.Lines(string(metrics)))
	for _, sample := range []string{
		`apiserver_admission_webhook_request_total{code="200",name="size.example.com",operation="CREATE",rejected="false",type="admit"} 2`,
		`apiserver_admission_webhook_request_total{code="500",name="down.example.com",operation="CREATE",rejected="false",type="admit"} 2`,
		`apiserver_admission_webhook_fail_open_count{name="down.example.com",type="admit"} 3`,
		`apiserver_admission_webhook_request_total{code="403",name="owner.example.com",operation="CREATE",rejected="true",type="validating"} 1`,
		`apiserver_admission_webhook_rejection_count{error_type="no_error",name="owner.example.com",operation="CREATE",rejection_code="403",type="validating"} 1`,
		`apiserver_admission_webhook_admission_duration_seconds_count{name="owner.example.com",operation="CREATE",rejected="true",type="validating"} 1`,
		`apiserver_validating_admission_policy_check_total{enforcement_action="warn",error_type="invalid_error",policy="old",policy_binding="old-warn"} 1`,
		`apiserver_mutating_admission_policy_check_total{error_type="no_error",policy="team",policy_binding="team-all"} 2`,
	} {
		require.True(t, slices.Contains(samples, sample+"\n"), sample)
	}
}

// The values of Secrets are not in the decisions about them.
func TestAdmissionDecisionsWithoutSecrets(t *testing.T) {
	c := newControlClient(t)
	registerReviewers(t, c.srv)
	value := base64.StdEncoding.EncodeToString([]byte(password))
	requireCode(t, c.srv, 201, "POST", secretsPath, `{"metadata":{"name":"old"},"data":{"p":"`+value+`"}}`)
	requireHidden(t, c, nil, password)
	text := c.srv.Timeline().String()
	require.Contains(t, text, "add /data")
	require.Regexp(t, `policy old \(binding old-warn\) warned( in \d+ms)?: REDACTED`, text)
}

// A write of a controller is in no exchange, so what a webhook decides about it is a note.
func TestAdmissionDecisionsOfControllers(t *testing.T) {
	srv := fakeapi.Start(t)
	registerReviewers(t, srv)
	requireCode(t, srv, 201, "POST", "/api/v1/namespaces", `{"metadata":{"name":"gone"}}`)
	requireCode(t, srv, 201, "POST", "/api/v1/namespaces/gone/configmaps", `{"metadata":{"name":"a"}}`)
	requireCode(t, srv, 200, "DELETE", "/api/v1/namespaces/gone", "")
	require.NoError(t, srv.RunControllers(t.Context()))
	require.Regexp(t, `  \* server: DELETE configmaps gone/a: webhook checks/owner.example.com allowed`, srv.Timeline().String())
}
