package fastpath

import (
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// compiler compiles plans from a schema and, for built-in types, from Go types. Types that it does
// not fully understand become unsupported.
type compiler struct {
	schema *schema.Schema
	plans  map[planID]*plan
}

// planID identifies the plan of a named type of the schema. goType is nil for custom resources.
type planID struct {
	goType reflect.Type
	name   string
}

// plan returns the plan of a type of the schema, for values of the Go type t or, if t is nil, for
// decoded JSON.
func (c *compiler) plan(t reflect.Type, ref schema.TypeRef) *plan {
	if ref.NamedType == nil || ref.ElementRelationship != nil {
		return c.compile(t, ref)
	}
	id := planID{t, *ref.NamedType}
	if p := c.plans[id]; p != nil {
		return p
	}
	c.plans[id] = &plan{kind: unsupported} // for a type that contains itself
	p := c.compile(t, ref)
	c.plans[id] = p
	return p
}

func (c *compiler) compile(t reflect.Type, ref schema.TypeRef) *plan {
	atom, ok := c.schema.Resolve(ref)
	if !ok {
		return &plan{kind: unsupported}
	}
	if t != nil {
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if value.TypeReflectEntryOf(t).CanConvertToUnstructured() {
			return marshalerPlan(t, atom)
		}
	} else if isUntyped(atom) {
		return untypedValue
	}
	switch {
	case atom.Scalar != nil && atom.Map == nil && atom.List == nil:
		return scalarPlan(t, *atom.Scalar)
	case atom.Map != nil && atom.Scalar == nil && atom.List == nil:
		return c.mapPlan(t, atom.Map)
	case atom.List != nil && atom.Scalar == nil && atom.Map == nil:
		return c.listPlan(t, atom.List)
	}
	return &plan{kind: unsupported}
}

// untypedValue is the plan of all untyped values, untypedLeaf of those that are no objects.
var (
	untypedValue = &plan{kind: untyped}
	untypedLeaf  = &plan{kind: leaf, inside: untypedValue}
)

// isUntyped reports whether an atom is the one that the library uses where there is no schema: any
// value, with atomic lists.
func isUntyped(atom schema.Atom) bool {
	return atom.Scalar != nil && *atom.Scalar == schema.Untyped &&
		atom.List != nil && atom.List.ElementRelationship == schema.Atomic &&
		atom.Map != nil && atom.Map.ElementRelationship != schema.Atomic && len(atom.Map.Fields) == 0
}

// marshalerPlan returns the plan of a Go type that encodes itself as JSON.
func marshalerPlan(t reflect.Type, atom schema.Atom) *plan {
	if atom.Scalar == nil || *atom.Scalar != schema.Untyped || atom.Map != nil || atom.List != nil {
		return &plan{kind: unsupported}
	}
	switch t {
	case reflect.TypeFor[metav1.Time]():
		return &plan{kind: leaf, goType: t, alwaysValid: true, equal: equalTime}
	case reflect.TypeFor[metav1.MicroTime](), reflect.TypeFor[resource.Quantity](), reflect.TypeFor[intstr.IntOrString]():
		return &plan{kind: leaf, goType: t, alwaysValid: true, equal: equalDeep}
	}
	return &plan{kind: unsupported}
}

// scalarPlan returns the plan of a scalar. A Go type must be one whose values always conform.
func scalarPlan(t reflect.Type, want schema.Scalar) *plan {
	if t == nil {
		return &plan{kind: leaf, scalar: want}
	}
	p := &plan{kind: leaf, goType: t, alwaysValid: true}
	var got schema.Scalar
	switch t.Kind() {
	case reflect.String:
		got, p.scalar, p.equal = schema.String, schema.String, equalString
	case reflect.Bool:
		got, p.scalar, p.equal = schema.Boolean, schema.Boolean, equalBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		got, p.scalar, p.equal = schema.Numeric, schema.Numeric, equalInt
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 { // base64, which is no key
			got, p.equal = schema.String, equalBytes
		}
	}
	if got == "" || want != got && want != schema.Untyped {
		return &plan{kind: unsupported}
	}
	return p
}

// mapPlan returns the plan of an object: of a Go struct, of a Go map, or of decoded JSON.
func (c *compiler) mapPlan(t reflect.Type, m *schema.Map) *plan {
	var p *plan
	switch {
	case t == nil:
		p = c.declaredFields(m)
	case t.Kind() == reflect.Struct:
		p = c.structFields(t, m)
	case t.Kind() == reflect.Map:
		p = c.mapValues(t, m)
	}
	if p == nil {
		return &plan{kind: unsupported}
	}
	if m.ElementRelationship == schema.Atomic {
		return atomicPlan(p)
	}
	return p
}

// atomicPlan returns the plan of a list or an object that has one owner.
func atomicPlan(inside *plan) *plan {
	return &plan{
		kind: leaf, goType: inside.goType, equal: equalDeep, fields: inside.fields,
		inside: inside, alwaysValid: inside.alwaysValid,
	}
}

// declaredFields returns the plan of decoded JSON objects.
func (c *compiler) declaredFields(m *schema.Map) *plan {
	p := &plan{kind: structure}
	if (m.ElementType.NamedType != nil || m.ElementType.Inlined != schema.Atom{}) {
		p.elem = c.plan(nil, m.ElementType)
	}
	for i := range m.Fields {
		p.fields = append(p.fields, planField{name: m.Fields[i].Name, plan: c.plan(nil, m.Fields[i].Type)})
	}
	slices.SortFunc(p.fields, byName)
	if len(p.fields) == 0 && p.elem != nil {
		p.kind = dictionary
	}
	return p
}

// structFields returns the plan of a Go struct, or nil if its JSON is not understood.
func (c *compiler) structFields(t reflect.Type, m *schema.Map) *plan {
	p := &plan{kind: structure, goType: t, alwaysValid: true}
	entry := value.TypeReflectEntryOf(t)
	indexes := make(map[string][]int)
	if !addFieldIndexes(t, nil, indexes) || len(indexes) != len(entry.Fields()) {
		return nil
	}
	for _, ordered := range entry.OrderedFields() {
		index, ok := indexes[ordered.JsonName]
		if !ok {
			return nil
		}
		goField := t.FieldByIndex(index)
		f := planField{name: ordered.JsonName, index: index, plan: &plan{kind: unsupported}}
		f.omitEmpty, f.isZero = omitOptions(goField)
		if declared, ok := m.FindField(ordered.JsonName); ok {
			f.plan = c.plan(goField.Type, declared.Type)
		}
		p.alwaysValid = p.alwaysValid && f.plan.alwaysValid
		p.fields = append(p.fields, f)
	}
	return p
}

// addFieldIndexes adds the indexes of the fields of a Go struct by their names in JSON. It returns
// false if the struct has fields that the plan does not support.
func addFieldIndexes(t reflect.Type, parent []int, indexes map[string][]int) bool {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		if tag == "-" {
			continue
		}
		index := append(slices.Clone(parent), i)
		name, _, _ := strings.Cut(tag, ",")
		switch {
		case !f.IsExported():
			return false
		case f.Anonymous && name == "":
			if f.Type.Kind() != reflect.Struct || !addFieldIndexes(f.Type, index, indexes) {
				return false
			}
			continue
		case name == "":
			name = f.Name
		}
		if _, exists := indexes[name]; exists {
			return false
		}
		indexes[name] = index
	}
	return true
}

// omitOptions returns the options omitempty and omitzero of a field of a Go struct.
func omitOptions(f reflect.StructField) (omitEmpty bool, isZero func(reflect.Value) bool) {
	_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "omitempty":
			omitEmpty = true
		case "omitzero":
			isZero = value.OmitZeroFunc(f.Type)
		}
	}
	return omitEmpty, isZero
}

// mapValues returns the plan of a Go map, or nil if the schema does not fit.
func (c *compiler) mapValues(t reflect.Type, m *schema.Map) *plan {
	if t.Key().Kind() != reflect.String || len(m.Fields) > 0 {
		return nil
	}
	elem := c.plan(t.Elem(), m.ElementType)
	p := &plan{kind: dictionary, goType: t, elem: elem, alwaysValid: elem.alwaysValid}
	switch {
	case elem.kind == leaf && t == reflect.TypeFor[map[string]string]():
		p.mapType = stringMap
	case elem.kind == leaf && t == reflect.TypeFor[corev1.ResourceList]():
		p.mapType = resourceList
	}
	return p
}

func (c *compiler) listPlan(t reflect.Type, l *schema.List) *plan {
	var elemType reflect.Type
	if t != nil {
		if t.Kind() != reflect.Slice {
			return &plan{kind: unsupported}
		}
		elemType = t.Elem()
	}
	elem := c.plan(elemType, l.ElementType)
	switch {
	case l.ElementRelationship == schema.Atomic:
		return atomicPlan(&plan{kind: atomicList, goType: t, elem: elem, alwaysValid: elem.alwaysValid})
	case l.ElementRelationship != schema.Associative:
	case len(l.Keys) == 0 && elem.isKey():
		return &plan{kind: set, goType: t, elem: elem, isInteger: elem.scalar == schema.Numeric, alwaysValid: elem.alwaysValid}
	case len(l.Keys) > 0 && (t == nil || elemType.Kind() == reflect.Struct):
		return c.keyedPlan(t, l, elem)
	}
	return &plan{kind: unsupported}
}

// keyedPlan returns the plan of a list of objects that are identified by keys.
func (c *compiler) keyedPlan(t reflect.Type, l *schema.List, elem *plan) *plan {
	p := &plan{kind: keyedList, goType: t, elem: elem}
	atom, ok := c.schema.Resolve(l.ElementType)
	if !ok || atom.Map == nil {
		return &plan{kind: unsupported}
	}
	mayHaveNoKey := true // such an element does not conform
	for _, name := range slices.Sorted(slices.Values(l.Keys)) {
		f := elem.field(name)
		if f == nil || !f.plan.isKey() {
			return &plan{kind: unsupported}
		}
		declared, _ := atom.Map.FindField(name)
		defaultValue, hasDefault := declared.Default.(string)
		key := planKey{field: f, defaultValue: defaultValue, isInteger: f.plan.scalar == schema.Numeric}
		key.required = !hasDefault || key.isInteger
		mayHaveNoKey = mayHaveNoKey && f.omitEmpty && key.required
		p.keys = append(p.keys, key)
	}
	p.alwaysValid = elem.alwaysValid && !mayHaveNoKey
	return p
}
