package structural

import (
	"fmt"
	"math"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateScale checks the fields of the scale subresource, if there is one. Errors have the paths
// as the CustomResourceDefinition has them.
func validateScale(scale *apiextensionsv1.CustomResourceSubresourceScale, obj *unstructured.Unstructured) field.ErrorList {
	if scale == nil {
		return nil
	}
	return append(validateReplicas(obj, scale.SpecReplicasPath), validateScaleStatus(scale, obj)...)
}

// validateScaleStatus checks the fields of the scale subresource that are in the status.
func validateScaleStatus(scale *apiextensionsv1.CustomResourceSubresourceScale, obj *unstructured.Unstructured) field.ErrorList {
	if scale == nil {
		return nil
	}
	errs := validateReplicas(obj, scale.StatusReplicasPath)
	if scale.LabelSelectorPath != nil {
		selector, _, err := unstructured.NestedString(obj.Object, splitJSONPath(*scale.LabelSelectorPath)...)
		if err != nil {
			errs = append(errs, field.Invalid(field.NewPath(*scale.LabelSelectorPath), selector, err.Error()))
		}
	}
	return errs
}

// validateReplicas checks a number of replicas.
func validateReplicas(obj *unstructured.Unstructured, path string) field.ErrorList {
	count, _, err := unstructured.NestedInt64(obj.Object, splitJSONPath(path)...)
	switch {
	case err != nil:
		return field.ErrorList{field.Invalid(field.NewPath(path), count, err.Error())}
	case count < 0:
		return field.ErrorList{field.Invalid(field.NewPath(path), count, "should be a non-negative integer")}
	case count > math.MaxInt32:
		return field.ErrorList{field.Invalid(field.NewPath(path), count, fmt.Sprintf("should be less than or equal to %v", math.MaxInt32))}
	}
	return nil
}

// splitJSONPath splits a path like ".spec.replicas".
func splitJSONPath(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }
