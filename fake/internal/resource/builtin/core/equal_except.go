package core

import (
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// equalExcept reports whether two structs are equal by the rules of equality.Semantic, apart from the
// fields of a that except points to. Unlike that package it does not allocate for the types in the
// specs of pods.
func equalExcept[T any](a, b *T, except ...any) bool {
	x, y := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for i := range x.NumField() {
		f := x.Field(i)
		if !slices.Contains(except, f.Addr().Interface()) && !equalValues(f, y.Field(i)) {
			return false
		}
	}
	return true
}

// equalValues compares two addressable values of the same type.
func equalValues(x, y reflect.Value) bool {
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
		return equalValues(x.Elem(), y.Elem())
	case reflect.Slice:
		if x.Len() != y.Len() {
			return false
		}
		for i := range x.Len() {
			if !equalValues(x.Index(i), y.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		return equalStructs(x, y)
	case reflect.Map:
		return equalMaps(x, y)
	}
	return equality.Semantic.DeepEqual(x.Interface(), y.Interface())
}

func equalStructs(x, y reflect.Value) bool {
	switch a := x.Addr().Interface().(type) {
	case *resource.Quantity:
		return a.Cmp(*y.Addr().Interface().(*resource.Quantity)) == 0
	case *metav1.Time:
		return a.Equal(y.Addr().Interface().(*metav1.Time))
	}
	for i := range x.NumField() {
		if !equalValues(x.Field(i), y.Field(i)) {
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
