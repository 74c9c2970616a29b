package fakeapi_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// Stored webhook configurations are called like on a real server. The webhook of this test serves
// HTTPS on a loopback address.
func Example_admissionWebhook() {
	srv, err := fakeapi.New()
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = srv.Close() }()
	hook := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{
			UID:     review.Request.UID,
			Allowed: review.Request.Name != "secret-plans",
			Result:  &metav1.Status{Message: "keep it elsewhere"},
		}
		_ = json.NewEncoder(w).Encode(review)
	}))
	defer hook.Close()

	client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
	ctx, none := context.Background(), admissionregistrationv1.SideEffectClassNone
	config := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "names"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "names.example.com",
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				URL:      &hook.URL,
				CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hook.Certificate().Raw}),
			},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{"CREATE"},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
			SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		}},
	}
	if _, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(ctx, config, metav1.CreateOptions{}); err != nil {
		log.Fatal(err)
	}
	_, err = client.CoreV1().ConfigMaps("default").Create(ctx, configMap("secret-plans", ""), metav1.CreateOptions{})
	fmt.Println(err)
	// Output: admission webhook "names.example.com" denied the request: keep it elsewhere
}
