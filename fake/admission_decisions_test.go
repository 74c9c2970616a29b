package fakeapi_test

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fakeapi "example.com/fakeapi/fake"
)

// registerReviewers registers webhooks and policies that change, deny and warn about writes of
// ConfigMaps and Secrets. The webhook label takes three seconds.
func registerReviewers(t *testing.T, srv *fakeapi.Server, h *webhookServer) {
	h.review("label", func(r *admissionRequest) *admissionResponse {
		time.Sleep(3 * time.Second)
		if r.Operation == admissionv1.Delete {
			return allow()
		}
		kind := admissionv1.PatchTypeJSONPatch
		return &admissionResponse{
			Allowed: true, PatchType: &kind, AuditAnnotations: map[string]string{"seen": "yes"},
			Patch: []byte(`[{"op":"add","path":"/metadata/labels","value":{"size":"xl"}},{"op":"add","path":"/data","value":{"p":"aHVudGVyMi1wYXNz"}}]`),
		}
	})
	h.review("owner", func(r *admissionRequest) *admissionResponse {
		return &admissionResponse{
			Allowed: !strings.HasPrefix(r.Name, "bad"), Result: &metav1.Status{Code: http.StatusForbidden, Message: "no owner"},
			Warnings: []string{"ask for an owner"},
		}
	})
	const group = "/apis/admissionregistration.k8s.io/v1/"
	rules := `"rules":[` + rule("*", "", "v1", "configmaps secrets") + `]`
	requireCode(t, srv, 201, "POST", mutatingPath, configuration("defaults",
		h.webhook(t, "missing", rules+`,"failurePolicy":"Ignore"`), h.webhook(t, "label", rules)))
	requireCode(t, srv, 201, "POST", validatingPath, configuration("checks", h.webhook(t, "owner", rules)))
	constraints := `"matchConstraints":{"resourceRules":[` + rule("CREATE", "", "v1", "configmaps secrets") + `]}`
	requireCode(t, srv, 201, "POST", group+"validatingadmissionpolicies", `{"metadata":{"name":"old"},"spec":{`+constraints+
		`,"validations":[{"expression":"!object.metadata.name.startsWith('old')","messageExpression":"'old: ' + object.metadata.name"}]}}`)
	requireCode(t, srv, 201, "POST", group+"validatingadmissionpolicybindings", `{"metadata":{"name":"old-warn"},"spec":{"policyName":"old","validationActions":["Warn"]}}`)
	requireCode(t, srv, 201, "POST", group+"mutatingadmissionpolicies", `{"metadata":{"name":"team"},"spec":{`+constraints+
		`,"reinvocationPolicy":"Never","mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{metadata: Object.metadata{annotations: {'team': 'a'}}}"}}]}}`)
	requireCode(t, srv, 201, "POST", group+"mutatingadmissionpolicybindings", `{"metadata":{"name":"team-all"},"spec":{"policyName":"team"}}`)
}

// startWithReviewers starts a server with the webhooks and policies of registerReviewers. It is for
// use in a synctest bubble.
func startWithReviewers(t *testing.T, opts ...fakeapi.Option) controlClient {
	h := newWebhookServer(t)
	c := newControlClient(t, append(opts, fakeapi.WithInMemoryNetwork(), fakeapi.WithWebhookDialer(h.dial))...)
	registerReviewers(t, c.srv, h)
	return c
}

// The timeline, its page, its JSON and the metrics have what webhooks and policies did to writes,
// with exact durations on virtual time.
func TestAdmissionDecisions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startWithReviewers(t)
		requireCode(t, c.srv, 201, "POST", configMapsPath, `{"metadata":{"name":"old-one"}}`)
		requireCode(t, c.srv, 403, "POST", configMapsPath, `{"metadata":{"name":"bad"}}`)
		requireCode(t, c.srv, 200, "DELETE", configMapsPath, "")

		tl := c.srv.Timeline()
		testDecisions(t, tl)
		testDecisionsOnPage(t, tl)
		testDecisionsAsJSON(t, c)
		testAdmissionMetrics(t, c.srv)
	})
}

func testDecisions(t *testing.T, tl fakeapi.Timeline) {
	require.Len(t, tl.Exchanges, 9)
	decisions := tl.Exchanges[6].Admission
	require.Len(t, decisions, 5)
	label := decisions[2]
	require.Equal(t, "MutatingAdmissionWebhook", label.Plugin)
	require.Equal(t, "configmaps default/old-one", label.Object)
	require.Equal(t, []fakeapi.AdmissionChange{
		{Op: "add", Path: "/metadata/labels", Value: `{"size":"xl"}`}, {Op: "add", Path: "/data", Value: `{"p":"aHVudGVyMi1wYXNz"}`},
	}, label.Changes)
	require.Equal(t, map[string]string{"seen": "yes"}, label.AuditAnnotations)
	require.Equal(t, 3*time.Second, label.Duration)

	text := tl.String()
	for _, line := range []string{
		`   +0.000s     #7 policy team (binding team-all) allowed: add /metadata/annotations`,
		`   +0.000s     #7 webhook defaults/missing.example.com failed, ignored with 404: the webhook responded with 404 Not Found`,
		`   +3.000s     #7 webhook defaults/label.example.com allowed in 3s: add /metadata/labels, add /data, audit seen="yes"`,
		`   +3.000s     #7 policy old (binding old-warn) warned: old: old-one`,
		`   +3.000s     #7 webhook checks/owner.example.com allowed: warning "ask for an owner"`,
		`   +6.000s     #8 webhook checks/owner.example.com denied with 403: admission webhook "owner.example.com" denied the request: no owner, warning "ask for an owner"`,
		`   +9.000s     #9 DELETE configmaps default/old-one: webhook checks/owner.example.com allowed: warning "ask for an owner"`,
	} {
		require.Contains(t, text, line+"\n")
	}
}

func testDecisionsOnPage(t *testing.T, tl fakeapi.Timeline) {
	var page strings.Builder
	require.NoError(t, tl.WriteHTML(&page, "x"))
	require.Contains(t, page.String(), "webhook defaults/label.example.com changed /metadata/labels /data")
	require.Contains(t, page.String(), "webhook checks/owner.example.com denied")
}

func testDecisionsAsJSON(t *testing.T, c controlClient) {
	type decision struct {
		Time, Duration, Plugin, Configuration, Name, Operation, Object, Outcome, Message string
		Code                                                                             int
		Changes                                                                          []struct{ Op, Path, Value string }
		Warnings                                                                         []string
		AuditAnnotations                                                                 map[string]string
	}
	var got struct {
		Exchanges []struct{ Admission []decision }
	}
	c.getJSON("timeline", &got)
	denied := got.Exchanges[7].Admission
	require.Len(t, denied, 5)
	require.NotEmpty(t, denied[4].Time)
	denied[4].Time = ""
	require.Equal(t, decision{
		Duration: "0s", Plugin: "ValidatingAdmissionWebhook", Configuration: "checks", Name: "owner.example.com", Operation: "CREATE",
		Object: "configmaps default/bad", Outcome: "denied", Code: 403, Warnings: []string{"ask for an owner"},
		Message: `admission webhook "owner.example.com" denied the request: no owner`,
	}, denied[4])
	require.Equal(t, "3s", denied[2].Duration)
	require.Len(t, denied[2].Changes, 2)
	require.Equal(t, map[string]string{"seen": "yes"}, denied[2].AuditAnnotations)
}

func testAdmissionMetrics(t *testing.T, srv *fakeapi.Server) {
	_, _, metrics := send(t, srv, "GET", "/metrics", "", nil)
	samples := slices.Collect(strings.Lines(string(metrics)))
	for _, sample := range []string{
		`apiserver_admission_webhook_request_total{code="200",name="label.example.com",operation="CREATE",rejected="false",type="admit"} 2`,
		`apiserver_admission_webhook_admission_duration_seconds_sum{name="label.example.com",operation="CREATE",rejected="false",type="admit"} 6`,
		`apiserver_admission_webhook_request_total{code="404",name="missing.example.com",operation="CREATE",rejected="false",type="admit"} 2`,
		`apiserver_admission_webhook_fail_open_count{name="missing.example.com",type="admit"} 3`,
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
	synctest.Test(t, func(t *testing.T) {
		c := startWithReviewers(t)
		value := base64.StdEncoding.EncodeToString([]byte(password))
		requireCode(t, c.srv, 201, "POST", secretsPath, `{"metadata":{"name":"old"},"data":{"p":"`+value+`"}}`)
		requireHidden(t, c, nil, password)
		text := c.srv.Timeline().String()
		require.Contains(t, text, "add /metadata/labels, add /data")
		require.Contains(t, text, "policy old (binding old-warn) warned: REDACTED\n")
	})
}

// A write of a controller is in no exchange, so what a webhook decides about it is a note.
func TestAdmissionDecisionsOfControllers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startWithReviewers(t)
		requireCode(t, c.srv, 201, "POST", "/api/v1/namespaces", `{"metadata":{"name":"gone"}}`)
		requireCode(t, c.srv, 201, "POST", "/api/v1/namespaces/gone/configmaps", `{"metadata":{"name":"a"}}`)
		requireCode(t, c.srv, 200, "DELETE", "/api/v1/namespaces/gone", "")
		require.NoError(t, c.srv.RunControllers(t.Context()))
		require.Contains(t, c.srv.Timeline().String(), "  * server: DELETE configmaps gone/a: webhook checks/owner.example.com allowed")
	})
}

// Without a timeline, decisions are counted.
func TestAdmissionDecisionsWithoutTimeline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startWithReviewers(t, fakeapi.WithoutTimeline())
		requireCode(t, c.srv, 201, "POST", configMapsPath, `{"metadata":{"name":"old-one"}}`)
		requireCode(t, c.srv, 403, "POST", configMapsPath, `{"metadata":{"name":"bad"}}`)
		requireCode(t, c.srv, 200, "DELETE", configMapsPath, "")
		testAdmissionMetrics(t, c.srv)
		require.Empty(t, c.srv.Timeline().String())
	})
}
