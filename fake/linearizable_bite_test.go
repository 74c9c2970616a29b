package fakeapi_test

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
)

// did is one operation, by the client of that number, on the key a.
func did(client int, call, back int64, q question, a tell) porcupine.Operation {
	q.key = "a"
	return porcupine.Operation{ClientId: client, Call: call, Return: back, Input: q, Output: a}
}

func serial(s string) map[string]string { return map[string]string{"serial": s} }

// object is an answer that shows one.
func object(code int, uid string, rv uint64, s string) tell {
	return tell{code: code, object: true, uid: uid, rv: rv, content: text(serial(s))}
}

func refusal(code int, reason metav1.StatusReason) tell { return tell{code: code, reason: reason} }

// trueHistory begins at revision 10. The two PUTs of one state overlap, and the
// reply to the merge of "m" was lost.
func trueHistory() []porcupine.Operation {
	listed := object(200, "u1", 12, "1")
	listed.at = 13
	return []porcupine.Operation{
		did(0, 1, 2, question{verb: "create", set: serial("0")}, object(201, "u1", 11, "0")),
		did(0, 3, 4, question{verb: "get"}, object(200, "u1", 11, "0")),
		did(1, 5, 8, question{verb: "put", rv: 11, uid: "u1", set: serial("1")}, object(200, "u1", 12, "1")),
		did(2, 6, 7, question{verb: "put", rv: 11, uid: "u1", set: serial("2")}, refusal(409, metav1.StatusReasonConflict)),
		did(0, 9, 10, question{verb: "merge", dry: true, set: serial("d")}, object(200, "u1", 12, "d")),
		did(0, 11, 12, question{verb: "list"}, listed),
		did(1, 13, 1<<62, question{verb: "merge", set: serial("m")}, tell{}),
		did(0, 14, 15, question{verb: "get"}, object(200, "u1", 14, "m")),
		did(0, 16, 17, question{verb: "delete", uid: "u1"}, object(200, "u1", 15, "m")),
		did(0, 18, 19, question{verb: "get"}, refusal(404, metav1.StatusReasonNotFound)),
		did(0, 20, 21, question{verb: "create", set: serial("3")}, object(201, "u2", 16, "3")),
		did(0, 22, 23, question{verb: "json", test: "0", set: serial("4")}, refusal(422, metav1.StatusReasonInvalid)),
	}
}

func TestModelAcceptsTheTruth(t *testing.T) {
	require.True(t, porcupine.CheckOperations(model(nothing(10)), trueHistory()))
	require.Empty(t, stamped(trueHistory()))
	for name, doctor := range map[string]func(h []porcupine.Operation) []porcupine.Operation{
		"the other wins": func(h []porcupine.Operation) []porcupine.Operation {
			h[2].Output, h[3].Output = h[3].Output, object(200, "u1", 12, "1")
			h[2].Input, h[3].Input = h[3].Input, h[2].Input
			return h
		},
		"the lost one comes late": func(h []porcupine.Operation) []porcupine.Operation {
			h[7].Output, h[8].Output = object(200, "u1", 12, "1"), object(200, "u1", 15, "m")
			return h
		},
		"the lost one never comes": func(h []porcupine.Operation) []porcupine.Operation {
			h[7].Output, h[8].Output = object(200, "u1", 12, "1"), object(200, "u1", 15, "1")
			return h
		},
		"a status for a deletion": func(h []porcupine.Operation) []porcupine.Operation {
			h[8].Output = tell{code: 200, uid: "u1"}
			return h
		},
		"nobody reads what was lost": func(h []porcupine.Operation) []porcupine.Operation {
			return slices.Delete(h, 7, 8)
		},
	} {
		require.True(t, porcupine.CheckOperations(model(nothing(10)), doctor(trueHistory())), name)
	}
}

// Whatever is doctored about the history is refused.
func TestModelBites(t *testing.T) {
	for name, doctor := range map[string]func(h []porcupine.Operation){
		"both win":               func(h []porcupine.Operation) { h[3].Output = object(200, "u1", 13, "2") },
		"both lose":              func(h []porcupine.Operation) { h[2].Output = h[3].Output },
		"stale read":             func(h []porcupine.Operation) { h[1].Output = h[9].Output },
		"read of the dead":       func(h []porcupine.Operation) { h[9].Output = h[7].Output },
		"read of another":        func(h []porcupine.Operation) { h[7].Output = object(200, "u9", 14, "m") },
		"second creator":         func(h []porcupine.Operation) { h[1].Input, h[1].Output = h[0].Input, object(201, "u9", 12, "0") },
		"kept dry run":           func(h []porcupine.Operation) { h[5].Output = object(200, "u1", 12, "d") },
		"dry run at a revision":  func(h []porcupine.Operation) { h[4].Output = object(200, "u1", 13, "d") },
		"dry run of the present": func(h []porcupine.Operation) { h[4].Output = object(200, "u1", 12, "1") },
		"revision goes back":     func(h []porcupine.Operation) { h[2].Output = object(200, "u1", 11, "1") },
		"other content":          func(h []porcupine.Operation) { h[2].Output = object(200, "u1", 12, "2") },
		"lost one doctored":      func(h []porcupine.Operation) { h[7].Output = object(200, "u1", 14, "n") },
		"lost one at the list":   func(h []porcupine.Operation) { h[7].Output = object(200, "u1", 13, "m") },
		"lost one undone":        func(h []porcupine.Operation) { h[8].Output = object(200, "u1", 15, "1") },
		"list of the future":     func(h []porcupine.Operation) { h[5].Output = listAt(h[5].Output, 14) },
		"list of the past":       func(h []porcupine.Operation) { h[5].Output = listAt(h[5].Output, 11) },
		"list without it":        func(h []porcupine.Operation) { h[5].Output = tell{code: 200, at: 13} },
		"deleted twice":          func(h []porcupine.Operation) { h[9].Input, h[9].Output = h[8].Input, h[8].Output },
		"deleted another":        func(h []porcupine.Operation) { h[8].Input = question{key: "a", verb: "delete", uid: "u0"} },
		"deleted another state":  func(h []porcupine.Operation) { h[8].Input = question{key: "a", verb: "delete", rv: 12} },
		"deletion of the past":   func(h []porcupine.Operation) { h[8].Output = object(200, "u1", 14, "m") },
		"same uid again":         func(h []porcupine.Operation) { h[10].Output = object(201, "u1", 16, "3") },
		"failed test":            func(h []porcupine.Operation) { h[11].Output = object(200, "u2", 17, "4") },
		"wrong reason":           func(h []porcupine.Operation) { h[3].Output = refusal(409, metav1.StatusReasonAlreadyExists) },
	} {
		t.Run(name, func(t *testing.T) {
			h := trueHistory()
			doctor(h)
			require.False(t, porcupine.CheckOperations(model(nothing(10)), h))
		})
	}
}

func listAt(a any, at uint64) tell {
	listed := a.(tell)
	listed.at = at
	return listed
}

// What the model of one key cannot see is in the stamps.
func TestStampsBite(t *testing.T) {
	for want, other := range map[string]tell{
		"a revision of two writes": object(201, "u9", 16, "0"),
		"a uid of two objects":     object(201, "u2", 17, "0"),
		"at 15, after 16 was told": object(201, "u9", 15, "0"),
	} {
		op := did(3, 24, 25, question{verb: "create", set: serial("0")}, other)
		op.Input = question{key: "b", verb: "create", set: serial("0")}
		require.Contains(t, strings.Join(stamped(append(trueHistory(), op)), "\n"), want)
	}
}

// liar is a server that lies when it can.
type liar struct {
	srv  *fakeapi.Server
	lie  func(l *liar, r *http.Request, body []byte, truth *httptest.ResponseRecorder) *httptest.ResponseRecorder
	mu   sync.Mutex
	seen map[string]*httptest.ResponseRecorder
	lies int
}

func (l *liar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	l.mu.Lock()
	defer l.mu.Unlock()
	answer := l.ask(r, r.Method, r.URL.String(), body)
	if lie := l.lie(l, r, body, answer); lie != nil {
		answer = lie
		l.lies++
	}
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// ask has the server do something in the place of a request, or the same.
func (l *liar) ask(r *http.Request, method, url string, body []byte) *httptest.ResponseRecorder {
	again := httptest.NewRequest(method, url, bytes.NewReader(body))
	again.Header = r.Header
	w := httptest.NewRecorder()
	l.srv.ServeHTTP(w, again)
	return w
}

// lostUpdate lets those win who should have had a Conflict.
func lostUpdate(l *liar, r *http.Request, body []byte, truth *httptest.ResponseRecorder) *httptest.ResponseRecorder {
	if r.Method != http.MethodPut || truth.Code != http.StatusConflict {
		return nil
	}
	var obj map[string]any
	if json.Unmarshal(body, &obj) != nil {
		return nil
	}
	delete(obj["metadata"].(map[string]any), "resourceVersion")
	delete(obj["metadata"].(map[string]any), "uid")
	body, _ = json.Marshal(obj)
	return l.ask(r, r.Method, r.URL.String(), body)
}

// staleRead answers every get like the first one.
func staleRead(l *liar, r *http.Request, _ []byte, truth *httptest.ResponseRecorder) *httptest.ResponseRecorder {
	if r.Method != http.MethodGet || r.URL.Query().Has("fieldSelector") {
		return nil
	}
	first, ok := l.seen[r.URL.Path]
	if !ok {
		l.seen[r.URL.Path] = truth
		return nil
	}
	if first.Code == truth.Code && bytes.Equal(first.Body.Bytes(), truth.Body.Bytes()) {
		return nil
	}
	return first
}

// secondCreator makes room for those who come too late.
func secondCreator(l *liar, r *http.Request, body []byte, truth *httptest.ResponseRecorder) *httptest.ResponseRecorder {
	if r.Method != http.MethodPost || truth.Code != http.StatusConflict {
		return nil
	}
	var obj struct{ Metadata metav1.ObjectMeta }
	if json.Unmarshal(body, &obj) != nil {
		return nil
	}
	l.ask(r, http.MethodDelete, r.URL.Path+"/"+obj.Metadata.Name, nil)
	return l.ask(r, r.Method, r.URL.String(), body)
}

// undoneDelete brings back what was deleted, as it was when somebody read it.
func undoneDelete(l *liar, r *http.Request, _ []byte, truth *httptest.ResponseRecorder) *httptest.ResponseRecorder {
	kept, ok := l.seen[r.URL.Path]
	if truth.Code == http.StatusOK && r.Method == http.MethodGet {
		l.seen[r.URL.Path] = truth
	}
	if r.Method != http.MethodDelete || truth.Code != http.StatusOK || !ok {
		return nil
	}
	var obj map[string]any
	if json.Unmarshal(kept.Body.Bytes(), &obj) != nil {
		return nil
	}
	delete(obj["metadata"].(map[string]any), "resourceVersion")
	body, _ := json.Marshal(obj)
	l.ask(r, http.MethodPost, r.URL.Path[:strings.LastIndex(r.URL.Path, "/")], body)
	return truth
}

// The checker refuses what clients of a server that lies have seen, and nothing
// of what they saw when it did not.
func TestCheckerCatchesLiars(t *testing.T) {
	truthful := func(*liar, *http.Request, []byte, *httptest.ResponseRecorder) *httptest.ResponseRecorder { return nil }
	for name, tt := range map[string]struct {
		lie     func(*liar, *http.Request, []byte, *httptest.ResponseRecorder) *httptest.ResponseRecorder
		clients int // one, if what is a lie depends on what others do meanwhile
		honest  bool
	}{
		"none":           {truthful, 8, true},
		"lost update":    {lostUpdate, 8, false},
		"stale read":     {staleRead, 1, false},
		"second creator": {secondCreator, 1, false},
		"undone delete":  {undoneDelete, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &liar{srv: fakeapi.Start(t, fakeapi.WithInMemoryNetwork()), lie: tt.lie, seen: map[string]*httptest.ResponseRecorder{}}
			begin, err := strconv.ParseUint(l.srv.ResourceVersion(), 10, 64)
			require.NoError(t, err)
			front := httptest.NewServer(l)
			defer front.Close()
			r := newArena(t, arenaKinds()[2])
			r.fight(1, tt.clients, 200/tt.clients, door{front.URL, front.Client()})
			require.Equal(t, tt.honest, l.lies == 0, "%d lies", l.lies)
			require.Equal(t, tt.honest, porcupine.CheckOperations(model(nothing(begin)), r.history))
		})
	}
}
