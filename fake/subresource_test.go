package fakeapi_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	fakeapi "example.com/fakeapi/fake"
)

// Every subresource answers any method and body with a Status or an object. A request that fails
// changes nothing.
func TestSubresourcesTakeAnything(t *testing.T) {
	srv, _ := startClient(t, fakeapi.WithoutControllers())
	client := dynamic.NewForConfigOrDie(srv.RESTConfig())
	media := map[string]string{
		http.MethodPost: "application/json", http.MethodPut: "application/json", http.MethodDelete: "application/json",
		http.MethodGet: "", http.MethodPatch: "application/merge-patch+json",
	}
	for _, res := range storedResources() {
		if len(res.Subresources) == 0 {
			continue
		}
		path, objects := "/api/"+res.Version, dynamic.ResourceInterface(client.Resource(res.GroupVersionResource()))
		if res.Group != "" {
			path = "/apis/" + res.Group + "/" + res.Version
		}
		if res.Namespaced {
			path += "/namespaces/default"
			objects = client.Resource(res.GroupVersionResource()).Namespace("default")
		}
		if res.GroupVersion() == res.StorageVersion { // otherwise the object exists already
			_, err := objects.Create(t.Context(), newObject(t, res, "x"), metav1.CreateOptions{})
			require.NoError(t, err)
		}
		for _, sub := range res.Subresources {
			for method, kind := range media {
				for _, body := range []string{"", "null", "[]", "{}", `{"metadata":null}`, `{"metadata":{"name":"x"},"spec":7}`, `{"spec":{"replicas":null}}`, "k8s\x00\x00"} {
					at := path + "/" + res.Plural + "/x/" + sub.Name
					before := srv.ResourceVersion()
					code, _, response := send(t, srv, method, at, kind, []byte(body))
					require.True(t, json.Valid(response), "%s %s %s: %s", method, at, body, response)
					if code >= 400 {
						require.Contains(t, string(response), `"status":"Failure"`)
						require.Equal(t, before, srv.ResourceVersion(), "%s %s %s", method, at, body)
					}
					if method == http.MethodGet {
						require.Equal(t, sub.HasVerb("get"), code != http.StatusMethodNotAllowed, at)
					}
				}
			}
		}
	}
}
