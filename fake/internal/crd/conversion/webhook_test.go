package conversion

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/fakeapi/fake/internal/certs"
	"example.com/fakeapi/fake/internal/memnet"
	"example.com/fakeapi/fake/internal/webhookclient"
)

const (
	v1 = "example.com/v1"
	v2 = "example.com/v2"

	// hookURL is the URL of webhooks in memory.
	hookURL = "https://hook.example.com/convert"
)

// newWidget returns a stored object in a version.
func newWidget(apiVersion, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion,
		"kind":       "Widget",
		"metadata": map[string]any{
			"name": name, "namespace": "default", "uid": "uid-of-" + name, "resourceVersion": "7",
			"labels": map[string]any{"a": "b"},
		},
		"spec": map[string]any{"size": int64(3)},
	}}
}

// newCRD returns a definition with the versions v1 and v2. With a nil client its strategy is None.
func newCRD(client *apiextensionsv1.WebhookClientConfig, reviews ...string) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = "widgets.example.com"
	crd.Spec.Group = "example.com"
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1"}, {Name: "v2"}}
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	if client != nil {
		if reviews == nil {
			reviews = []string{"v1"}
		}
		crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
			Strategy: apiextensionsv1.WebhookConverter,
			Webhook:  &apiextensionsv1.WebhookConversion{ClientConfig: client, ConversionReviewVersions: reviews},
		}
	}
	return crd
}

// review is a ConversionReview in JSON, which can represent invalid responses.
type review map[string]any

func (r review) response() map[string]any { return r["response"].(map[string]any) }
func (r review) object() map[string]any {
	return r.response()["convertedObjects"].([]any)[0].(map[string]any)
}
func (r review) metadata() map[string]any { return r.object()["metadata"].(map[string]any) }

// newWebhook returns a webhook that sets the desired version and stores the previous one in the
// field spec.was. modify can change the response.
func newWebhook(calls *atomic.Int64, modify func(review)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls != nil {
			calls.Add(1)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the caller has closed the connection
		}
		var request struct {
			APIVersion, Kind string
			Request          struct {
				UID, DesiredAPIVersion string
				Objects                []map[string]any
			}
		}
		if err := json.Unmarshal(body, &request); err != nil || request.Kind != "ConversionReview" {
			http.Error(w, "no review: "+string(body), http.StatusBadRequest)
			return
		}
		converted := []any{}
		for _, object := range request.Request.Objects {
			if spec, ok := object["spec"].(map[string]any); ok {
				spec["was"] = object["apiVersion"]
			}
			object["apiVersion"] = request.Request.DesiredAPIVersion
			converted = append(converted, object)
		}
		response := review{"apiVersion": request.APIVersion, "kind": request.Kind, "response": map[string]any{
			"uid": request.Request.UID, "convertedObjects": converted, "result": map[string]any{"status": "Success"},
		}}
		if modify != nil {
			modify(response)
		}
		_ = json.NewEncoder(w).Encode(response) // the caller may have closed the connection
	})
}

// startOnLoopback serves a webhook with TLS on a socket.
func startOnLoopback(t testing.TB, handler http.Handler) (client *apiextensionsv1.WebhookClientConfig, address string) {
	authority, pair := newCertificate(t, "127.0.0.1", "conv.default.svc")
	server := httptest.NewUnstartedServer(handler)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return &apiextensionsv1.WebhookClientConfig{URL: new(server.URL + "/convert"), CABundle: authority.PEM()}, server.Listener.Addr().String()
}

// startInMemory serves a webhook with TLS without a socket.
func startInMemory(t testing.TB, handler http.Handler) (client *apiextensionsv1.WebhookClientConfig, dial webhookclient.Dialer) {
	authority, pair := newCertificate(t, "hook.example.com")
	listener := memnet.NewListener()
	server := &http.Server{
		Handler:   handler,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}},
		ErrorLog:  log.New(io.Discard, "", 0),
	}
	served := make(chan error, 1)
	go func() { served <- server.ServeTLS(listener, "", "") }()
	t.Cleanup(func() {
		_ = server.Close()
		require.ErrorIs(t, <-served, http.ErrServerClosed)
	})
	return &apiextensionsv1.WebhookClientConfig{URL: new(hookURL), CABundle: authority.PEM()}, listener.DialContext
}

func newCertificate(t testing.TB, hosts ...string) (*certs.Authority, tls.Certificate) {
	authority, err := certs.NewAuthority()
	require.NoError(t, err)
	pair, err := authority.IssueServer(hosts...)
	require.NoError(t, err)
	return authority, pair
}

// newConverter returns a converter that is closed when the test ends.
func newConverter(t testing.TB, crd *apiextensionsv1.CustomResourceDefinition, dial webhookclient.Dialer, services webhookclient.ServiceResolver) *Converter {
	c, err := New(crd, webhookclient.Network{Dial: dial, Services: services})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// convertOne converts a single object.
func convertOne(t testing.TB, c *Converter, object *unstructured.Unstructured, to string) (*unstructured.Unstructured, error) {
	got, err := c.Convert(t.Context(), []*unstructured.Unstructured{object}, to)
	if err != nil {
		require.Nil(t, got)
		return nil, err
	}
	require.Len(t, got, 1)
	return got[0], nil
}
