package reviews

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A requirement that does not parse is left out, which allows no more than with it.
func TestSelectorRequirements(t *testing.T) {
	of := func(key string, op metav1.FieldSelectorOperator, values ...string) metav1.FieldSelectorRequirement {
		return metav1.FieldSelectorRequirement{Key: key, Operator: op, Values: values}
	}
	field, err := fieldRequirements(&authorizationv1.FieldSelectorAttributes{Requirements: []metav1.FieldSelectorRequirement{
		of("a", metav1.FieldSelectorOpIn, "x"), of("b", metav1.FieldSelectorOpNotIn, "y"),
		of("c", metav1.FieldSelectorOpIn, "x", "y"), of("d", metav1.FieldSelectorOpNotIn, "x", "y"), of("e", metav1.FieldSelectorOpExists), of("f", "Near", "x"),
	}})
	require.Error(t, err)
	require.Equal(t, "[{= a x} {!= b y}]", fmt.Sprint(field))

	label, err := labelRequirements(&authorizationv1.LabelSelectorAttributes{Requirements: []metav1.LabelSelectorRequirement{
		{Key: "a", Operator: metav1.LabelSelectorOpIn, Values: []string{"x", "y"}}, {Key: "b", Operator: "Near"}, {Key: "c", Operator: metav1.LabelSelectorOpExists},
	}})
	require.Error(t, err)
	require.Equal(t, "a in (x,y), c", fmt.Sprint(label))

	field, err = fieldRequirements(&authorizationv1.FieldSelectorAttributes{RawSelector: "a=x,b!=y"})
	require.NoError(t, err)
	require.Equal(t, "[{= a x} {!= b y}]", fmt.Sprint(field))
	label, err = labelRequirements(&authorizationv1.LabelSelectorAttributes{RawSelector: "a,b=x"})
	require.NoError(t, err)
	require.Equal(t, "a, b=x", fmt.Sprint(label))
}
