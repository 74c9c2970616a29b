package fakeapi_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	fakeapi "example.com/fakeapi/fake"
)

// password is a secret of twelve bytes, so that its base64 has no padding.
const password = "hunter2-pass"

const (
	secretsPath = "/api/v1/namespaces/default/secrets"
	lastApplied = "kubectl.kubernetes.io/last-applied-configuration"
)

func newSecret(name string) *corev1.Secret {
	return &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{"app": "visible"},
			Annotations: map[string]string{lastApplied: `{"data":{"p":"` + base64.StdEncoding.EncodeToString([]byte(password)) + `"}}`, "note": "readable"},
		},
		Data:       map[string][]byte{"p": []byte(password)},
		StringData: map[string]string{"q": password},
	}
}

// encodeAs encodes an object.
func encodeAs(t *testing.T, media string, object runtime.Object) string {
	t.Helper()
	if media == runtime.ContentTypeProtobuf {
		var b bytes.Buffer
		require.NoError(t, protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(object, &b))
		return b.String()
	}
	text, err := json.Marshal(object)
	require.NoError(t, err)
	if media == mediaJSON {
		return string(text)
	}
	if media == runtime.ContentTypeYAML {
		text, err = yaml.JSONToYAML(text)
		require.NoError(t, err)
		return string(text)
	}
	var value any
	require.NoError(t, json.Unmarshal(text, &value))
	return item(t, value)
}

// requireHidden fails if the timeline, in any of its forms, or another text has a secret.
func requireHidden(t *testing.T, c controlClient, texts []string, secrets ...string) {
	t.Helper()
	tl := c.srv.Timeline()
	for _, e := range tl.Exchanges {
		texts = append(texts, e.Path, string(e.Request.Data), string(e.Response.Data))
		for _, f := range e.Frames {
			texts = append(texts, string(f.Body.Data))
		}
	}
	var page strings.Builder
	require.NoError(t, tl.WriteHTML(&page, "x"))
	asJSON := sendWith(t, c.srv, "GET", "/fakeapi/v1/timeline", "", "Accept", mediaJSON)
	texts = append(texts, page.String(), tl.String(), fmt.Sprint(c.srv.Requests()), string(asJSON.body), c.call(200, "GET", "requests", ""))
	for _, secret := range secrets {
		for _, text := range texts {
			require.NotContains(t, text, secret)
			require.NotContains(t, text, base64.StdEncoding.EncodeToString([]byte(secret)))
		}
	}
}

// The values of Secrets are not in the timeline, in no encoding of requests, responses and events,
// as kubectl does not print them. Everything else is.
func TestTimelineWithoutSecrets(t *testing.T) {
	for _, media := range []string{mediaJSON, runtime.ContentTypeProtobuf, runtime.ContentTypeYAML, runtime.ContentTypeCBOR} {
		t.Run(media, func(t *testing.T) {
			c := newControlClient(t, fakeapi.WithFeature(fakeapi.CBOR, true))
			accept := []string{"Content-Type", media, "Accept", media}
			require.Equal(t, 201, sendWith(t, c.srv, "POST", secretsPath, encodeAs(t, media, newSecret("a")), accept...).code)
			require.Equal(t, 200, sendWith(t, c.srv, "PUT", secretsPath+"/a", encodeAs(t, media, newSecret("a")), accept...).code)
			require.Equal(t, 200, sendWith(t, c.srv, "GET", "/api/v1/secrets", "", accept...).code)
			require.Equal(t, 200, sendWith(t, c.srv, "GET", secretsPath+"?watch=1&timeoutSeconds=1", "", "Accept", strings.Replace(media, "yaml", "json", 1)).code)
			partial := sendWith(t, c.srv, "GET", secretsPath, "", "Accept", media+";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
			require.Equal(t, 200, partial.code)
			require.Contains(t, string(partial.body), base64.StdEncoding.EncodeToString([]byte(password)), "the response has the annotation")
			require.Equal(t, 200, sendWith(t, c.srv, "DELETE", secretsPath+"/a", "", "Accept", media).code)
			requireHidden(t, c, nil, password)

			all := c.srv.Timeline().Exchanges
			require.Len(t, all, 6)
			for _, e := range all[:5] {
				body := e.Response
				if e.Verb == "watch" {
					require.Len(t, e.Frames, 1)
					require.Equal(t, []string{"ADDED", "default", "a"}, []string{e.Frames[0].Type, e.Frames[0].Namespace, e.Frames[0].Name})
					body = e.Frames[0].Body
				}
				require.Contains(t, string(body.Data), "readable", e.Verb)
				require.EqualValues(t, len(body.Data), body.Size, "it is not truncated")
			}
			decoded, _, err := scheme.Codecs.UniversalDeserializer().Decode(all[1].Request.Data, nil, nil)
			if media == runtime.ContentTypeCBOR {
				return // it is no media type of the decoder
			}
			require.NoError(t, err)
			redacted, _ := base64.StdEncoding.DecodeString("REDACTED")
			want := newSecret("a")
			want.Annotations[lastApplied], want.Data["p"], want.StringData["q"] = "REDACTED", redacted, "REDACTED"
			want.TypeMeta = decoded.(*corev1.Secret).TypeMeta
			require.Equal(t, want, decoded)
		})
	}
}

// Secrets are not in the timeline if they are in patches, in tables, in bodies that are truncated
// or invalid, or in other media types.
func TestTimelineWithoutSecretsOfUnusualRequests(t *testing.T) {
	c := newControlClient(t, fakeapi.WithFeature(fakeapi.CBOR, true))
	encoded := base64.StdEncoding.EncodeToString([]byte(password))
	require.Equal(t, 201, sendWith(t, c.srv, "POST", secretsPath, encodeAs(t, mediaJSON, newSecret("a")), "Content-Type", mediaJSON).code)
	long := newSecret("long")
	long.Data["p"] = []byte(strings.Repeat(password, 2000))
	for _, media := range []string{mediaJSON, runtime.ContentTypeProtobuf, runtime.ContentTypeYAML, runtime.ContentTypeCBOR} {
		sendWith(t, c.srv, "POST", secretsPath, encodeAs(t, media, long), "Content-Type", media, "Accept", media)
	}
	for media, body := range map[string]string{
		"application/merge-patch+json":           `{"stringData":{"p":"` + password + `","n":["` + password + `"]}}`,
		"application/strategic-merge-patch+json": `{"data":{"p":"` + encoded + `"}}`,
		"application/json-patch+json":            `[{"op":"replace","value":{"p":"` + encoded + `"},"path":"/data"},{"op":"add","path":"/data/q","value":"` + encoded + `"}]`,
		"application/apply-patch+yaml":           "apiVersion: v1\nkind: Secret\nstringData:\n  p: " + password + "\n",
		"application/apply-patch+cbor":           item(t, map[string]any{"apiVersion": "v1", "kind": "Secret", "data": map[string]any{"p": []byte(password)}}),
		"text/plain":                             password,
		"application/json":                       `{"data":{"p" "` + password + `"}}`,
		"application/yaml":                       "data: [\n" + password,
		runtime.ContentTypeProtobuf:              password,
		runtime.ContentTypeCBOR:                  password,
		"application/octet-stream":               "k8s\x00\x0b" + password,
	} {
		sendWith(t, c.srv, "PATCH", secretsPath+"/a?fieldManager=x&force=true", body, "Content-Type", media)
		sendWith(t, c.srv, "PUT", secretsPath+"/a", body, "Content-Type", media)
	}
	table := sendWith(t, c.srv, "GET", secretsPath+"?includeObject=Object", "", "Accept", "application/json;as=Table;g=meta.k8s.io;v=v1")
	require.Contains(t, string(table.body), encoded)
	requireHidden(t, c, nil, password)

	for _, e := range c.srv.Timeline().Exchanges {
		require.True(t, len(e.Request.Data) > 0 || e.Method == "GET" || e.StatusCode == 415, "%s %s", e.Method, e.Request.ContentType)
		require.LessOrEqual(t, len(e.Request.Data), int(e.Request.Size))
	}
}

// Tokens are neither in the timeline nor in the log.
func TestTimelineWithoutTokens(t *testing.T) {
	var log bytes.Buffer
	c := newControlClient(t, fakeapi.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))),
		fakeapi.WithFeature(fakeapi.CBOR, true), fakeapi.WithObjects(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot", Namespace: "default"}}))
	const path = "/api/v1/namespaces/default/serviceaccounts/robot/token"
	secrets := []string{password}
	for _, media := range []string{mediaJSON, runtime.ContentTypeProtobuf, runtime.ContentTypeYAML, runtime.ContentTypeCBOR} {
		accept := []string{"Content-Type", media, "Accept", media}
		request := &authenticationv1.TokenRequest{
			TypeMeta: metav1.TypeMeta{APIVersion: "authentication.k8s.io/v1", Kind: "TokenRequest"},
			Status:   authenticationv1.TokenRequestStatus{Token: password},
		}
		answer := sendWith(t, c.srv, "POST", path, encodeAs(t, media, request), accept...)
		require.Equal(t, 201, answer.code)
		at := bytes.Index(answer.body, []byte("eyJ"))
		require.Positive(t, at, "the response has a token")
		token := string(answer.body[at : at+200])
		secrets = append(secrets, token[150:], token[:40])

		review := &authenticationv1.TokenReview{
			TypeMeta: metav1.TypeMeta{APIVersion: "authentication.k8s.io/v1", Kind: "TokenReview"},
			Spec:     authenticationv1.TokenReviewSpec{Token: password},
		}
		require.Equal(t, 201, sendWith(t, c.srv, "POST", "/apis/authentication.k8s.io/v1/tokenreviews", encodeAs(t, media, review), accept...).code)
	}
	for _, name := range []string{"access_token", "access%5Ftoken", "%61ccess_token", "Access_Token"} {
		require.Equal(t, 200, sendWith(t, c.srv, "GET", "/api/v1/pods?limit=7&"+name+"="+password+"&continue=", "", "Sec-WebSocket-Protocol", "base64url.bearer.authorization.k8s.io."+password,
			"Cookie", password, "X-Remote-User", password).code)
	}
	require.Contains(t, log.String(), "limit=7")
	requireHidden(t, c, []string{log.String()}, secrets...)
	last := c.srv.Requests()
	require.Equal(t, "/api/v1/pods?limit=7&Access_Token=REDACTED&continue=", last[len(last)-1].Path)
}
