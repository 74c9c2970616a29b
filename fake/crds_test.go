package fakeapi_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	fakeapi "example.com/fakeapi/fake"
)

// widgetCRD defines widgets with a default, a minimum and a validation rule.
const widgetCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.shop.example.com}
spec:
  group: shop.example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wd]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-validations: [{rule: "!has(self.size) || self.size <= 100", message: at most 100}]
            properties:
              size: {type: integer, minimum: 0}
              color: {type: string, default: red}
          status: {type: object, properties: {phase: {type: string}}}
`

const widgetManifest = `
apiVersion: shop.example.com/v1
kind: Widget
metadata: {name: a, namespace: team}
spec: {size: 3}
status: {phase: Ready}
`

var widgetsResource = schema.GroupVersionResource{Group: "shop.example.com", Version: "v1", Resource: "widgets"}

// Widget is the Go type for widgetCRD.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WidgetSpec   `json:"spec"`
	Status            WidgetStatus `json:"status,omitempty"`
}

type WidgetSpec struct {
	Size  int    `json:"size,omitempty"`
	Color string `json:"color,omitempty"`
}

type WidgetStatus struct {
	Phase string `json:"phase,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (w *Widget) DeepCopyObject() runtime.Object {
	out := *w
	out.ObjectMeta = *w.ObjectMeta.DeepCopy()
	return &out
}

func widgetScheme(versions ...string) *runtime.Scheme {
	s := runtime.NewScheme()
	for _, version := range versions {
		s.AddKnownTypeWithName(schema.GroupVersionKind{Group: "shop.example.com", Version: version, Kind: "Widget"}, &Widget{})
	}
	return s
}

func decodeCRD(t testing.TB, text string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), crd))
	return crd
}

func widgetClient(srv *fakeapi.Server) dynamic.ResourceInterface {
	return dynamic.NewForConfigOrDie(srv.RESTConfig()).Resource(widgetsResource).Namespace("team")
}

// requireEstablished checks that the CRD of widgets is established and in discovery.
func requireEstablished(t testing.TB, srv *fakeapi.Server) {
	t.Helper()
	got, err := dynamic.NewForConfigOrDie(srv.RESTConfig()).Resource(crdsResource).Get(t.Context(), "widgets.shop.example.com", metav1.GetOptions{})
	require.NoError(t, err)
	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(got.Object, crd))
	require.True(t, apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established))
	require.Equal(t, []string{"v1"}, crd.Status.StoredVersions)
	list, err := discovery.NewDiscoveryClientForConfigOrDie(srv.RESTConfig()).ServerResourcesForGroupVersion("shop.example.com/v1")
	require.NoError(t, err)
	require.NotEmpty(t, list.APIResources)
}

var crdsResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// All sources define the same CRD.
func TestWithCRDs(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"widgets.yaml":       "# a remark\n---\nnot: an object\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: not-a-crd}\n---" + widgetCRD,
		"kustomization.yaml": "resources: [widgets.yaml]\n",
		"patch.yaml":         "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.shop.example.com, labels: {a: b}}\n",
		"other.yaml":         "apiVersion: other.example.com/v1\nkind: CustomResourceDefinition\nspec: {group: a, names: {kind: A}}\n",
		"notes.txt":          "a: [",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "deeper"), 0o700)) // subdirectories are not read
	require.NoError(t, os.WriteFile(filepath.Join(dir, "deeper", "bad.yaml"), []byte("a: ["), 0o600))
	typed := decodeCRD(t, widgetCRD)
	untyped := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(widgetCRD), &untyped.Object))
	for name, source := range map[string]fakeapi.CRDSource{
		"typed":        fakeapi.CRDsFromObjects(typed),
		"unstructured": fakeapi.CRDsFromObjects(untyped),
		"list":         fakeapi.CRDsFromObjects(&apiextensionsv1.CustomResourceDefinitionList{Items: []apiextensionsv1.CustomResourceDefinition{*typed}}),
		"directory":    fakeapi.CRDsFromPaths(dir),
		"file":         fakeapi.CRDsFromPaths(filepath.Join(dir, "widgets.yaml")),
		"file system":  fakeapi.CRDsFromFS(fstest.MapFS{"deep/crds.yml": {Data: []byte(widgetCRD)}}),
		"Go type":      fakeapi.CRDFromGoType(widgetScheme("v1"), &Widget{}, fakeapi.CRDTypeOptions{}),
	} {
		t.Run(name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithCRDs(source), fakeapi.WithManifests(fstest.MapFS{"a.yaml": {Data: []byte(widgetManifest)}}))
			requireEstablished(t, srv)
			got, err := widgetClient(srv).Get(t.Context(), "a", metav1.GetOptions{})
			require.NoError(t, err)
			phase, _, _ := unstructured.NestedString(got.Object, "status", "phase")
			require.Equal(t, "Ready", phase)
			_, err = widgetClient(srv).UpdateStatus(t.Context(), got, metav1.UpdateOptions{})
			require.NoError(t, err)
			before := srv.ResourceVersion()
			require.NoError(t, srv.LoadCRDs(source, source))
			require.Equal(t, before, srv.ResourceVersion())
		})
	}
}

// If a source has no CRD or an invalid one, no CRD is loaded.
func TestInvalidCRDs(t *testing.T) {
	srv := fakeapi.Start(t)
	before := srv.ResourceVersion()
	bad := decodeCRD(t, widgetCRD)
	bad.Name, bad.Spec.Names = "gadgets.shop.example.com", apiextensionsv1.CustomResourceDefinitionNames{Plural: "gadgets", Kind: "Gadget"}
	bad.Spec.Versions[0].Schema = nil
	other := decodeCRD(t, widgetCRD)
	other.Labels = map[string]string{"a": "b"}
	good := fakeapi.CRDsFromObjects(decodeCRD(t, widgetCRD))
	empty := t.TempDir()
	for want, source := range map[string]fakeapi.CRDSource{
		"the CRDSource is empty":        {},
		"ConfigMap is no":               fakeapi.CRDsFromObjects(&corev1.ConfigMap{}),
		"<nil> is no":                   fakeapi.CRDsFromObjects(nil),
		"no such file or directory":     fakeapi.CRDsFromPaths(filepath.Join(empty, "missing")),
		"has no CustomResource":         fakeapi.CRDsFromPaths(empty),
		"x.yaml: document 1":            fakeapi.CRDsFromFS(fstest.MapFS{"x.yaml": {Data: []byte("a: [")}}),
		"the file system has no":        fakeapi.CRDsFromFS(fstest.MapFS{}),
		`unknown field "spec.bogus"`:    fakeapi.CRDsFromFS(fstest.MapFS{"x.yaml": {Data: []byte(widgetCRD + "  bogus: 1\n")}}),
		"openAPIV3Schema: Required":     fakeapi.CRDsFromObjects(bad),
		"two objects of this name":      fakeapi.CRDsFromObjects(other),
		"v1beta1":                       fakeapi.CRDsFromFS(fstest.MapFS{"x.yaml": {Data: []byte("apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nspec: {group: g, names: {kind: K}}\n")}}),
		"no kind is registered":         fakeapi.CRDFromGoType(widgetScheme(), &Widget{}, fakeapi.CRDTypeOptions{}),
		"a scheme and an object":        fakeapi.CRDFromGoType(nil, nil, fakeapi.CRDTypeOptions{}),
		"one of the versions of Widget": fakeapi.CRDFromGoType(widgetScheme("v1", "v2"), &Widget{}, fakeapi.CRDTypeOptions{}),
		"shop.example.com: v1":          fakeapi.CRDFromGoType(widgetScheme("v1"), &Widget{}, fakeapi.CRDTypeOptions{StorageVersion: "v3"}),
		"group of built-in types":       fakeapi.CRDFromGoType(scheme.Scheme, &corev1.Pod{}, fakeapi.CRDTypeOptions{}),
		"spec.names.plural":             fakeapi.CRDFromGoType(widgetScheme("v1"), &Widget{}, fakeapi.CRDTypeOptions{Plural: "No Plural"}),
	} {
		require.ErrorContains(t, srv.LoadCRDs(good, source), want)
	}
	require.Equal(t, before, srv.ResourceVersion())
	_, err := widgetClient(srv).List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
	_, err = fakeapi.New(fakeapi.WithScheme(nil))
	require.ErrorContains(t, err, "scheme is nil")
}

// An update of a CRD keeps its objects, its uid and its stored versions.
func TestLoadCRDsUpdates(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithCRDs(fakeapi.CRDsFromObjects(decodeCRD(t, widgetCRD))), fakeapi.WithManifests(fstest.MapFS{"a.yaml": {Data: []byte(widgetManifest)}}))
	crds := dynamic.NewForConfigOrDie(srv.RESTConfig()).Resource(crdsResource)
	was, err := crds.Get(t.Context(), "widgets.shop.example.com", metav1.GetOptions{})
	require.NoError(t, err)
	next := decodeCRD(t, widgetCRD)
	v2 := *next.Spec.Versions[0].DeepCopy()
	v2.Name, next.Spec.Versions[0].Storage = "v2", false
	next.Spec.Versions = append(next.Spec.Versions, v2)
	require.NoError(t, srv.LoadCRDs(fakeapi.CRDsFromObjects(next)))
	now, err := crds.Get(t.Context(), "widgets.shop.example.com", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, was.GetUID(), now.GetUID())
	require.EqualValues(t, 2, now.GetGeneration())
	stored, _, _ := unstructured.NestedStringSlice(now.Object, "status", "storedVersions")
	require.Equal(t, []string{"v1", "v2"}, stored)
	got, err := dynamic.NewForConfigOrDie(srv.RESTConfig()).Resource(widgetsResource.GroupResource().WithVersion("v2")).
		Namespace("team").Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "shop.example.com/v2", got.GetAPIVersion())

	next.Spec.Scope = apiextensionsv1.ClusterScoped
	require.ErrorContains(t, srv.LoadCRDs(fakeapi.CRDsFromObjects(next)), "spec.scope")
	finalized, err := widgetClient(srv).Patch(t.Context(), "a", "application/merge-patch+json", []byte(`{"metadata":{"finalizers":["x.io/y"]}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	require.NotEmpty(t, finalized.GetFinalizers())
	require.NoError(t, crds.Delete(t.Context(), "widgets.shop.example.com", metav1.DeleteOptions{}))
	require.ErrorContains(t, srv.LoadCRDs(fakeapi.CRDsFromObjects(decodeCRD(t, widgetCRD))), "is being deleted")
}

// Custom resources can be fixtures, typed or untyped, in any order with their CRD. They are
// defaulted and validated.
func TestLoadCustomResources(t *testing.T) {
	files := fstest.MapFS{"a.yaml": {Data: []byte(widgetManifest)}, "z/crd.yaml": {Data: []byte(widgetCRD)}}
	srv := fakeapi.Start(t, fakeapi.WithManifests(files))
	requireEstablished(t, srv)
	got, err := widgetClient(srv).Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
	color, _, _ := unstructured.NestedString(got.Object, "spec", "color")
	require.Equal(t, "red", color)
	require.EqualValues(t, 1, got.GetGeneration())
	require.NotEmpty(t, got.GetUID())

	withTypeMeta := &Widget{TypeMeta: metav1.TypeMeta{APIVersion: "shop.example.com/v1", Kind: "Widget"}, ObjectMeta: metav1.ObjectMeta{Name: "typed", Namespace: "team"}, Spec: WidgetSpec{Size: 7}}
	require.NoError(t, srv.Load(withTypeMeta))
	withoutTypeMeta := &Widget{ObjectMeta: metav1.ObjectMeta{Name: "bare", Namespace: "team"}}
	require.ErrorContains(t, srv.Load(withoutTypeMeta), "no kind is registered for the type fakeapi_test.Widget")
	got, err = widgetClient(srv).Get(t.Context(), "typed", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"size": int64(7), "color": "red"}, got.Object["spec"])

	before := srv.ResourceVersion()
	for want, text := range map[string]string{
		"at most 100":                "spec: {size: 101}",
		"greater than or equal to 0": "spec: {size: -1}",
		`unknown field "spec.depth"`: "spec: {depth: 1}",
	} {
		err := srv.LoadManifests(fstest.MapFS{"bad.yaml": {Data: []byte("apiVersion: shop.example.com/v1\nkind: Widget\nmetadata: {name: bad}\n" + text)}})
		require.ErrorContains(t, err, "bad.yaml: document 1: Widget bad: ")
		require.ErrorContains(t, err, want)
	}
	require.Equal(t, before, srv.ResourceVersion())
}

// A CRD and its objects are loaded together or not at all.
func TestLoadCRDAndObjectsIsAtomic(t *testing.T) {
	srv := fakeapi.Start(t)
	before := srv.ResourceVersion()
	big := &Widget{TypeMeta: metav1.TypeMeta{APIVersion: "shop.example.com/v1", Kind: "Widget"}, ObjectMeta: metav1.ObjectMeta{Name: "big"}, Spec: WidgetSpec{Size: 1000}}
	require.ErrorContains(t, srv.Load(big, decodeCRD(t, widgetCRD)), "Widget big: ")
	require.Equal(t, before, srv.ResourceVersion())
	_, err := widgetClient(srv).List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
	big.Spec.Size = 1
	require.NoError(t, srv.Load(big, decodeCRD(t, widgetCRD)))
	requireEstablished(t, srv)
}

// With a scheme, Go types need no TypeMeta.
func TestWithScheme(t *testing.T) {
	widget := &Widget{ObjectMeta: metav1.ObjectMeta{Name: "bare", Namespace: "team"}}
	crds := fakeapi.WithCRDs(fakeapi.CRDsFromObjects(decodeCRD(t, widgetCRD)))
	for name, opts := range map[string][]fakeapi.Option{
		"scheme": {crds, fakeapi.WithScheme(widgetScheme("v0", "v1")), fakeapi.WithObjects(widget)},
		"source": {fakeapi.WithCRDs(fakeapi.CRDFromGoType(widgetScheme("v1"), &Widget{}, fakeapi.CRDTypeOptions{})), fakeapi.WithObjects(widget)},
	} {
		t.Run(name, func(t *testing.T) {
			srv := fakeapi.Start(t, opts...)
			_, err := widgetClient(srv).Get(t.Context(), "bare", metav1.GetOptions{})
			require.NoError(t, err)
			require.Empty(t, widget.UID)
			var stored Widget
			require.NoError(t, srv.Get("team", "bare", &stored))
			require.NotEmpty(t, stored.UID)
		})
	}
}

// A CRD from a Go type has the given options, and subresources according to the type.
func TestCRDFromGoType(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithCRDs(fakeapi.CRDFromGoType(widgetScheme("v1alpha1", "v1"), &Widget{}, fakeapi.CRDTypeOptions{Plural: "widgetry", ClusterScoped: true, StorageVersion: "v1"})))
	client := dynamic.NewForConfigOrDie(srv.RESTConfig())
	alpha := client.Resource(schema.GroupVersionResource{Group: "shop.example.com", Version: "v1alpha1", Resource: "widgetry"})
	made, err := alpha.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "shop.example.com/v1alpha1", "kind": "Widget", "metadata": map[string]any{"name": "a"},
		"spec": map[string]any{"anything": "goes"}, "status": map[string]any{"phase": "New"},
	}}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"anything": "goes"}, made.Object["spec"])
	require.NotContains(t, made.Object, "status")
	_, err = alpha.UpdateStatus(t.Context(), made, metav1.UpdateOptions{})
	require.NoError(t, err)
	withoutStatus := runtime.NewScheme()
	withoutStatus.AddKnownTypeWithName(schema.GroupVersionKind{Group: "shop.example.com", Version: "v1", Kind: "Shelf"}, &metav1.PartialObjectMetadata{})
	require.NoError(t, srv.LoadCRDs(fakeapi.CRDFromGoType(withoutStatus, &metav1.PartialObjectMetadata{}, fakeapi.CRDTypeOptions{})))
	list, err := discovery.NewDiscoveryClientForConfigOrDie(srv.RESTConfig()).ServerResourcesForGroupVersion("shop.example.com/v1")
	require.NoError(t, err)
	var names []string
	for _, r := range list.APIResources {
		names = append(names, r.Name)
	}
	require.ElementsMatch(t, []string{"widgetry", "widgetry/status", "shelfs"}, names, "a Shelf has no status")
	got, err := client.Resource(schema.GroupVersionResource{Group: "shop.example.com", Version: "v1", Resource: "widgetry"}).Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "shop.example.com/v1", got.GetAPIVersion())
	crd, err := client.Resource(crdsResource).Get(t.Context(), "widgetry.shop.example.com", metav1.GetOptions{})
	require.NoError(t, err)
	stored, _, _ := unstructured.NestedStringSlice(crd.Object, "status", "storedVersions")
	require.Equal(t, []string{"v1"}, stored)
}
