package patch

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// maxComparisons is the maximum number of comparisons of list elements in a strategic merge patch,
// which are two seconds.
const maxComparisons = 50_000_000

// comparisons returns how often the library compares list elements when it merges a patch into
// current: for each list that is merged, each element of the patch with all elements of both.
func comparisons(current, patch map[string]any, schema strategicpatch.LookupPatchMeta) (total int) {
	for name, value := range patch {
		switch value := value.(type) {
		case map[string]any:
			if fields, ok := current[name].(map[string]any); ok {
				if sub, _, err := schema.LookupPatchMetadataForStruct(name); err == nil {
					total += comparisons(fields, value, sub)
				}
			}
		case []any:
			if list, ok := current[name].([]any); ok {
				total += listComparisons(name, list, value, schema)
			}
		}
	}
	return total
}

// listComparisons is comparisons for a list.
func listComparisons(name string, current, patch []any, schema strategicpatch.LookupPatchMeta) int {
	sub, meta, err := schema.LookupPatchMetadataForSlice(name)
	if err != nil || !slices.Contains(meta.GetPatchStrategies(), "merge") {
		return 0
	}
	key := meta.GetPatchMergeKey()
	if key == "" {
		// The library removes duplicates of all elements, and then sorts those of both.
		both := len(current) + len(patch)
		return both * both
	}
	total := len(patch)*(len(current)+len(patch)) + len(current)*len(current)
	if total > maxComparisons {
		return total
	}
	elements := make(map[string]map[string]any, len(current))
	for _, element := range current {
		if fields, ok := element.(map[string]any); ok {
			if name, ok := fields[key].(string); ok {
				elements[name] = fields
			}
		}
	}
	for _, element := range patch {
		if fields, ok := element.(map[string]any); ok {
			if name, ok := fields[key].(string); ok && elements[name] != nil {
				total += comparisons(elements[name], fields, sub)
			}
		}
	}
	return total
}
