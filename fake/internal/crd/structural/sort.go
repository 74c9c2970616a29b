package structural

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// sortByPath sorts errors by path, and keeps the order of those with equal paths. The library
// iterates over maps, so that its order is random.
func sortByPath(errs field.ErrorList) field.ErrorList {
	slices.SortStableFunc(errs, func(a, b *field.Error) int { return comparePaths(a.Field, b.Field) })
	return errs
}

// comparePaths compares paths segment by segment, and indexes as numbers.
func comparePaths(a, b string) int {
	return slices.CompareFunc(splitPath(a), splitPath(b), func(a, b string) int {
		m, notA := strconv.Atoi(a)
		n, notB := strconv.Atoi(b)
		if notA == nil && notB == nil {
			return cmp.Compare(m, n)
		}
		return cmp.Compare(a, b)
	})
}

func splitPath(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) })
}
