package typedjson

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	kjson "sigs.k8s.io/json"
)

// Decode decodes data, the JSON of an object, into obj, a pointer to a zero value of the type. It
// returns false if data is not supported: it may be invalid, or have unknown or duplicate fields.
// obj must not be used then.
func (t *Type) Decode(data []byte, obj any) bool {
	d := decoder{data: data}
	return t != nil && d.document(t, reflect.ValueOf(obj).Elem(), false)
}

// Merge applies a JSON merge patch to obj, a pointer to a value of the type. It returns false if
// the patch is not supported. obj must not be used then.
func (t *Type) Merge(patch []byte, obj any) bool {
	d := decoder{data: patch, isPatch: true}
	return t != nil && d.document(t, reflect.ValueOf(obj).Elem(), true)
}

// document reads the object that is the whole data.
func (d *decoder) document(t *Type, v reflect.Value, exists bool) bool {
	return d.next() == '{' && d.value(t, v, exists) && d.next() == 0 && d.at == len(d.data)
}

// value reads a value into v. exists reports whether a patch is merged with v; otherwise v is a
// zero value.
func (d *decoder) value(t *Type, v reflect.Value, exists bool) bool {
	c := d.next()
	if c == 'n' {
		return d.null(t, v)
	}
	kind := t.kindOf()
	switch {
	case kind == timeKind && c == '"':
		return d.time(v)
	case kind == intOrStringKind && (c == '"' || isNumberByte(c)):
		return d.intOrString(v.Addr().Interface().(*intstr.IntOrString), c)
	}
	if t.isUnmarshaler {
		return d.unmarshal(t, v)
	}
	switch kind {
	case stringKind:
		text, ok := d.str()
		if ok {
			v.SetString(string(text))
		}
		return ok
	case boolKind:
		v.SetBool(c == 't')
		return d.literal("true") || d.literal("false")
	case intKind:
		n, ok := d.number()
		if !ok || v.OverflowInt(n) {
			return false
		}
		v.SetInt(n)
		return true
	case floatKind:
		raw, ok := d.raw()
		return ok && kjson.UnmarshalCaseSensitivePreserveInts(raw, v.Addr().Interface()) == nil
	case bytesKind:
		return d.bytes(v)
	case stringsKind:
		return d.strings(v)
	case listKind:
		return d.list(t, v)
	case stringMapKind:
		return d.stringMap(v, exists)
	case mapKind:
		return d.mapping(t, v, exists)
	case pointerKind:
		if exists && !v.IsNil() {
			return d.value(t.elem, v.Elem(), true)
		}
		target := reflect.New(t.elem.goType)
		v.Set(target)
		return d.value(t.elem, target.Elem(), false)
	case structKind:
		if d.isStrategic && exists {
			return d.mergeObject(t, v)
		}
		return d.object(t, v, exists)
	}
	return false
}

// null reads null, which removes a field.
func (d *decoder) null(t *Type, v reflect.Value) bool {
	if !d.literal("null") {
		return false
	}
	if t.isUnmarshaler && !d.isPatch {
		return v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON([]byte("null")) == nil
	}
	v.SetZero()
	return true
}

// unmarshal reads a value of a type with its own UnmarshalJSON. Objects and lists in a patch are
// not supported, because they are merged as JSON, nor numbers that the library writes in another
// way after a strategic merge.
func (d *decoder) unmarshal(t *Type, v reflect.Value) bool {
	raw, ok := d.fieldsV1(t)
	if !ok {
		raw, ok = d.raw()
	}
	if !ok || d.isPatch && (raw[0] == '{' || raw[0] == '[') {
		return false
	}
	if d.isStrategic && raw[0] != '"' && bytes.ContainsAny(raw, ".eE") {
		return false
	}
	v.SetZero()
	return v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(raw) == nil
}

// fieldsV1 reads the text of a FieldsV1 as the server writes it. ok is false if it has another
// form, or t is another type.
func (d *decoder) fieldsV1(t *Type) (text []byte, ok bool) {
	if t.kindOf() != fieldsV1Kind {
		return nil, false
	}
	n := fieldsLen(d.data[d.at:])
	d.at += n
	return d.data[d.at-n : d.at], n > 0
}

// time reads a metav1.Time as its UnmarshalJSON does.
func (d *decoder) time(v reflect.Value) bool {
	text, ok := d.str()
	if !ok {
		return false
	}
	t, err := time.Parse(time.RFC3339, string(text))
	v.Addr().Interface().(*metav1.Time).Time = t.Local()
	return err == nil
}

// intOrString reads a string or an integer, whose first byte is c.
func (d *decoder) intOrString(v *intstr.IntOrString, c byte) bool {
	if c == '"' {
		text, ok := d.str()
		*v = intstr.FromString(string(text))
		return ok
	}
	n, ok := d.number()
	*v = intstr.FromInt32(int32(n))
	return ok && int64(v.IntVal) == n
}

func (d *decoder) bytes(v reflect.Value) bool {
	text, ok := d.str()
	if !ok {
		return false
	}
	b := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(b, text)
	v.SetBytes(b[:n])
	return err == nil
}

// list reads a list, which replaces the one in v.
func (d *decoder) list(t *Type, v reflect.Value) bool {
	if !d.accept('[') || d.depth == maxDepth {
		return false
	}
	d.depth++
	defer func() { d.depth-- }()
	v.SetZero()
	for i := 0; ; i++ {
		done, ok := d.more(']', i == 0)
		switch {
		case !ok, !done && d.isPatch && d.next() == 'n':
			return false
		case done && i == 0:
			v.Set(reflect.MakeSlice(t.goType, 0, 0))
			return true
		case done:
			return true
		}
		if i >= v.Cap() {
			v.Grow(1)
		}
		v.SetLen(i + 1)
		if !d.value(t.elem, v.Index(i), false) {
			return false
		}
	}
}

// strings reads a list of strings.
func (d *decoder) strings(v reflect.Value) bool {
	if !d.accept('[') {
		return false
	}
	list := []string{}
	for {
		done, ok := d.more(']', len(list) == 0)
		if !ok {
			return false
		}
		if done {
			*v.Addr().Interface().(*[]string) = list
			return true
		}
		text, ok := d.str()
		if !ok {
			return false
		}
		list = append(list, string(text))
	}
}

// stringMap reads a map of strings.
func (d *decoder) stringMap(v reflect.Value, exists bool) bool {
	target := v.Addr().Interface().(*map[string]string)
	if *target == nil {
		*target, exists = make(map[string]string), false
	}
	m := *target
	if !d.accept('{') {
		return false
	}
	for first := true; ; first = false {
		name, done, ok := d.member(first)
		if done || !ok {
			return ok
		}
		key := string(name)
		if d.isDirective(name) {
			return false
		}
		if d.next() == 'n' && exists {
			delete(m, key)
			if !d.literal("null") {
				return false
			}
			continue
		}
		text, ok := d.str()
		if !ok {
			return false
		}
		if _, isDuplicate := m[key]; isDuplicate && !exists {
			return false
		}
		m[key] = string(text)
	}
}

// mapping reads any other map.
func (d *decoder) mapping(t *Type, v reflect.Value, exists bool) bool {
	if v.IsNil() {
		v.Set(reflect.MakeMap(t.goType))
		exists = false
	}
	if !d.accept('{') {
		return false
	}
	for first := true; ; first = false {
		name, done, ok := d.member(first)
		if done || !ok {
			return ok
		}
		if d.isDirective(name) {
			return false
		}
		key := reflect.New(t.goType.Key()).Elem()
		key.SetString(string(name))
		c := d.next()
		if c == 'n' {
			if !exists || !d.literal("null") {
				return false
			}
			v.SetMapIndex(key, reflect.Value{})
			continue
		}
		// A duplicate, an object to merge with, or a list, for which the library has no strategy.
		if (!exists || c == '{' || c == '[' && d.isStrategic) && v.MapIndex(key).IsValid() {
			return false
		}
		elem := reflect.New(t.elem.goType).Elem()
		if !d.value(t.elem, elem, false) {
			return false
		}
		v.SetMapIndex(key, elem)
	}
}

// member reads the name of the next member of an object, and the colon. done is true at its end.
func (d *decoder) member(first bool) (name []byte, done, ok bool) {
	if done, ok = d.more('}', first); done || !ok {
		return nil, done, ok
	}
	if name, ok = d.str(); !ok {
		return nil, false, false
	}
	return name, false, d.accept(':')
}

// object reads a struct.
func (d *decoder) object(t *Type, v reflect.Value, exists bool) bool {
	if !d.accept('{') || d.depth == maxDepth {
		return false
	}
	d.depth++
	defer func() { d.depth-- }()
	var seen uint64 // a bit for each field
	next := 0       // the field that probably comes next
	for first := true; ; first = false {
		name, done, ok := d.member(first)
		if done || !ok {
			return ok
		}
		if next >= len(t.fields) || t.fields[next].name != string(name) {
			if next, ok = t.byName[string(name)]; !ok {
				return false
			}
		}
		bit := uint64(1) << next
		if seen&bit != 0 {
			return false
		}
		seen |= bit
		f := &t.fields[next]
		if !d.value(f.typ, f.in(v), exists) {
			return false
		}
		next++
	}
}
