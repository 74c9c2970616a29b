package core

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fill sets every field below v, with lists and maps of one element.
func fill(v reflect.Value) {
	switch v.Addr().Interface().(type) {
	case *resource.Quantity:
		v.Set(reflect.ValueOf(resource.MustParse("5")))
		return
	case *metav1.Time:
		v.Set(reflect.ValueOf(metav1.NewTime(time.Unix(5, 0))))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("a")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(5)
	case reflect.Uint8:
		v.SetUint(5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	default:
		panic("unexpected kind " + v.Kind().String())
	}
}

// eachZeroed calls f with every value below v set to zero in turn, and restores it.
func eachZeroed(v reflect.Value, path string, f func(path string)) {
	before := reflect.ValueOf(v.Interface())
	v.SetZero()
	f(path)
	v.Set(before)
	switch v.Addr().Interface().(type) {
	case *resource.Quantity, *metav1.Time:
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		eachZeroed(v.Elem(), path, f)
	case reflect.Slice:
		eachZeroed(v.Index(0), path+"[0]", f)
	case reflect.Struct:
		for i := range v.NumField() {
			eachZeroed(v.Field(i), path+"."+v.Type().Field(i).Name, f)
		}
	}
}

// The update of a pod sees every change of its spec.
func TestEqualExcept(t *testing.T) {
	var old corev1.PodSpec
	fill(reflect.ValueOf(&old).Elem())
	spec := old.DeepCopy()
	require.True(t, equalExcept(spec, &old))
	changed := 0
	eachZeroed(reflect.ValueOf(spec).Elem(), "spec", func(path string) {
		require.False(t, equality.Semantic.DeepEqual(*spec, old), path)
		require.False(t, equalExcept(spec, &old), path)
		require.False(t, equalExcept(&old, spec), path)
		changed++
	})
	require.Greater(t, changed, 1000)
	require.True(t, equalExcept(spec, &old))

	spec.HostPID, spec.Containers = false, nil
	require.False(t, equalExcept(spec, &old, &spec.HostPID))
	require.True(t, equalExcept(spec, &old, &spec.HostPID, &spec.Containers))
}

// Two specs are the same for an update if just those fields differ that it can change.
func TestEqualPodSpecs(t *testing.T) {
	var old corev1.PodSpec
	fill(reflect.ValueOf(&old).Elem())
	spec := old.DeepCopy()
	var free []string
	eachZeroed(reflect.ValueOf(spec).Elem(), "spec", func(path string) {
		if len(spec.Containers) > 0 && len(spec.InitContainers) > 0 && equalPodSpecs(spec, &old) {
			free = append(free, path)
		}
	})
	require.ElementsMatch(t, []string{
		"spec.Containers[0].Image", "spec.InitContainers[0].Image", "spec.ActiveDeadlineSeconds", "spec.ActiveDeadlineSeconds",
		"spec.Tolerations", "spec.Tolerations[0]", "spec.Tolerations[0].Key", "spec.Tolerations[0].Operator", "spec.Tolerations[0].Value",
		"spec.Tolerations[0].Effect", "spec.Tolerations[0].TolerationSeconds", "spec.Tolerations[0].TolerationSeconds",
		"spec.SchedulingGates", "spec.SchedulingGates[0]", "spec.SchedulingGates[0].Name",
	}, free)
}
