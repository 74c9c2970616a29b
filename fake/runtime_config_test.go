package fakeapi_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	admissionregistrationv1beta1 "k8s.io/api/admissionregistration/v1beta1"
	appsv1 "k8s.io/api/apps/v1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

func runtimeConfig(keysAndValues ...string) fakeapi.Option {
	config := map[string]string{}
	for i := 0; i < len(keysAndValues); i += 2 {
		config[keysAndValues[i]] = keysAndValues[i+1]
	}
	return fakeapi.WithRuntimeConfig(config)
}

// groupVersions returns the versions in discovery.
func groupVersions(t *testing.T, srv *fakeapi.Server) (found []string) {
	t.Helper()
	groups, err := kubernetes.NewForConfigOrDie(srv.RESTConfig()).Discovery().ServerGroups()
	require.NoError(t, err)
	for _, g := range groups.Groups {
		for _, v := range g.Versions {
			found = append(found, v.GroupVersion)
		}
	}
	return found
}

// What is disabled is not in discovery and in OpenAPI, and its paths are not found. Its objects are
// served again when it is enabled.
func TestRuntimeConfigDisables(t *testing.T) {
	first := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithYAML("apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: r}\n"+
		"spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}\n"))
	require.NoError(t, first.Close())
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithStorageOf(first),
		runtimeConfig("apps/v1", "false", "autoscaling/v2", "false", "batch/v1/cronjobs", "false"))
	versions := groupVersions(t, srv)
	require.NotContains(t, versions, "apps/v1")
	require.NotContains(t, versions, "autoscaling/v2")
	require.Subset(t, versions, []string{"autoscaling/v1", "batch/v1", "v1"})
	config := srv.RESTConfig()
	for path, code := range map[string]int{
		"/apis/apps": 404, "/apis/apps/v1": 404, "/apis/apps/v1/replicasets": 404, "/apis/apps/v1/namespaces/default/replicasets/r": 404,
		"/apis/autoscaling/v2/horizontalpodautoscalers": 404, "/apis/autoscaling/v1/horizontalpodautoscalers": 200,
		"/apis/batch/v1/cronjobs": 404, "/apis/batch/v1/jobs": 200, "/openapi/v3/apis/apps/v1": 404, "/openapi/v3/apis/batch/v1": 200,
	} {
		require.Equal(t, code, codeOf(t, config, path), path)
	}
	resources, err := kubernetes.NewForConfigOrDie(config).Discovery().ServerResourcesForGroupVersion("batch/v1")
	require.NoError(t, err)
	for _, r := range resources.APIResources {
		require.NotContains(t, r.Name, "cronjobs")
	}

	third := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithStorageOf(srv), runtimeConfig("api/all", "false", "apps/v1", "true", "/v1", "true"))
	require.ElementsMatch(t, []string{"apps/v1", "v1"}, groupVersions(t, third))
	var stored appsv1.ReplicaSet
	require.NoError(t, third.Get("default", "r", &stored))
}

// Versions that are not served by default store their objects in v1.
func TestRuntimeConfigEnables(t *testing.T) {
	byDefault := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	for _, v := range groupVersions(t, byDefault) {
		require.NotRegexp(t, "alpha|beta", v)
	}
	require.Equal(t, http.StatusNotFound, codeOf(t, byDefault.RESTConfig(), "/apis/resource.k8s.io/v1beta2/deviceclasses"))

	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), runtimeConfig("api/beta", "true", "resource.k8s.io/v1alpha3/devicetaintrules", "true"))
	require.Subset(t, groupVersions(t, srv), []string{
		"admissionregistration.k8s.io/v1beta1", "certificates.k8s.io/v1beta1", "resource.k8s.io/v1beta2", "resource.k8s.io/v1alpha3", "storagemigration.k8s.io/v1beta1",
	})
	require.NotContains(t, groupVersions(t, srv), "admissionregistration.k8s.io/v1alpha1")
	require.Equal(t, http.StatusOK, codeOf(t, srv.RESTConfig(), "/openapi/v3/apis/resource.k8s.io/v1beta2"))
	client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
	class := &resourcev1beta2.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: resourcev1beta2.DeviceClassSpec{
		Selectors: []resourcev1beta2.DeviceSelector{{CEL: &resourcev1beta2.CELDeviceSelector{Expression: "true"}}},
	}}
	created, err := client.ResourceV1beta2().DeviceClasses().Create(t.Context(), class, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, class.Spec, created.Spec)
	require.Equal(t, "resource.k8s.io/v1beta2", created.ManagedFields[0].APIVersion)
	stable, err := client.ResourceV1().DeviceClasses().Get(t.Context(), "c", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "true", stable.Spec.Selectors[0].CEL.Expression)
	class.Spec.Selectors[0].CEL = nil
	class.ResourceVersion = created.ResourceVersion
	_, err = client.ResourceV1beta2().DeviceClasses().Update(t.Context(), class, metav1.UpdateOptions{})
	require.ErrorContains(t, err, "spec.selectors[0].cel: Required value")

	_, err = client.AdmissionregistrationV1beta1().MutatingAdmissionPolicyBindings().Create(t.Context(), &admissionregistrationv1beta1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: admissionregistrationv1beta1.MutatingAdmissionPolicyBindingSpec{PolicyName: "p"},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
}

// PodCertificateRequests in v1beta1 have fields that v1 does not have. They are refused.
func TestRuntimeConfigPodCertificateRequests(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), runtimeConfig("certificates.k8s.io/v1beta1/podcertificaterequests", "true"))
	client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	stub, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	require.NoError(t, err)
	request := &certificatesv1beta1.PodCertificateRequest{ObjectMeta: metav1.ObjectMeta{Name: "r"}, Spec: certificatesv1beta1.PodCertificateRequestSpec{
		SignerName: "example.com/s", PodName: "p", PodUID: "1", ServiceAccountName: "default", ServiceAccountUID: "2", NodeName: "n", NodeUID: "3",
		StubPKCS10Request: stub,
	}}
	created, err := client.CertificatesV1beta1().PodCertificateRequests("default").Create(t.Context(), request, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, int32(86400), *created.Spec.MaxExpirationSeconds)
	stable, err := client.CertificatesV1().PodCertificateRequests("default").Get(t.Context(), "r", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, stub, stable.Spec.StubPKCS10Request)
	request.Name, request.Spec.PKIXPublicKey = "s", []byte("key") //lint:ignore SA1019 clients of 1.36 send it
	_, err = client.CertificatesV1beta1().PodCertificateRequests("default").Create(t.Context(), request, metav1.CreateOptions{})
	require.True(t, apierrors.IsBadRequest(err), "%v", err)
	require.ErrorContains(t, err, "fakeapi does not support spec.pkixPublicKey")
}

func TestInvalidRuntimeConfig(t *testing.T) {
	for want, config := range map[string][]string{
		"fakeapi: runtime config: invalid runtime-config with only api/all=false":                  {"api/all", "false"},
		"fakeapi: runtime config: invalid value api/beta=on":                                       {"api/beta", "on"},
		"fakeapi: runtime config: runtime-config invalid key v1":                                   {"v1", "true"},
		"fakeapi: runtime config: unknown api groups api/legacy,x/v1":                              {"api/legacy", "true", "x/v1", "true"},
		"fakeapi: runtime config: group version apps/v3 that has not been registered":              {"apps/v3", "true"},
		"fakeapi: runtime config: invalid value of apps/v1: on":                                    {"apps/v1", "on"},
		`invalid key apps/v1/Deployments: group/version/resource and resource is always lowercase`: {"apps/v1/Deployments", "true"},
		"fakeapi: runtime config: internal.apiserver.k8s.io/v1alpha1 is not supported":             {"internal.apiserver.k8s.io/v1alpha1", "true"},
		"fakeapi: runtime config: resource.k8s.io/v1beta1 is not supported":                        {"resource.k8s.io/v1beta1/resourceclaims", "true"},
	} {
		_, err := fakeapi.New(runtimeConfig(config...))
		require.ErrorContains(t, err, want)
	}
	// A version that the release does not have any more is accepted, without an effect.
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), runtimeConfig("apps/v1beta1", "true", "flowcontrol.apiserver.k8s.io/v1beta3", "true"))
	require.NotContains(t, groupVersions(t, srv), "apps/v1beta1")
}
