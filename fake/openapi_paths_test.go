package fakeapi_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fakeapi "example.com/fakeapi/fake"
)

// Every operation in the documents is served, and no other method of its path is. Paths of proxies
// are documented with the methods of the API only, although a real server forwards HEAD and OPTIONS
// as well.
func TestOpenAPIPathsAreServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := documentClient{t, fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutControllers())}
		operations, refused := 0, 0
		for name := range a.index() {
			_, body := a.get("/openapi/v3/" + name)
			var doc struct {
				Paths map[string]map[string]json.RawMessage
			}
			require.NoError(t, json.Unmarshal(body, &doc))
			for at, methods := range doc.Paths {
				for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
					_, got := methods[strings.ToLower(method)]
					code, status := a.requestPath(method, at)
					if got {
						operations++
						require.NotEqual(t, http.StatusMethodNotAllowed, code, "%s %s", method, at)
						if code == http.StatusNotFound {
							require.NotNil(t, status.Details, "%s %s: %s", method, at, status.Message)
							require.Equal(t, "nope", status.Details.Name, "%s %s", method, at)
						}
						continue
					}
					refused++
					want := http.StatusMethodNotAllowed
					if strings.HasPrefix(at, "/apis/") && strings.Count(at, "/") <= 3 && at != "/apis/apiregistration.k8s.io/" {
						want = http.StatusOK // the aggregator serves documents of groups but its own with all methods
					}
					require.Equal(t, want, code, "%s %s", method, at)
				}
			}
		}
		require.Greater(t, operations, 700)
		require.Greater(t, refused, 500)
	})
}

// requestPath sends a request that changes nothing to a path of a document.
func (a documentClient) requestPath(method, at string) (int, metav1.Status) {
	a.t.Helper()
	at = strings.NewReplacer("{namespace}", "default", "{name}", "nope", "{path}", "x").Replace(at)
	var body io.Reader
	if method != http.MethodGet {
		body = strings.NewReader("{}")
	}
	request, err := http.NewRequestWithContext(a.t.Context(), method, a.srv.URL()+at+"?timeoutSeconds=1&dryRun=All", body)
	require.NoError(a.t, err)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	response, err := a.srv.Client().Do(request)
	require.NoError(a.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(a.t, err)
	var status metav1.Status
	if response.StatusCode >= 400 {
		require.NoError(a.t, json.Unmarshal(text, &status), "%s %s: %s", method, at, text)
	}
	return response.StatusCode, status
}
