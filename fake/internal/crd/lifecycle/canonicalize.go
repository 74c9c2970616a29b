package lifecycle

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Canonicalize gives a definition the form that a real server gives it when it decodes
// one, in place: defaults of singular, listKind, conversion, the port of a webhook's
// service and storedVersions; JSON values of schemas with sorted keys and without
// nulls. It gives an error, and changes nothing, if such a value is not JSON, which
// can come by protobuf only: a bad request.
func Canonicalize(crd *apiextensionsv1.CustomResourceDefinition) error {
	defaulted := crd.DeepCopy()
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(defaulted)
	inner, err := toInternal(defaulted)
	if err != nil {
		return err
	}
	out := apiextensionsv1.CustomResourceDefinition{TypeMeta: crd.TypeMeta}
	if err := apiextensionsv1.Convert_apiextensions_CustomResourceDefinition_To_v1_CustomResourceDefinition(inner, &out, nil); err != nil {
		return fmt.Errorf("back from the internal form: %w", err)
	}
	// Versions that say the same share memory in the internal form.
	*crd = *out.DeepCopy()
	return nil
}

// toInternal gives the form that validation works with. It shares nothing with crd.
func toInternal(crd *apiextensionsv1.CustomResourceDefinition) (*apiextensions.CustomResourceDefinition, error) {
	out := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd.DeepCopy(), out, nil); err != nil {
		return nil, fmt.Errorf("to the internal form: %w", err)
	}
	return out, nil
}
