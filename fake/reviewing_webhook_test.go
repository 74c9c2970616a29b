package fakeapi_test

import (
	"net/http"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fakeapi "example.com/fakeapi/fake"
)

// reviewingWebhook is the mutating webhook mutate and the validating webhook validate. They allow
// everything, or respond as the function of respondWith does.
type reviewingWebhook struct {
	*webhookServer
	review atomic.Pointer[reviewFunc]
}

type reviewFunc func(r *http.Request, request *admissionRequest) *admissionResponse

// respondWith sets the function that responds to reviews; nil allows everything.
func (h *reviewingWebhook) respondWith(review reviewFunc) {
	if review == nil {
		h.review.Store(nil)
		return
	}
	h.review.Store(&review)
}

// everything are rules for all writes and connections of the groups that tests of reviews use.
const everything = `[{"operations":["*"],"apiGroups":["","apps","coordination.k8s.io","shop.example.com"],"apiVersions":["*"],"resources":["*/*"]}]`

// startReviewed starts a server in memory and registers a reviewingWebhook for everything.
func startReviewed(t *testing.T, opts ...fakeapi.Option) (*fakeapi.Server, *reviewingWebhook) {
	t.Helper()
	srv, server := startWithWebhooks(t, opts...)
	h := &reviewingWebhook{webhookServer: server}
	respond := func(w http.ResponseWriter, r *http.Request, request *admissionRequest) {
		response := allow()
		if review := h.review.Load(); review != nil {
			response = (*review)(r, request)
		}
		writeReview(w, request, response)
	}
	h.respond("mutate", respond)
	h.respond("validate", respond)
	const more = `"timeoutSeconds":30,"rules":` + everything
	requireCode(t, srv, 201, "POST", mutatingPath, configuration("all", h.webhook(t, "mutate", more)))
	requireCode(t, srv, 201, "POST", validatingPath, configuration("all", h.webhook(t, "validate", more)))
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
