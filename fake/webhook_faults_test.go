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
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/fake/internal/certs"
)

const (
	callFailed  = `Internal error occurred: failed calling webhook "allow.example.com": failed to call webhook: `
	postWebhook = `Post "https://hooks.example.com/allow?timeout=10s": `
)

// startWithAllowingWebhook starts a server with the webhook allow, which is called for ConfigMaps.
// It is for use in a synctest bubble.
func startWithAllowingWebhook(t *testing.T, failurePolicy string) (*fakeapi.Server, *webhookServer) {
	t.Helper()
	srv, h := startWithWebhooks(t)
	requireCode(t, srv, 201, "POST", validatingPath, configuration("v", h.webhook(t, "allow", `"failurePolicy":"`+failurePolicy+`"`)))
	return srv, h
}

// addRule adds a fault rule until the end of the test.
func addRule(t *testing.T, srv *fakeapi.Server, text string) (remove func()) {
	t.Helper()
	remove, err := srv.Faults().AddText(text)
	require.NoError(t, err)
	return remove
}

// The messages of writes whose admission webhook is under a fault rule.
func TestFaultsOfAdmissionWebhooks(t *testing.T) {
	for rule, want := range map[string]struct {
		message string // "" if the write succeeds
		calls   int
		took    time.Duration
	}{
		"when webhook(other) do reset":                                                           {calls: 1},
		"when webhook(allow.example.com) && verb(update) do reset":                               {calls: 1},
		"when webhook(*) && verb(create) && resource(configmaps) && userAgent(Go-http) do reset": {message: callFailed + postWebhook + "dial tcp hooks.example.com:443: connect: connection refused"},
		"when webhook(*) && during(committed) do reset":                                          {message: callFailed + postWebhook + "read tcp hooks.example.com:443: read: connection reset by peer", calls: 1},
		"when webhook(*) do delay(9s)":                                                           {calls: 1, took: 9 * time.Second},
		"when webhook(*) do delay(11s)":                                                          {message: callFailed + postWebhook + "context deadline exceeded", took: 10 * time.Second},
		"when webhook(*) && during(committed) do hang":                                           {message: callFailed + postWebhook + "context deadline exceeded", calls: 1, took: 10 * time.Second},
		"when webhook(*) do truncate(5)":                                                         {message: callFailed + "unexpected error when reading response body. Please retry. Original error: unexpected EOF", calls: 1},
		"when webhook(*) do set(/response/uid, other)":                                           {message: `received invalid webhook response: expected response.uid=`, calls: 1},
		"when webhook(*) do status(503)":                                                         {message: callFailed + "the server is currently unable to handle the request"},
		"when webhook(*) do set(/response/allowed, json(false))":                                 {message: `admission webhook "allow.example.com" denied the request without explanation`, calls: 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			srv, h := startWithAllowingWebhook(t, "Fail")
			addRule(t, srv, rule)
			start := time.Now()
			code, _, response := send(t, srv, "POST", configMapsPath, "application/json", []byte(`{"metadata":{"name":"a"}}`))
			require.Equal(t, want.took, time.Since(start), rule)
			require.Len(t, h.take(), want.calls, rule)
			if want.message == "" {
				require.Equal(t, 201, code, "%s: %s", rule, response)
				return
			}
			require.Contains(t, decodeStatus(t, string(response)).Message, want.message, rule)
			code, _, _ = send(t, srv, "GET", configMapsPath+"/a", "", nil)
			require.Equal(t, 404, code, "%s: the write was refused", rule)

			srv.Faults().Clear()
			requireCode(t, srv, 201, "POST", configMapsPath, `{"metadata":{"name":"a"}}`)
		})
	}
}

// A webhook that cannot be called does not matter with the failurePolicy Ignore, but a denial does.
func TestFaultsOfIgnoredWebhooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startWithAllowingWebhook(t, "Ignore")
		remove := addRule(t, srv, "when webhook(*) do reset")
		requireCode(t, srv, 201, "POST", configMapsPath, `{"metadata":{"name":"a"}}`)
		remove()
		addRule(t, srv, "when webhook(*) do set(/response/allowed, json(false))")
		requireCode(t, srv, 400, "POST", configMapsPath, `{"metadata":{"name":"b"}}`)
		require.Len(t, h.take(), 1)
	})
}

// A write whose client gives up while a webhook answers late is not committed.
func TestLateAnswerOfWebhook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startWithAllowingWebhook(t, "Fail")
		addRule(t, srv, "when webhook(*) && during(committed) do delay(5s)")
		code, _, _ := send(t, srv, "POST", configMapsPath+"?timeout=3s", "application/json", []byte(`{"metadata":{"name":"a"}}`))
		require.Equal(t, 504, code)
		require.Len(t, h.take(), 1)
		time.Sleep(time.Minute)
		code, _, _ = send(t, srv, "GET", configMapsPath+"/a", "", nil)
		require.Equal(t, 404, code)
	})
}

// Replicas and forks have fault rules of their own for the admission webhooks that they call.
func TestFaultsOfWebhooksByServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startWithAllowingWebhook(t, "Fail")
		replica, err := srv.Replica(fakeapi.WithInMemoryNetwork())
		require.NoError(t, err)
		fork, err := srv.Fork(fakeapi.WithInMemoryNetwork(), fakeapi.WithWebhookDialer(h.dial))
		require.NoError(t, err)
		defer func() { require.NoError(t, fork.Close()) }()
		servers := []*fakeapi.Server{srv, replica.Server, fork}
		for i, faulty := range servers {
			remove := addRule(t, faulty, fmt.Sprintf("rule%d: when webhook(*) do set(/response/allowed, json(false))", i))
			for j, s := range servers {
				code := map[bool]int{true: 400, false: 201}[i == j]
				requireCode(t, s, code, "POST", configMapsPath, fmt.Sprintf(`{"metadata":{"name":"a%d-%d"}}`, i, j))
				require.Len(t, s.Faults().Hits(), map[bool]int{true: 1}[j <= i], "%d %d", i, j)
			}
			remove()
		}
	})
}

// Rules act on conversions of the objects of the CustomResourceDefinition with the name.
func TestFaultsOfConversionWebhooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetWebhook{}
		srv := startWithGadgets(t, hook)
		requireCode(t, srv, 201, "POST", gadgetsV1, gadgetJSON("v1", "a", 1))
		addRule(t, srv, "when webhook(gadgets.example.com) && verb(get) do status(500)") // the cause is not known
		remove := addRule(t, srv, "down: when webhook(gadgets.example.com) do reset")
		require.Zero(t, hook.callsDuring(func() {
			require.Contains(t, requireStatus(t, srv, 500, "GET", gadgetsV2+"/a", "").Message, `conversion webhook for example.com/v1, Kind=Gadget failed: Post "https://gadgets.default.svc:443/convert?timeout=30s": dial tcp gadgets.default.svc:443: connect: connection refused`)
		}))
		require.Equal(t, "down: before webhook gadgets.example.com: reset", srv.Faults().Hits()[0].String())
		remove()
		requireCode(t, srv, 200, "GET", gadgetsV2+"/a", "")

		addRule(t, srv, "when webhook(*) do hang")
		start := time.Now()
		require.Contains(t, requireStatus(t, srv, 500, "GET", gadgetsV2+"/a", "").Message, "context deadline exceeded")
		require.Equal(t, 30*time.Second, time.Since(start))
	})
}

// Close ends calls that a fault rule holds.
func TestCloseEndsFaultsOfWebhooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := startWithGadgets(t, &gadgetWebhook{})
		requireCode(t, srv, 201, "POST", gadgetsV1, gadgetJSON("v1", "a", 1))
		addRule(t, srv, "when webhook(*) do hang")
		done := make(chan struct{})
		go func() {
			defer close(done)
			if response, err := srv.Client().Get(srv.URL() + gadgetsV2 + "/a"); err == nil {
				_ = response.Body.Close()
			}
		}()
		synctest.Wait()
		require.Len(t, srv.Faults().Hits(), 1)
		start := time.Now()
		require.NoError(t, srv.Close())
		<-done
		require.Zero(t, time.Since(start))
	})
}

// The timeline has the hits of rules about webhooks.
func TestTimelineHasFaultsOfWebhooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, _ := startWithAllowingWebhook(t, "Fail")
		addRule(t, srv, "down: when webhook(*) do reset")
		requireCode(t, srv, 500, "POST", configMapsPath, `{"metadata":{"name":"a"}}`)
		text := srv.Timeline().String()
		hit := strings.Index(text, "! down: before webhook allow.example.com for create configmaps in default: reset")
		require.Positive(t, hit, text)
		require.Less(t, strings.Index(text, "POST /api/v1/namespaces/default/configmaps"), hit, text)
	})
}

// A webhook whose certificate has expired, or is not of the caBundle, is not called.
func TestAdmissionWebhookCertificates(t *testing.T) {
	newCertificate := func() (pair tls.Certificate, bundle string) {
		authority, err := certs.NewAuthority()
		require.NoError(t, err)
		pair, err = authority.IssueServer("127.0.0.1")
		require.NoError(t, err)
		encoded, err := json.Marshal(authority.PEM())
		require.NoError(t, err)
		return pair, string(encoded)
	}
	valid, bundle := newCertificate()
	var expired tls.Certificate
	var expiredBundle string
	synctest.Test(t, func(*testing.T) { expired, expiredBundle = newCertificate() }) // in the year 2000
	for want, test := range map[string]struct {
		pair   tls.Certificate
		bundle string
	}{
		"":                                    {valid, bundle},
		"x509: certificate has expired":       {expired, expiredBundle},
		"x509: certificate signed by unknown": {valid, expiredBundle},
	} {
		h := &webhookServer{ServeMux: http.NewServeMux()}
		h.review("allow", func(*admissionRequest) *admissionResponse { return allow() })
		server := httptest.NewUnstartedServer(h)
		server.TLS = &tls.Config{Certificates: []tls.Certificate{test.pair}}
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		server.StartTLS()
		srv := fakeapi.Start(t)
		client := fmt.Sprintf(`"clientConfig":{"url":"%s/allow","caBundle":%s}`, server.URL, test.bundle)
		requireCode(t, srv, 201, "POST", validatingPath, configuration("v", h.webhook(t, "allow", client)))
		code, _, response := send(t, srv, "POST", configMapsPath, "application/json", []byte(`{"metadata":{"name":"a"}}`))
		if want == "" {
			require.Equal(t, 201, code, "%s", response)
			require.Len(t, h.take(), 1)
		} else {
			require.Contains(t, decodeStatus(t, string(response)).Message, callFailed+`Post "`+server.URL+`/allow?timeout=10s": tls: failed to verify certificate: `+want)
			require.Empty(t, h.take())
		}
		server.Close()
	}
}

// A webhook for pods that runs in a pod cannot start while it is down: its own pod is refused. With
// an objectSelector that excludes it, it can.
func TestWebhookBlocksItsOwnStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const configuration = `{"metadata":{"name":"hooks"},"webhooks":[{"name":"pods.example.com","sideEffects":"None","admissionReviewVersions":["v1"],
			"clientConfig":{"service":{"namespace":"default","name":"operator"}},
			"rules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}]%s}]}`
		const operator = `{"metadata":{"name":"operator","labels":{"app":"operator"}},"spec":{"containers":[{"name":"a","image":"b"}]}}`
		const pods = "/api/v1/namespaces/default/pods"
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		requireCode(t, srv, 201, "POST", validatingPath, fmt.Sprintf(configuration, ""))
		for range 3 {
			require.Equal(t, `Internal error occurred: failed calling webhook "pods.example.com": failed to call webhook: Post "https://operator.default.svc:443/?timeout=10s": service "operator" not found`,
				requireStatus(t, srv, 500, "POST", pods, operator).Message)
			time.Sleep(time.Minute)
		}
		requireCode(t, srv, 200, "PATCH", validatingPath+"/hooks", fmt.Sprintf(configuration, `,"objectSelector":{"matchExpressions":[{"key":"app","operator":"NotIn","values":["operator"]}]}`))
		requireCode(t, srv, 201, "POST", pods, operator)
		requireCode(t, srv, 500, "POST", pods, `{"metadata":{"name":"other"},"spec":{"containers":[{"name":"a","image":"b"}]}}`)
	})
}

// allow, deny and patch answer in place of webhooks that do not exist, and rules act on the answer.
func TestAnswersInPlaceOfWebhooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		requireCode(t, srv, 201, "POST", mutatingPath, `{"metadata":{"name":"hooks"},"webhooks":[{"name":"configmaps.example.com","sideEffects":"None","admissionReviewVersions":["v1","v1beta1"],
			"clientConfig":{"service":{"namespace":"default","name":"hook"}},
			"rules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]}]}`)
		create := func(name string, code int) *metav1.Status {
			return requireStatus(t, srv, code, "POST", configMapsPath, `{"metadata":{"name":"`+name+`","labels":{"old":"1"}}}`)
		}
		require.Contains(t, create("a", 500).Message, `service "hook" not found`)
		remove := addRule(t, srv, "when webhook(configmaps.example.com) do allow")
		requireCode(t, srv, 201, "POST", configMapsPath, `{"metadata":{"name":"a"}}`)
		lose := addRule(t, srv, "when webhook(configmaps.example.com) && during(committed) do reset")
		require.Equal(t, `Internal error occurred: failed calling webhook "configmaps.example.com": failed to call webhook: Post "https://hook.default.svc:443/?timeout=10s": read tcp hook.default.svc:443: read: connection reset by peer`, create("b", 500).Message)
		lose()
		remove()
		remove = addRule(t, srv, `when webhook(configmaps.example.com) do patch("{\"metadata\":{\"labels\":{\"old\":null,\"a/b\":\"2\"}},\"data\":{\"k\":\"v\"}}")`)
		created := requireCode(t, srv, 201, "POST", configMapsPath, `{"metadata":{"name":"c","labels":{"old":"1"}}}`)
		require.Equal(t, map[string]string{"a/b": "2"}, created.GetLabels())
		require.Equal(t, map[string]any{"k": "v"}, created.Object["data"])
		requireCode(t, srv, 200, "DELETE", configMapsPath+"/c", "")
		remove()
		addRule(t, srv, `when webhook(configmaps.example.com) do deny("not today")`)
		require.Equal(t, `admission webhook "configmaps.example.com" denied the request: not today`, create("d", 403).Message)
	})
}
