package fastpath

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// typedTarget merges into Go values.
type typedTarget struct{ typedAccessor }

func (typedTarget) isObject(reflect.Value) bool { return true }

func (typedTarget) configPlan(reflect.Value, any) *plan { return nil }

func (t typedTarget) equalConfig(p *plan, live reflect.Value, config any) bool {
	if config == nil || isNullValue(live) {
		return config == nil && isNullValue(live)
	}
	switch {
	case p.kind == leaf && p.inside != nil:
		return t.equalConfig(p.inside, live, config)
	case p.kind == leaf:
		return equalScalar(reflect.Indirect(live), config)
	}
	live = content(live)
	switch p.kind {
	case structure:
		return t.equalFields(p, live, config)
	case dictionary:
		return t.equalMap(p, live, config)
	case atomicList, keyedList, set:
		return t.equalItems(p, live, config)
	}
	return false
}

// isNullValue reports whether the JSON of a Go value is null.
func isNullValue(v reflect.Value) bool {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	switch {
	case !v.IsValid() || isNil(v):
		return true
	case v.Kind() != reflect.Struct:
		return false
	}
	switch v.Type() {
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime]():
		return v.Field(0).Interface().(time.Time).IsZero()
	}
	return false
}

func (typedTarget) isReplacedByNull(p *plan, v reflect.Value) (replaced, ok bool) {
	isAbsent := !v.IsValid()
	if isAbsent || isNullValue(v) {
		return isAbsent, p.kind != unsupported
	}
	switch v = content(v); p.kind {
	case leaf:
		return true, true
	case structure:
		return !slices.ContainsFunc(p.fields, func(f planField) bool { return f.value(v).IsValid() }), true
	case dictionary, keyedList, set:
		return v.Len() == 0, true
	}
	return false, false
}

// equalFields reports whether JSON has the same fields of a Go struct as config.
func (t typedTarget) equalFields(p *plan, live reflect.Value, config any) bool {
	object, ok := config.(map[string]any)
	if !ok {
		return false
	}
	n := 0
	for i := range p.fields {
		f := &p.fields[i]
		v := f.value(live)
		if !v.IsValid() {
			continue
		}
		n++
		if value, ok := object[f.name]; !ok || !t.equalConfig(f.plan, v, value) {
			return false
		}
	}
	return n == len(object)
}

func (t typedTarget) equalMap(p *plan, live reflect.Value, config any) bool {
	object, ok := config.(map[string]any)
	if !ok || live.Len() != len(object) {
		return false
	}
	if p.mapType == stringMap {
		for name, v := range live.Interface().(map[string]string) {
			if text, ok := object[name].(string); !ok || text != v {
				return false
			}
		}
		return true
	}
	for i := live.MapRange(); i.Next(); {
		if value, ok := object[i.Key().String()]; !ok || !t.equalConfig(p.elem, i.Value(), value) {
			return false
		}
	}
	return true
}

func (t typedTarget) equalItems(p *plan, live reflect.Value, config any) bool {
	items, ok := config.([]any)
	if !ok || live.Len() != len(items) {
		return false
	}
	for i, item := range items {
		if !t.equalConfig(p.elem, live.Index(i), item) {
			return false
		}
	}
	return true
}

// equalScalar reports whether config is the JSON of a Go value that is no object and no list.
func equalScalar(live reflect.Value, config any) bool {
	switch live.Kind() {
	case reflect.String:
		text, ok := config.(string)
		return ok && text == live.String()
	case reflect.Bool:
		b, ok := config.(bool)
		return ok && b == live.Bool()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, ok := config.(int64)
		return ok && n == live.Int()
	case reflect.Slice: // bytes
		text, ok := config.(string)
		return ok && text == base64.StdEncoding.EncodeToString(live.Bytes())
	}
	switch x := live.Interface().(type) {
	case metav1.Time:
		return config == any(x.UTC().Format(time.RFC3339))
	case resource.Quantity:
		text, ok := config.(string)
		return ok && text == x.String()
	case intstr.IntOrString:
		if x.Type == intstr.Int {
			return config == any(int64(x.IntVal))
		}
		return config == any(x.StrVal)
	}
	v, err := value.NewValueReflect(pointerTo(live))
	return err == nil && value.Equals(v, value.NewValueInterface(config))
}

func (t typedTarget) convert(p *plan, config any) (v reflect.Value, ok bool) {
	switch {
	case p.goType == nil:
		return v, false
	case p.kind == leaf && p.inside != nil:
		return t.convert(p.inside, config)
	}
	v = reflect.New(p.goType).Elem()
	switch p.kind {
	case leaf:
		ok = setScalar(v, config)
	case structure:
		ok = t.setFields(p, v, config)
	case dictionary:
		ok = t.setMap(p, v, config)
	case atomicList:
		ok = t.setItems(p, v, config)
	}
	return v, ok // a list with keys in a leaf is not supported
}

// setFields sets a Go struct to config.
func (t typedTarget) setFields(p *plan, v reflect.Value, config any) bool {
	object, ok := config.(map[string]any)
	for name, value := range object {
		f := p.field(name)
		if f == nil {
			return false
		}
		var member reflect.Value
		if value != nil {
			if member, ok = t.convert(f.plan, value); !ok {
				return false
			}
		}
		t.setMember(p, f, name, v, member)
	}
	return ok
}

// setMap sets a Go map to config.
func (t typedTarget) setMap(p *plan, v reflect.Value, config any) bool {
	object, ok := config.(map[string]any)
	v.Set(reflect.MakeMapWithSize(p.goType, len(object)))
	for name, value := range object {
		member, ok := t.convert(p.elem, value)
		if !ok {
			return false
		}
		t.setMember(p, nil, name, v, member)
	}
	return ok
}

// setItems sets a Go slice to config.
func (t typedTarget) setItems(p *plan, v reflect.Value, config any) bool {
	items, ok := config.([]any)
	v.Set(reflect.MakeSlice(p.goType, len(items), len(items)))
	for i := range items {
		item, ok := t.convert(p.elem, items[i])
		if !ok {
			return false
		}
		t.setItem(v, i, item)
	}
	return ok
}

// setScalar sets a Go value that is no object and no list to config.
func setScalar(v reflect.Value, config any) bool {
	switch v.Kind() {
	case reflect.String:
		text, ok := config.(string)
		v.SetString(text)
		return ok
	case reflect.Bool:
		b, ok := config.(bool)
		v.SetBool(b)
		return ok
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, ok := config.(int64)
		if !ok || v.OverflowInt(n) {
			return false
		}
		v.SetInt(n)
		return true
	case reflect.Slice: // bytes
		text, ok := config.(string)
		b, err := base64.StdEncoding.DecodeString(text)
		v.SetBytes(b)
		return ok && err == nil
	}
	decoder, ok := v.Addr().Interface().(json.Unmarshaler)
	if !ok {
		return false
	}
	text, err := json.Marshal(config)
	return err == nil && decoder.UnmarshalJSON(text) == nil
}

func (typedTarget) newObject(p *plan) reflect.Value {
	if p.kind == dictionary {
		return reflect.MakeMap(p.goType)
	}
	return reflect.New(p.goType).Elem()
}

func (typedTarget) member(p *plan, f *planField, name string, object reflect.Value) reflect.Value {
	object = content(object)
	if p.kind != dictionary {
		return f.value(object)
	}
	v := object.MapIndex(reflect.ValueOf(name).Convert(p.goType.Key()))
	if v.IsValid() && p.elem.kind == structure { // whose fields may be set
		v = addressable(v)
	}
	return v
}

// addressable returns an addressable copy of v.
func addressable(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	return out
}

func (typedTarget) setMember(p *plan, f *planField, name string, object, v reflect.Value) {
	object = content(object)
	if p.kind != dictionary {
		assign(object.FieldByIndex(f.index), v)
		return
	}
	member := reflect.New(p.goType.Elem()).Elem()
	assign(member, v)
	object.SetMapIndex(reflect.ValueOf(name).Convert(p.goType.Key()), member)
}

// assign sets a field, which may be a pointer, to v. An invalid v is null.
func assign(field, v reflect.Value) {
	if !v.IsValid() {
		field.SetZero()
		return
	}
	if field.Kind() == reflect.Pointer && v.Kind() != reflect.Pointer {
		if !v.CanAddr() {
			v = addressable(v)
		}
		v = v.Addr()
	}
	field.Set(v)
}

func (typedTarget) newList(p *plan, items []reflect.Value) reflect.Value {
	list := reflect.MakeSlice(p.goType, len(items), len(items))
	for i, item := range items {
		assign(list.Index(i), item)
	}
	return list
}

func (typedTarget) setItem(list reflect.Value, i int, v reflect.Value) { assign(list.Index(i), v) }
