// Package meta has the validation that the tags of k8s.io/apimachinery/pkg/apis/meta/v1 stand for.
// It is generated, except for what the tag customValidation names.
//
// +k8s:validation-gen=TypesWithField=TypeMeta
// +k8s:validation-gen-scheme-registry=nil
// +k8s:validation-gen-input=k8s.io/apimachinery/pkg/apis/meta/v1
package meta

import (
	"context"

	"k8s.io/apimachinery/pkg/api/operation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateCustom_Condition_LastTransitionTime validates the time of a condition. validation-gen
// requires the name.
func ValidateCustom_Condition_LastTransitionTime(ctx context.Context, op operation.Operation, path *field.Path, value, old *metav1.Time) field.ErrorList {
	return validation.ValidateCustom_Condition_LastTransitionTime(ctx, op, path, value, old)
}
