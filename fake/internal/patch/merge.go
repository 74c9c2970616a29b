package patch

import (
	"maps"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// ApplyUntyped applies the patch to an object as it was decoded, and returns the object that
// decoding the result of Apply returns. It does not encode it, and reports false if that is not
// supported, also if the patch has warnings or fails. The result shares values with object, which
// must not change any more.
func (p *Patch) ApplyUntyped(object map[string]any) (map[string]any, bool) {
	switch {
	case len(p.Warnings) > 0:
	case p.kind == types.JSONPatchType:
		return p.applyUntypedOperations(object)
	case p.kind == types.MergePatchType && p.object != nil:
		return mergeObjects(object, p.object), true
	}
	return nil, false
}

// mergeObjects returns object after a merge patch, as the library for JSON does: RFC 7386, except
// that it keeps nulls in a list that replaces an object.
func mergeObjects(object, patch map[string]any) map[string]any {
	merged := maps.Clone(object)
	for name, value := range patch {
		switch was := object[name]; {
		case value == nil:
			delete(merged, name)
		case was == nil:
			merged[name] = withoutNulls(value)
		default:
			merged[name] = mergeValues(was, value)
		}
	}
	return merged
}

func mergeValues(was, patch any) any {
	object, wasObject := was.(map[string]any)
	if !wasObject {
		return withoutNulls(patch)
	}
	fields, isObject := patch.(map[string]any)
	if !isObject {
		return runtime.DeepCopyJSONValue(patch)
	}
	return mergeObjects(object, fields)
}

// withoutNulls returns a copy of a value of a patch without the fields that are null.
func withoutNulls(value any) any {
	switch value := value.(type) {
	case map[string]any:
		fields := make(map[string]any, len(value))
		for name, field := range value {
			if field != nil {
				fields[name] = withoutNulls(field)
			}
		}
		return fields
	case []any:
		items := make([]any, len(value))
		for i, item := range value {
			items[i] = withoutNulls(item)
		}
		return items
	}
	return value
}
