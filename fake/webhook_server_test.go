package fakeapi_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/fake/internal/certs"
	"example.com/fakeapi/fake/internal/memnet"
)

const (
	mutatingPath   = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
	validatingPath = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
)

// serveWebhook serves a webhook for a host on a network in memory. It returns the listener and the
// caBundle as JSON.
func serveWebhook(t testing.TB, handler http.Handler, host string) (listener *memnet.Listener, caBundle string) {
	t.Helper()
	authority, err := certs.NewAuthority()
	require.NoError(t, err)
	pair, err := authority.IssueServer(host)
	require.NoError(t, err)
	listener = memnet.NewListener()
	server := &http.Server{
		Handler:   handler,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}},
		ErrorLog:  log.New(io.Discard, "", 0),
	}
	done := make(chan error, 1)
	go func() { done <- server.ServeTLS(listener, "", "") }()
	t.Cleanup(func() {
		_ = server.Close()
		require.ErrorIs(t, <-done, http.ErrServerClosed)
	})
	bundle, err := json.Marshal(authority.PEM())
	require.NoError(t, err)
	return listener, string(bundle)
}

// webhookServer is a server of admission webhooks, one for each path.
type webhookServer struct {
	*http.ServeMux
	listener *memnet.Listener
	caBundle string // as JSON

	mu    sync.Mutex
	calls []webhookCall // in the order of arrival
}

// webhookCall is a call of a webhook.
type webhookCall struct {
	path, timeout string
	*admissionRequest
}

// String returns the name of the webhook and the request, such as "allow: UPDATE pods/status p".
func (c webhookCall) String() string {
	resource := c.RequestResource.Resource
	if c.RequestSubResource != "" {
		resource += "/" + c.RequestSubResource
	}
	return fmt.Sprintf("%s: %s %s %s", strings.TrimPrefix(c.path, "/"), c.Operation, resource, c.Name)
}

// webhookHost is the host of a webhookServer. Any other host refuses connections.
const webhookHost = "hooks.example.com"

// newWebhookServer starts a webhookServer with the webhook allow.
func newWebhookServer(t testing.TB) *webhookServer {
	t.Helper()
	h := &webhookServer{ServeMux: http.NewServeMux()}
	h.listener, h.caBundle = serveWebhook(t, h, webhookHost)
	h.review("allow", func(*admissionRequest) *admissionResponse { return allow() })
	return h
}

// dial connects to the webhookServer.
func (h *webhookServer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if address != webhookHost+":443" {
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	}
	return h.listener.DialContext(ctx, network, address)
}

// counted returns dial, which adds 1 to open for each open connection. mu guards open.
func (h *webhookServer) counted(mu *sync.Mutex, open *int) func(context.Context, string, string) (net.Conn, error) {
	add := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		*open += n
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := h.dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		add(1)
		return &closedOnce{Conn: conn, closed: sync.OnceFunc(func() { add(-1) })}, nil
	}
}

// closedOnce is a connection that calls a function when it is closed.
type closedOnce struct {
	net.Conn
	closed func()
}

func (c *closedOnce) Close() error {
	c.closed()
	return c.Conn.Close()
}

// review adds a webhook. answer may be called by several goroutines.
func (h *webhookServer) review(name string, answer func(*admissionRequest) *admissionResponse) {
	h.respond(name, func(w http.ResponseWriter, _ *http.Request, request *admissionRequest) {
		writeReview(w, request, answer(request))
	})
}

// writeReview writes an AdmissionReview with the response to a request.
func writeReview(w http.ResponseWriter, request *admissionRequest, response *admissionResponse) {
	response.UID = request.UID
	_ = json.NewEncoder(w).Encode(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Response: response,
	})
}

// respond adds a webhook that writes the response itself.
func (h *webhookServer) respond(name string, answer func(w http.ResponseWriter, r *http.Request, request *admissionRequest)) {
	h.HandleFunc("/"+name, func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		h.mu.Lock()
		h.calls = append(h.calls, webhookCall{r.URL.Path, r.URL.Query().Get("timeout"), review.Request})
		h.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		answer(w, r, review.Request)
	})
}

// take returns the calls since the last take.
func (h *webhookServer) take() []webhookCall {
	h.mu.Lock()
	defer h.mu.Unlock()
	calls := h.calls
	h.calls = nil
	return calls
}

// takeTexts returns the calls since the last take as text.
func (h *webhookServer) takeTexts() []string {
	texts := []string{}
	for _, c := range h.take() {
		texts = append(texts, c.String())
	}
	return texts
}

// clientConfig returns the JSON of a client configuration.
func (h *webhookServer) clientConfig(name string) string {
	return fmt.Sprintf(`{"url":"https://%s/%s","caBundle":%s}`, webhookHost, name, h.caBundle)
}

// webhook returns the JSON of a webhook with the rule that it is called for all writes of
// ConfigMaps. more has other fields.
func (h *webhookServer) webhook(t testing.TB, name, more string) string {
	t.Helper()
	fields := map[string]json.RawMessage{
		"name":                    json.RawMessage(`"` + name + `.example.com"`),
		"clientConfig":            json.RawMessage(h.clientConfig(name)),
		"rules":                   json.RawMessage(`[` + rule("*", "", "v1", "configmaps") + `]`),
		"sideEffects":             json.RawMessage(`"None"`),
		"admissionReviewVersions": json.RawMessage(`["v1"]`),
	}
	var others map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(`{`+more+`}`), &others), more)
	maps.Copy(fields, others)
	text, err := json.Marshal(fields)
	require.NoError(t, err)
	return string(text)
}

// rule returns the JSON of a rule. operations and resources are separated by blanks.
func rule(operations, group, version, resources string) string {
	list := func(words string) string { return `["` + strings.Join(strings.Fields(words), `","`) + `"]` }
	return fmt.Sprintf(`{"operations":%s,"apiGroups":[%q],"apiVersions":[%q],"resources":%s}`, list(operations), group, version, list(resources))
}

// configuration returns the JSON of a webhook configuration.
func configuration(name string, hooks ...string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"webhooks":[%s]}`, name, strings.Join(hooks, ","))
}

// startWithWebhooks starts a server in memory and a webhookServer that it can call. It is for use
// in a synctest bubble.
func startWithWebhooks(t *testing.T, opts ...fakeapi.Option) (*fakeapi.Server, *webhookServer) {
	t.Helper()
	h := newWebhookServer(t)
	return fakeapi.Start(t, append([]fakeapi.Option{fakeapi.WithInMemoryNetwork(), fakeapi.WithWebhookDialer(h.dial)}, opts...)...), h
}

// warningsOf sends a JSON request, checks the code and returns the warnings.
func warningsOf(t *testing.T, srv *fakeapi.Server, want int, method, path, body string) []string {
	t.Helper()
	code, header, response := send(t, srv, method, path, "application/json", []byte(body))
	require.Equal(t, want, code, "%s", response)
	return slices.Clone(header.Values("Warning"))
}
