package lifecycle

import (
	"context"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateCreate tells what is wrong with a new definition: nothing, or the causes
// of a 422. The context ends the evaluation of CEL rules on defaults. What has been
// found right before is so again.
func ValidateCreate(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	id, err := digestOf(crd)
	if err == nil && passed().has(id) {
		return nil
	}
	inner, convErr := internal(crd)
	if convErr != nil {
		return unreadable(convErr)
	}
	errs := validation.ValidateCustomResourceDefinition(ctx, inner)
	if err == nil && len(errs) == 0 {
		passed().add(id)
	}
	return errs
}

// ValidateUpdate tells what is wrong with a definition that shall replace old. What
// was wrong with old already is let pass where a real server does.
func ValidateUpdate(ctx context.Context, crd, old *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	return ofBoth(ctx, crd, old, validation.ValidateCustomResourceDefinitionUpdate)
}

// ValidateStatus tells what is wrong with a definition whose status shall replace
// that of old.
func ValidateStatus(ctx context.Context, crd, old *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	return ofBoth(ctx, crd, old, validation.ValidateUpdateCustomResourceDefinitionStatus)
}

// ofBoth runs a validation that wants the old object too.
func ofBoth(ctx context.Context, crd, old *apiextensionsv1.CustomResourceDefinition,
	validate func(context.Context, *apiextensions.CustomResourceDefinition, *apiextensions.CustomResourceDefinition) field.ErrorList,
) field.ErrorList {
	inner, err := internal(crd)
	if err != nil {
		return unreadable(err)
	}
	before, err := internal(old)
	if err != nil {
		return unreadable(err)
	}
	return validate(ctx, inner, before)
}

// unreadable says that a definition did not go through Decoded.
func unreadable(err error) field.ErrorList {
	return field.ErrorList{field.InternalError(field.NewPath("spec"), err)}
}
