package fakeapi_test

import (
	"encoding/json"
	"net/http"
	"sync/atomic"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fakeapi "example.com/fakeapi/fake"
)

// reviewingHook is the mutating webhook mutate and the validating webhook validate. They allow
// everything, or respond as the function of respondWith does.
type reviewingHook struct {
	*hookServer
	review atomic.Pointer[reviewFunc]
}

type reviewFunc func(r *http.Request, request *admissionRequest) *admissionResponse

// respondWith sets the function that responds to reviews; nil allows everything.
func (h *reviewingHook) respondWith(review reviewFunc) {
	if review == nil {
		h.review.Store(nil)
		return
	}
	h.review.Store(&review)
}

// everything are rules for all writes and connections of the groups that tests of reviews use.
const everything = `[{"operations":["*"],"apiGroups":["","apps","coordination.k8s.io","shop.example.com"],"apiVersions":["*"],"resources":["*/*"]}]`

// startReviewed starts a server in memory and registers a reviewingHook for everything.
func startReviewed(t *testing.T, opts ...fakeapi.Option) (*fakeapi.Server, *reviewingHook) {
	t.Helper()
	srv, server := startWithHooks(t, opts...)
	h := &reviewingHook{hookServer: server}
	respond := func(w http.ResponseWriter, r *http.Request, request *admissionRequest) {
		response := allow()
		if review := h.review.Load(); review != nil {
			response = (*review)(r, request)
		}
		response.UID = request.UID
		_ = json.NewEncoder(w).Encode(admissionv1.AdmissionReview{
			TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Response: response,
		})
	}
	h.respond("mutate", respond)
	h.respond("validate", respond)
	const more = `"timeoutSeconds":30,"rules":` + everything
	requireCode(t, srv, 201, "POST", mutatingPath, configuration("all", h.hook(t, "mutate", more)))
	requireCode(t, srv, 201, "POST", validatingPath, configuration("all", h.hook(t, "validate", more)))
	return srv, h
}

// deny returns a refusal with a code.
func deny(code int32, message string) *admissionResponse {
	return &admissionResponse{Result: &metav1.Status{Code: code, Message: message}}
}

// both returns the calls of both webhooks for each of writes, as takeTexts does.
func both(writes ...string) []string {
	texts := []string{}
	for _, w := range writes {
		texts = append(texts, "mutate: "+w, "validate: "+w)
	}
	return texts
}
