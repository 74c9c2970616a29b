package fakeapi_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Label selectors select by the labels of the version of the request, which a conversion webhook
// may change. An object has those of the storage version there, whatever version it was written in.
func TestConversionChangesLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetWebhook{}
		srv := startWithGadgets(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			from, to := []byte(`"in":"v1"`), []byte(`"in":"v2"`)
			if bytes.Contains(body, []byte(`"desiredAPIVersion":"example.com/v1"`)) {
				from, to = to, from
			}
			r.Body = io.NopCloser(bytes.NewReader(bytes.ReplaceAll(body, from, to)))
			hook.ServeHTTP(w, r)
		}))
		for version, path := range map[string]string{"v1": gadgetsV1, "v2": gadgetsV2} {
			requireCode(t, srv, 201, "POST", path, `{"apiVersion":"example.com/`+version+`","kind":"Gadget","metadata":{"name":"of-`+version+`","labels":{"in":"`+version+`"}}}`)
		}
		both := []string{"of-v1", "of-v2"}
		require.Equal(t, both, listNames(t, srv, gadgetsV1+"?labelSelector=in%3Dv1"))
		require.Empty(t, listNames(t, srv, gadgetsV1+"?labelSelector=in%3Dv2"))
		require.Equal(t, both, listNames(t, srv, gadgetsV2+"?labelSelector=in%3Dv2"))
		require.Empty(t, listNames(t, srv, gadgetsV2+"?labelSelector=in%3Dv1"))

		r, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL()+gadgetsV2+"?watch=1&labelSelector=in%3Dv2", nil)
		require.NoError(t, err)
		response, err := srv.Client().Do(r)
		require.NoError(t, err)
		frame := make([]byte, 64)
		_, err = io.ReadFull(response.Body, frame)
		require.NoError(t, err)
		require.Contains(t, string(frame), `"type":"ADDED"`)
		require.NoError(t, response.Body.Close())
		synctest.Wait() // The server has ended the watch, which would convert the next object.

		requireCode(t, srv, 201, "POST", gadgetsV1, gadgetJSON("v1", "new", 1))
		hook.failing.Store(true)
		s := requireStatus(t, srv, 500, "GET", gadgetsV2+"?labelSelector=in%3Dv2", "")
		require.Equal(t, metav1.StatusReasonStoreReadError, s.Reason)
		require.Len(t, s.Details.Causes, 1, "the others were converted before")
	})
}
