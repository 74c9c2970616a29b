package kubectl_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// kubectl applies the configuration of a webhook, and shows its warnings, denials and failures.
func TestWebhook(t *testing.T) {
	u := newUser(t)
	hook := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{
			UID: review.Request.UID, Allowed: review.Request.Name != "bad",
			Warnings: []string{"colors are deprecated"}, Result: &metav1.Status{Code: http.StatusForbidden, Message: "it is bad"},
		}
		_ = json.NewEncoder(w).Encode(review)
	}))
	defer hook.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hook.Certificate().Raw})
	u.doWith(fmt.Sprintf(`apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: colors}
webhooks:
- name: colors.example.com
  clientConfig: {url: "%s", caBundle: %s}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, DELETE], resources: [configmaps]}]
  sideEffects: None
  admissionReviewVersions: [v1]
`, hook.URL, base64.StdEncoding.EncodeToString(ca)), "apply", "-f", "-")
	const warning = "Warning: colors are deprecated\n"
	require.Equal(t, result{out: "configmap/good created\n", err: warning}, u.try("create", "configmap", "good"))
	const denial = `admission webhook "colors.example.com" denied the request: it is bad` + "\n"
	require.Equal(t, warning+"error: failed to create configmap: "+denial, u.doRefused("create", "configmap", "bad"))
	require.Equal(t, warning+`Error from server: error when creating "STDIN": `+denial,
		u.doRefusedWith("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad}\n", "apply", "-f", "-"))
	require.Equal(t, warning+"Error from server: error when creating \"STDIN\": "+denial,
		u.doRefusedWith("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad}\n", "create", "--dry-run=server", "-f", "-"))
	require.Equal(t, result{out: "configmap \"good\" deleted from default namespace\n", err: warning}, u.try("delete", "configmap", "good"))

	hook.Close()
	require.Contains(t, u.doRefused("create", "configmap", "good"),
		`failed to create configmap: Internal error occurred: failed calling webhook "colors.example.com": failed to call webhook: Post "`+hook.URL+`/?timeout=10s": dial tcp`)
	u.do("delete", "validatingwebhookconfiguration", "colors")
	require.Equal(t, "configmap/good created\n", u.do("create", "configmap", "good"))
}
