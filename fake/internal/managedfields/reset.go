package managedfields

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"example.com/fakeapi/fake/internal/resource"
)

// path is a field named from the top of an object, for instance metadata, labels.
type path []string

func paths(names []string) []path {
	var all []path
	for _, name := range names {
		all = append(all, strings.Split(name, "."))
	}
	return all
}

// resets are the fields that a write at the resource or subresource cannot
// change, because the server sets them back, and hence must not own (SA-32).
func resets(res *resource.Resource, subresource string) []path {
	if subresource == "" {
		return paths(res.ResetFields)
	}
	if sub := res.Subresource(subresource); sub != nil {
		return paths(sub.ResetFields)
	}
	return nil
}

// owns are the only fields that a write at a subresource can own; none where it is
// all but the resets.
func owns(res *resource.Resource, subresource string) []path {
	if sub := res.Subresource(subresource); sub != nil {
		return paths(sub.OwnedFields)
	}
	return nil
}

// filter is what a write can own as the library wants it, nil for everything.
func filter(resets, owns []path) fieldpath.Filter {
	switch {
	case len(owns) > 0:
		return include(owns)
	case len(resets) > 0:
		return exclude(resets)
	}
	return nil
}

func include(owns []path) fieldpath.Filter {
	var matchers []*fieldpath.SetMatcher
	for _, p := range owns {
		var parts []any
		for _, name := range p {
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

func exclude(resets []path) fieldpath.Filter {
	set := fieldpath.NewSet()
	for _, p := range resets {
		var parts fieldpath.Path
		for _, name := range p {
			parts = append(parts, fieldpath.PathElement{FieldName: &name})
		}
		set.Insert(parts)
	}
	return fieldpath.NewExcludeSetFilter(set)
}

// filters are the same filter in every version.
func filters(one fieldpath.Filter, versions []schema.GroupVersion) map[fieldpath.APIVersion]fieldpath.Filter {
	if one == nil {
		return nil
	}
	byVersion := make(map[fieldpath.APIVersion]fieldpath.Filter, len(versions))
	for _, gv := range versions {
		byVersion[fieldpath.APIVersion(gv.String())] = one
	}
	return byVersion
}
