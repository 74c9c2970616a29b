package lifecycle

import (
	"context"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Validate tells what is wrong with a new definition: nothing, or the causes
// of a 422. The context ends the evaluation of CEL rules on defaults. What has been
// found right before is so again.
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

// ValidateUpdate tells what is wrong with a definition that shall replace old. What
// was wrong with old already is let pass where a real server does.
func ValidateUpdate(ctx context.Context, crd, old *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	return validateWithOld(ctx, crd, old, validation.ValidateCustomResourceDefinitionUpdate)
}

// ValidateStatusUpdate tells what is wrong with a definition whose status shall replace
// that of old.
func ValidateStatusUpdate(ctx context.Context, crd, old *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	return validateWithOld(ctx, crd, old, validation.ValidateUpdateCustomResourceDefinitionStatus)
}

// validateWithOld runs a validation that wants the old object too.
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

// internalError says that a definition did not go through Decoded.
func internalError(err error) field.ErrorList {
	return field.ErrorList{field.InternalError(field.NewPath("spec"), err)}
}
