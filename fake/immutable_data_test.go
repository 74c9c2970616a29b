package fakeapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// An immutable object without data cannot be given data without keys, which JSON distinguishes and
// protobuf does not. Empty values are the same in both.
func TestImmutableData(t *testing.T) {
	srv, client := startClient(t)
	const secrets = "/api/v1/namespaces/default/secrets"
	for _, body := range []string{
		`{"metadata":{"name":"none"},"immutable":true,"data":{}}`,
		`{"metadata":{"name":"empty"},"immutable":true,"data":{"a":"","b":null},"stringData":{"c":""}}`,
	} {
		requireCode(t, srv, 201, "POST", secrets, body)
	}
	requireCode(t, srv, 201, "POST", configMapsPath, `{"metadata":{"name":"none"},"immutable":true,"data":{}}`)
	const forbidden = ` is invalid: data: Forbidden: field is immutable when ` + "`immutable`" + ` is set`
	for _, one := range []struct {
		code                int
		method, media, path string
		body, want          string
	}{
		{200, "PUT", "application/json", secrets + "/none", `{"metadata":{"name":"none"},"immutable":true}`, ""},
		{200, "PUT", "application/json", secrets + "/none", `{"metadata":{"name":"none"},"immutable":true,"stringData":{}}`, ""},
		{422, "PUT", "application/json", secrets + "/none", `{"metadata":{"name":"none"},"immutable":true,"data":{}}`, `Secret "none"` + forbidden},
		{422, "PATCH", "application/merge-patch+json", secrets + "/none", `{"data":{}}`, `Secret "none"` + forbidden},
		{422, "PATCH", "application/strategic-merge-patch+json", configMapsPath + "/none", `{"data":{}}`, `ConfigMap "none"` + forbidden},
		{200, "PATCH", "application/merge-patch+json", configMapsPath + "/none", `{"metadata":{"labels":{"a":"b"}}}`, ""},
		{200, "PUT", "application/json", secrets + "/empty", `{"metadata":{"name":"empty"},"immutable":true,"data":{"a":"","b":"","c":""}}`, ""},
		{200, "PUT", "application/json", secrets + "/empty", `{"metadata":{"name":"empty"},"immutable":true,"stringData":{"a":"","b":"","c":""}}`, ""},
		{422, "PUT", "application/json", secrets + "/empty", `{"metadata":{"name":"empty"},"immutable":true,"data":{"a":"","b":""}}`, `Secret "empty"` + forbidden},
	} {
		code, status := sendForStatus(t, srv, one.method, one.path, one.media, one.body)
		require.Equal(t, one.code, code, "%s %s: %s", one.path, one.body, status.Message)
		require.Equal(t, one.want, status.Message)
	}

	protobuf := srv.RESTConfig()
	protobuf.ContentType = "application/vnd.kubernetes.protobuf"
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "none"}, Immutable: new(true), Data: map[string][]byte{}}
	_, err := kubernetes.NewForConfigOrDie(protobuf).CoreV1().Secrets("default").Update(t.Context(), secret, metav1.UpdateOptions{})
	require.NoError(t, err)
	stored, err := client.CoreV1().Secrets("default").Get(t.Context(), "empty", metav1.GetOptions{})
	require.NoError(t, err)
	_, err = client.CoreV1().Secrets("default").Update(t.Context(), stored, metav1.UpdateOptions{})
	require.NoError(t, err)
}
