package lifecycle

import (
	"errors"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Canonicalize changes a CustomResourceDefinition to the form that a real server decodes it to. It
// sets the defaults of singular, listKind, conversion, the port of a webhook's service and
// storedVersions, sorts the keys in JSON values of schemas, and removes nulls from them. If such a
// value is not JSON, which is possible in protobuf only, it returns an error and changes nothing.
func Canonicalize(crd *apiextensionsv1.CustomResourceDefinition) error {
	defaulted := crd.DeepCopy()
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(defaulted)
	inner, err := toInternal(defaulted)
	if err != nil {
		return err
	}
	out := apiextensionsv1.CustomResourceDefinition{TypeMeta: crd.TypeMeta}
	if err := apiextensionsv1.Convert_apiextensions_CustomResourceDefinition_To_v1_CustomResourceDefinition(inner, &out, nil); err != nil {
		return fmt.Errorf("converting from the internal version: %w", err)
	}
	// Equal versions share memory in the internal form.
	*crd = *out.DeepCopy()
	return nil
}

// CheckJSON returns the error of a real server's decoder for a value in a schema that is not JSON.
func CheckJSON(crd *apiextensionsv1.CustomResourceDefinition) error {
	_, err := toInternal(crd)
	return errors.Unwrap(err)
}

// toInternal returns the internal version, which the validation requires. It shares no memory with
// crd.
func toInternal(crd *apiextensionsv1.CustomResourceDefinition) (*apiextensions.CustomResourceDefinition, error) {
	out := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd.DeepCopy(), out, nil); err != nil {
		return nil, fmt.Errorf("converting to the internal version: %w", err)
	}
	return out, nil
}
