package timeline_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/fake/internal/timeline"
	"example.com/fakeapi/internal/requestinfo"
)

// reviewed records a request during which admission makes decisions. target may be empty.
func reviewed(t *testing.T, method, path string, target requestinfo.RequestInfo, decisions ...timeline.AdmissionDecision) (timeline.Exchange, timeline.Timeline) {
	t.Helper()
	r := timeline.NewRecorder(noHits)
	h := r.Handler(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		ctx, cancel := context.WithCancel(request.Context())
		defer cancel()
		_, err := io.Copy(io.Discard, request.Body)
		require.NoError(t, err)
		for _, d := range decisions {
			r.AddDecision(ctx, d, target)
		}
	}))
	var body io.Reader
	if method != http.MethodDelete {
		body = strings.NewReader("{}")
	}
	h.ServeHTTP(discardResponseWriter{http.Header{}}, httptest.NewRequest(method, path, body))
	tl := r.Timeline()
	require.Len(t, tl.Exchanges, 1)
	return tl.Exchanges[0], tl
}

// Decisions are part of the exchange that they are about, also of one without a body. They have a
// line each in the text. Those about writes of the server are notes.
func TestDecisions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		webhook := timeline.AdmissionDecision{
			Plugin: "MutatingAdmissionWebhook", Configuration: "conf", Name: "a.example.com", Operation: "CREATE",
			Begin: time.Now().Add(time.Second), Duration: 3 * time.Millisecond, Outcome: "allowed", Code: 200,
			Changes: []timeline.AdmissionChange{{"add", "/spec/x", "1"}, {"replace", "/metadata/labels/y", `"z"`}},
		}
		again := webhook
		again.Begin, again.Reinvoked, again.Changes = webhook.Begin.Add(time.Second), true, nil
		policy := timeline.AdmissionDecision{
			Plugin: "ValidatingAdmissionPolicy", Configuration: "bind", Name: "pol", Operation: "CREATE",
			Begin: again.Begin.Add(time.Second), Outcome: "denied", Code: 422, Message: "no\nmore",
			Warnings: []string{"careful"}, AuditAnnotations: map[string]string{"pol/b": "2", "pol/a": "1"},
		}
		e, tl := reviewed(t, "POST", pods, requestinfo.RequestInfo{Resource: "pods", Namespace: "ns", Name: "a"}, webhook, again, policy)
		require.Len(t, e.Admission, 3)
		webhook.Order, webhook.Object = 2, "pods ns/a"
		require.Equal(t, webhook, e.Admission[0])
		require.Equal(t, strings.Join([]string{
			"   +0.000s #1 - create " + pods + " -> no answer",
			"   +1.003s     #1 webhook conf/a.example.com allowed in 3ms: add /spec/x, replace /metadata/labels/y",
			"   +2.003s     #1 webhook conf/a.example.com called again allowed in 3ms",
			`   +3.000s     #1 policy pol (binding bind) denied with 422: no, warning "careful", audit pol/a="1", audit pol/b="2"`,
			"",
		}, "\n"), tl.String())

		webhook.Outcome, webhook.Code, webhook.Message, webhook.Changes = "ignored", 503, "refused", nil
		policy.Configuration, policy.Operation = "", "DELETE"
		e, tl = reviewed(t, "DELETE", pods+"/a/exec", requestinfo.RequestInfo{}, webhook, policy)
		require.Len(t, e.Admission, 2)
		text := tl.String()
		require.Contains(t, text, "    #1 CREATE pods/exec ns/a: webhook conf/a.example.com failed, ignored with 503 in 3ms: refused\n")
		require.Contains(t, text, "    #1 policy pol denied with 422: no, ")

		_, tl = reviewed(t, "GET", pods+"/a/exec", requestinfo.RequestInfo{}, timeline.AdmissionDecision{Name: "p", Operation: "CONNECT", Outcome: "allowed"})
		require.Contains(t, tl.String(), "    #1 CONNECT pods/exec ns/a: policy p allowed\n")

		r := timeline.NewRecorder(noHits)
		r.AddDecision(t.Context(), policy, requestinfo.RequestInfo{Group: "apps", Resource: "deployments", Namespace: "ns", Name: "a"})
		notes := r.Timeline().Notes
		require.Len(t, notes, 1)
		require.Equal(t, "server", notes[0].Source)
		require.Contains(t, notes[0].Text, "DELETE deployments.apps ns/a: policy pol denied with 422: no")
	})
}

// Validating webhooks are called at the same time, so their decisions are in the order of names if
// they have the same time. All other decisions are in the order in which they were made.
func TestOrderOfDecisions(t *testing.T) {
	names := func(plugin string, times ...int) (names, orders string) {
		var all []timeline.AdmissionDecision
		for i, at := range times {
			all = append(all, timeline.AdmissionDecision{
				Plugin: plugin, Configuration: "c", Name: string(rune('z' - i)), Begin: time.Unix(int64(at), 0),
			})
		}
		e, _ := reviewed(t, "POST", pods, requestinfo.RequestInfo{}, all...)
		for _, d := range e.Admission {
			names += d.Name
			orders += fmt.Sprint(d.Order)
		}
		return names, orders
	}
	got, orders := names("ValidatingAdmissionWebhook", 1, 1, 2, 1)
	require.Equal(t, "wyzx", got)
	require.Equal(t, "2345", orders)
	got, _ = names("MutatingAdmissionWebhook", 1, 1, 2, 1)
	require.Equal(t, "zyxw", got)
}

// The memory of decisions is limited.
func TestLimitsOfDecisions(t *testing.T) {
	const path = "/api/v1/namespaces/ns/pods"
	long := strings.Repeat("é", 10_000)
	var many []timeline.AdmissionDecision
	for i := range 2*timeline.MaxDecisions + 1 {
		many = append(many, timeline.AdmissionDecision{Name: fmt.Sprint(i)})
	}
	e, tl := reviewed(t, "DELETE", path, requestinfo.RequestInfo{}, many...)
	require.Len(t, e.Admission, timeline.MaxDecisions)
	require.Equal(t, fmt.Sprint(timeline.MaxDecisions+1), e.Admission[0].Name, "the latest are kept")
	require.EqualValues(t, timeline.MaxDecisions+1, e.DecisionsDropped)
	require.Contains(t, tl.String(), "(101 decisions forgotten)")

	large := timeline.AdmissionDecision{Message: long, Warnings: []string{long}, AuditAnnotations: map[string]string{"a": long, long: ""}}
	for range 1000 {
		large.Changes = append(large.Changes, timeline.AdmissionChange{Op: "add", Path: "/a", Value: long})
	}
	e, tl = reviewed(t, "DELETE", path, requestinfo.RequestInfo{}, large, large, large, large, large, large)
	require.NotEmpty(t, e.DecisionsDropped)
	total := 0
	for _, d := range e.Admission {
		size := len(d.Message)
		for _, c := range d.Changes {
			require.Equal(t, strings.Repeat("é", 128), c.Value)
			size += len(c.Path) + len(c.Value)
		}
		require.Empty(t, d.Warnings, "there is no room left")
		require.Empty(t, d.AuditAnnotations)
		require.Equal(t, 1000+1+2-len(d.Changes), d.Dropped)
		require.Greater(t, size, timeline.MaxDecisionBytes/2)
		require.LessOrEqual(t, size, timeline.MaxDecisionBytes)
		total += size
	}
	require.Greater(t, total, timeline.MaxAdmissionBytes/2)
	require.LessOrEqual(t, total, timeline.MaxAdmissionBytes)
	require.Contains(t, tl.String(), ", add /a, 2 more changes, ")
	require.Len(t, large.Changes, 1000, "the caller's value is not changed")
	require.Len(t, large.AuditAnnotations, 2)
}

// The values of Secrets and tokens are not recorded, nor texts that may quote them. Names are.
func TestRedactDecisions(t *testing.T) {
	for change, want := range map[timeline.AdmissionChange]string{
		{"add", "/data/a", `"x"`}:            `"REDACTED"`,
		{"add", "/DATA", `{"a":"x"}`}:        `"REDACTED"`,
		{"add", "/stringData", `{"a":"cut`}:  `"REDACTED"`,
		{"add", "/metadata/labels/a", `"b"`}: `"b"`,
		{"add", "/metadata/annotations", `{"` + "kubectl.kubernetes.io/last-applied-configuration" + `":"x","a":"b"}`}: `{"kubectl.kubernetes.io/last-applied-configuration":"REDACTED","a":"b"}`,
		{"add", "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration", `"x"`}:                      `"REDACTED"`,
		{"replace", "", `{"data":{"a":"x"},"type":"Opaque","b":"cut`}:                                                  `{"data":{"a":"REDACTED"},"type":"Opaque","b"`,
		{"copy", "/metadata/labels/a", "/data/a"}:                                                                      `"REDACTED"`,
		{"remove", "/data/a", ""}: "",
	} {
		d := timeline.AdmissionDecision{Changes: []timeline.AdmissionChange{change}}
		e, _ := reviewed(t, "PUT", "/api/v1/namespaces/ns/secrets/a", requestinfo.RequestInfo{}, d)
		require.Equal(t, []timeline.AdmissionChange{{change.Op, change.Path, want}}, e.Admission[0].Changes)
		e, _ = reviewed(t, "PUT", "/api/v1/namespaces/ns/configmaps/a", requestinfo.RequestInfo{}, d)
		require.Equal(t, change, e.Admission[0].Changes[0])
		require.Equal(t, change, d.Changes[0], "the caller's value is not changed")
	}
	token := timeline.AdmissionDecision{Changes: []timeline.AdmissionChange{{"add", "/status/token", `"x"`}}}
	e, _ := reviewed(t, "POST", "/api/v1/namespaces/ns/serviceaccounts/a/token", requestinfo.RequestInfo{}, token)
	require.Equal(t, `"REDACTED"`, e.Admission[0].Changes[0].Value)

	for _, test := range []struct {
		outcome string
		code    int
		message string
	}{
		{"denied", 403, "x"}, {"denied", 422, "REDACTED"}, {"denied", 400, "REDACTED"}, {"failed", 503, "REDACTED"}, {"warned", 0, "REDACTED"},
	} {
		d := timeline.AdmissionDecision{
			Outcome: test.outcome, Code: test.code, Message: "x", Warnings: []string{"x"}, AuditAnnotations: map[string]string{"a": "x"},
		}
		e, _ := reviewed(t, "DELETE", "/api/v1/namespaces", requestinfo.RequestInfo{Resource: "secrets"}, d)
		got := e.Admission[0]
		require.Equal(t, test.message, got.Message, test)
		require.Equal(t, []string{"REDACTED"}, got.Warnings)
		require.Equal(t, map[string]string{"a": "REDACTED"}, got.AuditAnnotations)
		require.Equal(t, []string{"x"}, d.Warnings, "the caller's value is not changed")
		require.Equal(t, map[string]string{"a": "x"}, d.AuditAnnotations)
	}
}
