package faults_test

import (
	"context"
	_ "embed"
	"encoding/base64"
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

	"example.com/fakeapi/faults"
	"example.com/fakeapi/internal/requestinfo"
)

// roundTripper is a function that is an http.RoundTripper.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

const allowed = `{"response":{"uid":"1","allowed":true}}`

// testWebhook is a webhook that allows everything.
type testWebhook struct {
	calls int
	err   error // of the connection
	// body is the body of the last request.
	body string
}

func (h *testWebhook) RoundTrip(r *http.Request) (*http.Response, error) {
	h.calls++
	if h.err != nil {
		return nil, h.err
	}
	body, err := io.ReadAll(r.Body)
	h.body = string(body)
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.WriteString(allowed)
	return w.Result(), err
}

// call calls a webhook in a write by a client.
func (h *testWebhook) call(ctx context.Context, set *faults.Set, write, name string) (*http.Response, string, error) {
	if write != "" {
		method, path, _ := strings.Cut(write, " ")
		cause := httptest.NewRequestWithContext(ctx, method, path, nil)
		cause.Header.Set("User-Agent", "operator/v1")
		ctx = requestinfo.WithRequestInfo(cause).Context()
	}
	r := httptest.NewRequestWithContext(ctx, "POST", "https://hook.ns.svc:443/admit?timeout=10s", strings.NewReader("review"))
	resp, err := set.WebhookCall(name, r, h)
	if err != nil {
		return nil, "", err
	}
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), errors.Join(err, resp.Body.Close())
}

const createPod = "POST " + pods + "?dryRun=All"

// TestWebhookCallMatches tests which calls and requests a rule matches.
func TestWebhookCallMatches(t *testing.T) {
	for condition, want := range map[string]bool{
		"webhook(pods.example.com)": true,
		"webhook(a, pods.*)":        true,
		"webhook(example.com)":      false,
		"!webhook(a)":               true,
		"!webhook(*)":               false,
		"webhook(*) && verb(create) && resource(pods) && namespace(ns) && userAgent(operator) && path(/api) && query(dryRun)": true,
		"webhook(*) && verb(update)":      false,
		"webhook(*) && name(a)":           false,
		"webhook(a) || verb(create)":      true,
		"webhook(*) && code(200)":         true,
		"webhook(*) && code(500)":         false,
		"webhook(*) && during(committed)": true,
		"webhook(*) && nth(2)":            false,
		"verb(create)":                    false,
		"always":                          false,
	} {
		var set faults.Set
		_, err := set.AddText("when " + condition + " do header(X-Rule, hit)")
		require.NoError(t, err)
		var hook testWebhook
		resp, body, err := hook.call(t.Context(), &set, createPod, "pods.example.com")
		require.NoError(t, err)
		require.Equal(t, allowed, body)
		require.Equal(t, "review", hook.body)
		require.Equal(t, "application/json", resp.Header.Get("Content-Type"))
		require.Equal(t, want, resp.Header.Get("X-Rule") == "hit", condition)
		require.Len(t, set.Hits(), map[bool]int{true: 1}[want], condition)

		// A request never matches a rule about webhooks.
		if strings.Contains(condition, "webhook") {
			h := faults.Handler(&set, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("POST", pods, nil))
			require.Empty(t, w.Header().Get("X-Rule"), condition)
		}
	}
}

// TestWebhookCallWithoutRequest tests calls whose cause is not a request of a client: the rules do
// not know it.
func TestWebhookCallWithoutRequest(t *testing.T) {
	var set faults.Set
	_, err := set.AddText("known: when webhook(*) && verb(create) do reset\nany: when webhook(*) do status(503)")
	require.NoError(t, err)
	var hook testWebhook
	resp, _, err := hook.call(t.Context(), &set, "", "widgets.example.com")
	require.NoError(t, err)
	require.Equal(t, 503, resp.StatusCode)
	require.Zero(t, hook.calls)
	require.Len(t, set.Hits(), 1)
	require.Equal(t, "any: before webhook widgets.example.com: status(503)", set.Hits()[0].String())

	_, _, err = hook.call(t.Context(), &set, createPod, "pods.example.com")
	require.Error(t, err)
	require.Equal(t, "known: before webhook pods.example.com for create pods in ns: reset", set.Hits()[1].String())
}

// TestWebhookCallEffects tests what the server receives, whether the webhook was called, and how
// long it took.
func TestWebhookCallEffects(t *testing.T) {
	for _, test := range []struct {
		rule, body, err string
		code, calls     int
		took            time.Duration
		headers         string // X-Rule and Content-Type
	}{
		{rule: "when verb(create) do status(500)", code: 200, body: allowed, calls: 1, headers: " application/json"},
		{rule: "when webhook(h) && first(1) do status(503, ServiceUnavailable, \"no endpoints\")", code: 503, body: statusJSON(503, "ServiceUnavailable", "no endpoints", ""), headers: " application/json"},
		{rule: "when webhook(h) do header(X-Rule, a), raw(200, text/html, \"<html>\")", code: 200, body: "<html>", headers: "a text/html"},
		{rule: "when webhook(h) do raw(204, \"\", \"\")", code: 204, headers: " "},
		{rule: "when webhook(h) && during(committed) do raw(502, text/html, lost)", code: 502, body: "lost", calls: 1, headers: " text/html"},
		{rule: "when webhook(h) do header(Content-Type), header(Date)", code: 200, body: allowed, calls: 1, headers: " "},
		{rule: "when webhook(h) do reset", err: "dial tcp hook.ns.svc:443: connect: connection refused"},
		{rule: "when webhook(h) do delay(3s), reset", err: "dial tcp hook.ns.svc:443: connect: connection refused", took: 3 * time.Second},
		{rule: "when webhook(h) && during(committed) do reset", err: "read tcp hook.ns.svc:443: read: connection reset by peer", calls: 1},
		{rule: "when webhook(h) do delay(9s)", code: 200, body: allowed, calls: 1, took: 9 * time.Second, headers: " application/json"},
		{rule: "when webhook(h) do delay(11s)", err: "context deadline exceeded", took: 10 * time.Second},
		{rule: "when webhook(h) && during(committed) do delay(11s)", err: "context deadline exceeded", calls: 1, took: 10 * time.Second},
		{rule: "when webhook(h) do hang", err: "context deadline exceeded", took: 10 * time.Second},
		{rule: "when webhook(h) && code(200) do hang", err: "context deadline exceeded", calls: 1, took: 10 * time.Second},
		{rule: "when webhook(h) do truncate(10)", code: 200, body: allowed[:10], err: "unexpected EOF", calls: 1, headers: " application/json"},
		{rule: "when webhook(h) do overwrite(0, x)", code: 200, body: "x" + allowed[1:], calls: 1, headers: " application/json"},
		{rule: "when webhook(h) do set(/response/uid, 2), set(/response/allowed, json(false))", code: 200, body: `{"response":{"uid":"2","allowed":false}}`, calls: 1, headers: " application/json"},
		{rule: "when webhook(h) do remove(/response)", code: 200, body: `{}`, calls: 1, headers: " application/json"},
		{rule: "when webhook(h) do throttle(13, 2s)", code: 200, body: allowed, calls: 1, took: 4 * time.Second, headers: " application/json"},
		{rule: "when webhook(h) do throttle(13, 8s)", code: 200, body: allowed[:26], err: "context deadline exceeded", calls: 1, took: 10 * time.Second, headers: " application/json"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var set faults.Set
			_, err := set.AddText(test.rule)
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			var hook testWebhook
			start := time.Now()
			resp, body, err := hook.call(ctx, &set, createPod, "h")
			require.Equal(t, test.took, time.Since(start), test.rule)
			require.Equal(t, test.calls, hook.calls, test.rule)
			if test.err != "" {
				require.EqualError(t, err, test.err, test.rule)
			} else {
				require.NoError(t, err, test.rule)
			}
			if test.code == 0 {
				require.Nil(t, resp, test.rule)
				return
			}
			require.Equal(t, test.code, resp.StatusCode, test.rule)
			require.Equal(t, test.body, body, test.rule)
			require.Equal(t, test.headers, resp.Header.Get("X-Rule")+" "+resp.Header.Get("Content-Type"), test.rule)
			require.NotContains(t, resp.Header, "Date")
		})
	}
}

// review calls a webhook with an AdmissionReview of an object and returns its response.
func review(t *testing.T, set *faults.Set, object string) (code int, response map[string]any) {
	body := `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u-1","object":` + object + `}}`
	r := httptest.NewRequest("POST", "https://hook.ns.svc:443/", strings.NewReader(body))
	resp, err := set.WebhookCall("h", r, &testWebhook{err: errors.New("the webhook is called")})
	require.NoError(t, err)
	var answer struct {
		Kind, APIVersion string
		Response         map[string]any
	}
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&answer))
	if resp.StatusCode == 200 {
		require.Equal(t, "AdmissionReview", answer.Kind)
		require.Equal(t, "admission.k8s.io/v1", answer.APIVersion)
		require.Equal(t, "application/json", resp.Header.Get("Content-Type"))
	}
	if patch, ok := answer.Response["patch"].(string); ok {
		plain, err := base64.StdEncoding.DecodeString(patch)
		require.NoError(t, err)
		answer.Response["patch"] = string(plain)
	}
	return resp.StatusCode, answer.Response
}

// TestVerdicts tests the answers in place of a webhook.
func TestVerdicts(t *testing.T) {
	const pod = `{"metadata":{"name":"a","labels":{"a/b":"1","c":"2"}},"spec":{"n":[1]}}`
	patched := func(operations string) map[string]any {
		return map[string]any{"uid": "u-1", "allowed": true, "patchType": "JSONPatch", "patch": operations}
	}
	allows := map[string]any{"uid": "u-1", "allowed": true}
	for _, test := range []struct {
		rules, object string
		want          map[string]any
	}{
		{"when webhook(h) do allow", pod, allows},
		{"when webhook(h) do deny(\"\")", pod, map[string]any{"uid": "u-1", "allowed": false}},
		{"when webhook(h) do deny(never)", pod, map[string]any{"uid": "u-1", "allowed": false, "status": map[string]any{"metadata": map[string]any{}, "message": "never", "reason": "Forbidden", "code": 403.0}}},
		{"when webhook(h) do allow\nwhen webhook(h) do deny(\"\")", pod, map[string]any{"uid": "u-1", "allowed": false}},
		{"when webhook(h) do deny(no)\nwhen webhook(h) do allow", pod, allows},
		{"when webhook(h) do allow\nwhen webhook(h) && during(committed) do set(/response/warnings, json(\"[\\\"w\\\"]\"))", pod, map[string]any{"uid": "u-1", "allowed": true, "warnings": []any{"w"}}},
		{"when webhook(h) do allow\nwhen webhook(h) && code(200) do remove(/response/uid)", pod, map[string]any{"allowed": true}},
		{`when webhook(h) do patch("{}")`, pod, patched(`[]`)},
		{`when webhook(h) do patch("{\"metadata\":{\"labels\":{\"a/b\":\"x\",\"c\":null,\"d\":null}}}")`, pod, patched(`[{"op":"add","path":"/metadata/labels/a~1b","value":"x"},{"op":"remove","path":"/metadata/labels/c","value":null}]`)},
		{`when webhook(h) do patch("{\"data\":{\"x\":{\"y\":12345678901234567890},\"z\":null},\"spec\":{\"n\":{\"m\":true}}}")`, pod,
			patched(`[{"op":"add","path":"/data","value":{}},{"op":"add","path":"/data/x","value":{}},{"op":"add","path":"/data/x/y","value":12345678901234567890},{"op":"add","path":"/spec/n","value":{}},{"op":"add","path":"/spec/n/m","value":true}]`)},
		{`when webhook(h) do patch("{\"metadata\":{\"labels\":{\"a\":\"x\"}}}")`, "null", allows},
	} {
		var set faults.Set
		_, err := set.AddText(test.rules)
		require.NoError(t, err)
		code, response := review(t, &set, test.object)
		require.Equal(t, 200, code, test.rules)
		require.Equal(t, test.want, response, test.rules)
		set.MustHit(t)
	}
}

// TestVerdictOfConversion tests that a verdict on a call that is no AdmissionReview fails the call
// and is reported.
func TestVerdictOfConversion(t *testing.T) {
	for body, want := range map[string]string{
		`{"kind":"ConversionReview","request":{"uid":"1"}}`: "the webhook is called with a ConversionReview, not with an AdmissionReview",
		`{"kind":"AdmissionReview"}`:                        "the AdmissionReview has no request",
		"":                                                  "unexpected end of JSON input",
	} {
		var set faults.Set
		_, err := set.AddText("when webhook(h) do allow")
		require.NoError(t, err)
		resp, err := set.WebhookCall("h", httptest.NewRequest("POST", "https://hook/", strings.NewReader(body)), &testWebhook{})
		require.NoError(t, err)
		require.Equal(t, 500, resp.StatusCode)
		require.Equal(t, want, set.Hits()[0].NotApplied)
	}
}

//go:embed testdata/rules.txt
var ruleTable string

// FuzzWebhookCall tests that a rule causes no panic, that the call ends with its context, and that
// without the rule the webhook is called.
func FuzzWebhookCall(f *testing.F) {
	for line := range strings.Lines(ruleTable) {
		if rule, err := faults.Parse(line); err == nil && rule.MatchesWebhooks() {
			f.Add(rule.String())
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		synctest.Test(t, func(t *testing.T) {
			var set faults.Set
			if _, err := set.AddText(text); err != nil {
				return
			}
			for _, name := range []string{"a", "b", "pods.example.com"} {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				start := time.Now()
				_, _, _ = new(testWebhook).call(ctx, &set, createPod, name)
				require.LessOrEqual(t, time.Since(start), 10*time.Second)
				cancel()
			}
			set.Clear()
			_, body, err := new(testWebhook).call(t.Context(), &set, createPod, "a")
			require.NoError(t, err)
			require.Equal(t, allowed, body)
		})
	})
}

// TestWebhookCallErrors tests that errors of the connection, which have no response to act on, are
// returned, and that those of rules are recognized.
func TestWebhookCallErrors(t *testing.T) {
	var set faults.Set
	_, err := set.AddText("when webhook(h) && during(committed) do status(500)")
	require.NoError(t, err)
	hook := testWebhook{err: errors.New("no such host")}
	_, _, err = hook.call(t.Context(), &set, createPod, "h")
	require.Equal(t, hook.err, err)
	require.Empty(t, set.Hits())

	set.Clear()
	_, err = set.AddText("when webhook(h) && nth(1) do reset\nwhen webhook(h) && during(committed) do reset")
	require.NoError(t, err)
	hook.err = nil
	_, _, err = hook.call(t.Context(), &set, createPod, "h")
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	_, _, err = hook.call(t.Context(), &set, createPod, "h")
	require.ErrorIs(t, err, syscall.ECONNRESET)
}

// TestIncompleteWebhookResponse tests that what was received of a response is returned with the
// error that ended it, and that no rule acts on it.
func TestIncompleteWebhookResponse(t *testing.T) {
	var set faults.Set
	_, err := set.AddText("when webhook(h) && during(committed) do status(500)")
	require.NoError(t, err)
	body := io.MultiReader(strings.NewReader("half "), iotest.ErrReader(syscall.ECONNRESET))
	resp, err := set.WebhookCall("h", httptest.NewRequest("POST", "/", nil), roundTripper(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 201, Header: http.Header{"X-A": {"b"}}, Body: io.NopCloser(body)}, nil
	}))
	require.NoError(t, err)
	require.Equal(t, 201, resp.StatusCode)
	require.Equal(t, "b", resp.Header.Get("X-A"))
	got, err := io.ReadAll(resp.Body)
	require.Equal(t, syscall.ECONNRESET, err)
	require.Equal(t, "half ", string(got))
	require.Empty(t, set.Hits())
}

// TestWebhookCallCannotBeEdited tests that an edit that is not possible fails the call and is
// reported.
func TestWebhookCallCannotBeEdited(t *testing.T) {
	var set faults.Set
	_, err := set.AddText("when webhook(h) do set(/response/allowed/x, y)")
	require.NoError(t, err)
	var hook testWebhook
	resp, body, err := hook.call(t.Context(), &set, createPod, "h")
	require.NoError(t, err)
	require.Equal(t, 500, resp.StatusCode)
	require.Contains(t, body, "cannot be applied")
	require.Contains(t, set.Hits()[0].String(), "[not applied: ")
}

// TestWebhookCallJitterIsPerWebhook tests that each webhook has its own random sequence.
func TestWebhookCallJitterIsPerWebhook(t *testing.T) {
	took := func(name string) (d time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			var set faults.Set
			_, err := set.AddText("when webhook(*) do jitter(1h, 1)")
			require.NoError(t, err)
			start := time.Now()
			_, _, err = new(testWebhook).call(t.Context(), &set, createPod, name)
			require.NoError(t, err)
			d = time.Since(start)
		})
		return d
	}
	require.Equal(t, took("a"), took("a"))
	require.NotEqual(t, took("a"), took("b"))
}

// closer is a body that records whether it is closed.
type closer struct {
	io.Reader
	closed bool
}

func (c *closer) Close() error { c.closed = true; return nil }

// TestWebhookCallClosesBody tests that the body of a call that is not made is closed, and that the
// error has the port of HTTPS.
func TestWebhookCallClosesBody(t *testing.T) {
	var set faults.Set
	_, err := set.AddText("when webhook(h) do reset")
	require.NoError(t, err)
	body := &closer{Reader: strings.NewReader("review")}
	_, err = set.WebhookCall("h", httptest.NewRequest(http.MethodPost, "https://hook/", body), &testWebhook{})
	require.EqualError(t, err, "dial tcp hook:443: connect: connection refused")
	require.True(t, body.closed)
}

// TestWebhookCallWithoutBody tests a call without a body, which can be delayed.
func TestWebhookCallWithoutBody(t *testing.T) {
	var set faults.Set
	_, err := set.AddText("when webhook(h) do delay(1ns)")
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://hook/", nil)
	require.NoError(t, err)
	resp, err := set.WebhookCall("h", r, roundTripper(func(*http.Request) (*http.Response, error) {
		return httptest.NewRecorder().Result(), nil
	}))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode)
}

// TestWebhookCallIsPassedOn tests that a call that no rule can match is sent as it is.
func TestWebhookCallIsPassedOn(t *testing.T) {
	for _, rules := range []string{"", "when always do reset\nwhen webhook(a) do reset"} {
		var set faults.Set
		_, err := set.AddText(rules)
		require.NoError(t, err)
		r := httptest.NewRequest("POST", "https://hook.ns.svc:443/admit", nil)
		want := httptest.NewRecorder().Result()
		got, err := set.WebhookCall("h", r, roundTripper(func(sent *http.Request) (*http.Response, error) {
			require.Same(t, r, sent)
			return want, nil
		}))
		require.NoError(t, err)
		require.Same(t, want, got)
	}
}
