package structural

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// pathError is an error and the segments of its path.
type pathError struct {
	path []string
	err  *field.Error
}

// sortByPath sorts errors by path, and keeps the order of those with equal paths. The library
// iterates over maps, so that its order is random. Errors of the items of a list itself, such as
// duplicates, precede those of what the items contain, as in the library.
func sortByPath(errs field.ErrorList) field.ErrorList {
	return sortErrors(errs, func(sorted []pathError) {
		slices.SortStableFunc(sorted, func(a, b pathError) int { return comparePaths(a.path, b.path) })
	})
}

// sortByRule sorts the errors of rules: those of a value in the order of its rules, whatever their
// paths, and then those of what it contains, by name or index. This is the order of the library,
// except that it iterates over maps.
func sortByRule(errs field.ErrorList, s *structuralschema.Structural) field.ErrorList {
	return sortErrors(errs, func(sorted []pathError) { sortRuleErrors(sorted, 0, s) })
}

// sortErrors sorts errors by a function that gets them with their paths.
func sortErrors(errs field.ErrorList, sort func([]pathError)) field.ErrorList {
	if len(errs) < 2 {
		return errs
	}
	sorted := make([]pathError, len(errs))
	for i, err := range errs {
		sorted[i] = pathError{splitPath(err.Field), err}
	}
	sort(sorted)
	for i := range sorted {
		errs[i] = sorted[i].err
	}
	return errs
}

// sortRuleErrors is sortByRule for the errors of a value and of what it contains. Their paths have
// the first depth segments in common. s is the schema of the value, and may be nil.
func sortRuleErrors(errs []pathError, depth int, s *structuralschema.Structural) {
	if len(errs) < 2 {
		return
	}
	own := ownPaths(s)
	n := slices.IndexFunc(errs, func(e pathError) bool {
		return !slices.ContainsFunc(own, func(path []string) bool { return slices.Equal(path, e.path[depth:]) })
	})
	if n < 0 {
		return
	}
	errs = errs[n:]
	segment := func(e pathError) string { return strings.Join(e.path[depth:min(depth+1, len(e.path))], "") }
	slices.SortStableFunc(errs, func(a, b pathError) int { return compareSegments(segment(a), segment(b)) })
	for len(errs) > 0 {
		name, end := segment(errs[0]), 1
		for end < len(errs) && segment(errs[end]) == name {
			end++
		}
		if name != "" {
			sortRuleErrors(errs[:end], depth+1, schemaOf(s, name))
		}
		errs = errs[end:]
	}
}

// ownPaths returns the paths of the errors of a value's own rules, relative to the value.
func ownPaths(s *structuralschema.Structural) [][]string {
	own := [][]string{{}}
	if s == nil {
		return own
	}
	for _, rule := range s.XValidations {
		if path, _, err := cel.ValidFieldPath(rule.FieldPath, s); rule.FieldPath != "" && err == nil {
			own = append(own, splitPath(path.String()))
		}
	}
	return own
}

// schemaOf returns the schema of a field or of an item, or nil.
func schemaOf(s *structuralschema.Structural, name string) *structuralschema.Structural {
	switch {
	case s == nil:
	case s.Items != nil:
		return s.Items
	case s.AdditionalProperties != nil:
		return s.AdditionalProperties.Structural
	default:
		if property, ok := s.Properties[name]; ok {
			return &property
		}
	}
	return nil
}

// comparePaths compares paths segment by segment. Where they differ by an index, one that ends
// there is less.
func comparePaths(a, b []string) int {
	for i := range min(len(a), len(b)) {
		order := compareSegments(a[i], b[i])
		if order == 0 {
			continue
		}
		if isIndex(a[i]) && isIndex(b[i]) {
			return cmp.Or(cmp.Compare(min(len(a)-i, 2), min(len(b)-i, 2)), order)
		}
		return order
	}
	return cmp.Compare(len(a), len(b))
}

// compareSegments compares segments of paths: none, then indexes as numbers, then names.
func compareSegments(a, b string) int {
	m, errA := strconv.Atoi(a)
	n, errB := strconv.Atoi(b)
	switch {
	case errA == nil && errB == nil:
		return cmp.Or(cmp.Compare(m, n), cmp.Compare(a, b)) // keys of maps may have leading zeros
	case errA == nil && b != "":
		return -1
	case errB == nil && a != "":
		return 1
	}
	return cmp.Compare(a, b)
}

func isIndex(segment string) bool {
	_, err := strconv.Atoi(segment)
	return err == nil
}

func splitPath(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) })
}
