package core

import (
	"reflect"
	"slices"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// equalExcept reports whether two structs are equal by the rules of equality.Semantic, apart from
// the fields of a that except points to.
func equalExcept[T any](a, b *T, except ...any) bool {
	x, y := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for i := range x.NumField() {
		f := x.Field(i)
		if !slices.Contains(except, f.Addr().Interface()) && !validate.EqualValues(f, y.Field(i)) {
			return false
		}
	}
	return true
}
