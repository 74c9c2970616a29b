package faults_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/faults"
)

func TestNoRules(t *testing.T) {
	a := newAPI()
	s := newTestServer(t, a)
	resp, body := s.get(pods + "/x")
	require.Equal(t, 200, resp.StatusCode)
	require.Equal(t, `{"kind":"Answer","path":"/api/v1/namespaces/ns/pods/x"}`, body)
	require.Equal(t, "*http.response", a.writer.Load(), "the writer is not wrapped")
}

// TestUnmatchedResponseIsNotBuffered tests that a response is buffered only if a rule for the
// Committed phase could match it.
func TestUnmatchedResponseIsNotBuffered(t *testing.T) {
	a := newAPI()
	s := newTestServer(t, a,
		"when verb(list) && name(y) do reset",
		"when verb(create) && during(committed) do reset",
		"when resource(configmaps) && code(200) do reset")
	s.get(pods)
	require.Equal(t, "*http.response", a.writer.Load())
	resp, body := s.get("/api/v1/namespaces/ns/configmaps/a/b/c") // a subresource, which the rule does not match
	require.Equal(t, "*http.response", a.writer.Load())
	require.Equal(t, 200, resp.StatusCode)
	require.Contains(t, body, "Answer")

	s.add("when code(404) do reset")
	resp, body = s.get(pods)
	require.Equal(t, "*faults.bufferedResponse", a.writer.Load())
	require.Equal(t, 200, resp.StatusCode)
	require.Equal(t, "application/json", resp.Header.Get("Content-Type"))
	require.Equal(t, "1", resp.Header.Get("Audit-Id"))
	require.Equal(t, `{"kind":"Answer","path":"/api/v1/namespaces/ns/pods"}`, body)
	s.get(pods + "/x/log")
	require.Equal(t, "*http.response", a.writer.Load(), "a log request is long-running")
	require.Empty(t, s.set.Hits())
}

func TestStatusReplies(t *testing.T) {
	for _, c := range []struct{ rule, path, want, retry string }{
		{
			"when verb(list) do status(410, Expired)", pods + "?continue=abc",
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.","reason":"Expired","code":410}`, "",
		},
		{
			`when verb(list) do status(410, Expired, continue("tok=="))`, pods + "?continue=abc",
			`{"kind":"Status","apiVersion":"v1","metadata":{"continue":"tok=="},"status":"Failure","message":"The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.","reason":"Expired","code":410}`, "",
		},
		{
			"when verb(list) do status(410)", pods + "?resourceVersion=5&resourceVersionMatch=Exact",
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"The resourceVersion for the provided list is too old.","reason":"Expired","code":410}`, "",
		},
		{
			faults.Retry504(time.Second).String(), pods + "?resourceVersion=999",
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Timeout: Too large resource version: 999, current: 998","reason":"Timeout","details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}],"retryAfterSeconds":1},"code":504}`, "1",
		},
		{
			faults.Retry504(0).String(), pods + "?resourceVersion=0",
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Timeout: Too large resource version","reason":"Timeout","details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}]},"code":504}`, "",
		},
		{
			faults.Retry504(0).String(), pods + "?resourceVersion=9x",
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Timeout: Too large resource version","reason":"Timeout","details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}]},"code":504}`, "",
		},
		{
			"when verb(list) do status(504, Timeout, retryAfter(1s))", pods + "?resourceVersion=999",
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Timeout: request did not complete within the allotted timeout","reason":"Timeout","details":{"retryAfterSeconds":1},"code":504}`, "1",
		},
		{
			"when verb(get) do status(409, Conflict, kind(widgets))", pods + "/x",
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Operation cannot be fulfilled on pods \"x\": the object has been modified; please apply your changes to the latest version and try again","reason":"Conflict","details":{"kind":"widgets"},"code":409}`, "",
		},
		{
			"when verb(get) do status(409, Conflict, group(apps))", pods + "/x",
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Operation cannot be fulfilled on pods \"x\": the object has been modified; please apply your changes to the latest version and try again","reason":"Conflict","details":{"group":"apps"},"code":409}`, "",
		},
		{
			"when verb(get) do status(409)", "/apis/apps/v1/namespaces/ns/deployments/web",
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Operation cannot be fulfilled on deployments.apps \"web\": the object has been modified; please apply your changes to the latest version and try again","reason":"Conflict","details":{"name":"web","group":"apps","kind":"deployments"},"code":409}`, "",
		},
		{
			"when verb(get) do status(429, TooManyRequests, retryAfter(2s))", pods + "/x",
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Too many requests, please try again later.","reason":"TooManyRequests","details":{"retryAfterSeconds":2},"code":429}`, "2",
		},
		{
			"when verb(get) do status(403)", pods + "/x",
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"pods \"x\" is forbidden: User \"system:anonymous\" cannot get resource \"pods\" in API group \"\" in the namespace \"ns\"","reason":"Forbidden","details":{"name":"x","kind":"pods"},"code":403}`, "",
		},
		{
			"when verb(get) do status(401)", pods + "/x",
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`, "",
		},
		{
			`when verb(get) do status(404, NotFound, name(y))`, pods + "/x",
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"pods \"x\" not found","reason":"NotFound","details":{"name":"y"},"code":404}`, "",
		},
		{
			`when verb(get) do status(500, InternalError, cause(a, b))`, pods + "/x",
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Internal error occurred: injected by a fault rule","reason":"InternalError","details":{"causes":[{"reason":"a","message":"b"}]},"code":500}`, "",
		},
		{
			`when verb(get) do status(500, "", "etcdserver: request is too large")`, pods + "/x",
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"etcdserver: request is too large","code":500}`, "",
		},
		{
			"when path(/readyz) do status(503)", "/readyz",
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"the server is currently unable to handle the request","reason":"ServiceUnavailable","code":503}`, "",
		},
		{
			"when verb(get) do status(500)", pods + "/x",
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Internal error occurred: injected by a fault rule","reason":"InternalError","details":{"causes":[{"message":"injected by a fault rule"}]},"code":500}`, "",
		},
	} {
		t.Run(c.rule, func(t *testing.T) {
			a := newAPI()
			resp, body := newTestServer(t, a, c.rule).get(c.path)
			require.Equal(t, c.want+"\n", body)
			require.Equal(t, "application/json", resp.Header.Get("Content-Type"))
			require.Equal(t, c.retry, resp.Header.Get("Retry-After"))
			require.Equal(t, "no-cache, private", resp.Header.Get("Cache-Control"))
			require.Nil(t, a.writer.Load(), "the handler is not called")
			var s metav1.Status
			require.NoError(t, json.Unmarshal([]byte(body), &s))
			require.Equal(t, resp.StatusCode, int(s.Code))
		})
	}
}

// TestStatusIsOfTheRequest tests that the fields that are filled in are those of each request.
func TestStatusIsOfTheRequest(t *testing.T) {
	s := newTestServer(t, newAPI(), "when verb(get) do status(409, Conflict, retryAfter(1s))")
	for _, name := range []string{"a", "b"} {
		_, body := s.get(pods + "/" + name)
		require.Contains(t, body, `"details":{"name":"`+name+`","kind":"pods","retryAfterSeconds":1}`)
	}
}

func TestStatusAsProtobuf(t *testing.T) {
	srv := newTestServer(t, newAPI(), "when verb(get) do status(404)")
	for accept, protobuf := range map[string]bool{
		"application/vnd.kubernetes.protobuf,application/json":             true,
		"application/vnd.kubernetes.protobuf":                              true,
		"application/json, application/vnd.kubernetes.protobuf":            false,
		"application/json;q=0.1,application/vnd.kubernetes.protobuf;q=0.9": true,
		"application/cbor,*/*":                                             false,
		"text/html":                                                        false,
	} {
		req, err := http.NewRequest(http.MethodGet, srv.url+pods+"/x", nil)
		require.NoError(t, err)
		req.Header.Set("Accept", accept)
		resp, err := srv.client.Do(req)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		require.NoError(t, err)
		if !protobuf {
			require.Equal(t, "application/json", resp.Header.Get("Content-Type"), accept)
			continue
		}
		require.Equal(t, "application/vnd.kubernetes.protobuf", resp.Header.Get("Content-Type"), accept)
		var unknown runtime.Unknown
		require.NoError(t, unknown.Unmarshal(body[4:]))
		require.Equal(t, "Status", unknown.Kind)
		var s metav1.Status
		require.NoError(t, s.Unmarshal(unknown.Raw))
		require.Equal(t, `pods "x" not found`, s.Message)
	}
}

func TestRawReply(t *testing.T) {
	s := newTestServer(t, newAPI(), `when verb(get) && first(1) do raw(429, "text/plain; charset=utf-8", "Too many requests, please try again later.", header(Retry-After, 1))`,
		`when verb(get) && first(1) do raw(204, "", "not sent")`, `when verb(get) do raw(304, "", "not sent")`)
	resp, body := s.get(pods + "/x")
	require.Equal(t, 429, resp.StatusCode)
	require.Equal(t, "1", resp.Header.Get("Retry-After"))
	require.Equal(t, "text/plain; charset=utf-8", resp.Header.Get("Content-Type"))
	require.Equal(t, "Too many requests, please try again later.", body)
	resp, body = s.get(pods + "/x")
	require.Equal(t, 204, resp.StatusCode)
	require.Empty(t, body)
	resp, body = s.get(pods + "/x")
	require.Equal(t, 304, resp.StatusCode)
	require.Empty(t, body)
}

func TestResetBefore(t *testing.T) {
	a := newAPI()
	s := newTestServer(t, a, "lost: when verb(create) && first(1) do reset")
	_, _, err := s.do(http.MethodPost, pods)
	require.ErrorIs(t, err, syscall.ECONNRESET)
	require.Zero(t, a.created.Load(), "the request was not handled")
	resp, _, err := s.do(http.MethodPost, pods)
	require.NoError(t, err)
	require.Equal(t, 201, resp.StatusCode)
	require.Equal(t, "lost: before create pods in ns: reset", s.set.Hits()[0].String())
}

func TestResetCommitted(t *testing.T) {
	a := newAPI()
	s := newTestServer(t, a, "when verb(create) && during(committed) && first(1) do reset")
	_, _, err := s.do(http.MethodPost, pods)
	require.ErrorIs(t, err, syscall.ECONNRESET)
	require.EqualValues(t, 1, a.created.Load(), "the request was handled")
}

// TestResetOverTLS tests that the connection is reset below TLS, without the alert of a regular
// end.
func TestResetOverTLS(t *testing.T) {
	s := newKeepAliveServer(t, false, newAPI(), "when verb(create) do reset")
	_, _, err := s.do(http.MethodPost, pods)
	require.ErrorIs(t, err, syscall.ECONNRESET)
}

func TestStatusCommitted(t *testing.T) {
	a := newAPI()
	s := newTestServer(t, a, "when verb(create) && code(201) do status(504)")
	resp, body, err := s.do(http.MethodPost, pods)
	require.NoError(t, err)
	require.Equal(t, 504, resp.StatusCode)
	require.Contains(t, body, "Timeout: request did not complete within the allotted timeout")
	require.Empty(t, resp.Header.Get("Audit-Id"), "the headers of the original response are removed")
	require.EqualValues(t, 1, a.created.Load())
}

// TestBufferedHeaders tests that the handler can read and delete headers that were set before.
func TestBufferedHeaders(t *testing.T) {
	var set faults.Set
	_, err := set.AddText("when code(404) do reset")
	require.NoError(t, err)
	h := faults.Handler(&set, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		require.Equal(t, "b", w.Header().Get("B"))
		w.Header().Del("B")
		w.Header().Set("C", "c")
	}))
	w := httptest.NewRecorder()
	w.Header().Set("A", "a")
	w.Header().Set("B", "b")
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, pods, nil))
	require.Equal(t, http.Header{"A": {"a"}, "C": {"c"}}, w.Result().Header)
	require.Equal(t, 200, w.Code)
}

func TestTruncate(t *testing.T) {
	s := newTestServer(t, newAPI(), "when verb(get) do truncate(10)")
	resp, body, err := s.do(http.MethodGet, pods+"/x")
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Equal(t, 200, resp.StatusCode)
	require.EqualValues(t, 55, resp.ContentLength, "the Content-Length is that of the whole body")
	require.Equal(t, `{"kind":"A`, body)

	s.set.Clear()
	s.add("when verb(get) do truncate(55)")
	_, body = s.get(pods + "/x")
	require.Len(t, body, 55, "the body is not longer")
	require.NotPanics(t, func() { // the connection is not aborted
		faults.Handler(s.set, newAPI()).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, pods+"/x", nil))
	})
}

// TestHangAndDelayEndOnDisconnect tests that effects end when the client disconnects, even if the
// request body was not read.
func TestHangAndDelayEndOnDisconnect(t *testing.T) {
	for _, c := range []struct {
		rule    string
		created int64
	}{
		{"when verb(create) do hang", 0},
		{"when verb(create) do delay(1h)", 0},
		{"when verb(create) && during(committed) do hang", 1},
		{"when verb(create) && during(committed) do delay(1h)", 1},
	} {
		a, set, returned := newAPI(), &faults.Set{}, make(chan any, 1)
		_, err := set.AddText(c.rule)
		require.NoError(t, err)
		s := (&testServer{t: t, set: set}).serve(httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() { p := recover(); returned <- p; panic(p) }()
			faults.Handler(set, a).ServeHTTP(w, r)
		})))
		ctx, leave := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+pods, strings.NewReader("{}"))
		require.NoError(t, err)
		failed := make(chan error, 1)
		go func() {
			_, err := s.client.Do(req)
			failed <- err
		}()
		eventually(t, func() bool { return len(set.Hits()) == 1 })
		leave()
		require.ErrorIs(t, <-failed, context.Canceled)
		require.Equal(t, http.ErrAbortHandler, <-returned, c.rule)
		require.Equal(t, c.created, a.created.Load(), c.rule)
	}
}

// TestDelayOnVirtualTime calls the handler directly.
func TestDelayOnVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var set faults.Set
		_, err := set.AddText("slow: when verb(get) do delay(1m)\nlater: when verb(get) && after(3m) do status(503)")
		require.NoError(t, err)
		h := faults.Handler(&set, newAPI())
		start := time.Now()
		for _, code := range []int{200, 200, 503} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, pods+"/x", nil))
			require.Equal(t, code, w.Code)
		}
		require.Equal(t, 3*time.Minute, time.Since(start))
	})
}

// TestDelayedRequestIsNotHandledAfterDisconnect tests a request with a body.
func TestDelayedRequestIsNotHandledAfterDisconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var set faults.Set
		_, err := set.AddText("when verb(create) do delay(1m)")
		require.NoError(t, err)
		a := newAPI()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		req := httptest.NewRequestWithContext(ctx, http.MethodPost, pods, strings.NewReader("{}"))
		require.PanicsWithValue(t, http.ErrAbortHandler, func() {
			faults.Handler(&set, a).ServeHTTP(httptest.NewRecorder(), req)
		})
		require.Zero(t, a.created.Load())
	})
}

// TestDelayedRequestIsNotHandledWithoutBody tests a request whose body cannot be read, which ends
// the delay.
func TestDelayedRequestIsNotHandledWithoutBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var set faults.Set
		_, err := set.AddText("when verb(create) do delay(1m)")
		require.NoError(t, err)
		a, start := newAPI(), time.Now()
		req := httptest.NewRequest(http.MethodPost, pods, iotest.ErrReader(io.ErrUnexpectedEOF))
		require.PanicsWithValue(t, http.ErrAbortHandler, func() {
			faults.Handler(&set, a).ServeHTTP(httptest.NewRecorder(), req)
		})
		require.Zero(t, a.created.Load())
		require.Equal(t, start, time.Now())
	})
}

func TestDelayPreservesBody(t *testing.T) {
	a := newAPI()
	s := newTestServer(t, a, "when verb(create) do delay(1ns)")
	resp, body, err := s.do(http.MethodPost, pods)
	require.NoError(t, err)
	require.Equal(t, 201, resp.StatusCode)
	require.Equal(t, `{"kind":"Pod"}`, body)
}

func TestResetOverHTTP2(t *testing.T) {
	a := newAPI(podA, podB)
	srv := &testServer{t: t, set: &faults.Set{}}
	srv.add("when verb(create) && during(committed) do reset", "when event(ADDED) && name(b) do reset",
		"when verb(get) do truncate(5)")
	s := httptest.NewUnstartedServer(faults.Handler(srv.set, a))
	s.EnableHTTP2 = true
	s.StartTLS()
	srv.serve(s)
	_, _, err := srv.do(http.MethodPost, pods)
	require.ErrorContains(t, err, "INTERNAL_ERROR")
	require.EqualValues(t, 1, a.created.Load())

	w := srv.watch("")
	require.Equal(t, 2, w.resp.ProtoMajor)
	w.expectLines(podA)
	_, err = w.readAll()
	require.ErrorContains(t, err, "INTERNAL_ERROR")

	_, body, err := srv.do(http.MethodGet, pods+"/x")
	require.ErrorContains(t, err, "INTERNAL_ERROR")
	require.Equal(t, `{"kin`, body)
}

// TestHandlerPanic tests that panics of the handler are not changed.
func TestHandlerPanic(t *testing.T) {
	var set faults.Set
	_, err := set.AddText("when during(committed) do reset\nwhen during(stream) do drop")
	require.NoError(t, err)
	boom := errors.New("boom")
	h := faults.Handler(&set, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(boom) }))
	for _, path := range []string{pods, pods + "?watch=1"} {
		require.PanicsWithValue(t, boom, func() {
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil))
		})
	}
}
