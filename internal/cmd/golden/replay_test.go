package golden

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// server is a transport that responds by method and path, without a network, so that it can be used
// in a synctest bubble. It records the requests.
type server struct {
	answers map[string]func(*http.Request) *http.Response
	sent    []string // requests, each with its body
}

func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	what := r.Method + " " + r.URL.RequestURI()
	body := ""
	if r.Body != nil {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = string(b)
	}
	s.sent = append(s.sent, strings.TrimSpace(what+" "+body))
	if f, ok := s.answers[what]; ok {
		return f(r), nil
	}
	if strings.HasPrefix(what, "POST /api/v1/namespaces") || r.Method == http.MethodDelete {
		return newResponse(200, `{}`), nil
	}
	return nil, errors.New("connection reset")
}

func newResponse(code int, body string) *http.Response {
	return &http.Response{
		StatusCode: code,
		Status:     fmt.Sprint(code),
		Header:     http.Header{"Content-Type": {"application/json"}},
		Body:       io.NopCloser(strings.NewReader(body)),
	}
}

func respondAlways(code int, body string) func(*http.Request) *http.Response {
	return func(*http.Request) *http.Response { return newResponse(code, body) }
}

// newStream returns a handler that sends one line per second. The stream ends one second after the
// last line if ends is set, and otherwise when the client closes it.
func newStream(ends bool, lines ...string) func(*http.Request) *http.Response {
	return func(r *http.Request) *http.Response {
		response := newResponse(200, "")
		reader, writer := io.Pipe()
		response.Body = reader
		second := func() bool {
			select {
			case <-time.After(time.Second):
				return true
			case <-r.Context().Done():
				return false
			}
		}
		go func() {
			defer func() { _ = writer.Close() }()
			for _, line := range lines {
				if !second() {
					return
				}
				if _, err := io.WriteString(writer, line+"\n"); err != nil {
					return
				}
			}
			if !ends {
				<-r.Context().Done()
			}
			second()
		}()
		return response
	}
}

// playSteps plays a case with these steps against s, in a namespace "space".
func playSteps(t *testing.T, ctx context.Context, s *server, compact func(context.Context) error, steps string) Result {
	t.Helper()
	cases, err := Load(fstest.MapFS{"c.json": {Data: []byte(`{"name": "c", "steps": [` + steps + `]}`)}})
	require.NoError(t, err)
	return Player{
		BaseURL:   "http://server",
		Client:    &http.Client{Transport: s},
		Compact:   compact,
		Namespace: "space",
		Ignore:    []string{"ignored"},
	}.Play(ctx, cases[0])
}

// lines returns the differences of a result, each with its step.
func lines(r Result) (out []string) {
	for _, s := range r.Differing() {
		for _, d := range s.Differences {
			out = append(out, fmt.Sprintf("%d: %s", s.Number, d))
		}
	}
	return out
}

const jsonHeader = `"headers": {"Content-Type": ["application/json"]}`

func TestPlayRequests(t *testing.T) {
	s := &server{answers: map[string]func(*http.Request) *http.Response{
		"POST /a/space": respondAlways(201, `{"rv": "7", "ignored": 1}`),
		"GET /b?rv=7":   respondAlways(404, `gone`),
		"PUT /c":        respondAlways(200, ``),
		"PUT /d":        respondAlways(200, ``),
		"PUT /e":        respondAlways(200, ``),
		"GET /f":        respondAlways(200, `{}`),
	}}
	result := playSteps(t, t.Context(), s, nil, `
		{"setup": true, "request": {"method": "POST", "path": "/a/$ns", "body": {"in": "$ns", "a": 1, "a": 2}}, "response": {"code": 201, "body": {"rv": "$rv1", "x": 1}}},
		{"skip": "not now", "request": {"method": "GET", "path": "/never"}, "response": {"code": 200}},
		{"note": "it went", "request": {"method": "GET", "path": "/b?rv=$rv1"}, "response": {"code": 404, `+jsonHeader+`, "bodyAs": "text", "body": "gone"}},
		{"request": {"method": "PUT", "path": "/c", "bodyText": "at $rv1\n"}, "response": {"code": 200, `+jsonHeader+`}},
		{"request": {"method": "PUT", "path": "/d", "bodyHex": "616263"}, "response": {"code": 200, `+jsonHeader+`}},
		{"request": {"method": "PUT", "path": "/e", "bodyFill": {"before": "<", "char": "ab", "count": 3, "after": ">"}}, "response": {"code": 200, `+jsonHeader+`}},
		{"request": {"method": "GET", "path": "/f", "headers": {"User-Agent": "", "accept": "", "X-Rv": "$rv1"}}, "response": {"code": 200, `+jsonHeader+`, "body": {}}}
	`)
	require.NoError(t, result.Err)
	require.Empty(t, lines(result))
	require.True(t, result.Same())
	require.Equal(t, []string{
		`POST /api/v1/namespaces {"apiVersion":"v1","kind":"Namespace","metadata":{"name":"space"}}`,
		`POST /a/space {"in":"space","a":1,"a":2}`,
		"GET /b?rv=7",
		"PUT /c at 7",
		"PUT /d abc",
		"PUT /e <ababab>",
		"GET /f",
		"DELETE /api/v1/namespaces/space",
	}, s.sent)
	require.Equal(t, "GET /b?rv=$rv1 (it went)", result.Steps[1].Name)
	require.Equal(t, 2, result.Steps[1].Number)
	require.True(t, result.Steps[0].Setup)
}

func TestPlayHeaders(t *testing.T) {
	var plain, other http.Header
	keep := func(h *http.Header) func(*http.Request) *http.Response {
		return func(r *http.Request) *http.Response { *h = r.Header; return newResponse(200, "") }
	}
	s := &server{answers: map[string]func(*http.Request) *http.Response{"GET /a": keep(&plain), "GET /b": keep(&other)}}
	result := playSteps(t, t.Context(), s, nil, `
		{"request": {"method": "GET", "path": "/a"}, "response": {"code": 200, `+jsonHeader+`}},
		{"request": {"method": "GET", "path": "/b", "headers": {"User-Agent": "", "accept": "text/x"}}, "response": {"code": 200, `+jsonHeader+`}}
	`)
	require.Empty(t, lines(result))
	require.Equal(t, "application/json", plain.Get("Accept"))
	require.Equal(t, "replay/1.0", plain.Get("User-Agent"))
	require.Equal(t, "text/x", other.Get("Accept"))
	require.Contains(t, other, "User-Agent", "net/http adds one if the header is missing")
	require.Empty(t, other["User-Agent"])
}

func TestPlayDifferences(t *testing.T) {
	s := &server{answers: map[string]func(*http.Request) *http.Response{
		"GET /code":   respondAlways(500, `{"message": "oh"}`),
		"GET /body":   respondAlways(200, `{"a": 2, "ignored": 1}`),
		"GET /setup":  respondAlways(200, `{"a": 2}`),
		"GET /failed": respondAlways(409, `{}`),
		"GET /moved": func(*http.Request) *http.Response {
			response := newResponse(301, ``)
			response.Header.Set("Location", "http://server/else")
			return response
		},
	}}
	result := playSteps(t, t.Context(), s, nil, `
		{"request": {"method": "GET", "path": "/code"}, "response": {"code": 200, "body": {}}},
		{"request": {"method": "GET", "path": "/body"}, "response": {"code": 200, "headers": {"Retry-After": ["1"]}, "body": {"a": 1}}},
		{"setup": true, "request": {"method": "GET", "path": "/setup"}, "response": {"code": 200, "body": {"a": 1}}},
		{"setup": true, "request": {"method": "GET", "path": "/failed"}, "response": {"code": 200, "body": {}}},
		{"request": {"method": "GET", "path": "/dead"}, "response": {"code": 200}},
		{"request": {"method": "GET", "path": "/$rv1"}, "response": {"code": 200}},
		{"request": {"method": "PUT", "path": "/x", "bodyHex": "xy"}, "response": {"code": 200}},
		{"request": {"method": "GET", "path": "/moved"}, "response": {"code": 301, "headers": {"Content-Type": ["application/json"], "Location": ["/else"]}}}
	`)
	require.NoError(t, result.Err)
	require.False(t, result.Same())
	require.Equal(t, []string{
		`1: code: want 200 got 500: {"message": "oh"}`,
		`2: header Content-Type: unexpected ["application/json"]`,
		`2: header Retry-After: missing, want ["1"]`,
		`2: body.a: want 1 got 2`,
		`4: code: want 200 got 409: {}`,
		`5: no response: Get "http://server/dead": connection reset`,
		`6: not sent: no response so far contained $rv1`,
		`7: not sent: encoding/hex: invalid byte: U+0078 'x'`,
		`8: header Location: want "/else" got "http://server/else"`,
	}, lines(result))
}

// watchOf returns a step that watches /w for five seconds, with the recorded end and events.
func watchOf(end, events, during string) string {
	return `{"request": {"method": "GET", "path": "/w"}, "watch": {"forMs": 5000, "maxEvents": 5}, "during": [` + during + `],
		"response": {"code": 200, ` + jsonHeader + `, "events": [` + events + `], "end": "` + end + `"}}`
}

const (
	added    = `{"type": "ADDED", "object": {"metadata": {"name": "a"}}}`
	modified = `{"type": "MODIFIED", "object": {"metadata": {"name": "a"}, "ignored": 1}}`
)

func TestPlayWatch(t *testing.T) {
	for name, test := range map[string]struct {
		answer    func(*http.Request) *http.Response
		step      string
		took      time.Duration
		different []string
	}{
		"closed":         {newStream(true, added, modified), watchOf(ServerClosed, added+","+modified, ""), 3 * time.Second, nil},
		"open":           {newStream(false, added), watchOf(OpenAtDeadline, added, ""), 5 * time.Second, nil},
		"stopped":        {newStream(false, added, modified), watchOf(ClientStopped, added, ""), time.Second, nil},
		"open for ever":  {newStream(false, added), watchOf(ServerClosed, added, ""), 5 * time.Second, []string{`1: end of the stream: want "server closed" got "open at deadline"`}},
		"closed early":   {newStream(true, added), watchOf(OpenAtDeadline, added, ""), 2 * time.Second, []string{`1: end of the stream: want "open at deadline" got "server closed"`}},
		"too few events": {newStream(false, added), watchOf(ClientStopped, added+","+added, ""), 5 * time.Second, []string{"1: events: 1 for 2: want [ADDED a, ADDED a] got [ADDED a]", `1: end of the stream: want "client stopped after wanted events" got "open at deadline"`}},
		"another event":  {newStream(true, added, added), watchOf(ServerClosed, added+","+modified, ""), 3 * time.Second, []string{`1: event 1.type: want "MODIFIED" got "ADDED"`}},
		"no stream":      {respondAlways(410, "{}"), watchOf(ServerClosed, added, ""), 0, []string{"1: code: want 200 got 410: {}"}},
		"a stream": {newStream(false, added), `{"request": {"method": "GET", "path": "/w"}, "watch": {"forMs": 5000, "maxEvents": 5}, "response": {"code": 410}}`,
			0, []string{"1: code: want 410 got 200: a stream"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				s := &server{answers: map[string]func(*http.Request) *http.Response{"GET /w": test.answer}}
				result := playSteps(t, t.Context(), s, nil, test.step)
				require.NoError(t, result.Err)
				require.Equal(t, test.different, lines(result))
				require.Equal(t, test.took, time.Since(begin))
			})
		})
	}
}

// The steps during a watch run before its events are read and are numbered after it. They can use
// and bind placeholders, and also run if the watch fails.
func TestPlayDuring(t *testing.T) {
	during := `{"compact": true, "settleMs": 1000},
		{"request": {"method": "POST", "path": "/x"}, "response": {"code": 201, ` + jsonHeader + `, "body": "$rv1"}}`
	step := watchOf(ClientStopped, `{"type": "$rv1"}`, during)
	for name, test := range map[string]struct {
		watch     func(*http.Request) *http.Response
		different []string
	}{
		"stream":  {newStream(false, `{"type": "12"}`), nil},
		"refused": {respondAlways(500, "no"), []string{"1: code: want 200 got 500: no"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				compactions := 0
				s := &server{answers: map[string]func(*http.Request) *http.Response{"GET /w": test.watch, "POST /x": respondAlways(201, `"12"`)}}
				result := playSteps(t, t.Context(), s, func(context.Context) error { compactions++; return nil }, step)
				require.NoError(t, result.Err)
				require.Equal(t, test.different, lines(result))
				require.Len(t, result.Steps, 2)
				require.Equal(t, "GET /w", result.Steps[0].Name)
				require.Equal(t, "POST /x", result.Steps[1].Name)
				require.Equal(t, 2, result.Steps[1].Number)
				require.Equal(t, 1, compactions)
			})
		})
	}
}

func TestPlayContinuesAfterFailure(t *testing.T) {
	const get = `{"request": {"method": "GET", "path": "/a"}, "response": {"code": 200, ` + jsonHeader + `, "body": {}}}`
	answers := map[string]func(*http.Request) *http.Response{"GET /a": respondAlways(200, `{}`)}

	result := playSteps(t, t.Context(), &server{answers: answers}, nil, get+`, {"compact": true}, `+get)
	require.ErrorContains(t, result.Err, "no Compact function")
	require.Len(t, result.Steps, 1)
	require.False(t, result.Same())

	broken := errors.New("broken")
	result = playSteps(t, t.Context(), &server{answers: answers}, func(context.Context) error { return broken }, get+`, {"compact": true}, `+get)
	require.ErrorIs(t, result.Err, broken)

	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		result := playSteps(t, ctx, &server{answers: answers}, nil, get+`, {"settleMs": 2000, "compact": true}, `+get)
		require.ErrorIs(t, result.Err, context.DeadlineExceeded)
		require.Len(t, result.Steps, 1)
	})

	result = playSteps(t, t.Context(), &server{answers: map[string]func(*http.Request) *http.Response{
		"POST /api/v1/namespaces": respondAlways(503, ``),
	}}, nil, get)
	require.ErrorContains(t, result.Err, "creating the namespace: 503")
	require.Empty(t, result.Steps)
}

func TestRandomNamespace(t *testing.T) {
	require.Regexp(t, `^t-[a-z0-9]{8}$`, randomNamespace())
	require.NotEqual(t, randomNamespace(), randomNamespace())
}
