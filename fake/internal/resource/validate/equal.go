package validate

import (
	"bytes"
	"maps"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EqualValues reports whether two addressable values of one type, a part of an API object, are
// equal by the rules of equality.Semantic. Unlike that package it does not allocate for most types:
// it does not expect cycles.
func EqualValues(x, y reflect.Value) bool {
	switch x.Kind() {
	case reflect.String:
		return x.String() == y.String()
	case reflect.Bool:
		return x.Bool() == y.Bool()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return x.Int() == y.Int()
	case reflect.Pointer:
		if x.IsNil() || y.IsNil() || x.UnsafePointer() == y.UnsafePointer() {
			return x.IsNil() == y.IsNil()
		}
		return EqualValues(x.Elem(), y.Elem())
	case reflect.Slice:
		return equalSlices(x, y)
	case reflect.Struct:
		return equalStructs(x, y)
	case reflect.Map:
		return equalMaps(x, y)
	}
	return equality.Semantic.DeepEqual(x.Interface(), y.Interface())
}

func equalSlices(x, y reflect.Value) bool {
	if x.Len() != y.Len() {
		return false
	}
	if x.Type().Elem().Kind() == reflect.Uint8 {
		return bytes.Equal(x.Bytes(), y.Bytes())
	}
	for i := range x.Len() {
		if !EqualValues(x.Index(i), y.Index(i)) {
			return false
		}
	}
	return true
}

func equalStructs(x, y reflect.Value) bool {
	switch a := x.Addr().Interface().(type) {
	case *resource.Quantity:
		return a.Cmp(*y.Addr().Interface().(*resource.Quantity)) == 0
	case *metav1.Time:
		return a.Equal(y.Addr().Interface().(*metav1.Time))
	case *metav1.MicroTime:
		return a.Equal(y.Addr().Interface().(*metav1.MicroTime))
	case *metav1.FieldsV1:
		return a.Equal(*y.Addr().Interface().(*metav1.FieldsV1))
	}
	for i := range x.NumField() {
		if !EqualValues(x.Field(i), y.Field(i)) {
			return false
		}
	}
	return true
}

func equalMaps(x, y reflect.Value) bool {
	switch a := x.Addr().Interface().(type) {
	case *map[string]string:
		return maps.Equal(*a, *y.Addr().Interface().(*map[string]string))
	case *corev1.ResourceList:
		return equalResources(*a, *y.Addr().Interface().(*corev1.ResourceList))
	}
	return equality.Semantic.DeepEqual(x.Interface(), y.Interface())
}

func equalResources(a, b corev1.ResourceList) bool {
	if len(a) != len(b) {
		return false
	}
	for name, quantity := range a {
		if other, ok := b[name]; !ok || quantity.Cmp(other) != 0 {
			return false
		}
	}
	return true
}
