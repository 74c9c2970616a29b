package typedjson

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	"example.com/fakeapi/fake/internal/jsonvalue"
)

// Operation is an operation of a JSON patch. Op is its name, Path a JSON pointer. Value is JSON
// without white space before it, or nil if it is missing or null.
type Operation struct {
	Op, Path string
	Value    []byte
}

// maxOperations is the number of operations up to which a JSON patch is supported.
const maxOperations = 64

// ApplyOperations applies a JSON patch to obj, a pointer to a value of the type. It returns false
// if the patch is not supported. obj must not be used then.
func (t *Type) ApplyOperations(operations []Operation, obj any) bool {
	if t == nil || len(operations) > maxOperations {
		return false
	}
	changed := false
	for i, op := range operations {
		// A test compares texts, which only values that are not changed yet have as they are encoded.
		isTest := op.Op == "test"
		if isTest && changed || i+1 < len(operations) && op.hasMembers() || !t.applyOperation(op, reflect.ValueOf(obj).Elem()) {
			return false
		}
		changed = changed || !isTest
	}
	return true
}

// hasMembers reports whether the value is an object or a list. Later operations could be about its
// members, and the object does not say which of them are in the JSON.
func (op Operation) hasMembers() bool {
	return len(op.Value) > 0 && (op.Value[0] == '{' || op.Value[0] == '[')
}

func (t *Type) applyOperation(op Operation, v reflect.Value) bool {
	path, ok := strings.CutPrefix(op.Path, "/")
	if !ok {
		return false
	}
	for {
		token, rest, isParent := strings.Cut(path, "/")
		token = jsonvalue.Token(token)
		if t.kindOf() == pointerKind {
			if v.IsNil() {
				return false
			}
			t, v = t.elem, v.Elem()
		}
		switch {
		case t.isMarshaler || t.isUnmarshaler:
			return false
		case !isParent:
			return t.changeMember(op, v, token)
		}
		if t, v, ok = t.member(v, token); !ok {
			return false
		}
		path = rest
	}
}

// member returns a field of a struct or an element of a list, if it is in the JSON of v.
func (t *Type) member(v reflect.Value, token string) (*Type, reflect.Value, bool) {
	switch t.kindOf() {
	case structKind:
		if i, ok := t.byName[token]; ok {
			f := &t.fields[i]
			value := f.in(v)
			return f.typ, value, !f.isOmitted(value)
		}
	case listKind:
		if i, ok := jsonvalue.Index(token, v.Len()); ok {
			return t.elem, v.Index(i), true
		}
	}
	return nil, reflect.Value{}, false
}

// changeMember applies an operation to a member of v.
func (t *Type) changeMember(op Operation, v reflect.Value, token string) bool {
	switch t.kindOf() {
	case structKind:
		return t.changeField(op, v, token)
	case listKind, stringsKind:
		return !v.IsNil() && t.changeElement(op, v, token)
	case mapKind, stringMapKind:
		return !v.IsNil() && t.changeKey(op, v, token)
	}
	return false
}

func (t *Type) changeField(op Operation, v reflect.Value, name string) bool {
	i, ok := t.byName[name]
	if !ok {
		return false
	}
	f := &t.fields[i]
	value := f.in(v)
	switch op.Op {
	case "add", "replace":
		value.SetZero()
		return f.typ.decodeValue(op, value)
	case "remove":
		wasOmitted := f.isOmitted(value)
		value.SetZero()
		return !wasOmitted && f.isOmitted(value) // otherwise later operations would find it
	}
	return !f.isOmitted(value) && f.typ.isTested(op, value)
}

func (t *Type) changeElement(op Operation, v reflect.Value, token string) bool {
	n := v.Len()
	if op.Op == "add" {
		i, ok := n, true
		if token != "-" {
			i, ok = jsonvalue.Index(token, n+1)
		}
		if !ok {
			return false
		}
		v.Set(reflect.Append(v, reflect.Zero(t.elem.goType)))
		reflect.Copy(v.Slice(i+1, n+1), v.Slice(i, n))
		v.Index(i).SetZero()
		return t.elem.decodeValue(op, v.Index(i))
	}
	i, ok := jsonvalue.Index(token, n)
	if !ok {
		return false
	}
	switch op.Op {
	case "replace":
		v.Index(i).SetZero()
		return t.elem.decodeValue(op, v.Index(i))
	case "remove":
		reflect.Copy(v.Slice(i, n-1), v.Slice(i+1, n))
		v.SetLen(n - 1)
		return true
	}
	return t.elem.isTested(op, v.Index(i))
}

func (t *Type) changeKey(op Operation, v reflect.Value, name string) bool {
	key := reflect.New(t.goType.Key()).Elem()
	key.SetString(name)
	switch op.Op {
	case "add", "replace":
		elem := reflect.New(t.elem.goType).Elem()
		if !t.elem.decodeValue(op, elem) {
			return false
		}
		v.SetMapIndex(key, elem)
		return true
	case "remove":
		exists := v.MapIndex(key).IsValid()
		v.SetMapIndex(key, reflect.Value{})
		return exists
	}
	elem := v.MapIndex(key)
	return elem.IsValid() && t.elem.isTested(op, elem)
}

// decodeValue decodes the value of an operation into v, a zero value. The library compacts it
// before.
func (t *Type) decodeValue(op Operation, v reflect.Value) bool {
	compact, err := json.Marshal(json.RawMessage(op.Value))
	if err != nil || op.Value == nil {
		return false
	}
	d := decoder{data: compact}
	return d.value(t, v, false) && d.next() == 0 && d.at == len(d.data)
}

// isTested reports whether an operation tests that v has the value that it has. Objects and lists
// are not supported.
func (t *Type) isTested(op Operation, v reflect.Value) bool {
	if op.Op != "test" || op.hasMembers() {
		return false
	}
	encoded, ok := t.append(nil, v)
	return ok && bytes.Equal(encoded, op.Value)
}
