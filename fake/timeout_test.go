package fakeapi_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
)

const timeoutBody = `{"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the allotted timeout","reason":"Timeout","details":{},"code":504}` + "\n"

// withDelay returns an option with an admission function that sleeps.
func withDelay(d time.Duration) fakeapi.Option {
	return fakeapi.WithAdmission(fakeapi.Admission{Name: "slow", Review: func(context.Context, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		time.Sleep(d)
		return &admissionv1.AdmissionResponse{Allowed: true}
	}})
}

// A write that exceeds its timeout returns 504 and is not carried out (EX-08).
func TestWriteTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), withDelay(90*time.Second))
		for name, timeout := range map[string]time.Duration{"parameter": 5 * time.Second, "default": time.Minute, "maximum": time.Minute} {
			query := map[string]string{"parameter": "?timeout=5s", "default": "", "maximum": "?timeout=10h"}[name]
			start := time.Now()
			code, header, body := send(t, srv, "POST", "/api/v1/namespaces/default/configmaps"+query, "application/json", []byte(`{"metadata":{"name":"`+name+`"}}`))
			require.Equal(t, http.StatusGatewayTimeout, code, "%s: %s", name, body)
			require.Equal(t, timeoutBody, string(body))
			require.Equal(t, "text/plain; charset=utf-8", header.Get("Content-Type"))
			require.Equal(t, "no-cache, private", header.Get("Cache-Control"))
			require.Equal(t, timeout, time.Since(start))
			time.Sleep(2 * time.Minute)
			code, _, _ = send(t, srv, "GET", "/api/v1/namespaces/default/configmaps/"+name, "", nil)
			require.Equal(t, http.StatusNotFound, code, name)
		}
	})
}

// WithRequestTimeout replaces the minute, and the parameter timeout only shortens it.
func TestRequestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), withDelay(time.Hour), fakeapi.WithRequestTimeout(10*time.Second))
		for query, timeout := range map[string]time.Duration{"": 10 * time.Second, "?timeout=5s": 5 * time.Second, "?timeout=30s": 10 * time.Second} {
			start := time.Now()
			code, _, body := send(t, srv, "POST", "/api/v1/namespaces/default/configmaps"+query, "application/json", []byte(`{"metadata":{"name":"a"}}`))
			require.Equal(t, http.StatusGatewayTimeout, code, "%s: %s", query, body)
			require.Equal(t, timeout, time.Since(start), query)
			time.Sleep(2 * time.Hour) // until the function has returned
		}
	})
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), withDelay(90*time.Second), fakeapi.WithRequestTimeout(5*time.Minute))
		code, _, body := send(t, srv, "POST", "/api/v1/namespaces/default/configmaps?timeout=2m", "application/json", []byte(`{"metadata":{"name":"a"}}`))
		require.Equal(t, http.StatusCreated, code, "%s", body)
	})
	_, err := fakeapi.New(fakeapi.WithRequestTimeout(0))
	require.ErrorContains(t, err, "fakeapi: WithRequestTimeout: 0s is not positive")
}

// slowWrites are requests of each verb that writes, for objects of loadForSlowWrites.
var slowWrites = []struct{ name, method, path, contentType, body string }{
	{"create", "POST", "/api/v1/namespaces/default/configmaps", "application/json", `{"metadata":{"name":"new"}}`},
	{"create with a generated name", "POST", "/api/v1/namespaces/default/configmaps", "application/json", `{"metadata":{"generateName":"new-"}}`},
	{"create by update", "PUT", "/apis/coordination.k8s.io/v1/namespaces/default/leases/new", "application/json", `{"metadata":{"name":"new"}}`},
	{"create by apply", "PATCH", "/api/v1/namespaces/default/configmaps/new?fieldManager=a", "application/apply-patch+yaml", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"new"}}`},
	{"update", "PUT", "/api/v1/namespaces/default/configmaps/a", "application/json", `{"metadata":{"name":"a"},"data":{"a":"b"}}`},
	{"patch", "PATCH", "/api/v1/namespaces/default/configmaps/a", "application/merge-patch+json", `{"data":{"a":"b"}}`},
	{"apply", "PATCH", "/api/v1/namespaces/default/configmaps/a?fieldManager=a", "application/apply-patch+yaml", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"b"}}`},
	{"removal of the last finalizer", "PATCH", "/api/v1/namespaces/default/configmaps/deleted", "application/merge-patch+json", `{"metadata":{"finalizers":null}}`},
	{"delete", "DELETE", "/api/v1/namespaces/default/configmaps/a", "", ""},
	{"delete with a finalizer", "DELETE", "/api/v1/namespaces/default/configmaps/a", "application/json", `{"propagationPolicy":"Foreground"}`},
	{"delete with a grace period", "DELETE", "/api/v1/namespaces/default/pods/a", "", ""},
	{"delete of a namespace", "DELETE", "/api/v1/namespaces/team", "", ""},
	{"deletecollection", "DELETE", "/api/v1/namespaces/default/configmaps", "", ""},
	{"status", "PATCH", "/api/v1/namespaces/default/pods/a/status", "application/merge-patch+json", `{"status":{"phase":"Running"}}`},
	{"scale", "PATCH", "/apis/apps/v1/namespaces/default/deployments/a/scale", "application/merge-patch+json", `{"spec":{"replicas":3}}`},
	{"binding", "POST", "/api/v1/namespaces/default/pods/a/binding", "application/json", `{"metadata":{"name":"a"},"target":{"name":"n"}}`},
	{"binding of a body", "POST", "/api/v1/namespaces/default/bindings", "application/json", `{"metadata":{"name":"a"},"target":{"name":"n"}}`},
	{"eviction", "POST", "/api/v1/namespaces/default/pods/a/eviction", "application/json", `{"metadata":{"name":"a"}}`},
	{"token", "POST", "/api/v1/namespaces/default/serviceaccounts/default/token", "application/json", `{}`},
}

func loadForSlowWrites(t *testing.T, srv *fakeapi.Server) {
	require.NoError(t, srv.LoadYAML(`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: deleted, namespace: default, finalizers: [a.example.com/b], deletionTimestamp: "2000-01-01T00:00:00Z"}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: team}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: default}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: default, labels: {app: a}}, spec: {containers: [{name: a, image: a}]}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a, namespace: default}, spec: {selector: {matchLabels: {app: a}}}, status: {disruptionsAllowed: 1}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: default}, spec: {replicas: 1, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: a}]}}}}
`))
}

// A write is not carried out after its time is over or its client has gone, whatever the verb. The
// context of the request ends it before the transaction, if an admission function allows it later.
func TestEndedRequestWritesNothing(t *testing.T) {
	for _, mutating := range []bool{true, false} {
		for _, write := range slowWrites {
			t.Run(write.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var reviews atomic.Int32
					srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithAdmission(fakeapi.Admission{Name: "slow", Mutating: mutating,
						Review: func(context.Context, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
							time.Sleep(30 * time.Second)
							reviews.Add(1)
							return &admissionv1.AdmissionResponse{Allowed: true}
						}}))
					loadForSlowWrites(t, srv)
					path, separator := srv.URL()+write.path, "?"
					if strings.Contains(path, "?") {
						separator = "&"
					}
					before := srv.ResourceVersion()

					r, err := http.NewRequestWithContext(t.Context(), write.method, path+separator+"timeout=5s", strings.NewReader(write.body))
					require.NoError(t, err)
					r.Header.Set("Content-Type", write.contentType)
					resp, err := srv.Client().Do(r)
					require.NoError(t, err)
					_ = resp.Body.Close()
					require.Equal(t, http.StatusGatewayTimeout, resp.StatusCode)
					time.Sleep(time.Minute)
					require.NotZero(t, reviews.Load())
					require.Equal(t, before, srv.ResourceVersion(), "after the timeout")

					reviews.Store(0)
					ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
					defer cancel()
					r, err = http.NewRequestWithContext(ctx, write.method, path, strings.NewReader(write.body))
					require.NoError(t, err)
					r.Header.Set("Content-Type", write.contentType)
					_, err = srv.Client().Do(r)
					require.ErrorIs(t, err, context.DeadlineExceeded)
					time.Sleep(time.Minute)
					require.NotZero(t, reviews.Load())
					require.Equal(t, before, srv.ResourceVersion(), "after the client has gone")
				})
			})
		}
	}
}

// The parameter timeout: valid values, 0 and "" have no effect on fast requests, invalid ones
// return 400. Watches ignore it.
func TestTimeoutParameter(t *testing.T) {
	srv := fakeapi.Start(t)
	for _, path := range []string{"/api/v1/namespaces/default?", "/apis?", "/version?", "/healthz?", "/api/v1/pods?"} {
		for query, want := range map[string]int{"timeout=": 200, "timeout=0": 200, "timeout=-1s": 200, "timeout=30s": 200, "timeout=10h": 200, "timeout=5": 400, "timeout=x": 400, "timeout=1ns": 504} {
			code, header, body := getWithAccept(t, srv, "GET", path+query, "*/*")
			require.Equal(t, want, code, "%s%s: %s", path, query, body)
			require.NotEmpty(t, header.Get("Audit-Id"))
			switch want {
			case 400:
				require.Contains(t, body, "invalid timeout specified in the request URL - time: ", query)
			case 504:
				require.Equal(t, timeoutBody, body)
			}
		}
	}
	code, _, _ := send(t, srv, "POST", "/api/v1/namespaces/default/configmaps?timeout=1ns", "application/json", []byte(`{"metadata":{"name":"late"}}`))
	require.Equal(t, http.StatusGatewayTimeout, code)
	resp := openWatch(t, t.Context(), srv, "/api/v1/namespaces?watch=1&timeout=x&timeoutSeconds=1")
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Len(t, readEvents(resp.Body), 4)
}

// tooManyRequestsBody is the body of a 429.
const tooManyRequestsBody = "Too many requests, please try again later.\n"

// The limits for read-only and mutating requests are separate. Watches and connections do not
// count. Requests are served again once others have ended (HT-08).
func TestMaxInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithLimits(fakeapi.Limits{MaxRequestsInFlight: 2, MaxMutatingRequestsInFlight: 1}))
		_, err := srv.Faults().AddText(`slow: when path(/api) do delay(10s)`)
		require.NoError(t, err)
		const maps = "/api/v1/namespaces/default/configmaps"
		answers := make(chan int)
		request := func(method, path, body string) {
			go func() {
				code, _, _ := send(t, srv, method, path, "application/json", []byte(body))
				answers <- code
			}()
			synctest.Wait()
		}
		for range 3 {
			request("GET", maps+"?watch=1&timeoutSeconds=1", "")
		}
		request("POST", "/api/v1/namespaces/default/pods/none/exec", "")
		request("GET", maps, "")
		request("HEAD", maps, "")
		code, header, body := send(t, srv, "GET", "/livez", "", nil)
		require.Equal(t, http.StatusTooManyRequests, code)
		require.Equal(t, tooManyRequestsBody, string(body))
		require.Equal(t, "1", header.Get("Retry-After"))
		require.Equal(t, "text/plain; charset=utf-8", header.Get("Content-Type"))
		require.NotEmpty(t, header.Get("Audit-Id"))

		request("POST", maps, `{"metadata":{"name":"a"}}`)
		code, _, body = send(t, srv, "DELETE", maps+"/a", "", nil)
		require.Equal(t, http.StatusTooManyRequests, code)
		require.Equal(t, tooManyRequestsBody, string(body))

		counts := map[int]int{}
		for range 7 {
			counts[<-answers]++
		}
		require.Equal(t, map[int]int{200: 4, 201: 1, 404: 1, 405: 1}, counts)
		code, _, _ = send(t, srv, "GET", "/livez", "", nil)
		require.Equal(t, http.StatusOK, code, "the other requests have ended")
		code, _, _ = send(t, srv, "DELETE", maps+"/a", "", nil)
		require.Equal(t, http.StatusOK, code)
	})
	_, err := fakeapi.New(fakeapi.WithLimits(fakeapi.Limits{MaxRequestsInFlight: -1}))
	require.ErrorContains(t, err, "MaxRequestsInFlight is negative: -1")
}

// client-go retries a 429 after Retry-After and is served.
func TestClientsRetryAfterTooManyRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithLimits(fakeapi.Limits{MaxRequestsInFlight: 1, MaxMutatingRequestsInFlight: 1}), fakeapi.WithFaults(
			faults.Rule{Name: "slow", When: faults.And(faults.Verb("list"), faults.First(1)), Do: []faults.Effect{faults.Delay(1500 * time.Millisecond)}}))
		go send(t, srv, "GET", "/api/v1/pods", "", nil)
		synctest.Wait()
		start := time.Now()
		_, err := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{})
		require.NoError(t, err)
		require.Equal(t, 2*time.Second, time.Since(start))
		require.Equal(t, 2, strings.Count(srv.Timeline().String(), "-> 429"))
	})
}
