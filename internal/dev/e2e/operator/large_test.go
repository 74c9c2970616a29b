package operator_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"example.com/fakeapi/internal/dev/e2e/internal/poll"
	"example.com/fakeapi/internal/dev/e2e/internal/server"
)

// schemaOf returns the schema of a Go type, similar to the one that controller-gen generates. Such
// schemas make the CRDs of operators with pod templates large.
func schemaOf(t reflect.Type) apiextensionsv1.JSONSchemaProps {
	switch t {
	case reflect.TypeFor[resource.Quantity](), reflect.TypeFor[intstr.IntOrString]():
		return apiextensionsv1.JSONSchemaProps{
			XIntOrString: true, AnyOf: []apiextensionsv1.JSONSchemaProps{{Type: "integer"}, {Type: "string"}},
		}
	case reflect.TypeFor[metav1.Time]():
		return apiextensionsv1.JSONSchemaProps{Type: "string", Format: "date-time"}
	case reflect.TypeFor[runtime.RawExtension](), reflect.TypeFor[metav1.FieldsV1](), reflect.TypeFor[metav1.ObjectMeta]():
		return apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Struct:
		return structSchema(t)
	case reflect.Map:
		return apiextensionsv1.JSONSchemaProps{Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Schema: new(schemaOf(t.Elem()))}}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return apiextensionsv1.JSONSchemaProps{Type: "string", Format: "byte"}
		}
		return apiextensionsv1.JSONSchemaProps{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: new(schemaOf(t.Elem()))}}
	case reflect.Bool:
		return apiextensionsv1.JSONSchemaProps{Type: "boolean"}
	case reflect.String:
		return apiextensionsv1.JSONSchemaProps{Type: "string"}
	case reflect.Int32, reflect.Int64:
		return apiextensionsv1.JSONSchemaProps{Type: "integer", Format: t.Kind().String()}
	}
	panic(fmt.Sprint("no schema for ", t))
}

func structSchema(t reflect.Type) apiextensionsv1.JSONSchemaProps {
	s := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		of := schemaOf(field.Type)
		if name == "" { // embedded
			for name, property := range of.Properties {
				s.Properties[name] = property
			}
			continue
		}
		of.Description = strings.Repeat(fmt.Sprintf("The documentation of %s.%s goes on for a while. ", t.Name(), field.Name), 2)
		if key := field.Tag.Get("patchMergeKey"); key == "name" && field.Type.Kind() == reflect.Slice {
			of.XListType, of.XListMapKeys = new("map"), []string{key}
			of.Items.Schema.Required = append(of.Items.Schema.Required, key)
		}
		if !strings.Contains(options, "omit") {
			s.Required = append(s.Required, name)
		}
		s.Properties[name] = of
	}
	return s
}

// largeCRD returns a CRD of a kind whose spec has a pod template and validation rules.
func largeCRD(kind string) *apiextensionsv1.CustomResourceDefinition {
	template := schemaOf(reflect.TypeFor[corev1.PodTemplateSpec]())
	spec := apiextensionsv1.JSONSchemaProps{
		Type: "object",
		Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"template": template,
			"replicas": {Type: "integer", Format: "int32", Default: &apiextensionsv1.JSON{Raw: []byte("1")}},
			"version":  {Type: "string", MaxLength: new(int64(20))},
		},
		XValidations: apiextensionsv1.ValidationRules{
			{Rule: "self.replicas >= 0", Message: "replicas must not be negative"},
			{Rule: "!has(oldSelf.version) || has(self.version)", Message: "version cannot be taken back"},
		},
	}
	plural := strings.ToLower(kind) + "s"
	return &apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: plural + ".large.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "large.example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: kind, ListKind: kind + "List", Singular: strings.ToLower(kind)},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec},
				}},
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			}},
		},
	}
}

// large returns an instance of a kind of largeCRD.
func (b *testEnv) large(kind, name string) *unstructured.Unstructured {
	b.t.Helper()
	template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Name: "main", Image: "example.com/main:1", Env: []corev1.EnvVar{{Name: "A", Value: "b"}},
		Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("500m")}},
	}}}}
	text, err := json.Marshal(map[string]any{"spec": map[string]any{"template": template}})
	require.NoError(b.t, err)
	u := &unstructured.Unstructured{}
	require.NoError(b.t, json.Unmarshal(text, &u.Object))
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: "large.example.com", Version: "v1", Kind: kind})
	u.SetNamespace(b.namespace)
	u.SetName(name)
	return u
}

// quick is the maximum time for the fastest of the installations, and a tenth of it that for the
// fastest writes of an object; others may be slowed down by the machine. An installation takes a
// tenth of a second on an idle machine and some seconds with the race detector on a busy one. With
// a cost that grows faster than the size of the CRD it would take much longer.
const quick = 8 * time.Second

// Operators have CRDs of some hundred kilobytes. The test installs such CRDs and writes their
// instances.
func TestLargeDefinitions(t *testing.T) {
	b := newTestEnv(t, server.Start(t))
	kinds := []string{"Monitor", "Issuer"}
	fastest := time.Hour
	for _, kind := range kinds {
		crd := largeCRD(kind)
		text, err := json.Marshal(crd)
		require.NoError(t, err)
		require.Greater(t, len(text), 100_000)
		options := envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{crd}, PollInterval: 5 * time.Millisecond}
		began := time.Now()
		_, err = envtest.InstallCRDs(b.config, options)
		require.NoError(t, err)
		fastest = min(fastest, time.Since(began))
		t.Logf("%d KB in %v", len(text)/1000, time.Since(began))
		t.Cleanup(func() {
			require.NoError(t, envtest.UninstallCRDs(b.config, options))
			poll.UntilNoError(t, func(ctx context.Context) error { return b.checkNotFound(ctx, crd) })
		})
	}
	require.Less(t, fastest, quick)

	fastest = time.Hour
	for _, kind := range kinds {
		for i := range 5 {
			began := time.Now()
			o := b.large(kind, fmt.Sprint("o-", i))
			require.NoError(t, b.Create(t.Context(), o))
			replicas, _, err := unstructured.NestedInt64(o.Object, "spec", "replicas")
			require.NoError(t, err)
			require.EqualValues(t, 1, replicas)
			require.NoError(t, unstructured.SetNestedField(o.Object, int64(2), "spec", "replicas"))
			require.NoError(t, b.Update(t.Context(), o))
			require.NoError(t, b.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(b.large(kind, o.GetName())), client.FieldOwner("me"), client.ForceOwnership))
			fastest = min(fastest, time.Since(began))
		}
	}
	t.Logf("three writes in %v", fastest)
	require.Less(t, fastest, quick/10)

	o := b.large("Monitor", "bad")
	require.NoError(t, unstructured.SetNestedField(o.Object, "many", "spec", "template", "spec", "terminationGracePeriodSeconds"))
	require.ErrorContains(t, b.Create(t.Context(), o), `spec.template.spec.terminationGracePeriodSeconds: Invalid value: "string"`)
	require.NoError(t, unstructured.SetNestedField(o.Object, int64(-1), "spec", "replicas"))
	unstructured.RemoveNestedField(o.Object, "spec", "template", "spec", "terminationGracePeriodSeconds")
	require.ErrorContains(t, b.Create(t.Context(), o), "replicas must not be negative")
}
