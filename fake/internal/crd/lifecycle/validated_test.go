package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Changes that do and do not affect the validation.
func TestCRDDigest(t *testing.T) {
	of := func(change func(*apiextensionsv1.CustomResourceDefinition)) digest {
		crd := newCRD(t, "gadgets", "Gadget", "example.com")
		change(crd)
		id, err := crdDigest(crd)
		require.NoError(t, err)
		return id
	}
	same := of(func(*apiextensionsv1.CustomResourceDefinition) {})
	for name, change := range map[string]func(*apiextensionsv1.CustomResourceDefinition){
		"uid": func(c *apiextensionsv1.CustomResourceDefinition) { c.UID = "another" },
		"created": func(c *apiextensionsv1.CustomResourceDefinition) {
			c.CreationTimestamp = metav1.NewTime(time.Unix(7, 0))
		},
	} {
		require.Equal(t, same, of(change), name)
	}
	for name, change := range map[string]func(*apiextensionsv1.CustomResourceDefinition){
		"name":    func(c *apiextensionsv1.CustomResourceDefinition) { c.Name = "another" },
		"labels":  func(c *apiextensionsv1.CustomResourceDefinition) { c.Labels = map[string]string{"a": "b"} },
		"managed": func(c *apiextensionsv1.CustomResourceDefinition) { c.ManagedFields = []metav1.ManagedFieldsEntry{{}} },
		"approval": func(c *apiextensionsv1.CustomResourceDefinition) {
			c.Annotations = map[string]string{apiextensionsv1.KubeAPIApprovedAnnotation: "x"}
		},
		"schema": func(c *apiextensionsv1.CustomResourceDefinition) {
			c.Spec.Versions[0].Schema.OpenAPIV3Schema.XPreserveUnknownFields = new(bool)
		},
		"status": func(c *apiextensionsv1.CustomResourceDefinition) { c.Status.StoredVersions = []string{"v7"} },
	} {
		require.NotEqual(t, same, of(change), name)
	}
}

// Valid and invalid definitions have the same result again.
func TestValidateIsCached(t *testing.T) {
	right := newCRD(t, "gadgets", "Gadget", "example.com")
	require.NoError(t, Canonicalize(right))
	PrepareForCreate(right)
	errs := right.DeepCopy()
	errs.Spec.Versions[0].Schema.OpenAPIV3Schema.XValidations = apiextensionsv1.ValidationRules{{Rule: "self.nope"}}
	for range 3 {
		require.Empty(t, Validate(t.Context(), right))
		require.NotEmpty(t, Validate(t.Context(), errs))
	}
	id, err := crdDigest(right)
	require.NoError(t, err)
	_, ok := validCRDs().Get(id)
	require.True(t, ok)
}
