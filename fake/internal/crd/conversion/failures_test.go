package conversion

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// The texts are those of a real v0.37.2 server; doc.go lists the Status that they are part of.
const failedPrefix = "conversion webhook for example.com/v1, Kind=Widget failed: "

// Reviews with an invalid response.
func TestInvalidReviews(t *testing.T) {
	const returned = "conversion webhook for example.com/v1, Kind=Widget returned "
	for name, test := range map[string]struct {
		modify func(review)
		want   string
	}{
		"Failure": {func(r review) {
			r.response()["result"] = map[string]any{"status": "Failure", "message": "no way"}
		}, failedPrefix + "no way"},
		"Failure without message": {func(r review) { r.response()["result"] = map[string]any{"status": "Failure"} },
			failedPrefix + "response.result.status was 'Failure', not 'Success'"},
		"no result":   {func(r review) { delete(r.response(), "result") }, failedPrefix + "response.result.status was '', not 'Success'"},
		"no response": {func(r review) { delete(r, "response") }, failedPrefix + "no response provided"},
		"other kind": {func(r review) { r["kind"] = "Pod" },
			failedPrefix + `no kind "Pod" is registered for version "apiextensions.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111"`},
		"other version": {func(r review) { r["apiVersion"] = "apiextensions.k8s.io/v1beta1" },
			failedPrefix + "converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown conversion"},
		"more objects": {func(r review) { r.response()["convertedObjects"] = []any{r.object(), r.object()} },
			returned + "2 objects, expected 1"},
		"no objects": {func(r review) { r.response()["convertedObjects"] = nil }, returned + "0 objects, expected 1"},
		"null":       {func(r review) { r.response()["convertedObjects"] = []any{nil} }, "unexpected end of JSON input"},
		"apiVersion": {func(r review) { r.object()["apiVersion"] = "example.com/v9" },
			returned + "invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v9)"},
		"apiVersion unchanged": {func(r review) { r.object()["apiVersion"] = v1 },
			returned + "invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v1)"},
		"kind": {func(r review) { r.object()["kind"] = "Other" },
			returned + "invalid object at index 0: invalid kind (expected Widget, received Other)"},
		"name":      {func(r review) { r.metadata()["name"] = "other" }, returned + "invalid object: must have the same name: a != other"},
		"namespace": {func(r review) { r.metadata()["namespace"] = "other" }, returned + "invalid object: must have the same namespace: default != other"},
		"uid":       {func(r review) { r.metadata()["uid"] = "other" }, returned + "invalid object: must have the same UID: uid-of-a != other"},
		"no metadata": {func(r review) { delete(r.object(), "metadata") },
			returned + "invalid object: must have the same name: a != "},
		"labels of a wrong type": {func(r review) { r.metadata()["labels"] = "x" },
			returned + "invalid metadata: invalid metadata.labels of type string in converted object"},
		"label of a wrong type": {func(r review) { r.metadata()["labels"] = map[string]any{"a": 1} },
			returned + "invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object"},
	} {
		t.Run(name, func(t *testing.T) {
			client, dial := startInMemory(t, newWebhook(nil, test.modify))
			_, err := convertOne(t, newConverter(t, newCRD(client), dial, nil), newWidget(v1, "a"), "v2")
			require.EqualError(t, err, test.want)
		})
	}
	for name, test := range map[string]struct {
		modify func(review)
		want   string
	}{
		"uid of the review": {func(r review) { r.response()["uid"] = "x" }, `^` + failedPrefix + `expected response\.uid="[0-9a-f-]{36}", got "x"$`},
		"label": {func(r review) { r.metadata()["labels"] = map[string]any{"a": "b c"} },
			`^` + returned + `invalid metadata: metadata\.labels: Invalid value: "b c": a valid label must be`},
	} {
		t.Run(name, func(t *testing.T) {
			client, dial := startInMemory(t, newWebhook(nil, test.modify))
			_, err := convertOne(t, newConverter(t, newCRD(client), dial, nil), newWidget(v1, "a"), "v2")
			require.Error(t, err)
			require.Regexp(t, regexp.MustCompile(test.want), err.Error())
		})
	}
}

// The kind and the uid of a v1beta1 review are not checked.
func TestV1beta1ReviewsAreNotVerified(t *testing.T) {
	client, dial := startInMemory(t, newWebhook(nil, func(r review) { delete(r.response(), "uid") }))
	_, err := convertOne(t, newConverter(t, newCRD(client, "v1beta1"), dial, nil), newWidget(v1, "a"), "v2")
	require.NoError(t, err)
	_, err = convertOne(t, newConverter(t, newCRD(client, "v1"), dial, nil), newWidget(v1, "a"), "v2")
	require.ErrorContains(t, err, "expected response.uid=")
	_, err = convertOne(t, newConverter(t, newCRD(client, "v7"), dial, nil), newWidget(v1, "a"), "v2")
	require.EqualError(t, err, "no supported conversion review versions")
}

// Responses that are not reviews.
func TestInvalidResponses(t *testing.T) {
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"500": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(500)
			_, _ = io.WriteString(w, "boom")
		}, failedPrefix + `an error on the server ("boom") has prevented the request from succeeding`},
		"404": {http.NotFound, failedPrefix + "the server could not find the requested resource"},
		"a Status": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(403)
			_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"status says no","reason":"Forbidden","code":403}`)
		}, failedPrefix + "status says no"},
		"not JSON": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") },
			failedPrefix + "couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct " +
				`{ APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`},
		"empty": {func(http.ResponseWriter, *http.Request) {},
			failedPrefix + "0-length response with status code: 200 and content type: application/json"},
		"redirect loop": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/other", http.StatusFound) },
			failedPrefix + `Post "/other": stopped after 10 redirects`},
		"aborted": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			failedPrefix + `Post "` + hookURL + `?timeout=30s": EOF`},
	} {
		t.Run(name, func(t *testing.T) {
			client, dial := startInMemory(t, test.answer)
			_, err := convertOne(t, newConverter(t, newCRD(client), dial, nil), newWidget(v1, "a"), "v2")
			require.EqualError(t, err, test.want)
		})
	}
}

// The size of a response is not limited, as on a real server.
func TestLargeResponse(t *testing.T) {
	const size = 20 << 20
	client, dial := startInMemory(t, newWebhook(nil, func(r review) { r.object()["spec"] = strings.Repeat("x", size) }))
	got, err := convertOne(t, newConverter(t, newCRD(client), dial, nil), newWidget(v1, "a"), "v2")
	require.NoError(t, err)
	require.Len(t, got.Object["spec"], size)
}

// Webhooks that cannot be reached or are not trusted, on real sockets.
func TestUnreachable(t *testing.T) {
	good, address := startOnLoopback(t, newWebhook(nil, nil))
	_, port, _ := strings.Cut(address, ":")
	otherAuthority, _ := newCertificate(t, "127.0.0.1")
	for name, test := range map[string]struct {
		client *apiextensionsv1.WebhookClientConfig
		want   string
	}{
		"unknown authority": {&apiextensionsv1.WebhookClientConfig{URL: good.URL, CABundle: otherAuthority.PEM()},
			failedPrefix + `Post "` + *good.URL + `?timeout=30s": tls: failed to verify certificate: x509: certificate signed by unknown authority`},
		"no bundle": {&apiextensionsv1.WebhookClientConfig{URL: good.URL},
			failedPrefix + `Post "` + *good.URL + `?timeout=30s": tls: failed to verify certificate: x509: certificate signed by unknown authority`},
		"other name": {&apiextensionsv1.WebhookClientConfig{URL: new("https://localhost:" + port + "/x"), CABundle: good.CABundle},
			failedPrefix + `Post "https://localhost:` + port + `/x?timeout=30s": tls: failed to verify certificate: x509: certificate is valid for conv.default.svc, not localhost`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := convertOne(t, newConverter(t, newCRD(test.client), nil, nil), newWidget(v1, "a"), "v2")
			require.ErrorContains(t, err, test.want)
		})
	}
	t.Run("no listener", func(t *testing.T) {
		address := closedPort(t)
		client := &apiextensionsv1.WebhookClientConfig{URL: new("https://" + address + "/convert"), CABundle: good.CABundle}
		_, err := convertOne(t, newConverter(t, newCRD(client), nil, nil), newWidget(v1, "a"), "v2")
		require.EqualError(t, err, failedPrefix+`Post "https://`+address+`/convert?timeout=30s": dial tcp `+address+": connect: connection refused")
	})
}
