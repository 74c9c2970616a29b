package managedfields

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

	builtin "example.com/fakeapi/fake/internal/resource"
)

// planFor makes the plan of a resource's type in its served version, nil if the
// type is odd through and through.
func planFor(res *builtin.Resource) *plan {
	obj := res.New()
	obj.GetObjectKind().SetGroupVersionKind(res.GroupVersionKind())
	typed, err := types().ObjectToTyped(obj)
	if err != nil {
		return nil
	}
	c := &compiler{schema: typed.Schema(), done: make(map[compiled]*plan)}
	p := c.plan(reflect.TypeOf(obj), typed.TypeRef())
	if p.shape != structure {
		return nil
	}
	return unownTop(p)
}

// unownTop marks what has no owner in any object (SA-31).
func unownTop(p *plan) *plan {
	top := *p
	top.fields = slices.Clone(p.fields)
	for i := range top.fields {
		switch f := &top.fields[i]; f.name {
		case "apiVersion", "kind":
			f.unowned = true
		case "metadata":
			f.silent = true
			f.plan = unownMetadata(f.plan)
		}
	}
	return &top
}

func unownMetadata(p *plan) *plan {
	meta := *p
	meta.fields = slices.Clone(meta.fields)
	meta.sound = true
	for i := range meta.fields {
		f := &meta.fields[i]
		f.unowned = slices.Contains(unownedMetadata(), f.name)
		if f.name == "managedFields" {
			// The write does not compare them: they are taken off the new object,
			// and the stored ones have been read before.
			f.plan = &plan{shape: leaf, sound: true}
		}
		meta.sound = meta.sound && f.plan.sound
	}
	return &meta
}

func unownedMetadata() []string {
	return []string{
		"name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName",
		"generation", "managedFields", "resourceVersion",
	}
}

// compiler lays a schema over Go types.
type compiler struct {
	schema *schema.Schema
	done   map[compiled]*plan
}

// compiled is a type as a named type of the schema.
type compiled struct {
	typ  reflect.Type
	name string
}

// plan makes the plan of t by what ref refers to. What is not understood to the
// last bit is odd.
func (c *compiler) plan(t reflect.Type, ref schema.TypeRef) *plan {
	if ref.NamedType == nil || ref.ElementRelationship != nil {
		return c.make(t, ref)
	}
	key := compiled{t, *ref.NamedType}
	if p := c.done[key]; p != nil {
		return p
	}
	c.done[key] = &plan{shape: odd} // for a type that contains itself
	p := c.make(t, ref)
	c.done[key] = p
	return p
}

func (c *compiler) make(t reflect.Type, ref schema.TypeRef) *plan {
	atom, ok := c.schema.Resolve(ref)
	if !ok {
		return &plan{shape: odd}
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if value.TypeReflectEntryOf(t).CanConvertToUnstructured() {
		return marshalled(t, atom)
	}
	switch {
	case atom.Scalar != nil && atom.Map == nil && atom.List == nil:
		return scalar(t, *atom.Scalar)
	case atom.Map != nil && atom.Scalar == nil && atom.List == nil && t.Kind() == reflect.Struct:
		return c.structure(t, atom.Map)
	case atom.Map != nil && atom.Scalar == nil && atom.List == nil && t.Kind() == reflect.Map:
		return c.dictionary(t, atom.Map)
	case atom.List != nil && atom.Scalar == nil && atom.Map == nil && t.Kind() == reflect.Slice:
		return c.list(t, atom.List)
	}
	return &plan{shape: odd}
}

// marshalled is the plan of a type with a JSON form of its own.
func marshalled(t reflect.Type, atom schema.Atom) *plan {
	plain := atom.Scalar != nil && atom.Map == nil && atom.List == nil
	switch t {
	case reflect.TypeFor[metav1.Time]():
		if plain && *atom.Scalar == schema.Untyped {
			return &plan{shape: leaf, sound: true, same: sameTime}
		}
	case reflect.TypeFor[metav1.MicroTime](), reflect.TypeFor[resource.Quantity](), reflect.TypeFor[intstr.IntOrString]():
		if plain && *atom.Scalar == schema.Untyped {
			return &plan{shape: leaf, sound: true, same: sameDeep}
		}
	}
	return &plan{shape: odd}
}

// scalar is the plan of a scalar whose Go type always suits the schema.
func scalar(t reflect.Type, want schema.Scalar) *plan {
	p := &plan{shape: leaf, sound: true}
	var is schema.Scalar
	switch t.Kind() {
	case reflect.String:
		is, p.same = schema.String, sameString
	case reflect.Bool:
		is, p.same = schema.Boolean, sameBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		is, p.same = schema.Numeric, sameInt
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 {
			return &plan{shape: odd}
		}
		is, p.same = schema.String, sameBytes // base64
	default:
		return &plan{shape: odd}
	}
	if want != is && want != schema.Untyped {
		return &plan{shape: odd}
	}
	return p
}

func (c *compiler) structure(t reflect.Type, m *schema.Map) *plan {
	p := &plan{shape: structure, sound: true}
	entry := value.TypeReflectEntryOf(t)
	indexes := make(map[string][]int)
	if !jsonFields(t, nil, indexes) || len(indexes) != len(entry.Fields()) {
		return &plan{shape: odd}
	}
	for _, lib := range entry.OrderedFields() {
		index, ok := indexes[lib.JsonName]
		declared, inSchema := m.FindField(lib.JsonName)
		if !ok {
			return &plan{shape: odd}
		}
		goField := t.FieldByIndex(index)
		f := planField{name: lib.JsonName, index: index, omit: omissionOf(goField), plan: &plan{shape: odd}}
		if inSchema {
			f.plan = c.plan(goField.Type, declared.Type)
		}
		p.sound = p.sound && f.plan.sound
		p.fields = append(p.fields, f)
	}
	if m.ElementRelationship == schema.Atomic {
		whole := atomic(p)
		whole.fields = p.fields
		return whole
	}
	return p
}

// atomic is the plan of what has one owner and is planned as inside otherwise.
func atomic(inside *plan) *plan {
	p := &plan{shape: leaf, same: sameDeep, sound: inside.sound}
	if !p.sound {
		p.inside = inside
	}
	return p
}

// jsonFields finds the fields of a struct by their names in JSON. False means
// that it has some that the plan does not know to find.
func jsonFields(t reflect.Type, at []int, into map[string][]int) bool {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		if tag == "-" {
			continue
		}
		index := append(slices.Clone(at), i)
		name, _, _ := strings.Cut(tag, ",")
		switch {
		case !f.IsExported():
			return false
		case f.Anonymous && name == "":
			if f.Type.Kind() != reflect.Struct || !jsonFields(f.Type, index, into) {
				return false
			}
			continue
		case name == "":
			name = f.Name
		}
		if _, twice := into[name]; twice {
			return false
		}
		into[name] = index
	}
	return true
}

func omissionOf(f reflect.StructField) omission {
	_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	var o omission
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "omitempty":
			o.empty = true
		case "omitzero":
			o.zero = value.OmitZeroFunc(f.Type)
		}
	}
	return o
}

func (c *compiler) dictionary(t reflect.Type, m *schema.Map) *plan {
	if t.Key().Kind() != reflect.String || len(m.Fields) > 0 {
		return &plan{shape: odd}
	}
	elem := c.plan(t.Elem(), m.ElementType)
	p := &plan{shape: dictionary, elem: elem, sound: elem.sound}
	switch {
	case elem.shape == leaf && t == reflect.TypeFor[map[string]string]():
		p.native = texts
	case elem.shape == leaf && t == reflect.TypeFor[corev1.ResourceList]():
		p.native = quantities
	}
	if m.ElementRelationship == schema.Atomic {
		return atomic(p)
	}
	return p
}

func (c *compiler) list(t reflect.Type, l *schema.List) *plan {
	elem := c.plan(t.Elem(), l.ElementType)
	switch {
	case l.ElementRelationship == schema.Atomic:
		return atomic(&plan{shape: sequence, elem: elem, sound: elem.sound})
	case l.ElementRelationship != schema.Associative:
	case len(l.Keys) == 0 && elem.shape == leaf && isKey(t.Elem()):
		return &plan{shape: set, elem: elem, number: t.Elem().Kind() != reflect.String, sound: true}
	case len(l.Keys) > 0 && elem.shape != odd && t.Elem().Kind() == reflect.Struct:
		return c.keyed(t, l, elem)
	}
	return &plan{shape: odd}
}

// keyed is the plan of a list of structs that are told apart by keys.
func (c *compiler) keyed(t reflect.Type, l *schema.List, elem *plan) *plan {
	p := &plan{shape: keyed, elem: elem, sound: elem.sound}
	atom, ok := c.schema.Resolve(l.ElementType)
	if !ok || atom.Map == nil {
		return &plan{shape: odd}
	}
	anonymous := true // an element may have no key at all, which fails
	for _, name := range slices.Sorted(slices.Values(l.Keys)) {
		f := elem.field(name)
		if f == nil || f.plan.shape != leaf {
			return &plan{shape: odd}
		}
		declared, _ := atom.Map.FindField(name)
		fallback, isText := declared.Default.(string)
		key := planKey{field: f, fallback: fallback, required: !isText}
		typ := t.Elem().FieldByIndex(f.index).Type
		if typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		if !isKey(typ) {
			return &plan{shape: odd}
		}
		key.number = typ.Kind() != reflect.String
		key.required = key.required || key.number
		anonymous = anonymous && f.omit.empty && key.required
		p.keys = append(p.keys, key)
	}
	p.sound = p.sound && !anonymous
	return p
}

// isKey reports whether values of t can tell list elements apart here.
func isKey(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Int32, reflect.Int64:
		return true
	}
	return false
}
