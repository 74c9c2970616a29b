package rest

import (
	"context"

	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/validate"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource"
)

// validateDeclaratively returns the errors of obj by the validation tags of its Go type (KEP-5073).
// Tags at the alpha level are not in force. old is nil for a create.
func validateDeclaratively(ctx context.Context, res *resource.Resource, subresource string, obj, old runtime.Object) field.ErrorList {
	if res.ValidateDeclaratively == nil {
		return nil
	}
	op := operation.Operation{Type: operation.Create}
	if old != nil {
		op.Type = operation.Update
	}
	if subresource != "" {
		op.Request.Subresources = []string{subresource}
	}
	return validate.FilterEnforcedDeclarativeErrors(ctx, res.ValidateDeclaratively(ctx, op, obj, old), true)
}
