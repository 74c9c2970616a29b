package fakeapi_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
)

// ownService returns the fields of a webhook at a path of the Service of the server.
func ownService(path string) string {
	return `"clientConfig":{"service":{"namespace":"default","name":"kubernetes","path":"` + path + `"}}`
}

// A webhook of the Service default/kubernetes is called by a request of system:apiserver to the
// server itself, which is none of the user of the write.
func TestWebhookOfServer(t *testing.T) {
	srv, h := startWithWebhooks(t, fakeapi.WithRBAC(), fakeapi.WithYAML(rightsToMaps))
	requireCode(t, srv, 201, "POST", validatingPath, configuration("own", h.webhook(t, "own", ownService("/webhook-test"))))
	const failure = `Internal error occurred: failed calling webhook "own.example.com": failed to call webhook: `
	require.EqualError(t, createMap(t, srv, "ann"), failure+"the server could not find the requested resource")
	var users []string
	for _, r := range srv.Requests() {
		if strings.HasPrefix(r.Path, "/webhook-test") {
			require.Equal(t, "/webhook-test?timeout=10s", r.Path)
			require.Equal(t, http.StatusNotFound, r.Code)
			users = append(users, r.User)
		}
	}
	require.Equal(t, []string{"system:apiserver"}, users)

	srv.Faults().AddFor(t, faults.Rule{When: faults.Path("/webhook-test"), Do: []faults.Effect{faults.Reset()}})
	require.ErrorContains(t, createMap(t, srv, "ann"), failure+`Post "https://kubernetes.default.svc:443/webhook-test?timeout=10s": unexpected EOF`)
}

// The path can be one of an aggregated API.
func TestWebhookOfAggregatedAPI(t *testing.T) {
	h := newWebhookServer(t)
	h.HandleFunc("/apis/hooks.example.com/v1", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"hooks.example.com/v1","resources":[]}`))
	})
	h.review("apis/hooks.example.com/v1/reviews", func(*admissionRequest) *admissionResponse { return deny(403, "not here") })
	srv := fakeapi.Start(t, fakeapi.WithRBAC(), fakeapi.WithWebhookDialer(h.dial),
		fakeapi.WithServiceResolver(func(string, string, int32) (string, error) { return webhookHost + ":443", nil }))
	service, slice, api := (&metricsServer{}).objects()
	api.Name, api.Spec.Group, api.Spec.Version = "v1.hooks.example.com", "hooks.example.com", "v1"
	api.Spec.InsecureSkipTLSVerify = true
	require.NoError(t, srv.Load(service, slice, api))
	waitForCondition(t, srv, api.Name, "Passed")

	requireCode(t, srv, 201, "POST", mutatingPath, configuration("own", h.webhook(t, "own", ownService("/apis/hooks.example.com/v1/reviews"))))
	denied := requireStatus(t, srv, 403, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`)
	require.Equal(t, `admission webhook "own.example.com" denied the request: not here`, denied.Message)
	require.Equal(t, []string{"apis/hooks.example.com/v1/reviews: CREATE configmaps a"}, h.takeTexts())
}

// The time limit of a call ends what the server does for it.
func TestTimeLimitOfWebhookOfServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startWithWebhooks(t)
		srv.Faults().AddFor(t, faults.Rule{When: faults.Path("/webhook-test"), Do: []faults.Effect{faults.Hang()}})
		requireCode(t, srv, 201, "POST", validatingPath, configuration("own", h.webhook(t, "own", ownService("/webhook-test")+`,"timeoutSeconds":3`)))
		start := time.Now()
		failed := requireStatus(t, srv, 500, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`)
		require.Contains(t, failed.Message, "context deadline exceeded")
		require.Equal(t, 3*time.Second, time.Since(start))
	})
}
