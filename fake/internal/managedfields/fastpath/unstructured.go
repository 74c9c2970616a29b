package fastpath

import (
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// jsonAccessor reads decoded JSON. An absent value is nil. Null, which is nil too, and values that
// do not conform to the schema are not supported.
type jsonAccessor struct{}

func (jsonAccessor) isAbsent(v any) bool { return v == nil }

func (jsonAccessor) isNull(any) bool { return false }

func (jsonAccessor) equal(_ *plan, a, b any) bool { return equalJSON(a, b) }

func (jsonAccessor) conforms(p *plan, v any) bool {
	if p.kind == untyped {
		return !hasNull(v)
	}
	return isScalar(p.scalar, v)
}

// isScalar reports whether v is a scalar of a type.
func isScalar(want schema.Scalar, v any) bool {
	switch v.(type) {
	case string:
		return want == schema.String || want == schema.Untyped
	case bool:
		return want == schema.Boolean || want == schema.Untyped
	case int64, float64:
		return want == schema.Numeric || want == schema.Untyped
	}
	return false
}

// hasNull reports whether v is or contains null, or a value that is not JSON.
func hasNull(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, value := range v {
			if hasNull(value) {
				return true
			}
		}
		return false
	case []any:
		return slices.ContainsFunc(v, hasNull)
	}
	return !isScalar(schema.Untyped, v)
}

// untypedPlan returns nil if only one of the values is an object: the library compares them by two
// schemas.
func (jsonAccessor) untypedPlan(before, after any) *plan {
	_, wasObject := before.(map[string]any)
	_, isObject := after.(map[string]any)
	switch {
	case before != nil && after != nil && wasObject != isObject:
		return nil
	case wasObject || isObject:
		return untypedValue
	}
	return untypedLeaf
}

func (jsonAccessor) field(f *planField, v any) any {
	object, _ := v.(map[string]any)
	return object[f.name]
}

func (jsonAccessor) compareMembers(c *comparer[any], p *plan, before, after any) bool {
	old, wasObject := before.(map[string]any)
	now, isObject := after.(map[string]any)
	if before != nil && !wasObject || after != nil && !isObject {
		c.unsupported = true
		return false
	}
	for name, is := range now {
		was, existed := old[name]
		if is == nil || existed && was == nil {
			c.unsupported = true
		}
		compareJSONMember(c, p, name, was, is)
	}
	for name, was := range old {
		if _, exists := now[name]; exists {
			continue
		}
		if was == nil {
			c.unsupported = true
		}
		compareJSONMember(c, p, name, was, nil)
	}
	return len(old)+len(now) > 0
}

func compareJSONMember(c *comparer[any], p *plan, name string, before, after any) {
	if c.unsupported {
		return
	}
	if below, f := p.member(name); below != nil {
		c.compareMember(below, f, name, before, after)
	} else {
		c.unsupported = true
	}
}

func (jsonAccessor) checkMembers(c *comparer[any], p *plan, v any) {
	object, ok := v.(map[string]any)
	c.unsupported = !ok
	for name, value := range object {
		below, _ := p.member(name)
		if below == nil || value == nil {
			c.unsupported = true
		}
		if c.unsupported {
			return
		}
		c.check(below, value)
	}
}

func (jsonAccessor) list(v any) (l any, n int, ok bool) {
	items, isList := v.([]any)
	return v, len(items), v == nil || isList && !slices.Contains(items, nil)
}

func (jsonAccessor) item(l any, i int) any { return l.([]any)[i] }

func (jsonAccessor) key(v any) (k keyValue, ok bool) {
	switch v := v.(type) {
	case string:
		return keyValue{text: v}, true
	case int64:
		return keyValue{integer: v, isInteger: true}, true
	}
	return keyValue{}, false
}
