package validate

import (
	"cmp"
	"maps"
	"math/rand"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/randfill"
)

// newFiller returns a filler with few different values, so that equal ones occur.
func newFiller(seed int64) *randfill.Filler {
	return randfill.NewWithSeed(seed).NilChance(0.3).NumElements(0, 2).MaxDepth(10).Funcs(
		func(s *string, c randfill.Continue) { *s = []string{"", "a", "b"}[c.Intn(3)] },
		func(i *int64, c randfill.Continue) { *i = c.Int63n(2) },
		func(i *int32, c randfill.Continue) { *i = c.Int31n(2) },
		func(q *resource.Quantity, c randfill.Continue) {
			*q = resource.MustParse([]string{"0", "1", "1000m"}[c.Intn(3)])
		},
		func(v *intstr.IntOrString, c randfill.Continue) { *v = intstr.FromInt32(c.Int31n(2)) },
		func(t *metav1.Time, c randfill.Continue) { t.Time = time.Unix(c.Int63n(2), 0) },
		func(t *metav1.MicroTime, c randfill.Continue) { t.Time = time.Unix(c.Int63n(2), 0) },
		func(f *metav1.FieldsV1, c randfill.Continue) { f.SetRawString([]string{"", "{}"}[c.Intn(2)]) },
		func(r *runtime.RawExtension, c randfill.Continue) { r.Raw = []byte{byte(c.Intn(2))} },
	)
}

// collect appends the values below v that can be set.
func collect(v reflect.Value, values []reflect.Value) []reflect.Value {
	values = append(values, v)
	switch v.Addr().Interface().(type) {
	case *resource.Quantity, *metav1.Time, *metav1.MicroTime, *metav1.FieldsV1, *runtime.RawExtension:
		return values
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			values = collect(v.Elem(), values)
		}
	case reflect.Slice:
		for i := range v.Len() {
			values = collect(v.Index(i), values)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			values = collect(v.Field(i), values)
		}
	}
	return values
}

// Random objects of all types, of which a value differs or not, are equal if they are so for the
// library.
func TestEqualValues(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	equal, different := 0, 0
	kinds := slices.SortedFunc(maps.Keys(scheme.Scheme.AllKnownTypes()), func(a, b schema.GroupVersionKind) int {
		return cmp.Compare(a.String(), b.String())
	})
	for _, gvk := range kinds {
		if gvk.Version == runtime.APIVersionInternal {
			continue
		}
		obj, err := scheme.Scheme.New(gvk)
		require.NoError(t, err)
		newFiller(random.Int63()).Fill(obj)
		x := reflect.ValueOf(obj).Elem()
		for range 10 {
			other := obj.DeepCopyObject()
			y := reflect.ValueOf(other).Elem()
			require.True(t, EqualValues(x, y), gvk)

			values := collect(y, nil)
			value := values[random.Intn(len(values))]
			if random.Intn(4) == 0 && value.Kind() == reflect.Slice && value.Len() == 0 {
				value.Set(reflect.MakeSlice(value.Type(), 0, 0)) // equals none
			} else {
				newFiller(random.Int63()).Fill(value.Addr().Interface())
			}
			want := equality.Semantic.DeepEqual(obj, other)
			require.Equal(t, want, EqualValues(x, y), "%s: %v, %v", gvk, obj, other)
			require.Equal(t, want, EqualValues(y, x), "%s: %v, %v", gvk, obj, other)
			if want {
				equal++
			} else {
				different++
			}
		}
	}
	require.Greater(t, equal, 1000)
	require.Greater(t, different, 1000)
}

func TestEqualValuesIsSemantic(t *testing.T) {
	type fields struct {
		Quantity resource.Quantity
		List     []string
		Strings  map[string]string
		Sizes    corev1.ResourceList
		Time     metav1.Time
		Micro    metav1.MicroTime
		Pointer  *int
		Bytes    []byte
		Any      any
	}
	values := []fields{
		{},
		{List: []string{}, Strings: map[string]string{}, Sizes: corev1.ResourceList{}, Bytes: []byte{}},
		{Quantity: resource.MustParse("1")}, {Quantity: resource.MustParse("1000m")},
		{Sizes: corev1.ResourceList{"a": resource.MustParse("1")}}, {Sizes: corev1.ResourceList{"a": resource.MustParse("1000m")}},
		{Sizes: corev1.ResourceList{"a": {}}}, {Sizes: corev1.ResourceList{"b": {}}},
		{Time: metav1.NewTime(time.Unix(5, 0))}, {Time: metav1.NewTime(time.Unix(5, 0).UTC())}, {Time: metav1.NewTime(time.Unix(6, 0))},
		{Micro: metav1.NewMicroTime(time.Unix(5, 0))}, {Micro: metav1.NewMicroTime(time.Unix(5, 1000))},
		{Pointer: new(int)}, {Pointer: new(int)}, {Pointer: new(1)},
		{List: []string{"a", "b"}}, {List: []string{"b", "a"}}, {List: []string{"a"}},
		{Strings: map[string]string{"a": ""}}, {Strings: map[string]string{"b": ""}},
		{Bytes: []byte("a")}, {Bytes: []byte("b")},
		{Any: "a"}, {Any: 1.5}, {Any: []any{}}, {Any: []any(nil)},
	}
	for _, a := range values {
		for _, b := range values {
			x, y := reflect.ValueOf(&a).Elem(), reflect.ValueOf(&b).Elem()
			require.Equal(t, equality.Semantic.DeepEqual(a, b), EqualValues(x, y), "%v, %v", a, b)
		}
	}
}
