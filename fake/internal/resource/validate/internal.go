package validate

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// Internal returns value as it is in the text of an error, where it is encoded as JSON. A real
// server validates its internal types. They have no JSON tags, so that their fields have the names
// of Go, also those that are not set. The types of apimachinery are the same on both sides.
func Internal(value any) any {
	if value == nil || !hasInternalType(reflect.TypeOf(value)) {
		return value
	}
	return internalValue{value}
}

// hasInternalType reports whether a real server has an internal type for t or its elements.
func hasInternalType(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return hasInternalType(t.Elem())
	}
	return t.Kind() == reflect.Struct && strings.HasPrefix(t.PkgPath(), "k8s.io/api/")
}

// internalValue is a value that is encoded as one of an internal type. The fields have the order of
// the versioned type.
type internalValue struct{ value any }

// MarshalJSON encodes v.
func (v internalValue) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	err := encodeInternal(&b, reflect.ValueOf(v.value))
	return b.Bytes(), err
}

func encodeInternal(b *bytes.Buffer, v reflect.Value) error {
	t := v.Type()
	switch kind := t.Kind(); {
	case !hasInternalType(t):
		encoded, err := json.Marshal(v.Interface())
		b.Write(encoded)
		return err
	case kind == reflect.Struct:
		return encodeInternalFields(b, v)
	case v.IsNil():
		b.WriteString("null")
		return nil
	case kind == reflect.Pointer:
		return encodeInternal(b, v.Elem())
	case kind == reflect.Slice:
		return encodeList(b, "[]", v.Len(), func(i int) error { return encodeInternal(b, v.Index(i)) })
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	return encodeList(b, "{}", len(keys), func(i int) error {
		return encodeMember(b, keys[i].String(), v.MapIndex(keys[i]))
	})
}

// encodeInternalFields encodes a struct. The fields of those that it embeds, such as its metadata,
// are its own.
func encodeInternalFields(b *bytes.Buffer, v reflect.Value) error {
	t := v.Type()
	return encodeList(b, "{}", t.NumField(), func(i int) error {
		if !t.Field(i).Anonymous {
			return encodeMember(b, t.Field(i).Name, v.Field(i))
		}
		var embedded bytes.Buffer
		if err := encodeInternal(&embedded, v.Field(i)); err != nil {
			return err
		}
		b.Write(embedded.Bytes()[1 : embedded.Len()-1]) // without the braces
		return nil
	})
}

// encodeMember encodes a member of a JSON object.
func encodeMember(b *bytes.Buffer, name string, v reflect.Value) error {
	encoded, err := json.Marshal(name)
	if err != nil {
		return err
	}
	b.Write(encoded)
	b.WriteByte(':')
	return encodeInternal(b, v)
}

// encodeList encodes n elements between brackets. An element may be empty, and is then left out.
func encodeList(b *bytes.Buffer, brackets string, n int, encode func(i int) error) error {
	b.WriteByte(brackets[0])
	start := b.Len()
	for i := range n {
		before := b.Len()
		if before > start {
			b.WriteByte(',')
		}
		after := b.Len()
		if err := encode(i); err != nil {
			return err
		}
		if b.Len() == after {
			b.Truncate(before)
		}
	}
	b.WriteByte(brackets[1])
	return nil
}
