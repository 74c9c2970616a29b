package fastpath

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// TestEqualFuncs compares the results with those of the library.
func TestEqualFuncs(t *testing.T) {
	noon := time.Date(2024, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		name   string
		equal  equalFunc
		values []any // pointers to values of one type
	}{
		{"string", equalString, []any{new(""), new("a"), new("b")}},
		{"*string", equalString, []any{new((*string)(nil)), new(new("")), new(new("a"))}},
		{"*bool", equalBool, []any{new((*bool)(nil)), new(new(false)), new(new(true))}},
		{"*int32", equalInt, []any{new((*int32)(nil)), new(new(int32(0))), new(new(int32(1)))}},
		{"bytes", equalBytes, []any{new([]byte(nil)), new([]byte{}), new([]byte("a"))}},
		{"strings", equalDeep, []any{new([]string(nil)), new([]string{}), new([]string{"a"}), new([]string{"b"}), new([]string{"a", "b"})}},
		{"time", equalTime, []any{
			new(metav1.Time{}), new(metav1.NewTime(noon)), new(metav1.NewTime(noon.Add(time.Millisecond))),
			new(metav1.NewTime(noon.Add(time.Second))), new(metav1.NewTime(noon.In(time.FixedZone("x", 3600)))),
		}},
		{"*time", equalTime, []any{new((*metav1.Time)(nil)), new(&metav1.Time{}), new(&metav1.Time{Time: noon})}},
		{"quantity", equalDeep, []any{new(resource.MustParse("1")), new(resource.MustParse("1000m")), new(resource.MustParse("2")), new(resource.Quantity{})}},
		{"owner", equalDeep, []any{new(metav1.OwnerReference{}), new(metav1.OwnerReference{Controller: new(true)}), new(metav1.OwnerReference{Controller: new(true), Name: "a"})}},
		{"map", equalDeep, []any{new(map[string]string(nil)), new(map[string]string{}), new(map[string]string{"a": ""})}},
	} {
		for i, x := range tc.values {
			for j, y := range tc.values {
				want := value.Equals(libraryValue(t, x), libraryValue(t, y))
				require.Equal(t, want, tc.equal(reflect.ValueOf(x).Elem(), reflect.ValueOf(y).Elem()), "%s %d %d", tc.name, i, j)
			}
		}
	}
	for _, a := range []string{"1", "1000m", "2", "1Ki", "1024"} {
		for _, b := range []string{"1", "1000m", "2", "1Ki", "1024"} {
			x, y := resource.MustParse(a), resource.MustParse(b)
			require.Equal(t, x.ToUnstructured() == y.ToUnstructured(), equalQuantities(x, y), "%s %s", a, b)
		}
	}
}

// libraryValue returns the value that p points to as a value of the library.
func libraryValue(t *testing.T, p any) value.Value {
	if v := reflect.ValueOf(p).Elem(); v.Kind() == reflect.Pointer {
		p = v.Interface()
	}
	v, err := value.NewValueReflect(p)
	require.NoError(t, err)
	return v
}
