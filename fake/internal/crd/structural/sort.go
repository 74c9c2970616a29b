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
	if len(errs) < 2 {
		return errs
	}
	type pathError struct {
		path []string
		err  *field.Error
	}
	sorted := make([]pathError, len(errs))
	for i, err := range errs {
		sorted[i] = pathError{splitPath(err.Field), err}
	}
	slices.SortStableFunc(sorted, func(a, b pathError) int { return comparePaths(a.path, b.path) })
	for i := range sorted {
		errs[i] = sorted[i].err
	}
	return errs
}

// comparePaths compares paths segment by segment, and indexes as numbers.
func comparePaths(a, b []string) int {
	return slices.CompareFunc(a, b, func(a, b string) int {
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
