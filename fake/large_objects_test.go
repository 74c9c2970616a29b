package fakeapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fakeapi "example.com/fakeapi/fake"
)

const listsCRD = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: lists.example.com},
spec: {group: example.com, scope: Namespaced, names: {plural: lists, kind: List}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema:
{type: object, properties: {
  numbers: {type: array, items: {type: integer}},
  parts: {type: array, items: {type: object, required: [a, b], properties: {a: {type: string}, b: {type: integer}}}},
  ports: {type: array, items: {x-kubernetes-int-or-string: true}},
  choices: {type: array, items: {type: object, properties: {a: {type: integer}}, anyOf: [{required: [a]}, {required: [b]}]}}}}}}]}}`

const (
	listsPath  = "/apis/example.com/v1/namespaces/default/lists"
	listPrefix = `{"apiVersion":"example.com/v1","kind":"List","metadata":{"name":"a","resourceVersion":"%s"},`
)

// elements returns n equal elements of a JSON list or object. Each # is replaced by the number of
// the element.
func elements(n int, element string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = strings.ReplaceAll(element, "#", fmt.Sprint(i))
	}
	return strings.Join(parts, ",")
}

// As many errors as fit into a body are answered within the time of a request, with the first of
// them if they are from a schema.
func TestLargeInvalidObjects(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutControllers())
	require.NoError(t, srv.LoadYAML(listsCRD))
	const n = 90_000
	for _, test := range []struct {
		fields string
		code   int
	}{
		{`"numbers":[` + elements(n, `"x"`) + `]`, 422},
		{`"parts":[` + elements(n, `{}`) + `]`, 422},
		{`"ports":[` + elements(n, `{}`) + `]`, 422},
		{`"choices":[` + elements(n, `{}`) + `]`, 422},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		body := fmt.Sprintf(listPrefix, "") + test.fields + "}"
		request, err := http.NewRequestWithContext(ctx, "POST", srv.URL()+listsPath, strings.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("Content-Type", "application/json")
		response, err := srv.Client().Do(request)
		require.NoError(t, err, test.fields[:40])
		var status metav1.Status
		require.NoError(t, json.NewDecoder(response.Body).Decode(&status))
		require.NoError(t, response.Body.Close())
		cancel()
		require.Equal(t, test.code, response.StatusCode)
		causes := status.Details.Causes
		require.InDelta(t, 10_000, len(causes), 10)
		require.Contains(t, status.Message, "has too many errors; only")
	}

	owners := `{"metadata":{"name":"a","ownerReferences":[` + elements(30_000, `{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u#","controller":true}`) + `]}}`
	code, _, body := send(t, srv, "POST", "/api/v1/namespaces/default/configmaps", "application/json", []byte(owners))
	require.Equal(t, http.StatusRequestEntityTooLarge, code, string(body))

	finalizers := `{"metadata":{"name":"a","finalizers":[` + elements(9000, `"example.com/#"`) + `]}}`
	code, _, _ = send(t, srv, "POST", "/api/v1/namespaces/default/configmaps", "application/json", []byte(finalizers))
	require.Equal(t, http.StatusCreated, code)
	code, _, body = send(t, srv, "PATCH", "/api/v1/namespaces/default/configmaps/a", "application/strategic-merge-patch+json", []byte(finalizers))
	require.Equal(t, http.StatusRequestEntityTooLarge, code, string(body))
	code, _, _ = send(t, srv, "DELETE", "/api/v1/namespaces/default/configmaps/a", "application/json", []byte(`{"propagationPolicy":"Foreground"}`))
	require.Equal(t, http.StatusOK, code)
}

// bodyOfLeavingClient is the body of a client that goes once the body is read.
type bodyOfLeavingClient struct {
	io.Reader
	leave func()
}

func (b *bodyOfLeavingClient) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil || b.Reader.(*bytes.Reader).Len() == 0 {
		b.leave()
	}
	return n, err
}

// serveAllocated serves a request of a client that goes or stays, and returns the code and the
// bytes that were allocated.
func serveAllocated(srv *fakeapi.Server, method, path, contentType, body string, leaves bool) (code int, allocated uint64) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	leave := func() {}
	if leaves {
		leave = cancel
	}
	r := httptest.NewRequestWithContext(ctx, method, path, &bodyOfLeavingClient{bytes.NewReader([]byte(body)), leave})
	r.ContentLength = int64(len(body))
	r.Header.Set("Content-Type", contentType)
	w := httptest.NewRecorder()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	srv.ServeHTTP(w, r)
	runtime.ReadMemStats(&after)
	return w.Code, after.TotalAlloc - before.TotalAlloc
}

// The work for a client that has gone ends: it is neither validated nor stored, and costs only a
// part.
func TestWorkEndsWhenClientHasGone(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutTimeline())
	require.NoError(t, srv.LoadYAML(listsCRD))
	code, _, _ := send(t, srv, "POST", listsPath, "application/json", []byte(fmt.Sprintf(listPrefix, "")+`"parts":[]}`))
	require.Equal(t, http.StatusCreated, code)
	before := srv.ResourceVersion()
	body := fmt.Sprintf(listPrefix, before) + `"parts":[` + elements(30_000, `{}`) + `]}`
	for _, test := range []struct{ method, path, contentType string }{
		{"POST", listsPath, "application/json"},
		{"PUT", listsPath + "/a", "application/json"},
		{"PATCH", listsPath + "/a", "application/merge-patch+json"},
		{"PATCH", listsPath + "/a?fieldManager=m&force=true", "application/apply-patch+yaml"},
	} {
		code, stays := serveAllocated(srv, test.method, test.path, test.contentType, body, false)
		require.Equal(t, http.StatusUnprocessableEntity, code, test)
		code, leaves := serveAllocated(srv, test.method, test.path, test.contentType, body, true)
		require.Equal(t, http.StatusGatewayTimeout, code, test)
		require.Less(t, leaves, stays*3/4, test)
	}
	require.Equal(t, before, srv.ResourceVersion())
}

// A client that cancels its request ends it on the server.
func TestServerSeesThatClientHasGone(t *testing.T) {
	received, codes := make(chan struct{}), make(chan int, 1)
	srv := fakeapi.Start(t, fakeapi.WithMiddleware(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != "POST" {
				next.ServeHTTP(w, r)
				return
			}
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			close(received)
			<-r.Context().Done()
			recorder := httptest.NewRecorder()
			next.ServeHTTP(recorder, r)
			codes <- recorder.Code
		})
	}))
	ctx, cancel := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, "POST", srv.URL()+"/api/v1/namespaces/default/configmaps", strings.NewReader(`{"metadata":{"name":"a"}}`))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	go func() {
		<-received
		cancel()
	}()
	_, err = srv.Client().Do(request)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, http.StatusGatewayTimeout, <-codes)
	code, _, _ := send(t, srv, "GET", "/api/v1/namespaces/default/configmaps/a", "", nil)
	require.Equal(t, http.StatusNotFound, code)
}
