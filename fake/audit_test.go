package fakeapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	fakeapi "example.com/fakeapi/fake"
)

// auditPolicy returns a policy with one rule for all requests.
func auditPolicy(level auditv1.Level) *auditv1.Policy {
	return &auditv1.Policy{Rules: []auditv1.PolicyRule{{Level: level}}}
}

// auditWriter is the writer of an audit log. It fails the test if writes overlap.
type auditWriter struct {
	t       testing.TB
	writing atomic.Bool
	mu      sync.Mutex
	text    strings.Builder
}

func (w *auditWriter) Write(p []byte) (int, error) {
	if w.writing.Swap(true) {
		w.t.Error("two events are written at the same time")
	}
	defer w.writing.Store(false)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

// take returns the events since the last call.
func (w *auditWriter) take() (events []auditv1.Event) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for line := range strings.Lines(w.text.String()) {
		var event auditv1.Event
		require.NoError(w.t, json.Unmarshal([]byte(line), &event), line)
		events = append(events, event)
	}
	w.text.Reset()
	return events
}

// takeLast waits for all handlers to end and returns the last event. It is for use in a synctest
// bubble.
func (w *auditWriter) takeLast() auditv1.Event {
	w.t.Helper()
	synctest.Wait()
	events := w.take()
	require.NotEmpty(w.t, events)
	return events[len(events)-1]
}

// startWithAudit starts a server in memory with an audit log. It is for use in a synctest bubble.
func startWithAudit(t *testing.T, policy *auditv1.Policy, opts ...fakeapi.Option) (*fakeapi.Server, *auditWriter) {
	t.Helper()
	log := &auditWriter{t: t}
	opts = append([]fakeapi.Option{fakeapi.WithInMemoryNetwork(), fakeapi.WithoutControllers(), fakeapi.WithAuditLog(policy, log)}, opts...)
	return fakeapi.Start(t, opts...), log
}

// stagesOf returns the stages of events with their codes.
func stagesOf(events []auditv1.Event) (stages []string) {
	for _, event := range events {
		stage := string(event.Stage)
		if event.ResponseStatus != nil {
			stage += fmt.Sprintf(" %d", event.ResponseStatus.Code)
		}
		stages = append(stages, stage)
	}
	return stages
}

// The level of a request is that of the first rule that matches it. It decides what the events
// have.
func TestAuditLevels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		omit := true
		policy := &auditv1.Policy{
			OmitStages: []auditv1.Stage{auditv1.StageRequestReceived},
			Rules: []auditv1.PolicyRule{
				{Level: auditv1.LevelNone, NonResourceURLs: []string{"/healthz*"}},
				{Level: auditv1.LevelNone, Resources: []auditv1.GroupResources{{Resources: []string{"secrets"}}}},
				{Level: auditv1.LevelRequestResponse, Verbs: []string{"list", "patch"}, OmitManagedFields: &omit},
				{Level: auditv1.LevelRequestResponse, Verbs: []string{"get"}, OmitStages: []auditv1.Stage{auditv1.StageResponseComplete}},
				{Level: auditv1.LevelRequestResponse, Verbs: []string{"update"}},
				{Level: auditv1.LevelRequest, Verbs: []string{"create"}},
				{Level: auditv1.LevelMetadata},
			},
		}
		srv, log := startWithAudit(t, policy)
		logged := func(method, path, body string) []auditv1.Event {
			t.Helper()
			media := "application/json"
			if method == "PATCH" {
				media = "application/merge-patch+json"
			}
			code, _, response := send(t, srv, method, path, media, []byte(body))
			require.Less(t, code, 300, "%s", response)
			synctest.Wait()
			return log.take()
		}
		require.Empty(t, logged("GET", "/healthz/ping", ""))
		require.Empty(t, logged("POST", "/api/v1/namespaces/default/secrets", `{"metadata":{"name":"s"}}`))

		events := logged("POST", configMapsPath, `{"metadata":{"name":"a","managedFields":[]},"data":{"k":"1"}}`)
		require.Equal(t, []string{"ResponseComplete 201"}, stagesOf(events))
		require.Equal(t, auditv1.LevelRequest, events[0].Level)
		require.JSONEq(t, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"k":"1"}}`, string(events[0].RequestObject.Raw))
		require.Nil(t, events[0].ResponseObject)

		events = logged("PUT", configMapsPath+"/a", `{"metadata":{"name":"a"},"data":{"k":"2"}}`)
		require.Contains(t, string(events[0].ResponseObject.Raw), `"managedFields"`)
		events = logged("PATCH", configMapsPath+"/a", `{"data":{"k":"2"}}`)
		require.JSONEq(t, `{"data":{"k":"2"}}`, string(events[0].RequestObject.Raw))
		require.Contains(t, string(events[0].ResponseObject.Raw), `"data":{"k":"2"}`)
		require.NotContains(t, string(events[0].ResponseObject.Raw), `"managedFields"`)
		events = logged("GET", configMapsPath, "")
		require.Contains(t, string(events[0].ResponseObject.Raw), `"name":"a"`)
		require.NotContains(t, string(events[0].ResponseObject.Raw), `"managedFields"`)
		sendWith(t, srv, "GET", configMapsPath+"?includeObject=Object", "", "Accept", "application/json;as=Table;g=meta.k8s.io;v=v1")
		synctest.Wait()
		rows := string(log.take()[0].ResponseObject.Raw)
		require.Contains(t, rows, `"k":"2"`)
		require.NotContains(t, rows, `"managedFields"`)
		require.Empty(t, logged("GET", configMapsPath+"/a", ""))

		events = logged("DELETE", configMapsPath+"/a", `{"propagationPolicy":"Background"}`)
		require.Equal(t, auditv1.LevelMetadata, events[0].Level)
		require.Nil(t, events[0].RequestObject)
		require.Nil(t, events[0].ResponseObject)
		require.Equal(t, "Success", events[0].ResponseStatus.Status)
		require.Equal(t, "a", events[0].ObjectRef.Name)
	})
}

// Bodies are logged as JSON, whatever the client sends, and requests with the defaults of the type.
func TestAuditBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, log := startWithAudit(t, auditPolicy(auditv1.LevelRequestResponse), fakeapi.WithFeature(fakeapi.CBOR, true))
		for media, want := range map[string]string{"application/vnd.kubernetes.protobuf": "p", "application/cbor": "c", "application/json": "j"} {
			config := rest.CopyConfig(srv.RESTConfig())
			config.ContentType, config.AcceptContentTypes = media, media
			client, err := kubernetes.NewForConfig(config)
			require.NoError(t, err)
			pod := podWith(want)
			_, err = client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
			require.NoError(t, err)
			event := log.takeLast()
			require.Equal(t, want, event.ObjectRef.Name)
			var sent, stored corev1.Pod
			require.NoError(t, json.Unmarshal(event.RequestObject.Raw, &sent))
			require.NoError(t, json.Unmarshal(event.ResponseObject.Raw, &stored))
			require.Equal(t, "Pod", sent.Kind)
			require.Equal(t, "Pod", stored.Kind)
			require.Equal(t, corev1.DNSClusterFirst, sent.Spec.DNSPolicy)
			require.Empty(t, sent.UID)
			require.NotEmpty(t, stored.UID)
			list, err := client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + want})
			require.NoError(t, err)
			event = log.takeLast()
			var logged corev1.PodList
			require.NoError(t, json.Unmarshal(event.ResponseObject.Raw, &logged))
			require.Equal(t, list.Items, logged.Items)
		}
	})
}

// A nil policy logs nothing. Policies that kube-apiserver refuses are errors.
func TestAuditLogOption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, log := startWithAudit(t, nil)
		requireCode(t, srv, 200, "GET", configMapsPath, "")
		synctest.Wait()
		require.Empty(t, log.take())
	})
	for want, option := range map[string]fakeapi.Option{
		"fakeapi: WithAuditLog needs a writer":                         fakeapi.WithAuditLog(auditPolicy(auditv1.LevelNone), nil),
		"fakeapi: audit policy: loaded illegal policy with 0 rules":    fakeapi.WithAuditLog(&auditv1.Policy{}, io.Discard),
		`fakeapi: audit policy: rules[0].level: Unsupported value: `:   fakeapi.WithAuditLog(auditPolicy("All"), io.Discard),
		`fakeapi: audit policy: rules[0].level: Required value`:        fakeapi.WithAuditLog(auditPolicy(""), io.Discard),
		`fakeapi: audit policy: omitStages[0]: Invalid value: "Later"`: fakeapi.WithAuditLog(&auditv1.Policy{OmitStages: []auditv1.Stage{"Later"}, Rules: []auditv1.PolicyRule{{Level: auditv1.LevelNone}}}, io.Discard),
	} {
		_, err := fakeapi.New(option)
		require.ErrorContains(t, err, want)
	}
}

// A watch has a stage when it starts and one when it ends. Events have the times of the server.
func TestAuditWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, log := startWithAudit(t, auditPolicy(auditv1.LevelRequestResponse))
		srv.SkewClock(time.Hour)
		begin := time.Now()
		client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
		w, err := client.CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		synctest.Wait()
		require.Equal(t, []string{"RequestReceived", "ResponseStarted 200"}, stagesOf(log.take()))
		time.Sleep(time.Minute)
		w.Stop()
		event := log.takeLast()
		require.Equal(t, auditv1.StageResponseComplete, event.Stage)
		require.Equal(t, "watch", event.Verb)
		require.WithinDuration(t, begin.Add(time.Hour), event.RequestReceivedTimestamp.Time, 0)
		require.WithinDuration(t, begin.Add(time.Hour+time.Minute), event.StageTimestamp.Time, 0)
		require.Nil(t, event.ResponseObject)
	})
}

// Annotations have the decisions of authorization and admission.
func TestAuditAnnotations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newWebhookServer(t)
		h.review("label", func(*admissionRequest) *admissionResponse {
			response := patchResponse(`[{"op":"add","path":"/metadata/labels","value":{"l":"1"}}]`)
			response.AuditAnnotations = map[string]string{"by": "label"}
			return response
		})
		h.respond("fail", func(w http.ResponseWriter, _ *http.Request, _ *admissionRequest) {
			w.WriteHeader(http.StatusInternalServerError)
		})
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "safe", Labels: map[string]string{"pod-security.kubernetes.io/audit": "restricted"}}}
		srv, log := startWithAudit(t, auditPolicy(auditv1.LevelRequest), fakeapi.WithWebhookDialer(h.dial), fakeapi.WithRBAC(),
			fakeapi.WithObjects(namespace, newServiceAccount("sa")), fakeapi.WithRuntimeConfig(map[string]string{"certificates.k8s.io/v1beta1": "true"}))
		requireCode(t, srv, 201, "POST", mutatingPath, configuration("m", h.webhook(t, "label", ""), h.webhook(t, "fail", `"failurePolicy":"Ignore"`)))
		log.takeLast()

		requireCode(t, srv, 201, "POST", configMapsPath, `{"metadata":{"name":"a"}}`)
		annotations := log.takeLast().Annotations
		require.Equal(t, map[string]string{
			"authorization.k8s.io/decision":                                 "allow",
			"authorization.k8s.io/reason":                                   "",
			"label.example.com/by":                                          "label",
			"mutation.webhook.admission.k8s.io/round_0_index_0":             `{"configuration":"m","webhook":"label.example.com","mutated":true}`,
			"patch.webhook.admission.k8s.io/round_0_index_0":                `{"configuration":"m","webhook":"label.example.com","patch":[{"op":"add","path":"/metadata/labels","value":{"l":"1"}}],"patchType":"JSONPatch"}`,
			"mutation.webhook.admission.k8s.io/round_0_index_1":             `{"configuration":"m","webhook":"fail.example.com","mutated":false}`,
			"failed-open.mutation.webhook.admission.k8s.io/round_0_index_1": "fail.example.com",
		}, annotations)
		requireCode(t, srv, 200, "DELETE", mutatingPath+"/m", "")
		requireCode(t, srv, 201, "POST", validatingPath, configuration("v", h.webhook(t, "allow", ""), h.webhook(t, "fail", `"failurePolicy":"Ignore"`)))
		requireCode(t, srv, 201, "POST", configMapsPath, `{"metadata":{"name":"b"}}`)
		require.Equal(t, map[string]string{
			"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": "",
			"failed-open.validating.webhook.admission.k8s.io/round_0_index_1": "fail.example.com",
		}, log.takeLast().Annotations)

		client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
		_, err := client.CoreV1().Pods("safe").Create(t.Context(), podWith("p"), metav1.CreateOptions{})
		require.NoError(t, err)
		annotations = log.takeLast().Annotations
		require.Equal(t, "privileged:latest", annotations["pod-security.kubernetes.io/enforce-policy"])
		require.Contains(t, annotations["pod-security.kubernetes.io/audit-violations"], `would violate PodSecurity "restricted:latest"`)
		_, err = createPod(t, client, podWith("p"))
		require.NoError(t, err)
		require.Equal(t, "privileged:latest", log.takeLast().Annotations["pod-security.kubernetes.io/enforce-policy"])

		requireCode(t, srv, 200, "GET", "/api/v1/endpoints", "")
		annotations = log.takeLast().Annotations
		require.Equal(t, "true", annotations["k8s.io/deprecated"])
		require.NotContains(t, annotations, "k8s.io/removed-release")
		requireCode(t, srv, 200, "GET", "/apis/certificates.k8s.io/v1beta1/clustertrustbundles", "")
		require.Equal(t, "1.40", log.takeLast().Annotations["k8s.io/removed-release"])
		requireCode(t, srv, 409, "DELETE", configMapsPath+"/a?ignoreStoreReadErrorWithClusterBreakingPotential=true", "")
		require.Contains(t, log.takeLast().Annotations, "apiserver.k8s.io/unsafe-delete-ignore-read-error")

		token, err := client.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "sa", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		require.NoError(t, err)
		require.Equal(t, "JTI="+claimsOf(t, token.Status.Token)["jti"].(string), log.takeLast().Annotations["authentication.kubernetes.io/issued-credential-id"])

		config := rest.AnonymousClientConfig(srv.RESTConfig())
		config.BearerToken = token.Status.Token
		_, err = kubernetes.NewForConfigOrDie(config).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
		require.Error(t, err)
		event := log.takeLast()
		require.Equal(t, "forbid", event.Annotations["authorization.k8s.io/decision"])
		require.Equal(t, "system:serviceaccount:default:sa", event.User.Username)
		require.NotEmpty(t, event.User.Extra["authentication.kubernetes.io/credential-id"])
		require.EqualValues(t, 403, event.ResponseStatus.Code)

		config = srv.RESTConfig()
		config.Impersonate = rest.ImpersonationConfig{UserName: "ann"}
		_, err = kubernetes.NewForConfigOrDie(config).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
		require.Error(t, err)
		event = log.takeLast()
		require.Equal(t, "ann", event.ImpersonatedUser.Username)
		require.Equal(t, "impersonate:user-info", event.AuthenticationMetadata.ImpersonationConstraint)
	})
}

// A slow request has annotations about its duration.
func TestAuditLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newWebhookServer(t)
		h.respond("slow", func(w http.ResponseWriter, _ *http.Request, request *admissionRequest) {
			time.Sleep(2 * time.Second)
			writeReview(w, request, allow())
		})
		defer time.Sleep(2 * time.Second) // for the webhook to end
		srv, log := startWithAudit(t, auditPolicy(auditv1.LevelMetadata), fakeapi.WithWebhookDialer(h.dial))
		requireCode(t, srv, 201, "POST", validatingPath, configuration("v", h.webhook(t, "slow", "")))
		requireCode(t, srv, 201, "POST", configMapsPath, `{"metadata":{"name":"a"}}`)
		annotations := log.takeLast().Annotations
		require.Equal(t, "2s", annotations["apiserver.latency.k8s.io/total"])
		require.Equal(t, "2s", annotations["apiserver.latency.k8s.io/validating-webhook"])

		// The event of a request that has timed out is that of its handler, which sees either the end
		// of its own time or the failed call of the webhook first.
		requireCode(t, srv, 504, "POST", configMapsPath+"?timeout=1s", `{"metadata":{"name":"b"}}`)
		event := log.takeLast()
		require.Equal(t, auditv1.StageResponseComplete, event.Stage)
		require.Contains(t, []int32{500, 504}, event.ResponseStatus.Code)
	})
}

// A panic has a stage of its own.
func TestAuditPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		panics := func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) { panic("oh") }
		srv, log := startWithAudit(t, auditPolicy(auditv1.LevelMetadata), fakeapi.WithLogger(slog.New(slog.DiscardHandler)),
			fakeapi.WithTokens(annToken), fakeapi.WithAuthorizer(authorizer.AuthorizerFunc(panics)))
		code, _, _ := send(t, srv, "GET", configMapsPath, "", nil)
		require.Equal(t, 500, code)
		synctest.Wait()
		events := log.take()
		require.Equal(t, []string{"RequestReceived", "Panic 500"}, stagesOf(events))
		require.Equal(t, "APIServer panic'd: oh", events[1].ResponseStatus.Message)
	})
}

// Requests that fault rules answer are not logged. A lost response is logged as it was.
func TestAuditFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, log := startWithAudit(t, auditPolicy(auditv1.LevelMetadata))
		for rule, want := range map[string][]string{
			"do status(503)":                      nil,
			"&& during(committed) do reset":       {"RequestReceived", "ResponseComplete 201"},
			"&& during(committed) do status(504)": {"RequestReceived", "ResponseComplete 201"},
			"do delay(700ms)":                     {"RequestReceived", "ResponseComplete 201"},
			"do forbid":                           {"RequestReceived", "ResponseComplete 403"},
		} {
			remove, err := srv.Faults().AddText("when verb(create) && resource(configmaps) " + rule)
			require.NoError(t, err, rule)
			_, _ = kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "a-"}}, metav1.CreateOptions{})
			remove()
			synctest.Wait()
			events := log.take()
			require.Equal(t, want, stagesOf(events), rule)
			if strings.Contains(rule, "forbid") {
				require.Equal(t, "forbid", events[1].Annotations["authorization.k8s.io/decision"])
			}
		}
	})
}

// Requests that WithLimits answers, and those of the control API, are not logged.
func TestAuditOfLimitsAndControlAPI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, log := startWithAudit(t, auditPolicy(auditv1.LevelMetadata), fakeapi.WithControlAPI(), fakeapi.WithLimits(fakeapi.Limits{MaxWatches: 1}))
		openWatch(t, t.Context(), srv, configMapsPath+"?watch=1")
		synctest.Wait()
		require.Len(t, log.take(), 2)
		require.Equal(t, 429, getCode(t, srv, configMapsPath+"?watch=1"))
		require.Equal(t, 200, getCode(t, srv, "/fakeapi/v1/faults"))
		synctest.Wait()
		require.Empty(t, log.take())
	})
}

// Replicas write to the log of their server, forks do not. After Close nothing is written.
func TestAuditServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, log := startWithAudit(t, auditPolicy(auditv1.LevelMetadata))
		replica, err := srv.Replica(fakeapi.WithInMemoryNetwork())
		require.NoError(t, err)
		fork, err := srv.Fork(fakeapi.WithInMemoryNetwork())
		require.NoError(t, err)
		requireCode(t, fork, 200, "GET", configMapsPath, "")
		synctest.Wait()
		require.Empty(t, log.take())
		requireCode(t, replica.Server, 200, "GET", configMapsPath, "")
		synctest.Wait()
		require.Len(t, log.take(), 2)
		require.NoError(t, fork.Close())

		w, err := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		defer w.Stop()
		require.NoError(t, srv.Close())
		events := log.take()
		require.Len(t, events, 3)
		require.Equal(t, auditv1.StageResponseComplete, events[2].Stage)
		srv.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, configMapsPath, nil))
		require.Empty(t, log.take())
	})
}

// Each stage of concurrent requests is logged once, in the order of the stages.
func TestAuditConcurrency(t *testing.T) {
	log := &auditWriter{t: t}
	srv := fakeapi.Start(t, fakeapi.WithAuditLog(auditPolicy(auditv1.LevelRequestResponse), log))
	client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
	const requests = 40
	var group sync.WaitGroup
	for i := range requests {
		group.Go(func() {
			_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), newConfigMap(fmt.Sprint("c", i)), metav1.CreateOptions{})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	require.NoError(t, srv.Close())
	stages := map[string][]auditv1.Stage{}
	for _, event := range log.take() {
		if event.Verb == "create" {
			stages[string(event.AuditID)] = append(stages[string(event.AuditID)], event.Stage)
		}
	}
	require.Len(t, stages, requests)
	for _, logged := range stages {
		require.Equal(t, []auditv1.Stage{auditv1.StageRequestReceived, auditv1.StageResponseComplete}, logged)
	}
}
