package faults_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/faults"
)

// The handler of a server that authorizes requests gets those that a rule forbids, and other
// requests without the mark.
func TestForbidWithServer(t *testing.T) {
	var set faults.Set
	_, err := set.AddText("when verb(list) do forbid")
	require.NoError(t, err)
	h := faults.ServerHandler(&set, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if faults.IsForbidden(r.Context()) {
			w.WriteHeader(http.StatusForbidden)
		}
		_, _ = io.WriteString(w, "the server")
	}))
	for path, code := range map[string]int{pods: http.StatusForbidden, pods + "/a": http.StatusOK} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		require.Equal(t, code, w.Code)
		require.Equal(t, "the server", w.Body.String())
	}
}

// A handler that is not the server's responds itself, and does not pass the request on.
func TestForbidWithoutServer(t *testing.T) {
	api := newAPI()
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	s := newProxy(t, server.URL, http.DefaultTransport,
		"when verb(create, watch) && resource(pods) do forbid", "when path(/version) do forbid", "when path(/version) do reset")
	for request, want := range map[string]string{
		"POST " + pods:             `pods is forbidden: User "system:anonymous" cannot create resource "pods" in API group "" in the namespace "ns"`,
		"GET " + pods + "?watch=1": `pods is forbidden: User "system:anonymous" cannot watch resource "pods" in API group "" in the namespace "ns"`,
		"GET /version":             `forbidden: User "system:anonymous" cannot get path "/version"`,
		"POST /version":            `forbidden: User "system:anonymous" cannot post path "/version"`,
	} {
		method, path, _ := strings.Cut(request, " ")
		resp, body, err := s.do(method, path)
		require.NoError(t, err)
		require.Equal(t, http.StatusForbidden, resp.StatusCode, request)
		var status metav1.Status
		require.NoError(t, json.Unmarshal([]byte(body), &status))
		require.Equal(t, metav1.StatusReasonForbidden, status.Reason)
		require.Equal(t, want, status.Message, request)
	}
	require.Zero(t, api.created.Load())
	require.Len(t, s.set.Hits(), 4, "rules after forbid are not evaluated")
	_, body := s.get(pods)
	require.Contains(t, body, "Answer")
}
