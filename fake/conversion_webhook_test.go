package fakeapi_test

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/fake/internal/certs"
)

const (
	crdsPath  = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	gadgetsV1 = "/apis/example.com/v1/namespaces/default/gadgets"
	gadgetsV2 = "/apis/example.com/v2/namespaces/default/gadgets"
)

// gadgetWebhook converts Gadgets: spec.size in v1 is spec.width in v2.
type gadgetWebhook struct {
	calls atomic.Int64
	// With failing set, it responds with 500. Calls wait until blocked is closed, if it is set.
	failing atomic.Bool
	blocked atomic.Pointer[chan struct{}]
	// before is called with each call, if it is not nil.
	before func()
}

func (h *gadgetWebhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.calls.Add(1)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if h.before != nil {
		h.before()
	}
	if wait := h.blocked.Load(); wait != nil {
		select {
		case <-*wait:
		case <-r.Context().Done():
			return
		}
	}
	if h.failing.Load() {
		http.Error(w, "boom", http.StatusInternalServerError)
		return
	}
	var review struct {
		metav1.TypeMeta `json:",inline"`
		Request         struct {
			UID               string           `json:"uid"`
			DesiredAPIVersion string           `json:"desiredAPIVersion"`
			Objects           []map[string]any `json:"objects"`
		} `json:"request"`
	}
	if err := json.Unmarshal(body, &review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for _, object := range review.Request.Objects {
		object["apiVersion"] = review.Request.DesiredAPIVersion
		spec, _ := object["spec"].(map[string]any)
		from, to := "size", "width"
		if strings.HasSuffix(review.Request.DesiredAPIVersion, "/v1") {
			from, to = to, from
		}
		if value, has := spec[from]; has {
			spec[to] = value
			delete(spec, from)
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"apiVersion": review.APIVersion, "kind": review.Kind,
		"response": map[string]any{
			"uid": review.Request.UID, "convertedObjects": review.Request.Objects, "result": map[string]any{"status": "Success"},
		},
	})
}

// blockCalls lets calls wait until resume is called.
func (h *gadgetWebhook) blockCalls() (resume func()) {
	wait := make(chan struct{})
	h.blocked.Store(&wait)
	return func() {
		h.blocked.Store(nil)
		close(wait)
	}
}

// callsDuring returns the number of calls during do.
func (h *gadgetWebhook) callsDuring(do func()) int {
	before := h.calls.Load()
	do()
	return int(h.calls.Load() - before)
}

// gadgetCRD returns the CRD of Gadgets. conversion is the JSON of spec.conversion.
func gadgetCRD(stored, conversion string) string {
	version := func(name, field string) string {
		return fmt.Sprintf(`{"name":%q,"served":true,"storage":%t,
			"subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}},
			"selectableFields":[{"jsonPath":".spec.%s"}],
			"additionalPrinterColumns":[{"name":"Measure","type":"integer","jsonPath":".spec.%[3]s"}],
			"schema":{"openAPIV3Schema":{"type":"object","properties":{
				"spec":{"type":"object","properties":{%[3]q:{"type":"integer"},"replicas":{"type":"integer"},"of%[1]s":{"type":"string","default":"set in %[1]s"}}},
				"status":{"type":"object","properties":{"replicas":{"type":"integer"}}}}}}}`, name, name == stored, field)
	}
	return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gadgets.example.com"},
		"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"gadgets","singular":"gadget","kind":"Gadget","listKind":"GadgetList"},
		"versions":[` + version("v1", "size") + `,` + version("v2", "width") + `],"conversion":` + conversion + `}}`
}

// webhookConversion returns spec.conversion for a client configuration.
func webhookConversion(clientConfig string) string {
	return `{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":` + clientConfig + `}}`
}

// startWithGadgets starts a server with the CRD of Gadgets, which are stored in v1, and an
// in-memory webhook behind the Service gadgets. It is for use in a synctest bubble.
func startWithGadgets(t *testing.T, hook http.Handler, opts ...fakeapi.Option) *fakeapi.Server {
	t.Helper()
	listener, bundle := serveWebhook(t, hook, "gadgets.default.svc")
	srv := fakeapi.Start(t, append([]fakeapi.Option{fakeapi.WithInMemoryNetwork(), fakeapi.WithWebhookDialer(listener.DialContext)}, opts...)...)
	requireCode(t, srv, 201, "POST", "/api/v1/namespaces/default/services", `{"metadata":{"name":"gadgets"},"spec":{"ports":[{"port":443}]}}`)
	requireCode(t, srv, 201, "POST", crdsPath, gadgetCRD("v1", webhookConversion(`{"service":{"namespace":"default","name":"gadgets","path":"/convert"},"caBundle":`+bundle+`}`)))
	return srv
}

// startLoopbackWebhook starts a webhook on a socket and returns its client configuration.
func startLoopbackWebhook(t *testing.T, hook http.Handler) (clientConfig string) {
	authority, err := certs.NewAuthority()
	require.NoError(t, err)
	pair, err := authority.IssueServer("127.0.0.1")
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(hook)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	bundle, err := json.Marshal(authority.PEM())
	require.NoError(t, err)
	return fmt.Sprintf(`{"url":%q,"caBundle":%s}`, server.URL, bundle)
}

// requireCode sends a request, checks the code and returns the response. A PATCH is a merge patch,
// or an apply if the path has a fieldManager.
func requireCode(t *testing.T, srv *fakeapi.Server, want int, method, path, body string) *unstructured.Unstructured {
	t.Helper()
	media := "application/json"
	if method == "PATCH" {
		media = "application/merge-patch+json"
		if strings.Contains(path, "fieldManager=") {
			media = "application/apply-patch+yaml"
		}
	}
	code, _, response := send(t, srv, method, path, media, []byte(body))
	require.Equal(t, want, code, "%s %s: %s", method, path, response)
	obj := &unstructured.Unstructured{}
	require.NoError(t, utiljson.Unmarshal(response, &obj.Object), "%s", response)
	return obj
}

// requireStatus sends a request, checks the code and returns the Status.
func requireStatus(t *testing.T, srv *fakeapi.Server, want int, method, path, body string) *metav1.Status {
	t.Helper()
	response, err := json.Marshal(requireCode(t, srv, want, method, path, body))
	require.NoError(t, err)
	return decodeStatus(t, string(response))
}

// gadgetJSON returns the JSON of a Gadget.
func gadgetJSON(version, name string, measure int) string {
	field := map[string]string{"v1": "size", "v2": "width"}[version]
	return fmt.Sprintf(`{"apiVersion":"example.com/%s","kind":"Gadget","metadata":{"name":%q},"spec":{%q:%d}}`, version, name, field, measure)
}

// specJSON returns the spec of an object as JSON.
func specJSON(t *testing.T, obj *unstructured.Unstructured) string {
	t.Helper()
	spec, err := json.Marshal(obj.Object["spec"])
	require.NoError(t, err)
	return string(spec)
}
