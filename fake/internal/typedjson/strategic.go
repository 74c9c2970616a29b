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

// The directives that are supported: the prefix of the name of a list, with the order of its
// elements; the prefix of the name of a list of strings, with those to delete; and the member of an
// element of a list that is to be deleted.
const (
	setElementOrder         = "$setElementOrder/"
	deleteFromPrimitiveList = "$deleteFromPrimitiveList/"
	patchDirective          = "$patch"
)

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

// containsRawJSON reports whether values of the type may have JSON of any kind. The library sorts
// the members of objects in it. seen are the types that were asked before.
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
	var seen uint64                          // a bit for each field
	var orders, deletes map[int][]elementKey // by the index of the field
	for first := true; ; first = false {
		name, done, ok := d.member(first)
		if !ok {
			return false
		}
		if done {
			break
		}
		fieldName, isOrder := strings.CutPrefix(string(name), setElementOrder)
		fieldName, isDelete := strings.CutPrefix(fieldName, deleteFromPrimitiveList)
		i, ok := t.byName[fieldName]
		if !ok || seen&(1<<i) != 0 {
			return false
		}
		f := &t.fields[i]
		switch {
		case isDelete:
			ok = !isOrder && f.mergeKey == "" && d.directive(f, i, &deletes)
		case isOrder:
			// The library refuses an order if the list is null in the document.
			isNull := f.typ.kind == listKind && f.in(v).IsNil() && !f.omitEmpty
			ok = !isNull && d.directive(f, i, &orders)
		default:
			seen |= 1 << i
			ok = d.mergeField(f, f.in(v), orders[i])
		}
		if !ok {
			return false
		}
	}
	for i, order := range orders {
		if seen&(1<<i) == 0 && !t.fields[i].sort(t.fields[i].in(v), order, nil) {
			return false
		}
	}
	for i, deleted := range deletes {
		if seen&(1<<i) != 0 || !t.fields[i].sort(t.fields[i].in(v), nil, deleted) {
			return false
		}
	}
	return true
}

// directive reads the value of a directive about a list: keys of its elements.
func (d *decoder) directive(f *field, i int, all *map[int][]elementKey) bool {
	keys, ok := d.elementKeys(f)
	if !ok || (*all)[i] != nil {
		return false
	}
	if *all == nil {
		*all = make(map[int][]elementKey)
	}
	(*all)[i] = keys
	return true
}

// sort sorts a list that is not in the patch, and deletes elements of it.
func (f *field) sort(list reflect.Value, order, deleted []elementKey) bool {
	keys, ok := f.keysOf(list)
	if ok && len(keys) > 0 {
		setSorted(list, list, keys, len(keys), order, deleted)
	}
	return ok
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

// mergeList reads a list and merges it with the one in v: an element with the key of an element in
// v is merged with that one.
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
	var patched, deleted []elementKey
	for {
		done, ok := d.more(']', len(patched)+len(deleted) == 0)
		if !ok {
			return false
		}
		if done {
			break
		}
		key, isDeleted, ok := d.elementKey(f)
		if !ok || slices.Contains(patched, key) || slices.Contains(deleted, key) || len(patched)+len(deleted) == maxMerged {
			return false
		}
		if isDeleted {
			deleted = append(deleted, key)
			if !d.skip() {
				return false
			}
			continue
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
	setSorted(v, merged, keys, n, order, deleted)
	return true
}

// keysOf returns the keys of the elements of a list. It returns false if they are not unique, or
// not supported.
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

// elementKey returns the key of the element that comes next, and whether a directive before the key
// deletes it. It does not read the element.
func (d *decoder) elementKey(f *field) (key elementKey, isDeleted, ok bool) {
	start := d.at
	defer func() { d.at = start }()
	if f.mergeKey == "" { // the elements are strings
		key, ok = d.key()
		return key, false, ok && key.text != ""
	}
	if !d.accept('{') {
		return key, false, false
	}
	for first := true; ; first = false {
		name, done, ok := d.member(first)
		switch {
		case done || !ok:
			return key, false, false
		case string(name) == f.mergeKey:
			key, ok = d.key()
			return key, isDeleted, ok
		case string(name) == patchDirective:
			var text []byte
			if text, ok = d.str(); ok && string(text) == "delete" {
				isDeleted = true
				continue
			}
			return key, false, false
		}
		if !d.skip() {
			return key, false, false
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

// elementKeys reads a list with the keys of elements, which are unique.
func (d *decoder) elementKeys(f *field) (keys []elementKey, ok bool) {
	if _, ok := f.keyField(); !ok || !d.accept('[') {
		return nil, false
	}
	for {
		done, ok := d.more(']', len(keys) == 0)
		if done || !ok {
			return keys, ok && len(keys) > 0
		}
		key, isDeleted, ok := d.elementKey(f)
		if !ok || isDeleted || !d.skip() || slices.Contains(keys, key) || len(keys) == maxMerged {
			return nil, false
		}
		keys = append(keys, key)
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

// setSorted sets v to the elements of merged that are not deleted. They have the keys, and the
// first n were in the list before the patch. Elements in order have that order. The others have the
// order of before, each in front of the first element in order that it was in front of before.
func setSorted(v, merged reflect.Value, keys []elementKey, n int, order, deleted []elementKey) {
	var ordered, others []int
	for _, key := range order {
		if i := slices.Index(keys, key); i >= 0 && !slices.Contains(deleted, key) {
			ordered = append(ordered, i)
		}
	}
	for i, key := range keys {
		if !slices.Contains(ordered, i) && !slices.Contains(deleted, key) {
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
