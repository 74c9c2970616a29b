package fakeapi_test

import (
	"net/http"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

func podWithoutContainers(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

// A refused object is refused by each verb in the same way, and by a dry run. It leaves no trace.
func TestValidationOfBuiltinTypes(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	pods := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Pods("default")
	before := storeVersion(t, srv)

	requireInvalid := func(err error, want string) {
		t.Helper()
		require.True(t, apierrors.IsInvalid(err), "%v", err)
		require.EqualError(t, err, want)
		require.Equal(t, before, storeVersion(t, srv))
	}
	const empty = `Pod "p" is invalid: spec.containers: Required value`
	_, err := pods.Create(t.Context(), podWithoutContainers("p"), metav1.CreateOptions{})
	requireInvalid(err, empty)
	_, err = pods.Create(t.Context(), podWithoutContainers("p"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	requireInvalid(err, empty)
	_, err = pods.Patch(t.Context(), "p", types.ApplyPatchType, []byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{}}`), metav1.PatchOptions{FieldManager: "m"})
	requireInvalid(err, empty)

	valid := podWithoutContainers("p")
	valid.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
	stored, err := pods.Create(t.Context(), valid, metav1.CreateOptions{})
	require.NoError(t, err)
	before = storeVersion(t, srv)
	const badImage = `Pod "p" is invalid: spec.containers[0].image: Required value`
	changed := stored.DeepCopy()
	changed.Spec.Containers[0].Image = ""
	_, err = pods.Update(t.Context(), changed, metav1.UpdateOptions{})
	requireInvalid(err, badImage)
	_, err = pods.Patch(t.Context(), "p", types.StrategicMergePatchType, []byte(`{"spec":{"containers":[{"name":"c","image":""}]}}`), metav1.PatchOptions{})
	requireInvalid(err, badImage)
	_, err = pods.Patch(t.Context(), "p", types.JSONPatchType, []byte(`[{"op":"remove","path":"/spec/containers/0/image"}]`), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
	requireInvalid(err, badImage)
}

// The label of the namespace decides about admin access to devices.
func TestAdminAccessInLabeledNamespace(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: resourcev1.ResourceClaimSpec{
		Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{
			Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", AdminAccess: new(true)},
		}}},
	}}
	claims := client.ResourceV1().ResourceClaims("default")
	_, err := claims.Create(t.Context(), claim, metav1.CreateOptions{})
	require.True(t, apierrors.IsInvalid(err), "%v", err)
	label := []byte(`{"metadata":{"labels":{"resource.kubernetes.io/admin-access":"true"}}}`)
	_, err = client.CoreV1().Namespaces().Patch(t.Context(), "default", types.MergePatchType, label, metav1.PatchOptions{})
	require.NoError(t, err)
	stored, err := claims.Create(t.Context(), claim, metav1.CreateOptions{})
	require.NoError(t, err)
	stored.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
		{Request: "gpu", Driver: "d.example.com", Pool: "p", Device: "g", AdminAccess: new(true)},
	}}}
	_, err = claims.UpdateStatus(t.Context(), stored, metav1.UpdateOptions{})
	require.NoError(t, err)
}

// storeVersion returns the resourceVersion of the last write.
func storeVersion(t *testing.T, srv *fakeapi.Server) string {
	t.Helper()
	list, err := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	return list.ResourceVersion
}

func TestWithoutValidation(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutValidation(), fakeapi.WithObjects(podWithoutContainers("loaded")))
	core := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1()
	pod, err := core.Pods("default").Create(t.Context(), podWithoutContainers("created"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, corev1.DNSClusterFirst, pod.Spec.DNSPolicy, "defaults are set")
	pod.Spec.Containers = []corev1.Container{{}}
	_, err = core.Pods("default").Update(t.Context(), pod, metav1.UpdateOptions{})
	require.NoError(t, err)

	// Metadata is validated, and so are definitions of custom resources.
	_, err = core.Pods("default").Create(t.Context(), podWithoutContainers("Upper"), metav1.CreateOptions{})
	require.True(t, apierrors.IsInvalid(err), "%v", err)
	_, err = core.Pods("default").Patch(t.Context(), "created", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b c"}}}`), metav1.PatchOptions{})
	require.True(t, apierrors.IsInvalid(err), "%v", err)
	require.ErrorContains(t, srv.LoadYAML("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.b}"), "is invalid")

	// A fork has options of its own.
	fork, err := srv.Fork(fakeapi.WithInMemoryNetwork())
	require.NoError(t, err)
	defer func() { require.NoError(t, fork.Close()) }()
	_, err = kubernetes.NewForConfigOrDie(fork.RESTConfig()).CoreV1().Pods("default").Create(t.Context(), podWithoutContainers("forked"), metav1.CreateOptions{})
	require.True(t, apierrors.IsInvalid(err), "%v", err)
}

// The error of an invalid fixture names the file, the document and the field.
func TestInvalidFixtures(t *testing.T) {
	pod := "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
	valid := pod + "spec: {containers: [{name: c, image: i}]}\n"
	manifests := fstest.MapFS{"pods.yaml": {Data: []byte(valid + "---\n" + pod)}}
	for want, option := range map[string]fakeapi.Option{
		`fakeapi: manifests: pods.yaml: document 2: `: fakeapi.WithManifests(manifests),
		`fakeapi: load `: fakeapi.WithObjects(podWithoutContainers("p")),
	} {
		_, err := fakeapi.New(option)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, `Pod "p" is invalid: spec.containers: Required value`)
	}
}

// A warning is a header of the response.
func TestWarningsOfBuiltinTypes(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	body := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"A","value":"1"},{"name":"A","value":"2"}]}]}}`
	code, header, _ := send(t, srv, http.MethodPost, "/api/v1/namespaces/default/pods", "application/json", []byte(body))
	require.Equal(t, http.StatusCreated, code)
	require.Equal(t, []string{`299 - "spec.containers[0].env[1]: hides previous definition of \"A\", which may be dropped when using apply"`}, header.Values("Warning"))
}

// The strategy of pods warns of an AppArmor profile that it copies from an annotation, before the
// validation.
func TestWarningOfAppArmorAnnotation(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	const path, key = "/api/v1/namespaces/default/pods", "container.apparmor.security.beta.kubernetes.io/c"
	want := []string{`299 - "metadata.annotations[` + key + `]: deprecated since v1.30; use the \"appArmorProfile\" field instead"`}
	pod := func(spec string) string {
		return `{"metadata":{"name":"p","annotations":{"` + key + `":"unconfined"}},"spec":` + spec + `}`
	}
	require.Equal(t, want, warningsOf(t, srv, 422, "POST", path, pod(`{"containers":[{"name":"c"}]}`)))
	require.Equal(t, want, warningsOf(t, srv, 201, "POST", path, pod(`{"containers":[{"name":"c","image":"i"}]}`)))
}
