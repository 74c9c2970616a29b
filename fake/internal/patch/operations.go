package patch

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"example.com/fakeapi/fake/internal/jsonvalue"
)

// maxUntypedOperations is the number of operations up to which ApplyUntyped supports a JSON patch.
const maxUntypedOperations = 64

// applyUntypedOperations applies a JSON patch to an object. It reports false if that is not
// supported, or fails.
func (p *Patch) applyUntypedOperations(object map[string]any) (map[string]any, bool) {
	if len(p.operations) > maxUntypedOperations {
		return nil, false
	}
	object = maps.Clone(object) // tests do not copy it
	changed := false
	for _, op := range p.operations {
		pointer, err := op.Path()
		path, isBelow := strings.CutPrefix(pointer, "/")
		text := op["value"] // nil if it is missing or null
		// A test compares texts, which only values that are not changed yet have as they are encoded.
		isTest := op.Kind() == "test"
		if err != nil || !isBelow || isTest && changed {
			return nil, false
		}
		o := operation{kind: op.Kind()}
		if text != nil {
			o.text = *text
		}
		result, ok := o.apply(object, path)
		if !ok {
			return nil, false
		}
		object = result.(map[string]any)
		changed = changed || !isTest
	}
	return object, true
}

// operation is an operation of a JSON patch. Its methods return the value that it makes of another
// one, which they do not change, or report false.
type operation struct {
	kind string
	text []byte // the value in JSON, nil if there is none
}

// apply applies the operation to what value has at a path, which is a JSON pointer without its
// first slash.
func (o operation) apply(value any, path string) (any, bool) {
	token, rest, isParent := strings.Cut(path, "/")
	token = jsonvalue.Token(token)
	switch value := value.(type) {
	case map[string]any:
		if !isParent {
			return o.changeField(value, token)
		}
		member, ok := o.apply(value[token], rest)
		if ok {
			value = maps.Clone(value)
			value[token] = member
		}
		return value, ok
	case []any:
		if !isParent {
			return o.changeItem(value, token)
		}
		i, ok := jsonvalue.Index(token, len(value))
		if !ok {
			return nil, false
		}
		member, ok := o.apply(value[i], rest)
		if ok {
			value = slices.Clone(value)
			value[i] = member
		}
		return value, ok
	}
	return nil, false
}

func (o operation) changeField(object map[string]any, name string) (any, bool) {
	was, exists := object[name]
	switch o.kind {
	case "add", "replace":
		value, ok := o.value()
		if !ok || !exists && o.kind == "replace" {
			return nil, false
		}
		object = maps.Clone(object)
		object[name] = value
		return object, true
	case "remove":
		object = maps.Clone(object)
		delete(object, name)
		return object, exists
	}
	return object, exists && o.isTested(was)
}

func (o operation) changeItem(list []any, token string) (any, bool) {
	if o.kind == "add" {
		i, ok := len(list), true
		if token != "-" {
			i, ok = jsonvalue.Index(token, len(list)+1)
		}
		value, isValue := o.value()
		if !ok || !isValue {
			return nil, false
		}
		return slices.Insert(slices.Clone(list), i, value), true
	}
	i, ok := jsonvalue.Index(token, len(list))
	if !ok {
		return nil, false
	}
	switch o.kind {
	case "replace":
		value, ok := o.value()
		list = slices.Clone(list)
		list[i] = value
		return list, ok
	case "remove":
		return slices.Delete(slices.Clone(list), i, i+1), true
	}
	return list, o.isTested(list[i])
}

// value decodes the value of the operation.
func (o operation) value() (any, bool) {
	object, err := jsonvalue.Decode(slices.Concat([]byte(`{"value":`), o.text, []byte("}")))
	return object["value"], err == nil && o.text != nil
}

// isTested reports whether the operation tests that value is what it is. Objects and lists are not
// supported.
func (o operation) isTested(value any) bool {
	if o.kind != "test" || len(o.text) == 0 || o.text[0] == '{' || o.text[0] == '[' {
		return false
	}
	encoded, err := jsonvalue.Append(nil, value)
	return err == nil && bytes.Equal(encoded, o.text)
}
