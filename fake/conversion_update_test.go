package fakeapi_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A write in another version converts the stored object to the storage version first. If that
// fails, it is the error also of a request that would be refused. Responses as those of a v0.37.2
// server.
func TestConversionOfReplacedObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetWebhook{}
		srv := startWithGadgets(t, hook)
		one := requireCode(t, srv, 201, "POST", gadgetsV2, gadgetJSON("v2", "one", 1)).GetResourceVersion()
		for _, request := range []struct{ method, path, body string }{
			{"POST", gadgetsV2, gadgetJSON("v2", "one", 1)},
			{"PUT", gadgetsV2 + "/one", gadgetJSON("v2", "one", 5)},
			{"PUT", gadgetsV2 + "/one/status", gadgetJSON("v2", "one", 5)},
			{"PATCH", gadgetsV2 + "/one", `{"metadata":{"resourceVersion":"1"}}`},
		} {
			hook.failing.Store(false)
			refused := requireCode(t, srv, map[string]int{"POST": 409, "PUT": 422, "PATCH": 409}[request.method], request.method, request.path, request.body)
			require.NotEmpty(t, refused.Object["reason"])
			hook.failing.Store(true)
			s := requireStatus(t, srv, 500, request.method, request.path, request.body)
			require.Equal(t, metav1.Status{TypeMeta: s.TypeMeta, Status: "Failure", Code: 500, Message: toV1Error}, *s, "%v", request)
		}
		for path, method := range map[string]string{gadgetsV2 + "/one?dryRun=All": "PATCH", gadgetsV2 + "/one/scale": "GET"} {
			s := requireStatus(t, srv, 500, method, path, `{"spec":{"width":5}}`)
			require.Equal(t, metav1.StatusReasonInternalError, s.Reason, path)
			require.Equal(t, "Internal error occurred: "+corruptObjectMessage("one", one), s.Message, path)
		}
		dryRun := requireStatus(t, srv, 409, "POST", gadgetsV1+"?dryRun=All", gadgetJSON("v1", "one", 1))
		require.Equal(t, `gadgets.example.com "one" already exists`, dryRun.Message)
	})
}

// The option to ignore read errors removes an object that cannot be converted.
func TestUnsafeDeleteOfUnconvertible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const option = "/one?ignoreStoreReadErrorWithClusterBreakingPotential=true"
		hook := &gadgetWebhook{}
		srv := startWithGadgets(t, hook)
		body := strings.Replace(gadgetJSON("v2", "one", 1), `"metadata":{`, `"metadata":{"finalizers":["example.com/f"],`, 1)
		requireCode(t, srv, 201, "POST", gadgetsV2, body)
		require.Equal(t, metav1.StatusReasonConflict, requireStatus(t, srv, 409, "DELETE", gadgetsV2+option, "").Reason)
		hook.failing.Store(true)
		require.Equal(t, metav1.StatusReasonConflict, requireStatus(t, srv, 409, "DELETE", gadgetsV1+option, "").Reason)
		for _, dryRun := range []string{"&dryRun=All", ""} {
			s := requireStatus(t, srv, 200, "DELETE", gadgetsV2+option+dryRun, "")
			require.Equal(t, metav1.Status{TypeMeta: s.TypeMeta, Status: "Success", Code: 200, Details: &metav1.StatusDetails{Name: "one", Kind: "Gadget"}}, *s)
		}
		requireCode(t, srv, 404, "GET", gadgetsV1+"/one", "")
		requireCode(t, srv, 404, "DELETE", gadgetsV2+option, "")
	})
}

// A webhook gets the objects that a write stores without their resourceVersion, and those of a dry
// run with it.
func TestConversionRequestsWithoutResourceVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetWebhook{}
		var toV1 []bool // whether each object had a resourceVersion
		srv := startWithGadgets(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if bytes.Contains(body, []byte(`"desiredAPIVersion":"example.com/v1"`)) {
				toV1 = append(toV1, bytes.Contains(body, []byte("resourceVersion")))
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			hook.ServeHTTP(w, r)
		}))
		requireCode(t, srv, 201, "POST", gadgetsV2, gadgetJSON("v2", "one", 1))
		requireCode(t, srv, 200, "PATCH", gadgetsV2+"/one", `{"spec":{"width":2}}`)
		requireCode(t, srv, 200, "PATCH", gadgetsV2+"/one?dryRun=All", `{"spec":{"width":3}}`)
		require.Equal(t, []bool{false, false, false, true}, toV1)
	})
}
