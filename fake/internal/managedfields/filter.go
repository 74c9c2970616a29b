package managedfields

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"example.com/fakeapi/fake/internal/resource"
)

// splitPaths splits field paths like metadata.labels into their names.
func splitPaths(paths []string) [][]string {
	var split [][]string
	for _, path := range paths {
		split = append(split, strings.Split(path, "."))
	}
	return split
}

// resetFields returns the paths of the fields that a write to the resource or subresource cannot
// change, because the server resets them, and therefore cannot own (SA-32).
func resetFields(res *resource.Resource, subresource string) [][]string {
	if subresource == "" {
		return splitPaths(res.ResetFields)
	}
	if sub := res.Subresource(subresource); sub != nil {
		return splitPaths(sub.ResetFields)
	}
	return nil
}

// ownedFields returns the paths of the only fields that a write to a subresource can own. It
// returns nil if a write can own all fields but the reset fields.
func ownedFields(res *resource.Resource, subresource string) [][]string {
	if sub := res.Subresource(subresource); sub != nil {
		return splitPaths(sub.OwnedFields)
	}
	return nil
}

// newFilter returns the filter of the fields that a write can own, nil if it can own all.
func newFilter(reset, owned [][]string) fieldpath.Filter {
	switch {
	case len(owned) > 0:
		return includeFilter(owned)
	case len(reset) > 0:
		return excludeFilter(reset)
	}
	return nil
}

// includeFilter returns a filter of the fields at and below paths. The name * matches all names.
func includeFilter(paths [][]string) fieldpath.Filter {
	var matchers []*fieldpath.SetMatcher
	for _, path := range paths {
		var parts []any
		for _, name := range path {
			if name == "*" {
				parts = append(parts, fieldpath.MatchAnyPathElement())
			} else {
				parts = append(parts, name)
			}
		}
		matchers = append(matchers, fieldpath.MakePrefixMatcherOrDie(parts...))
	}
	return fieldpath.NewIncludeMatcherFilter(matchers...)
}

// excludeFilter returns a filter of all fields but those at and below paths.
func excludeFilter(paths [][]string) fieldpath.Filter {
	set := fieldpath.NewSet()
	for _, path := range paths {
		var parts fieldpath.Path
		for _, name := range path {
			parts = append(parts, fieldpath.PathElement{FieldName: &name})
		}
		set.Insert(parts)
	}
	return fieldpath.NewExcludeSetFilter(set)
}

// filtersByVersion returns a map with the same filter for all versions, nil if the filter is nil.
func filtersByVersion(filter fieldpath.Filter, versions []schema.GroupVersion) map[fieldpath.APIVersion]fieldpath.Filter {
	if filter == nil {
		return nil
	}
	filters := make(map[fieldpath.APIVersion]fieldpath.Filter, len(versions))
	for _, gv := range versions {
		filters[fieldpath.APIVersion(gv.String())] = filter
	}
	return filters
}
