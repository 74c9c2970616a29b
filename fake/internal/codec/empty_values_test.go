package codec

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/resource/builtin"
)

func TestEmptyValuesAreNormalized(t *testing.T) {
	table := builtin.Table()
	for _, tt := range []struct {
		kind        schema.GroupVersionKind
		obj         runtime.Object
		has, hasNot string
	}{
		{rbacv1.SchemeGroupVersion.WithKind("Role"), &rbacv1.Role{Rules: []rbacv1.PolicyRule{}}, `"rules":null`, `[]`},
		{rbacv1.SchemeGroupVersion.WithKind("Role"), &rbacv1.Role{Rules: []rbacv1.PolicyRule{{Verbs: []string{}}}}, `"rules":[{"verbs":null}]`, `[]`},
		{corev1.SchemeGroupVersion.WithKind("Pod"), &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{}}}, `"containers":null`, `[]`},
		{
			corev1.SchemeGroupVersion.WithKind("Pod"),
			&corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: "Ready"}}, ContainerStatuses: []corev1.ContainerStatus{}}, Spec: corev1.PodSpec{Containers: []corev1.Container{}}},
			`"conditions":[{"type":"Ready","status":"","lastProbeTime":null`, `[]`,
		},
		{corev1.SchemeGroupVersion.WithKind("Secret"), &corev1.Secret{Data: map[string][]byte{"k": {}}}, `"k":""`, `null`},
		{corev1.SchemeGroupVersion.WithKind("Secret"), &corev1.Secret{Data: map[string][]byte{"k": nil}}, `"k":""`, `null`},
		{corev1.SchemeGroupVersion.WithKind("ConfigMap"), &corev1.ConfigMap{Data: map[string]string{"k": `":[]`}}, `"k":"\":[]"`, `null`},
		{appsv1.SchemeGroupVersion.WithKind("ControllerRevision"), &appsv1.ControllerRevision{Data: runtime.RawExtension{Raw: []byte(`{"x":[]}`)}}, `{"x":[]}`, `null`},
	} {
		tt.obj.(metav1.Object).SetName("a")
		draft, err := EncodeDraft(table.LookupKind(tt.kind), tt.obj, nil)
		require.NoError(t, err)
		require.Contains(t, string(draft.Data), tt.has)
		require.NotContains(t, string(draft.Data), tt.hasNot)
	}
}

// CustomResourceDefinitions are stored in JSON.
func TestEmptyValuesOfDefinitionsAreKept(t *testing.T) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name, crd.Status.Conditions = "a", []apiextensionsv1.CustomResourceDefinitionCondition{}
	draft, err := EncodeDraft(builtin.Table().LookupKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition")), crd, nil)
	require.NoError(t, err)
	require.Contains(t, string(draft.Data), `"conditions":[]`)
}

func TestNullTimeIsNotNormalized(t *testing.T) {
	pod := &corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: "Ready"}}}}
	require.False(t, normalizeEmpty([]byte(`{"status":{"conditions":[{"lastProbeTime":null,"type":"Ready"}]}}`), pod))
}
