package validate

import (
	"testing"

	"github.com/stretchr/testify/require"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestPath(t *testing.T) {
	var root *Path
	require.Nil(t, root.Field())
	require.Equal(t, "spec", root.Child("spec").String())
	require.Equal(t, "spec.containers[0].env[12].name", root.Child("spec").Child("containers").Index(0).Child("env").Index(12).Child("name").String())
	require.Equal(t, "data[a.b/c]", root.Child("data").Key("a.b/c").String())
	require.Equal(t, "data[]", root.Child("data").Key("").String())
}

// container and pod nest paths as the validation of a pod does.
type container struct {
	name  string
	port  int32
	ports []int32
}

func validateContainer(c *container, p *Path) field.ErrorList {
	errs := DNSLabel(c.name, p.Child("name"))
	for i, port := range c.ports {
		errs = append(errs, PortNumber(port, p.Child("ports").Index(i))...)
	}
	return append(errs, NonNegative(int64(c.port), p.Child("port"))...)
}

func TestPathsOfValidValuesAreNotAllocated(t *testing.T) {
	c := &container{name: "web", ports: []int32{80, 443}}
	labels := map[string]string{"app": "web", "app.kubernetes.io/name": "web", "example.com/Tier_1": ""}
	selector := &metav1.LabelSelector{MatchLabels: labels}
	var root *Path
	allocations := validatetest.AllocsPerRun(100, func() {
		spec := root.Child("spec")
		for i := range 3 {
			if errs := validateContainer(c, spec.Child("containers").Index(i)); errs != nil {
				t.Error(errs)
			}
		}
		if Labels(labels, spec.Child("labels")) != nil || Annotations(labels, spec.Child("annotations")) != nil ||
			LabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, spec.Child("selector")) != nil {
			t.Error("valid labels have errors")
		}
	})
	require.LessOrEqual(t, allocations, 1.0) // strings.ToLower of the key with capital letters
	c.ports[1] = -1
	require.Equal(t, "spec.containers[2].ports[1]", validateContainer(c, root.Child("spec").Child("containers").Index(2))[0].Field)
}

// The quick checks accept what apimachinery accepts.
func TestQualifiedNames(t *testing.T) {
	for _, name := range []string{"", "a", "-a", "a-", "A_b.c", "/", "a/", "/a", "a/b", "a/b/c", "A.b/c", "a..b/c", "a_b/c", "x.y-z/C", "a b",
		string(make([]byte, 64)), "ü"} {
		require.Equal(t, len(validation.IsQualifiedName(name)) == 0, isQualifiedName(name), "%q", name)
	}
	for length := 60; length < 67; length++ {
		name := ""
		for range length {
			name += "x"
		}
		require.Equal(t, len(validation.IsQualifiedName(name)) == 0, isQualifiedName(name), "%d characters", length)
	}
}

func TestErrorsAreThoseOfApimachinery(t *testing.T) {
	bad := map[string]string{"a b": "c d"}
	var root *Path
	p, f := root.Child("x"), field.NewPath("x")
	require.Equal(t, metav1validation.ValidateLabels(bad, f), Labels(bad, p))
	require.Equal(t, apivalidation.ValidateAnnotations(bad, f), Annotations(bad, p))
	require.Equal(t, metav1validation.ValidateLabelName("a b", f), LabelName("a b", p))
	selector := &metav1.LabelSelector{MatchLabels: bad, MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "-", Operator: "Has", Values: []string{"-"}}}}
	opts := metav1validation.LabelSelectorValidationOptions{}
	require.Equal(t, metav1validation.ValidateLabelSelector(selector, opts, f), LabelSelector(selector, opts, p))
	require.Equal(t, apivalidation.ValidateNonnegativeField(-1, f), NonNegative(-1, p))
	require.Equal(t, apivalidation.ValidateImmutableField(1, 2, f), Immutable(1, 2, p))
	require.Nil(t, Immutable([]int{}, nil, p))
	require.Len(t, PortNumber(0, p), 1)
}
