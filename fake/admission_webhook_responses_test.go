package fakeapi_test

import (
	"cmp"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// The response of a validating webhook is decoded as a real server decodes it: into the version
// that was sent, with the case of its fields, and also from YAML.
func TestDecodingOfWebhookResponses(t *testing.T) {
	const denied = `{"uid":"UID","allowed":false,"status":{"message":"no"}}`
	for name, tt := range map[string]struct {
		contentType, answer string
		// fail and ignore are the codes of a create, by the failurePolicy.
		fail, ignore int
		// message is a part of that with Fail.
		message string
		// code is that of the response; 0 is 200.
		code int
		// versions are the admissionReviewVersions; "" are v1 and v1beta1.
		versions string
	}{
		"denial":        {"application/json", reviewText("admission.k8s.io/v1", "AdmissionReview", denied), 400, 400, "denied the request: no", 0, ""},
		"YAML":          {"application/json", "apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nresponse: " + denied, 400, 400, "denied the request: no", 0, ""},
		"other version": {"application/json", reviewText("admission.k8s.io/v1beta1", "AdmissionReview", denied), 500, 201, "failed to call webhook: converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion", 0, ""},
		"other case":    {"application/json", `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","Response":` + denied + `}`, 500, 201, "received invalid webhook response: webhook response was absent", 0, ""},
		"media type":    {"a/b/c;;", reviewText("admission.k8s.io/v1", "AdmissionReview", denied), 500, 201, "failed to call webhook: Internal error occurred: mime: ", 0, ""},
		"Status":        {"application/json", `{"apiVersion":"v1","kind":"Status","status":"Failure","message":"broken","code":503}`, 500, 201, "failed to call webhook: converting (v1.Status) to (v1.AdmissionReview): unknown conversion", 0, ""},
		"206":           {"application/json", reviewText("admission.k8s.io/v1", "AdmissionReview", denied), 400, 400, "denied the request: no", 206, ""},
		"207":           {"application/json", reviewText("admission.k8s.io/v1", "AdmissionReview", denied), 500, 201, "failed to call webhook: the server responded with the status code 207 but did not return more information", 207, ""},
		"v1beta1":       {"application/json", reviewText("admission.k8s.io/v1beta1", "AdmissionReview", denied), 400, 400, "denied the request: no", 0, `"v1beta1","v1"`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, h := startWithWebhooks(t)
				h.respond("x", func(w http.ResponseWriter, _ *http.Request, request *admissionRequest) {
					w.Header().Set("Content-Type", tt.contentType)
					w.WriteHeader(cmp.Or(tt.code, 200))
					_, _ = w.Write([]byte(strings.ReplaceAll(tt.answer, "UID", string(request.UID))))
				})
				more := `"admissionReviewVersions":[` + cmp.Or(tt.versions, `"v1","v1beta1"`) + `]`
				requireCode(t, srv, 201, "POST", validatingPath, configuration("v", h.webhook(t, "x", more)))
				require.Contains(t, requireStatus(t, srv, tt.fail, "POST", configMapsPath, `{"metadata":{"name":"a"}}`).Message, tt.message)
				requireCode(t, srv, 200, "PATCH", validatingPath+"/v", configuration("v", h.webhook(t, "x", more+`,"failurePolicy":"Ignore"`)))
				requireCode(t, srv, tt.ignore, "POST", configMapsPath, `{"metadata":{"name":"a"}}`)
			})
		})
	}
}

const customPumps = `{"metadata":{"name":"pumps.shop.example.com"},"spec":{"group":"shop.example.com","scope":"Namespaced","names":{"plural":"pumps","kind":"Pump"},"versions":[{
	"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-validations":[{"rule":"true"}]}}}]}}`

// A mutating webhook cannot make an object of a built-in type one of a kind that the server has in
// another scheme: a custom resource of a ConfigMap, or a ConfigMap of a CustomResourceDefinition.
func TestWebhookChangesKindToThatOfOtherScheme(t *testing.T) {
	const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	synctest.Test(t, func(t *testing.T) {
		srv, h := startWithWebhooks(t)
		requireCode(t, srv, 201, "POST", crds, customPumps)
		change := func(name, kind, apiVersion, rules string) string {
			h.review(name, func(*admissionRequest) *admissionResponse {
				return patchResponse(`[{"op":"replace","path":"/kind","value":"` + kind + `"},{"op":"replace","path":"/apiVersion","value":"` + apiVersion + `"}]`)
			})
			return h.webhook(t, name, `"rules":[`+rules+`]`)
		}
		requireCode(t, srv, 201, "POST", mutatingPath, configuration("m",
			change("custom", "Pump", "shop.example.com/v1", rule("*", "", "v1", "configmaps")),
			change("core", "ConfigMap", "v1", rule("CREATE", "apiextensions.k8s.io", "v1", "customresourcedefinitions"))))
		s := requireStatus(t, srv, 500, "POST", configMapsPath, `{"metadata":{"name":"a"}}`)
		require.Equal(t, `Internal error occurred: no kind "Pump" is registered for version "shop.example.com/v1" in scheme "pkg/runtime/scheme.go:111"`, s.Message)
		s = requireStatus(t, srv, 500, "POST", crds, strings.ReplaceAll(customPumps, "pumps", "valves"))
		require.Equal(t, `Internal error occurred: no kind "ConfigMap" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"`, s.Message)
	})
}

// The metadata of a custom resource that a webhook has changed in an update is validated as that of
// all types, and then by the strategy of custom resources. Only errors of the second keep rules
// from being evaluated.
func TestWebhookBreaksMetadataOfCustomResource(t *testing.T) {
	const pumps = "/apis/shop.example.com/v1/namespaces/default/pumps"
	const required, immutable = "metadata.name: Required value: name or generateName is required", `metadata.name: Invalid value: "": field is immutable`
	for patch, want := range map[string]string{
		`[{"op":"remove","path":"/metadata/name"}]`:            `[` + required + `, ` + immutable + `]`,
		`[{"op":"replace","path":"/metadata/name","value":5}]`: `[` + required + `, ` + immutable + `, metadata: Invalid value: `,
	} {
		synctest.Test(t, func(t *testing.T) {
			srv, h := startWithWebhooks(t)
			requireCode(t, srv, 201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", customPumps)
			requireCode(t, srv, 201, "POST", pumps, `{"apiVersion":"shop.example.com/v1","kind":"Pump","metadata":{"name":"a"}}`)
			h.review("change", func(*admissionRequest) *admissionResponse { return patchResponse(patch) })
			requireCode(t, srv, 201, "POST", mutatingPath, configuration("m", h.webhook(t, "change", `"rules":[`+rule("*", "shop.example.com", "v1", "pumps")+`]`)))
			s := requireStatus(t, srv, 422, "PATCH", pumps+"/a", `{"metadata":{"labels":{"a":"b"}}}`)
			require.Contains(t, s.Message, `Pump.shop.example.com "" is invalid: `+want)
		})
	}
}
