package fastpath

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
)

// typedAccessor reads Go values of built-in types. An absent value is an invalid reflect.Value. A
// nil pointer, slice or map is null.
type typedAccessor struct{}

func (typedAccessor) isAbsent(v reflect.Value) bool { return !v.IsValid() }

func (typedAccessor) isNull(v reflect.Value) bool { return isNil(v) }

func isNil(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return v.IsNil()
	}
	return false
}

// content returns the value that v points to, or v. It is invalid if v is absent or null.
func content(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.IsValid() && isNil(v) {
		return reflect.Value{}
	}
	return v
}

func (typedAccessor) equal(p *plan, a, b reflect.Value) bool { return p.equal(a, b) }

// conforms is always true: scalars of Go types conform, and no Go type is untyped.
func (typedAccessor) conforms(*plan, reflect.Value) bool { return true }

func (typedAccessor) untypedPlan(_, _ reflect.Value) *plan { return nil }

func (typedAccessor) field(f *planField, v reflect.Value) reflect.Value { return f.value(v) }

func (typedAccessor) compareMembers(c *comparer[reflect.Value], p *plan, before, after reflect.Value) bool {
	old, now := content(before), content(after)
	if p.kind == dictionary {
		return compareMaps(c, p, old, now)
	}
	hasMembers := false
	for i := range p.fields {
		f := &p.fields[i]
		was, is := f.value(old), f.value(now)
		if !was.IsValid() && !is.IsValid() {
			continue
		}
		hasMembers = true
		if f.excluded && f.plan.alwaysValid {
			continue
		}
		if f.plan.kind == leaf && f.plan.alwaysValid && was.IsValid() && is.IsValid() && f.plan.equal(was, is) {
			continue // the most common case
		}
		if c.compareMember(f.plan, f, f.name, was, is); c.unsupported {
			return true
		}
	}
	return hasMembers
}

// compareMaps compares two Go maps. Each may be absent.
func compareMaps(c *comparer[reflect.Value], p *plan, old, now reflect.Value) bool {
	if length(old) == 0 && length(now) == 0 {
		return false
	}
	switch p.mapType {
	case stringMap:
		compareGoMaps[map[string]string](c, old, now, func(a, b string) bool { return a == b })
		return true
	case resourceList:
		compareGoMaps[corev1.ResourceList](c, old, now, equalQuantities)
		return true
	}
	if now.IsValid() {
		for i := now.MapRange(); i.Next(); {
			c.compareMember(p.elem, nil, i.Key().String(), mapIndex(old, i.Key()), i.Value())
		}
	}
	if old.IsValid() {
		for i := old.MapRange(); i.Next(); {
			if !mapIndex(now, i.Key()).IsValid() {
				c.compareMember(p.elem, nil, i.Key().String(), i.Value(), reflect.Value{})
			}
		}
	}
	return true
}

// compareGoMaps compares two maps of a known type whose values are leaves.
func compareGoMaps[M ~map[K]E, K ~string, E any](c *comparer[reflect.Value], old, now reflect.Value, equal func(a, b E) bool) {
	var before, after M
	if old.IsValid() {
		before = old.Interface().(M)
	}
	if now.IsValid() {
		after = now.Interface().(M)
	}
	for name, is := range after {
		if was, ok := before[name]; !ok || !equal(was, is) {
			c.addMember(node{element: element{string(name), fieldElement}, member: true})
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			c.addMember(node{element: element{string(name), fieldElement}, removed: true})
		}
	}
}

// length returns the length of a list or map, 0 if it is absent.
func length(v reflect.Value) int {
	if !v.IsValid() {
		return 0
	}
	return v.Len()
}

func mapIndex(m, key reflect.Value) reflect.Value {
	if !m.IsValid() {
		return m
	}
	return m.MapIndex(key)
}

func (typedAccessor) checkMembers(c *comparer[reflect.Value], p *plan, v reflect.Value) {
	v = content(v)
	switch {
	case !v.IsValid():
	case p.kind == dictionary:
		for i := v.MapRange(); i.Next(); {
			c.check(p.elem, i.Value())
		}
	default:
		for i := range p.fields {
			if f := &p.fields[i]; !f.plan.alwaysValid {
				c.check(f.plan, f.value(v))
			}
		}
	}
}

func (typedAccessor) list(v reflect.Value) (l reflect.Value, n int, ok bool) {
	l = content(v)
	return l, length(l), true
}

func (typedAccessor) item(l reflect.Value, i int) reflect.Value { return l.Index(i) }

func (typedAccessor) key(v reflect.Value) (k keyValue, ok bool) {
	switch v = reflect.Indirect(v); v.Kind() {
	case reflect.String:
		return keyValue{text: v.String()}, true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return keyValue{integer: v.Int(), isInteger: true}, true
	}
	return keyValue{}, false
}
