package fastpath

import "k8s.io/apimachinery/pkg/runtime"

// jsonTarget merges into decoded JSON.
type jsonTarget struct{ jsonAccessor }

func (jsonTarget) isObject(v any) bool {
	_, ok := v.(map[string]any)
	return ok || v == nil
}

func (t jsonTarget) configPlan(live, config any) *plan { return t.untypedPlan(live, config) }

func (jsonTarget) equalConfig(_ *plan, live, config any) bool { return equalJSON(live, config) }

// convert returns a copy of config. A list with keys or a set in a leaf is not supported, because
// its elements must be distinct.
func (jsonTarget) convert(p *plan, config any) (any, bool) {
	c := comparer[any]{values: jsonAccessor{}}
	c.check(p, config)
	return runtime.DeepCopyJSONValue(config), !c.unsupported && config != nil && !p.hasDistinctItems()
}

// isReplacedByNull does not support null.
func (jsonTarget) isReplacedByNull(*plan, any) (replaced, ok bool) { return false, false }

func (jsonTarget) newObject(*plan) any { return map[string]any{} }

func (jsonTarget) member(_ *plan, _ *planField, name string, object any) any {
	return object.(map[string]any)[name]
}

func (jsonTarget) setMember(_ *plan, _ *planField, name string, object, v any) {
	object.(map[string]any)[name] = v
}

func (jsonTarget) newList(_ *plan, items []any) any { return items }

func (jsonTarget) setItem(list any, i int, v any) { list.([]any)[i] = v }
