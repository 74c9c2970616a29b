package linearizability

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/dev/verify/harness"
)

// newOperation returns an operation on the key "a".
func newOperation(client int, call, ret int64, req Request, resp Response) porcupine.Operation {
	req.Key = "a"
	return porcupine.Operation{ClientId: client, Call: call, Return: ret, Input: req, Output: resp}
}

func serialAnnotation(s string) map[string]string { return map[string]string{"serial": s} }

// objectResponse returns a response with an object.
func objectResponse(code int, uid string, rv uint64, s string) Response {
	return Response{Code: code, HasObject: true, UID: uid, ResourceVersion: rv, Content: EncodeContent(serialAnnotation(s))}
}

func errorResponse(code int, reason metav1.StatusReason) Response {
	return Response{Code: code, Reason: reason}
}

// validHistory starts at revision 10. Its two PUTs of the same state overlap, and the response to
// the merge of "m" is lost.
func validHistory() []porcupine.Operation {
	listed := objectResponse(200, "u1", 12, "1")
	listed.ListRevision = 13
	return []porcupine.Operation{
		newOperation(0, 1, 2, Request{Verb: "create", Set: serialAnnotation("0")}, objectResponse(201, "u1", 11, "0")),
		newOperation(0, 3, 4, Request{Verb: "get"}, objectResponse(200, "u1", 11, "0")),
		newOperation(1, 5, 8, Request{Verb: "put", ResourceVersion: 11, UID: "u1", Set: serialAnnotation("1")}, objectResponse(200, "u1", 12, "1")),
		newOperation(2, 6, 7, Request{Verb: "put", ResourceVersion: 11, UID: "u1", Set: serialAnnotation("2")}, errorResponse(409, metav1.StatusReasonConflict)),
		newOperation(0, 9, 10, Request{Verb: "merge", DryRun: true, Set: serialAnnotation("d")}, objectResponse(200, "u1", 12, "d")),
		newOperation(0, 11, 12, Request{Verb: "list"}, listed),
		newOperation(1, 13, 1<<62, Request{Verb: "merge", Set: serialAnnotation("m")}, Response{}),
		newOperation(0, 14, 15, Request{Verb: "get"}, objectResponse(200, "u1", 14, "m")),
		newOperation(0, 16, 17, Request{Verb: "delete", UID: "u1"}, objectResponse(200, "u1", 15, "m")),
		newOperation(0, 18, 19, Request{Verb: "get"}, errorResponse(404, metav1.StatusReasonNotFound)),
		newOperation(0, 20, 21, Request{Verb: "create", Set: serialAnnotation("3")}, objectResponse(201, "u2", 16, "3")),
		newOperation(0, 22, 23, Request{Verb: "json", TestSerial: "0", Set: serialAnnotation("4")}, errorResponse(422, metav1.StatusReasonInvalid)),
	}
}

func TestModelAcceptsValidHistories(t *testing.T) {
	require.True(t, porcupine.CheckOperations(Model(Absent(10)), validHistory()))
	require.Empty(t, CheckRevisions(validHistory()))
	for name, modify := range map[string]func(h []porcupine.Operation) []porcupine.Operation{
		"the other update succeeds": func(h []porcupine.Operation) []porcupine.Operation {
			h[2].Output, h[3].Output = h[3].Output, objectResponse(200, "u1", 12, "1")
			h[2].Input, h[3].Input = h[3].Input, h[2].Input
			return h
		},
		"the lost write is carried out late": func(h []porcupine.Operation) []porcupine.Operation {
			h[7].Output, h[8].Output = objectResponse(200, "u1", 12, "1"), objectResponse(200, "u1", 15, "m")
			return h
		},
		"the lost write is not carried out": func(h []porcupine.Operation) []porcupine.Operation {
			h[7].Output, h[8].Output = objectResponse(200, "u1", 12, "1"), objectResponse(200, "u1", 15, "1")
			return h
		},
		"a Status for the delete": func(h []porcupine.Operation) []porcupine.Operation {
			h[8].Output = Response{Code: 200, UID: "u1"}
			return h
		},
		"the lost write is not read": func(h []porcupine.Operation) []porcupine.Operation {
			return slices.Delete(h, 7, 8)
		},
	} {
		require.True(t, porcupine.CheckOperations(Model(Absent(10)), modify(validHistory())), name)
	}
}

// TestModelRejectsInvalidHistories modifies one operation of a valid history.
func TestModelRejectsInvalidHistories(t *testing.T) {
	for name, modify := range map[string]func(h []porcupine.Operation){
		"both updates succeed":     func(h []porcupine.Operation) { h[3].Output = objectResponse(200, "u1", 13, "2") },
		"both updates fail":        func(h []porcupine.Operation) { h[2].Output = h[3].Output },
		"stale read":               func(h []porcupine.Operation) { h[1].Output = h[9].Output },
		"read of a deleted object": func(h []porcupine.Operation) { h[9].Output = h[7].Output },
		"read of another uid":      func(h []porcupine.Operation) { h[7].Output = objectResponse(200, "u9", 14, "m") },
		"second create": func(h []porcupine.Operation) {
			h[1].Input, h[1].Output = h[0].Input, objectResponse(201, "u9", 12, "0")
		},
		"stored dry run":                    func(h []porcupine.Operation) { h[5].Output = objectResponse(200, "u1", 12, "d") },
		"dry run at a revision":             func(h []porcupine.Operation) { h[4].Output = objectResponse(200, "u1", 13, "d") },
		"dry run without the change":        func(h []porcupine.Operation) { h[4].Output = objectResponse(200, "u1", 12, "1") },
		"revision goes back":                func(h []porcupine.Operation) { h[2].Output = objectResponse(200, "u1", 11, "1") },
		"other content":                     func(h []porcupine.Operation) { h[2].Output = objectResponse(200, "u1", 12, "2") },
		"lost write with other content":     func(h []porcupine.Operation) { h[7].Output = objectResponse(200, "u1", 14, "n") },
		"lost write at the list's revision": func(h []porcupine.Operation) { h[7].Output = objectResponse(200, "u1", 13, "m") },
		"lost write undone":                 func(h []porcupine.Operation) { h[8].Output = objectResponse(200, "u1", 15, "1") },
		"list of a later revision":          func(h []porcupine.Operation) { h[5].Output = listAt(h[5].Output, 14) },
		"list of an earlier revision":       func(h []porcupine.Operation) { h[5].Output = listAt(h[5].Output, 11) },
		"list without the object":           func(h []porcupine.Operation) { h[5].Output = Response{Code: 200, ListRevision: 13} },
		"deleted twice":                     func(h []porcupine.Operation) { h[9].Input, h[9].Output = h[8].Input, h[8].Output },
		"deleted another":                   func(h []porcupine.Operation) { h[8].Input = Request{Key: "a", Verb: "delete", UID: "u0"} },
		"deleted another state":             func(h []porcupine.Operation) { h[8].Input = Request{Key: "a", Verb: "delete", ResourceVersion: 12} },
		"delete at an earlier revision":     func(h []porcupine.Operation) { h[8].Output = objectResponse(200, "u1", 14, "m") },
		"same uid again":                    func(h []porcupine.Operation) { h[10].Output = objectResponse(201, "u1", 16, "3") },
		"failed test":                       func(h []porcupine.Operation) { h[11].Output = objectResponse(200, "u2", 17, "4") },
		"wrong reason":                      func(h []porcupine.Operation) { h[3].Output = errorResponse(409, metav1.StatusReasonAlreadyExists) },
	} {
		t.Run(name, func(t *testing.T) {
			h := validHistory()
			modify(h)
			require.False(t, porcupine.CheckOperations(Model(Absent(10)), h))
		})
	}
}

func listAt(resp any, at uint64) Response {
	listed := resp.(Response)
	listed.ListRevision = at
	return listed
}

// TestCheckRevisions adds operations that are valid for the model of their key.
func TestCheckRevisions(t *testing.T) {
	for want, other := range map[string]Response{
		"two writes with the same revision": objectResponse(201, "u9", 16, "0"),
		"two objects with the same uid":     objectResponse(201, "u2", 17, "0"),
		"at 15, after 16 was received":      objectResponse(201, "u9", 15, "0"),
	} {
		op := newOperation(3, 24, 25, Request{Verb: "create", Set: serialAnnotation("0")}, other)
		op.Input = Request{Key: "b", Verb: "create", Set: serialAnnotation("0")}
		require.Contains(t, strings.Join(CheckRevisions(append(validHistory(), op)), "\n"), want)
	}
}

// faultyServer replaces the responses of a server with wrong ones.
type faultyServer struct {
	srv    *fakeapi.Server
	fault  func(l *faultyServer, r *http.Request, body []byte, response *httptest.ResponseRecorder) *httptest.ResponseRecorder
	mu     sync.Mutex
	seen   map[string]*httptest.ResponseRecorder
	faults int
}

func (s *faultyServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	response := s.serve(r, r.Method, r.URL.String(), body)
	if wrong := s.fault(s, r, body, response); wrong != nil {
		response = wrong
		s.faults++
	}
	for name, values := range response.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(response.Code)
	_, _ = w.Write(response.Body.Bytes())
}

// serve sends a request to the server, with the headers of r.
func (s *faultyServer) serve(r *http.Request, method, url string, body []byte) *httptest.ResponseRecorder {
	again := httptest.NewRequest(method, url, bytes.NewReader(body))
	again.Header = r.Header
	w := httptest.NewRecorder()
	s.srv.ServeHTTP(w, again)
	return w
}

// lostUpdate carries out updates that should fail with a Conflict.
func lostUpdate(s *faultyServer, r *http.Request, body []byte, response *httptest.ResponseRecorder) *httptest.ResponseRecorder {
	if r.Method != http.MethodPut || response.Code != http.StatusConflict {
		return nil
	}
	var obj map[string]any
	if json.Unmarshal(body, &obj) != nil {
		return nil
	}
	delete(obj["metadata"].(map[string]any), "resourceVersion")
	delete(obj["metadata"].(map[string]any), "uid")
	body, _ = json.Marshal(obj)
	return s.serve(r, r.Method, r.URL.String(), body)
}

// staleRead answers every GET of an object like the first one.
func staleRead(s *faultyServer, r *http.Request, _ []byte, response *httptest.ResponseRecorder) *httptest.ResponseRecorder {
	if r.Method != http.MethodGet || r.URL.Query().Has("fieldSelector") {
		return nil
	}
	first, ok := s.seen[r.URL.Path]
	if !ok {
		s.seen[r.URL.Path] = response
		return nil
	}
	if first.Code == response.Code && bytes.Equal(first.Body.Bytes(), response.Body.Bytes()) {
		return nil
	}
	return first
}

// secondCreate deletes the existing object if a create fails with AlreadyExists.
func secondCreate(s *faultyServer, r *http.Request, body []byte, response *httptest.ResponseRecorder) *httptest.ResponseRecorder {
	if r.Method != http.MethodPost || response.Code != http.StatusConflict {
		return nil
	}
	var obj struct{ Metadata metav1.ObjectMeta }
	if json.Unmarshal(body, &obj) != nil {
		return nil
	}
	s.serve(r, http.MethodDelete, r.URL.Path+"/"+obj.Metadata.Name, nil)
	return s.serve(r, r.Method, r.URL.String(), body)
}

// undoneDelete creates a deleted object again, as it was last read.
func undoneDelete(s *faultyServer, r *http.Request, _ []byte, response *httptest.ResponseRecorder) *httptest.ResponseRecorder {
	kept, ok := s.seen[r.URL.Path]
	if response.Code == http.StatusOK && r.Method == http.MethodGet {
		s.seen[r.URL.Path] = response
	}
	if r.Method != http.MethodDelete || response.Code != http.StatusOK || !ok {
		return nil
	}
	var obj map[string]any
	if json.Unmarshal(kept.Body.Bytes(), &obj) != nil {
		return nil
	}
	delete(obj["metadata"].(map[string]any), "resourceVersion")
	body, _ := json.Marshal(obj)
	s.serve(r, http.MethodPost, r.URL.Path[:strings.LastIndex(r.URL.Path, "/")], body)
	return response
}

// TestModelRejectsFaultyServers checks that the model rejects what clients see of a faulty server,
// and accepts what they see of a correct one.
func TestModelRejectsFaultyServers(t *testing.T) {
	correct := func(*faultyServer, *http.Request, []byte, *httptest.ResponseRecorder) *httptest.ResponseRecorder {
		return nil
	}
	for name, tt := range map[string]struct {
		fault   func(*faultyServer, *http.Request, []byte, *httptest.ResponseRecorder) *httptest.ResponseRecorder
		clients int // 1 if concurrent clients would make the response valid
		valid   bool
	}{
		"none":          {correct, 8, true},
		"lost update":   {lostUpdate, 8, false},
		"stale read":    {staleRead, 1, false},
		"second create": {secondCreate, 1, false},
		"undone delete": {undoneDelete, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &faultyServer{srv: fakeapi.Start(t, fakeapi.WithInMemoryNetwork()), fault: tt.fault, seen: map[string]*httptest.ResponseRecorder{}}
			begin, err := strconv.ParseUint(s.srv.ResourceVersion(), 10, 64)
			require.NoError(t, err)
			server := httptest.NewServer(s)
			defer server.Close()
			w := newWorkload(t, Kinds()[2])
			w.run(1, tt.clients, 200/tt.clients, harness.Endpoint{URL: server.URL, Client: server.Client()})
			require.Equal(t, tt.valid, s.faults == 0, "%d wrong responses", s.faults)
			require.Equal(t, tt.valid, porcupine.CheckOperations(Model(Absent(begin)), w.History))
		})
	}
}
