package fakeapi_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/fake/internal/certs"
)

// reviewText returns the JSON of an AdmissionReview.
func reviewText(apiVersion, kind, response string) string {
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"response":%s}`, apiVersion, kind, response)
}

// A webhook that fails refuses the write, or does not, by its failurePolicy. The message says what
// has failed.
func TestWebhookFailures(t *testing.T) {
	const call = `failed calling webhook "x.example.com": failed to call webhook: `
	const invalid = `failed calling webhook "x.example.com": received invalid webhook response: `
	for name, tt := range map[string]struct {
		// answer is the body of the response, in which UID stands for the uid of the request.
		answer string
		code   int    // of the response; 0 is 200
		config string // of the webhook, instead of its own clientConfig
		want   string
		// always means that the failurePolicy does not matter.
		always bool
		// rejection is the code in the metric of rejections; "" is 503.
		rejection string
	}{
		"refused":            {config: `{"url":"https://down.example.com/x"}`, want: call + `Post "https://down.example.com/x?timeout=10s": dial tcp: connection refused`},
		"unknown service":    {config: `{"service":{"namespace":"a","name":"b"}}`, want: call + `Post "https://b.a.svc:443/?timeout=10s": service "b" not found`},
		"not found":          {answer: `x`, code: 404, want: call + `the server could not find the requested resource`, rejection: "404"},
		"error":              {answer: `broken`, code: 500, want: call + `an error on the server ("broken") has prevented the request from succeeding`, rejection: "500"},
		"empty":              {want: call + `0-length response with status code: 200 and content type: application/json`},
		"garbage":            {answer: `hello`, want: call + `couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct`},
		"other kind":         {answer: reviewText("admission.k8s.io/v1", "Other", `{}`), want: call + `no kind "Other" is registered for version "admission.k8s.io/v1" in scheme`},
		"other version":      {answer: reviewText("admission.k8s.io/v9", "AdmissionReview", `{}`), want: call + `no kind "AdmissionReview" is registered for version "admission.k8s.io/v9" in scheme`},
		"no response":        {answer: reviewText("admission.k8s.io/v1", "AdmissionReview", `null`), want: invalid + `webhook response was absent`},
		"other uid":          {answer: reviewText("admission.k8s.io/v1", "AdmissionReview", `{"uid":"u","allowed":true}`), want: invalid + `expected response.uid="UID", got "u"`},
		"patch without type": {answer: reviewText("admission.k8s.io/v1", "AdmissionReview", `{"uid":"UID","allowed":true,"patch":"W10="}`), want: invalid + `webhook returned response.patch but not response.patchType`},
		"type without patch": {answer: reviewText("admission.k8s.io/v1", "AdmissionReview", `{"uid":"UID","allowed":true,"patchType":"JSONPatch"}`), want: invalid + `webhook returned response.patchType but not response.patch`},
		"other patch type":   {answer: patchAnswer("MergePatch", `[{"op":"add","path":"/data","value":{}}]`), want: `failed calling webhook "x.example.com": unsupported patch type "MergePatch"`, rejection: "400"},
		"patch that is none": {answer: patchAnswer("JSONPatch", `nope`), want: `failed calling webhook "x.example.com": received undecodable patch in webhook response: invalid character 'o' in literal null (expecting 'u')`},
		"missing path":       {answer: patchAnswer("JSONPatch", `[{"op":"replace","path":"/data/a/b","value":1}]`), want: `replace operation does not apply: doc is missing path: /data/a/b: missing value`, always: true, rejection: "0"},
		"failed test":        {answer: patchAnswer("JSONPatch", `[{"op":"test","path":"/metadata/name","value":"b"}]`), want: `testing value /metadata/name failed: test failed`, always: true, rejection: "0"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, h := startWithWebhooks(t)
				var uid string
				h.respond("x", func(w http.ResponseWriter, _ *http.Request, request *admissionRequest) {
					uid = string(request.UID)
					if tt.code != 0 {
						http.Error(w, tt.answer, tt.code)
						return
					}
					_, _ = w.Write([]byte(strings.ReplaceAll(tt.answer, "UID", uid)))
				})
				config := tt.config
				if config == "" {
					config = h.clientConfig("x")
				}
				more := `"clientConfig":` + config
				requireCode(t, srv, 201, "POST", mutatingPath, configuration("m", h.webhook(t, "x", more)))
				s := requireStatus(t, srv, 500, "POST", configMapsPath, `{"metadata":{"name":"a"}}`)
				require.Equal(t, metav1.StatusReasonInternalError, s.Reason)
				require.Contains(t, s.Message, "Internal error occurred: "+strings.ReplaceAll(tt.want, "UID", uid))
				require.Equal(t, metav1.CauseType(""), s.Details.Causes[0].Type)
				requireCode(t, srv, 404, "GET", configMapsPath+"/a", "")

				requireCode(t, srv, 200, "PATCH", mutatingPath+"/m", configuration("m", h.webhook(t, "x", more+`,"failurePolicy":"Ignore"`)))
				want := 201
				if tt.always {
					want = 500
				}
				requireCode(t, srv, want, "POST", configMapsPath, `{"metadata":{"name":"a"}}`)

				sample := `apiserver_admission_webhook_fail_open_count{name="x.example.com",type="admit"} 1`
				errorType, count := "calling_webhook_error", "1"
				if tt.always {
					errorType, count = "apiserver_internal_error", "2"
				}
				_, _, metrics := send(t, srv, "GET", "/metrics", "", nil)
				require.Equal(t, !tt.always, strings.Contains(string(metrics), sample+"\n"))
				require.Contains(t, string(metrics), `apiserver_admission_webhook_rejection_count{error_type="`+errorType+
					`",name="x.example.com",operation="CREATE",rejection_code="`+cmp.Or(tt.rejection, "503")+`",type="admit"} `+count+"\n")
			})
		})
	}
}

// The certificate of a webhook must be of the authority in caBundle and for the host of the URL.
// This is over TCP: on an unbuffered pipe the client cannot report a certificate that it does not
// trust while the server writes.
func TestWebhookCertificates(t *testing.T) {
	srv := fakeapi.Start(t)
	h := &webhookServer{ServeMux: http.NewServeMux()}
	h.review("allow", func(*admissionRequest) *admissionResponse { return allow() })
	var client struct {
		URL      string
		CABundle []byte
	}
	require.NoError(t, json.Unmarshal([]byte(startLoopbackWebhook(t, h)), &client))
	other, err := certs.NewAuthority()
	require.NoError(t, err)
	const untrusted = "tls: failed to verify certificate: x509: certificate signed by unknown authority"
	for name, tt := range map[string]struct {
		url      string
		caBundle []byte
		want     string // "" if the call succeeds
	}{
		"trusted":     {url: client.URL + "/allow", caBundle: client.CABundle},
		"two slashes": {url: client.URL + "//allow", caBundle: client.CABundle},
		"other CA":    {client.URL + "/allow", other.PEM(), untrusted},
		"no CA":       {client.URL + "/allow", nil, untrusted},
		"other host":  {strings.Replace(client.URL, "127.0.0.1", "localhost", 1) + "/allow", client.CABundle, "x509: certificate is not valid for any names, but wanted to match localhost"},
	} {
		t.Run(name, func(t *testing.T) {
			config, err := json.Marshal(map[string]any{"url": tt.url, "caBundle": tt.caBundle})
			require.NoError(t, err)
			requireCode(t, srv, 201, "POST", validatingPath, configuration("v", h.webhook(t, "allow", `"clientConfig":`+string(config))))
			defer requireCode(t, srv, 200, "DELETE", validatingPath+"/v", "")
			if tt.want == "" {
				requireCode(t, srv, 201, "POST", configMapsPath, `{"metadata":{"generateName":"a"}}`)
				require.Len(t, h.take(), 1)
				return
			}
			require.Contains(t, requireStatus(t, srv, 500, "POST", configMapsPath, `{"metadata":{"name":"a"}}`).Message, tt.want)
			require.Empty(t, h.take())
		})
	}
}

// patchAnswer returns the JSON of an AdmissionReview with a patch.
func patchAnswer(patchType, patch string) string {
	return reviewText("admission.k8s.io/v1", "AdmissionReview", fmt.Sprintf(`{"uid":"UID","allowed":true,"patchType":%q,"patch":%s}`, patchType, jsonBytes([]byte(patch))))
}

// jsonBytes returns the JSON of bytes.
func jsonBytes(data []byte) []byte {
	text, _ := json.Marshal(data)
	return text
}

// A validating webhook may not patch, and a webhook may not patch an object that is deleted.
func TestWebhookPatchIsNotAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startWithWebhooks(t)
		response := patchResponse(`[{"op":"add","path":"/data","value":{"k":"v"}}]`)
		h.review("patch", func(*admissionRequest) *admissionResponse { return response })
		requireCode(t, srv, 201, "POST", validatingPath, configuration("v", h.webhook(t, "patch", "")))
		s := requireStatus(t, srv, 500, "POST", configMapsPath, `{"metadata":{"name":"a"}}`)
		require.Contains(t, s.Message, `failed calling webhook "patch.example.com": received invalid webhook response: `)
		requireCode(t, srv, 200, "DELETE", validatingPath+"/v", "")
		requireCode(t, srv, 201, "POST", configMapsPath, `{"metadata":{"name":"a"}}`)
		requireCode(t, srv, 201, "POST", mutatingPath, configuration("m", h.webhook(t, "patch", `"failurePolicy":"Ignore"`)))
		for _, patchType := range []admissionv1.PatchType{admissionv1.PatchTypeJSONPatch, "MergePatch"} {
			response.PatchType = &patchType
			s = requireStatus(t, srv, 500, "DELETE", configMapsPath+"/a", "")
			require.Equal(t, "Internal error occurred: admission webhook \"patch.example.com\" attempted to modify the object, which is not supported for this operation", s.Message)
		}
	})
}

// A denial has the code, the reason, the message and the details that the webhook gives.
func TestWebhookDenials(t *testing.T) {
	const denied = `admission webhook "no.example.com" denied the request`
	for name, tt := range map[string]struct {
		result *metav1.Status
		want   metav1.Status
	}{
		"nothing":          {nil, metav1.Status{Code: 400, Message: denied + " without explanation"}},
		"message":          {&metav1.Status{Message: "too big"}, metav1.Status{Code: 400, Message: denied + ": too big"}},
		"reason":           {&metav1.Status{Reason: "NotAcceptable"}, metav1.Status{Code: 400, Reason: "NotAcceptable", Message: denied + ": NotAcceptable"}},
		"code":             {&metav1.Status{Code: 429, Reason: "TooManyRequests", Message: "later"}, metav1.Status{Code: 429, Reason: "TooManyRequests", Message: denied + ": later"}},
		"code of success":  {&metav1.Status{Code: 200, Status: "Success", Message: "fine"}, metav1.Status{Code: 400, Message: denied + ": fine"}},
		"details are kept": {&metav1.Status{Code: 422, Reason: "Invalid", Message: "no", Details: &metav1.StatusDetails{Name: "n"}}, metav1.Status{Code: 422, Reason: "Invalid", Message: denied + ": no", Details: &metav1.StatusDetails{Name: "n"}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, h := startWithWebhooks(t, fakeapi.WithObjects(newConfigMap("b")))
				h.review("no", func(*admissionRequest) *admissionResponse { return &admissionResponse{Result: tt.result} })
				tt.want.TypeMeta, tt.want.Status = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, metav1.StatusFailure
				for _, kind := range []string{mutatingPath, validatingPath} {
					requireCode(t, srv, 201, "POST", kind, configuration("c", h.webhook(t, "no", `"failurePolicy":"Ignore"`)))
					code := int(tt.want.Code)
					require.Equal(t, &tt.want, requireStatus(t, srv, code, "POST", configMapsPath, `{"metadata":{"name":"a"}}`))
					require.Equal(t, &tt.want, requireStatus(t, srv, code, "PATCH", configMapsPath+"/b", `{"data":{"k":"2"}}`))
					require.Equal(t, &tt.want, requireStatus(t, srv, code, "DELETE", configMapsPath+"/b", ""))
					requireCode(t, srv, 200, "DELETE", kind+"/c", "")
				}
				requireCode(t, srv, 404, "GET", configMapsPath+"/a", "")
				require.Equal(t, "1", requireCode(t, srv, 200, "GET", configMapsPath+"/b", "").Object["data"].(map[string]any)["a"])
			})
		})
	}
}

// slowly lets a webhook wait until d is over, or the call.
func slowly(d time.Duration) func(http.ResponseWriter, *http.Request, *admissionRequest) {
	return func(_ http.ResponseWriter, r *http.Request, _ *admissionRequest) {
		select {
		case <-time.After(d):
		case <-r.Context().Done():
		}
	}
}

// A call lasts as long as timeoutSeconds at most, but not longer than the request. The
// parameter timeout of the call is that time.
func TestWebhookTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startWithWebhooks(t)
		h.respond("slow", slowly(time.Hour))
		timeouts := func() (have []string) {
			for _, c := range h.take() {
				have = append(have, c.timeout)
			}
			return have
		}
		hook := func(more string) string { return h.webhook(t, "slow", more) }
		requireCode(t, srv, 201, "POST", validatingPath, configuration("v", hook("")))
		begin := time.Now()
		s := requireStatus(t, srv, 500, "POST", configMapsPath, `{"metadata":{"name":"a"}}`)
		require.Contains(t, s.Message, `context deadline exceeded`)
		require.Equal(t, 10*time.Second, time.Since(begin), "the default")
		require.Equal(t, []string{"10s"}, timeouts())

		requireCode(t, srv, 200, "PATCH", validatingPath+"/v", configuration("v", hook(`"timeoutSeconds":3,"failurePolicy":"Ignore"`)))
		begin = time.Now()
		requireCode(t, srv, 201, "POST", configMapsPath, `{"metadata":{"name":"a"}}`)
		require.Equal(t, 3*time.Second, time.Since(begin))
		require.Equal(t, []string{"3s"}, timeouts())

		requireCode(t, srv, 200, "PATCH", validatingPath+"/v", configuration("v", hook(`"timeoutSeconds":30,"failurePolicy":"Ignore"`)))
		begin = time.Now()
		code, _, body := send(t, srv, "POST", configMapsPath+"?timeout=4s", "application/json", []byte(`{"metadata":{"name":"b"}}`))
		require.Equal(t, 504, code, "%s", body)
		require.Equal(t, 4*time.Second, time.Since(begin))
		require.Equal(t, []string{"4s"}, timeouts())
		synctest.Wait()
		requireCode(t, srv, 404, "GET", configMapsPath+"/b", "")
	})
}

// Validating webhooks are called at the same time, mutating ones one after the other.
func TestWebhooksAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startWithWebhooks(t)
		h.respond("slow", slowly(time.Hour))
		more := func(name string) string {
			return h.webhook(t, "slow", `"name":"`+name+`.example.com","timeoutSeconds":5,"failurePolicy":"Ignore"`)
		}
		for path, want := range map[string]time.Duration{validatingPath: 5 * time.Second, mutatingPath: 15 * time.Second} {
			requireCode(t, srv, 201, "POST", path, configuration("c", more("a"), more("b"), more("c")))
			begin := time.Now()
			requireCode(t, srv, 201, "POST", configMapsPath, `{"metadata":{"generateName":"a"}}`)
			require.Equal(t, want, time.Since(begin), path)
			requireCode(t, srv, 200, "DELETE", path+"/c", "")
		}
	})
}

// A write whose client has hung up during the call is not committed, even if the webhook then
// allows it.
func TestWebhookOfCanceledRequest(t *testing.T) {
	for _, path := range []string{mutatingPath, validatingPath} {
		synctest.Test(t, func(t *testing.T) {
			srv, h := startWithWebhooks(t)
			ctx, cancel := context.WithCancel(t.Context())
			h.review("late", func(*admissionRequest) *admissionResponse {
				cancel()
				time.Sleep(time.Second) // virtual: the server has seen that the client hung up
				return allow()
			})
			requireCode(t, srv, 201, "POST", path, configuration("c", h.webhook(t, "late", `"failurePolicy":"Ignore"`)))
			r, err := http.NewRequestWithContext(ctx, "POST", srv.URL()+configMapsPath, strings.NewReader(`{"metadata":{"name":"a"}}`))
			require.NoError(t, err)
			r.Header.Set("Content-Type", "application/json")
			_, err = srv.Client().Do(r) //nolint:bodyclose // there is no response
			require.ErrorIs(t, err, context.Canceled)
			time.Sleep(time.Minute) // virtual
			requireCode(t, srv, 404, "GET", configMapsPath+"/a", "")
		})
	}
}
