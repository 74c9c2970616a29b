package lifecycle

import (
	"context"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Validate returns the errors of a new definition. ctx cancels the evaluation of CEL rules on
// defaults. The result for a definition that was valid before is cached.
func Validate(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	id, digestErr := crdDigest(crd)
	if digestErr == nil {
		if _, ok := validCRDs().Get(id); ok {
			return nil
		}
	}
	inner, err := toInternal(crd)
	if err != nil {
		return internalError(err)
	}
	errs := validation.ValidateCustomResourceDefinition(ctx, inner)
	if digestErr == nil && len(errs) == 0 {
		validCRDs().Add(id, true)
	}
	return errs
}

// ValidateUpdate returns the errors of a definition that replaces old. It ignores some errors that
// old has too, as a real server does.
func ValidateUpdate(ctx context.Context, crd, old *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	return validateWithOld(ctx, crd, old, validation.ValidateCustomResourceDefinitionUpdate)
}

// ValidateStatusUpdate returns the errors of a definition whose status replaces that of old.
func ValidateStatusUpdate(ctx context.Context, crd, old *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	return validateWithOld(ctx, crd, old, validation.ValidateUpdateCustomResourceDefinitionStatus)
}

// validateWithOld runs a validation of internal versions.
func validateWithOld(ctx context.Context, crd, old *apiextensionsv1.CustomResourceDefinition,
	validate func(context.Context, *apiextensions.CustomResourceDefinition, *apiextensions.CustomResourceDefinition) field.ErrorList,
) field.ErrorList {
	inner, err := toInternal(crd)
	if err != nil {
		return internalError(err)
	}
	before, err := toInternal(old)
	if err != nil {
		return internalError(err)
	}
	return validate(ctx, inner, before)
}

// internalError reports a definition that was not canonicalized.
func internalError(err error) field.ErrorList {
	return field.ErrorList{field.InternalError(field.NewPath("spec"), err)}
}
