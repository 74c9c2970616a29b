package typedjson

import (
	"reflect"
	"slices"
	"strings"
)

// strategy is how a strategic merge patch changes a field, by the tags of the field.
type strategy int8

const (
	// defaultStrategy merges objects and maps, and replaces all other values.
	defaultStrategy strategy = iota
	// replaceStrategy replaces objects and maps, too.
	replaceStrategy
	// mergeStrategy merges lists by the keys of their elements.
	mergeStrategy
)

// newStrategy returns the strategy of the tag patchStrategy. In that tag, retainKeys has no effect
// without a directive in the patch.
func newStrategy(tag string) strategy {
	for name := range strings.SplitSeq(tag, ",") {
		switch name {
		case "replace":
			return replaceStrategy
		case "merge":
			return mergeStrategy
		}
	}
	return defaultStrategy
}

// setElementOrder is the prefix of the directive that orders the elements of a list.
const setElementOrder = "$setElementOrder/"

// isDirective reports whether a key of a map may be a directive of a strategic merge patch.
func (d *decoder) isDirective(key []byte) bool {
	return d.isStrategic && len(key) > 0 && key[0] == '$'
}

// maxMerged is the number of elements up to which lists are merged.
const maxMerged = 256

// elementKey is the key of an element in a list that is merged: a string or an integer. That of a
// string is the string itself.
type elementKey struct {
	text   string
	number int64
}

// StrategicMerge applies a strategic merge patch to obj, a pointer to a value of the type, by the
// patch tags of the Go types. It returns false if the patch is not supported. obj must not be used
// then.
func (t *Type) StrategicMerge(patch []byte, obj any) bool {
	d := decoder{data: patch, isPatch: true, isStrategic: true}
	return t != nil && t.kind == structKind && !t.hasRawJSON() && d.document(t, reflect.ValueOf(obj).Elem(), true)
}

// containsRawJSON reports whether values of the type may have JSON of any kind. The library sorts the
// members of objects in it. seen are the types that were asked before.
func (t *Type) containsRawJSON(seen map[*Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.kindOf() {
	case listKind, mapKind, pointerKind:
		return t.elem.containsRawJSON(seen)
	case structKind:
		if _, ok := t.goType.FieldByName("Raw"); ok {
			return true
		}
		return slices.ContainsFunc(t.fields, func(f field) bool { return f.typ.containsRawJSON(seen) })
	}
	return false
}

// mergeObject reads an object of a strategic merge patch and merges it with v, a struct.
func (d *decoder) mergeObject(t *Type, v reflect.Value) bool {
	if !d.accept('{') || d.depth == maxDepth {
		return false
	}
	d.depth++
	defer func() { d.depth-- }()
	var seen uint64                    // a bit for each field
	var orders map[*field][]elementKey // by directives whose lists are not read yet
	for first := true; ; first = false {
		name, done, ok := d.member(first)
		if !ok {
			return false
		}
		if done {
			break
		}
		fieldName, isOrder := strings.CutPrefix(string(name), setElementOrder)
		i, ok := t.byName[fieldName]
		if !ok || seen&(1<<i) != 0 {
			return false
		}
		f := &t.fields[i]
		if isOrder {
			order, ok := d.elementOrder(f)
			isNull := f.in(v).IsNil() && !f.omitEmpty // in the document, which the library refuses
			if !ok || isNull || orders[f] != nil {
				return false
			}
			if orders == nil {
				orders = make(map[*field][]elementKey)
			}
			orders[f] = order
			continue
		}
		seen |= 1 << i
		if !d.mergeField(f, f.in(v), orders[f]) {
			return false
		}
		delete(orders, f)
	}
	for f, order := range orders {
		list := f.in(v)
		keys, ok := f.keysOf(list)
		if !ok {
			return false
		}
		if len(keys) > 0 {
			setSorted(list, list, keys, len(keys), order)
		}
	}
	return true
}

// mergeField reads the value of a field and merges it with v. order is nil without a directive.
func (d *decoder) mergeField(f *field, v reflect.Value, order []elementKey) bool {
	switch {
	case f.strategy == mergeStrategy && d.next() == '[':
		return d.mergeList(f, v, order)
	case order != nil:
		return false
	case f.strategy == replaceStrategy:
		v.SetZero()
	}
	return d.value(f.typ, v, f.strategy != replaceStrategy)
}

// mergeList reads a list and merges it with the one in v: an element with the key of an element in v
// is merged with that one.
func (d *decoder) mergeList(f *field, v reflect.Value, order []elementKey) bool {
	keys, ok := f.keysOf(v)
	if !ok || d.depth == maxDepth {
		return false
	}
	d.depth++
	defer func() { d.depth-- }()
	d.at++
	n := len(keys)
	merged := reflect.AppendSlice(reflect.MakeSlice(f.typ.goType, 0, n), v)
	var patched []elementKey
	for {
		done, ok := d.more(']', len(patched) == 0)
		if !ok {
			return false
		}
		if done {
			break
		}
		key, ok := d.elementKey(f)
		if !ok || slices.Contains(patched, key) || len(patched) == maxMerged {
			return false
		}
		patched = append(patched, key)
		i := slices.Index(keys[:n], key)
		if i < 0 {
			i = len(keys)
			keys = append(keys, key)
			merged = reflect.Append(merged, reflect.Zero(f.typ.elem.goType))
		}
		if !d.value(f.typ.elem, merged.Index(i), i < n) {
			return false
		}
	}
	if order == nil {
		order = patched
	} else if !isSubsequence(patched, order) {
		return false
	}
	setSorted(v, merged, keys, n, order)
	return true
}

// keysOf returns the keys of the elements of a list. It returns false if they are not unique, or not
// supported.
func (f *field) keysOf(list reflect.Value) ([]elementKey, bool) {
	key, ok := f.keyField()
	if !ok || list.Len() > maxMerged {
		return nil, false
	}
	keys := make([]elementKey, 0, list.Len()+1)
	for i := range list.Len() {
		v := list.Index(i)
		if key != nil {
			v = key.in(v)
		}
		var of elementKey
		if v.Kind() == reflect.String {
			of.text = v.String()
		} else {
			of.number = v.Int()
		}
		if of == (elementKey{}) || slices.Contains(keys, of) {
			return nil, false
		}
		keys = append(keys, of)
	}
	return keys, true
}

// keyField returns the field that is the key of the elements of a list, or nil if the elements are
// strings. It returns false if the list is not merged, or its keys are not supported.
func (f *field) keyField() (*field, bool) {
	elem := f.typ.elem
	switch {
	case f.strategy != mergeStrategy:
		return nil, false
	case f.typ.kind == stringsKind:
		return nil, f.mergeKey == ""
	case f.typ.kind != listKind || elem.kindOf() != structKind || elem.isUnmarshaler:
		return nil, false
	}
	i, ok := elem.byName[f.mergeKey]
	if !ok {
		return nil, false
	}
	key := &elem.fields[i]
	return key, key.typ.kind == stringKind || key.typ.kind == intKind
}

// elementKey returns the key of the element that comes next. It does not read the element.
func (d *decoder) elementKey(f *field) (key elementKey, ok bool) {
	start := d.at
	defer func() { d.at = start }()
	if f.mergeKey == "" {
		return d.key()
	}
	if !d.accept('{') {
		return elementKey{}, false
	}
	for first := true; ; first = false {
		name, done, ok := d.member(first)
		switch {
		case done || !ok:
			return elementKey{}, false
		case string(name) == f.mergeKey:
			return d.key()
		}
		if !d.skip() {
			return elementKey{}, false
		}
	}
}

// key reads a key. Empty ones are not supported.
func (d *decoder) key() (key elementKey, ok bool) {
	if d.next() == '"' {
		text, ok := d.str()
		return elementKey{text: string(text)}, ok && len(text) > 0
	}
	n, ok := d.number()
	return elementKey{number: n}, ok && n != 0
}

// elementOrder reads the value of a directive: the keys of elements, in the order that they have in
// the result.
func (d *decoder) elementOrder(f *field) (order []elementKey, ok bool) {
	if _, ok := f.keyField(); !ok || !d.accept('[') {
		return nil, false
	}
	for {
		done, ok := d.more(']', len(order) == 0)
		if done || !ok {
			return order, ok && len(order) > 0
		}
		key, ok := d.elementKey(f)
		if !ok || !d.skip() || slices.Contains(order, key) || len(order) == maxMerged {
			return nil, false
		}
		order = append(order, key)
	}
}

// isSubsequence reports whether all keys are in order, one after the other.
func isSubsequence(keys, order []elementKey) bool {
	for _, key := range order {
		if len(keys) > 0 && keys[0] == key {
			keys = keys[1:]
		}
	}
	return len(keys) == 0
}

// setSorted sets v to the elements of merged, which have the keys and of which the first n were in
// the list before the patch. Elements in order have that order. The others have the order of before,
// each in front of the first element in order that it was in front of before.
func setSorted(v, merged reflect.Value, keys []elementKey, n int, order []elementKey) {
	var ordered, others []int
	for _, key := range order {
		if i := slices.Index(keys, key); i >= 0 {
			ordered = append(ordered, i)
		}
	}
	for i := range keys {
		if !slices.Contains(ordered, i) {
			others = append(others, i)
		}
	}
	sorted := reflect.MakeSlice(merged.Type(), 0, len(keys))
	for len(ordered)+len(others) > 0 {
		next := &ordered
		if len(ordered) == 0 || len(others) > 0 && ordered[0] < n && others[0] < ordered[0] {
			next = &others
		}
		sorted = reflect.Append(sorted, merged.Index((*next)[0]))
		*next = (*next)[1:]
	}
	v.Set(sorted)
}
