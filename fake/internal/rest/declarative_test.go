package rest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource"
)

// Tags may depend on whether an object is created or updated, and on the subresource. Errors at the
// alpha level are dropped.
func TestDeclarativeOperation(t *testing.T) {
	var op operation.Operation
	res := &resource.Resource{ValidateDeclaratively: func(_ context.Context, of operation.Operation, _, _ runtime.Object) field.ErrorList {
		op = of
		return field.ErrorList{field.Required(field.NewPath("a"), "").MarkAlpha(), field.Required(field.NewPath("b"), "")}
	}}
	pod := &corev1.Pod{}
	errs := validateDeclaratively(t.Context(), res, "", pod, nil)
	require.EqualError(t, errs.ToAggregate(), "b: Required value")
	require.Equal(t, operation.Operation{Type: operation.Create}, op)
	validateDeclaratively(t.Context(), res, "status", pod, pod)
	require.Equal(t, operation.Operation{Type: operation.Update, Request: operation.Request{Subresources: []string{"status"}}}, op)
	require.Empty(t, validateDeclaratively(t.Context(), &resource.Resource{}, "", pod, nil))
}
