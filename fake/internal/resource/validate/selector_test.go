package validate

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// requirements are requirements of selectors, most of them valid.
var requirements = []metav1.LabelSelectorRequirement{
	{Key: "a", Operator: metav1.LabelSelectorOpIn, Values: []string{"x", "y"}},
	{Key: "a", Operator: metav1.LabelSelectorOpIn, Values: []string{""}},
	{Key: "a", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"x", "y"}},
	{Key: "a", Operator: metav1.LabelSelectorOpExists},
	{Key: "a", Operator: metav1.LabelSelectorOpDoesNotExist},
	{Key: "example.com/b", Operator: metav1.LabelSelectorOpDoesNotExist},
	{Key: "a", Operator: metav1.LabelSelectorOpIn},
	{Key: "a", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"-"}},
	{Key: "a", Operator: metav1.LabelSelectorOpExists, Values: []string{"x"}},
	{Key: "a", Operator: "Is"},
	{Operator: metav1.LabelSelectorOpExists},
	{Key: "-/a", Operator: metav1.LabelSelectorOpExists},
}

func TestLabelSelectorIsThatOfApimachinery(t *testing.T) {
	var root *Path
	for _, r := range requirements {
		for _, opts := range []metav1validation.LabelSelectorValidationOptions{{}, {AllowInvalidLabelValueInSelector: true}} {
			selector := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{requirements[0], r}}
			want := metav1validation.ValidateLabelSelector(selector, opts, field.NewPath("selector"))
			require.ElementsMatch(t, want, LabelSelector(selector, opts, root.Child("selector")), r)
		}
	}
}

func TestSelectorMatches(t *testing.T) {
	selectors := []*metav1.LabelSelector{nil, {}, {MatchLabels: map[string]string{"a": "x"}}, {MatchLabels: map[string]string{"a": ""}}}
	for _, r := range requirements[:6] {
		selectors = append(selectors,
			&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{r}},
			&metav1.LabelSelector{MatchLabels: map[string]string{"a": "x"}, MatchExpressions: []metav1.LabelSelectorRequirement{r}})
	}
	for _, selector := range selectors {
		want, err := metav1.LabelSelectorAsSelector(selector)
		require.NoError(t, err)
		for _, set := range []labels.Set{nil, {"a": "x"}, {"a": "y", "b": "x"}, {"a": ""}, {"a": "z"}, {"example.com/b": "x", "a": "x"}} {
			require.Equal(t, want.Matches(set), SelectorMatches(selector, set), "%v of %v", selector, set)
		}
	}
}

func TestEqualSelectors(t *testing.T) {
	selectors := []*metav1.LabelSelector{
		nil, {}, {MatchLabels: map[string]string{}}, {MatchLabels: map[string]string{"a": "x"}}, {MatchLabels: map[string]string{"a": "y"}},
		{MatchExpressions: requirements[:1]}, {MatchExpressions: requirements[:2]}, {MatchExpressions: requirements[1:2]}, {MatchExpressions: requirements[3:4]},
	}
	var root *Path
	for _, a := range selectors {
		for _, b := range selectors {
			require.Equal(t, equality.Semantic.DeepEqual(a, b), EqualSelectors(a, b), "%v, %v", a, b)
			require.Equal(t, EqualSelectors(a, b), len(ImmutableSelector(a, b, root.Child("selector"))) == 0)
		}
	}
	errs := ImmutableSelector(selectors[3], selectors[4], root.Child("spec").Child("selector"))
	require.Equal(t, `spec.selector: Invalid value: {"matchLabels":{"a":"x"}}: field is immutable`, errs.ToAggregate().Error())
}
