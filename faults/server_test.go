package faults_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/faults"
)

// testAPI is a handler with a minimal API: GET, LIST, POST, and a watch that sends the given
// events.
type testAPI struct {
	created atomic.Int64
	// events are JSON watch events. Closing the channel ends all watches.
	events chan string
	// writer is the type of the ResponseWriter of the last response.
	writer atomic.Value
	// writeSize, if above 0, is the maximum size of a write to a watch.
	writeSize int
	// finishedWatches is the number of watches whose handler has returned.
	finishedWatches atomic.Int64
}

const (
	podA                  = `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"ns","resourceVersion":"11"}}}` + "\n"
	podB                  = `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b","namespace":"ns","resourceVersion":"12"}}}` + "\n"
	bookmark              = `{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"13"}}}` + "\n"
	initialEventsEndEvent = `{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"12","annotations":{"k8s.io/initial-events-end":"true"}}}}` + "\n"
)

func newAPI(events ...string) *testAPI {
	a := &testAPI{events: make(chan string, 100)}
	for _, e := range events {
		a.events <- e
	}
	return a
}

// newClosedAPI returns a testAPI whose watches end after the events.
func newClosedAPI(events ...string) *testAPI {
	a := newAPI(events...)
	close(a.events)
	return a
}

func (a *testAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.writer.Store(fmt.Sprintf("%T", w))
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Audit-Id", "1")
	switch {
	case r.URL.Query().Get("watch") != "":
		a.watch(w, r)
	case r.Method == http.MethodPost:
		a.created.Add(1)
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(body)
	default:
		_, _ = io.WriteString(w, `{"kind":"Answer","path":"`+r.URL.Path+`"}`)
	}
}

func (a *testAPI) watch(w http.ResponseWriter, r *http.Request) {
	defer a.finishedWatches.Add(1)
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case e, ok := <-a.events:
			if !ok {
				return
			}
			for len(e) > 0 {
				n := len(e)
				if a.writeSize > 0 {
					n = min(n, a.writeSize)
				}
				if _, err := io.WriteString(w, e[:n]); err != nil {
					return
				}
				e = e[n:]
			}
			w.(http.Flusher).Flush()
		}
	}
}

// testServer serves a handler with rules over TCP.
type testServer struct {
	t   *testing.T
	set *faults.Set
	url string
	// client does not reuse connections, so that it does not retry.
	client *http.Client
}

func newTestServer(t *testing.T, next http.Handler, rules ...string) *testServer {
	s := &testServer{t: t, set: &faults.Set{}}
	s.add(rules...)
	return s.serve(httptest.NewServer(faults.Handler(s.set, next)))
}

func (srv *testServer) serve(s *httptest.Server) *testServer {
	srv.url = s.URL
	transport := s.Client().Transport.(*http.Transport).Clone()
	transport.DisableKeepAlives = !transport.ForceAttemptHTTP2
	srv.client = &http.Client{Transport: transport}
	srv.t.Cleanup(func() {
		transport.CloseIdleConnections()
		s.CloseClientConnections()
		s.Close()
	})
	return srv
}

func (s *testServer) add(rules ...string) (remove func()) {
	remove, err := s.set.AddText(strings.Join(rules, "\n"))
	require.NoError(s.t, err)
	return remove
}

const pods = "/api/v1/namespaces/ns/pods"

// get sends a GET and returns the response and its body.
func (s *testServer) get(path string) (*http.Response, string) {
	resp, body, err := s.do(http.MethodGet, path)
	require.NoError(s.t, err)
	return resp, body
}

// do sends a request. It returns the error of the request or of reading the body.
func (s *testServer) do(method, path string) (*http.Response, string, error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(`{"kind":"Pod"}`))
	require.NoError(s.t, err)
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

// watchClient is an open watch.
type watchClient struct {
	t    *testing.T
	resp *http.Response
	r    *bufio.Reader
}

// watch opens a watch. Reads fail after a minute, for an event that a rule wrongly drops.
func (s *testServer) watch(query string, accept ...string) *watchClient {
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	s.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+pods+"?watch=1"+query, nil)
	require.NoError(s.t, err)
	req.Header["Accept"] = accept
	resp, err := s.client.Do(req)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { resp.Body.Close() })
	return &watchClient{s.t, resp, bufio.NewReader(resp.Body)}
}

// expectLines reads these lines.
func (s *watchClient) expectLines(lines ...string) {
	s.t.Helper()
	for _, want := range lines {
		got, err := s.r.ReadString('\n')
		require.NoError(s.t, err)
		require.Equal(s.t, want, got)
	}
}

// readAll reads to the end.
func (s *watchClient) readAll() (string, error) {
	data, err := io.ReadAll(s.r)
	return string(data), err
}

// eventually waits until condition returns true.
func eventually(t *testing.T, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, time.Minute, time.Millisecond)
}

// protobufEvent encodes an event as kube-apiserver does.
func protobufEvent(event, name, namespace string, annotations map[string]string) string {
	object := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: namespace, Annotations: annotations,
	}}
	raw, err := object.Marshal()
	must(err)
	envelope, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "Pod"}, Raw: raw}).Marshal()
	must(err)
	frame, err := (&metav1.WatchEvent{
		Type: event, Object: runtime.RawExtension{Raw: append([]byte("k8s\x00"), envelope...)},
	}).Marshal()
	must(err)
	return string(binary.BigEndian.AppendUint32(nil, uint32(len(frame)))) + string(frame)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
