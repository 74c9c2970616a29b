package timeline_test

import (
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/timeline"
)

// record returns the exchange of a request whose body comes back as the response.
func record(t *testing.T, method, path, contentType, body string) timeline.Exchange {
	t.Helper()
	r := timeline.NewRecorder(noHits)
	h := r.Handler(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		read, _ := io.ReadAll(request.Body)
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(read)
	}))
	request, err := http.NewRequest(method, path, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", contentType)
	h.ServeHTTP(discardResponseWriter{http.Header{}}, request)
	all := r.Timeline().Exchanges
	require.Len(t, all, 1)
	return all[0]
}

// JSON keeps its bytes except for the values.
func TestRedactJSON(t *testing.T) {
	for body, want := range map[string]string{
		`{"data" : {"a":"x" , "b":"","c":null},"type":"Opaque"} ` + "\n": `{"data" : {"a":"REDACTED" , "b":"","c":null},"type":"Opaque"} ` + "\n",
		`{"stringData":{"a":{"b":[1e3,true,[{"c":"\"x"}]]}},"x":1}`:      `{"stringData":{"a":{"b":["REDACTED","REDACTED",[{"c":"REDACTED"}]]}},"x":1}`,
		`{"items":[{"data":{"a":"x"},"metadata":{"name":"data"}}]}`:      `{"items":[{"data":{"a":"REDACTED"},"metadata":{"name":"data"}}]}`,
		`{"metadata":{"labels":{"value":"x"}},"value":"y"}`:              `{"metadata":{"labels":{"value":"x"}},"value":"y"}`,
		`[{"op":"add","value":{"a":["x"]},"path":"/data"}]`:              `[{"op":"add","value":{"a":["REDACTED"]},"path":"/data"}]`,
		`{"DATA":"x","token":"y"}`:                                       `{"DATA":"REDACTED","token":"y"}`,
		`{"data":{"a":"x"},"b":"cut o`:                                   `{"data":{"a":"REDACTED"},"b"`,
		`{"data":{"a":"x"}} {"data":{"a":"x"}}`:                          `{"data":{"a":"REDACTED"}} {"data":{"a":"REDACTED"}}`,
		`"x"`:                                                            `REDACTED`,
		`{}`:                                                             `{}`,
	} {
		e := record(t, "PUT", "/api/v1/namespaces/ns/secrets/a", "application/json", body)
		require.Equal(t, want, string(e.Request.Data))
		require.Equal(t, e.Request, e.Response)
	}
	const plain = `{"data":{"a":"x"},"token":"y"}`
	require.Equal(t, plain, string(record(t, "PUT", "/api/v1/namespaces/ns/configmaps/a", "application/json", plain).Request.Data))
	require.Equal(t, plain, string(record(t, "PUT", "/apis/example.com/v1/secrets/a", "application/json", plain).Request.Data))
	const token = `{"data":{"a":"x"},"token":"REDACTED"}`
	require.Equal(t, token, string(record(t, "POST", "/api/v1/namespaces/ns/serviceaccounts/a/token", "application/json", plain).Request.Data))
	require.Equal(t, token, string(record(t, "POST", "/apis/authentication.k8s.io/v1/tokenreviews", "application/json", plain).Request.Data))
}

// Wherever a body or an event is truncated, it has no secret, and its size says that it is
// truncated.
func TestRedactTruncated(t *testing.T) {
	secret := &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: map[string]string{"k": "v", "kubectl.kubernetes.io/last-applied-configuration": "topsecret"}},
		Data:       map[string][]byte{"k": []byte("topsecret"), "l": []byte("topsecret")},
		StringData: map[string]string{"k": "topsecret"},
	}
	encoded := base64.StdEncoding.EncodeToString([]byte("topsecret"))
	raw, err := secret.Marshal()
	require.NoError(t, err)
	envelope, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "Secret"}, Raw: raw}).Marshal()
	require.NoError(t, err)
	object := "k8s\x00" + string(envelope)
	event, err := (&metav1.WatchEvent{Type: "ADDED", Object: runtime.RawExtension{Raw: []byte(object)}}).Marshal()
	require.NoError(t, err)
	for contentType, whole := range map[string]string{
		"application/vnd.kubernetes.protobuf":              object,
		"application/vnd.kubernetes.protobuf;stream=watch": string([]byte{0, 0, byte(len(event) >> 8), byte(len(event))}) + string(event),
		"application/json":                                 `{"metadata":{"name":"a"},"data":{"k":"` + encoded + `","l":"topsecret"},"stringData":{"k":"topsecret"}}`,
	} {
		for n := 1; n <= len(whole); n++ {
			e := record(t, "PUT", "/api/v1/namespaces/ns/secrets/a", contentType, strings.Repeat(" ", timeline.MaxBodyBytes-n)+whole)
			if contentType != "application/json" {
				e = record(t, "PUT", "/api/v1/namespaces/ns/secrets/a", contentType, whole[:n])
			}
			text := string(e.Request.Data)
			require.NotContains(t, text, "tops", n)
			require.NotContains(t, text, encoded[:5], n)
			require.GreaterOrEqual(t, e.Request.Size, int64(len(text)))
			if n == len(whole) {
				require.EqualValues(t, len(text), e.Request.Size)
				require.Contains(t, text, "REDACTED")
			}
		}
	}
}
