package fakeapi_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// admissionHook is an admission webhook. It records the reviews and allows all, or responds as
// review does.
type admissionHook struct {
	review func(r *http.Request, request *admissionRequest) *admissionResponse

	mu    sync.Mutex
	calls []reviewCall
}

// reviewCall is a review, with "mutate" or "validate" as its hook.
type reviewCall struct {
	hook string
	*admissionRequest
}

func (c reviewCall) String() string {
	resource := c.RequestResource.Resource
	if c.RequestSubResource != "" {
		resource += "/" + c.RequestSubResource
	}
	return strings.Join([]string{c.hook, string(c.Operation), resource, c.Name}, " ")
}

func (h *admissionHook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	h.calls = append(h.calls, reviewCall{strings.Trim(r.URL.Path, "/"), review.Request})
	h.mu.Unlock()
	review.Response = allow()
	if h.review != nil {
		review.Response = h.review(r, review.Request)
	}
	review.Response.UID = review.Request.UID
	_ = json.NewEncoder(w).Encode(review)
}

// take returns the calls since the last take.
func (h *admissionHook) take() []reviewCall {
	h.mu.Lock()
	defer h.mu.Unlock()
	calls := h.calls
	h.calls = nil
	return calls
}

// takeTexts is take with the calls as text.
func (h *admissionHook) takeTexts() (texts []string) {
	for _, c := range h.take() {
		texts = append(texts, c.String())
	}
	return texts
}

// hookRules are rules for everything of the core group and of apps, which tests write.
const hookRules = `[{"operations":["*"],"apiGroups":["","apps"],"apiVersions":["*"],"resources":["*/*"]}]`

// startWithHook starts a server that calls h for each write, as a mutating and a validating webhook.
func startWithHook(t *testing.T, h *admissionHook, opts ...fakeapi.Option) (*fakeapi.Server, kubernetes.Interface) {
	t.Helper()
	clientConfig, dialer := startMemoryHook(t, h)
	srv := fakeapi.Start(t, append([]fakeapi.Option{fakeapi.WithInMemoryNetwork(), dialer}, opts...)...)
	registerHook(t, srv, "all", clientConfig, hookRules)
	return srv, kubernetes.NewForConfigOrDie(srv.RESTConfig())
}

// startMemoryHook serves a webhook in memory. It returns the beginning of its clientConfig, and the
// option that connects to it.
func startMemoryHook(t *testing.T, hook http.Handler) (clientConfig func(path string) string, dialer fakeapi.Option) {
	listener, bundle := serveWebhook(t, hook, "hook.example.com")
	return func(path string) string {
		return `{"url":"https://hook.example.com/` + path + `","caBundle":` + bundle + `}`
	}, fakeapi.WithWebhookDialer(listener.DialContext)
}

// registerHook creates configurations of a mutating and a validating webhook.
func registerHook(t *testing.T, srv *fakeapi.Server, name string, clientConfig func(path string) string, rules string) {
	t.Helper()
	configuration := func(kind, path string) string {
		return `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"` + kind + `","metadata":{"name":"` + name + `"},"webhooks":[{
			"name":"` + path + `.example.com","clientConfig":` + clientConfig(path) + `,"rules":` + rules + `,
			"sideEffects":"None","admissionReviewVersions":["v1"],"timeoutSeconds":30}]}`
	}
	requireCode(t, srv, 201, "POST", mutatingPath, configuration("MutatingWebhookConfiguration", "mutate"))
	requireCode(t, srv, 201, "POST", validatingPath, configuration("ValidatingWebhookConfiguration", "validate"))
}

// deny returns a refusal with a code.
func deny(code int32, message string) *admissionResponse {
	return &admissionResponse{Result: &metav1.Status{Code: code, Message: message}}
}

// both returns the calls of the mutating and the validating webhook for each of calls.
func both(calls ...string) (texts []string) {
	for _, c := range calls {
		texts = append(texts, "mutate "+c, "validate "+c)
	}
	return slices.Clip(texts)
}
