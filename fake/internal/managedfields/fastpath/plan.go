package fastpath

import (
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// planKind is the kind of value that a plan describes.
type planKind uint8

const (
	// unsupported values are left to the library.
	unsupported planKind = iota
	// leaf values have one owner: scalars, atomic lists, atomic maps and structs.
	leaf
	// structure is an object with declared fields, each with its own owner.
	structure
	// dictionary is a map. Each value has its own owner.
	dictionary
	// keyedList is a list of objects that are identified by some of their fields, each with its own
	// owner.
	keyedList
	// set is a list of distinct strings or integers, each with its own owner.
	set
	// atomicList is a list inside of a leaf.
	atomicList
	// untyped is a value without a schema, in a custom resource. Objects are like dictionaries,
	// other values are leaves.
	untyped
)

// plan describes how two values of a type are compared field by field. It is compiled once from the
// schema, and for built-in types from the Go type. Plans are immutable.
//
// A value of a Go type may be a pointer to the type.
type plan struct {
	kind planKind
	// goType is the Go type of the values, without a pointer. It is nil for decoded JSON.
	goType reflect.Type
	// equal compares two values of a leaf of a Go type.
	equal equalFunc
	// fields are the declared fields of an object, sorted by name. An atomic object has them too,
	// because they may be keys of a list.
	fields []planField
	// elem describes the values of a dictionary, the elements of a list, and the undeclared fields
	// of a structure (nil if there cannot be any).
	elem *plan
	// scalar is the type of a scalar leaf.
	scalar schema.Scalar
	// mapType is the Go type of a dictionary.
	mapType mapType
	// isInteger is whether the elements of a set are integers.
	isInteger bool
	// keys are the fields that identify an element of a keyed list, sorted by name.
	keys []planKey
	// inside describes the content of an atomic leaf.
	inside *plan
	// alwaysValid is whether every value conforms to the schema. The library validates the whole
	// object on each write, also the fields that a write cannot own, and fails if a value does not
	// conform. No value of a custom resource is always valid.
	alwaysValid bool
}

// mapType is the Go type of a map. The common types are compared without reflection.
type mapType uint8

const (
	anyMap       mapType = iota
	stringMap            // map[string]string
	resourceList         // corev1.ResourceList
)

// planField is a field of a structure.
type planField struct {
	name string
	plan *plan
	// index is the path to the field of a Go struct, through embedded structs.
	index []int
	// omitEmpty and isZero are the options omitempty and omitzero of a field of a Go struct.
	omitEmpty bool
	isZero    func(reflect.Value) bool
	// undeclared fields are allowed but not declared by the schema.
	undeclared bool
	// excluded fields, and the fields in them, have no owner.
	excluded bool
	// notReported fields have no owner, but the fields in them have.
	notReported bool
}

// planKey is a field that identifies an element of a keyed list. It is a string or an integer.
type planKey struct {
	field *planField
	// defaultValue stands for a string that is absent, unless the key is required.
	defaultValue string
	required     bool
	isInteger    bool
}

// value returns the field of the Go struct v. It is invalid if v is, or if JSON omits the field.
func (f *planField) value(v reflect.Value) reflect.Value {
	switch {
	case !v.IsValid():
		return v
	case len(f.index) == 1:
		v = v.Field(f.index[0])
	default:
		v = v.FieldByIndex(f.index)
	}
	if f.omitEmpty && isEmptyValue(v) || f.isZero != nil && f.isZero(v) {
		return reflect.Value{}
	}
	return v
}

// isEmptyValue reports whether omitempty omits v.
func isEmptyValue(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String, reflect.Slice, reflect.Map:
		return v.Len() == 0
	case reflect.Pointer:
		return v.IsNil()
	case reflect.Bool:
		return !v.Bool()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int() == 0
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return v.Uint() == 0
	}
	return false
}

// isObject reports whether values are objects in JSON.
func (p *plan) isObject() bool {
	return p.kind == structure || p.kind == dictionary || p.kind == untyped
}

// hasDistinctItems reports whether values may contain a list whose elements must be distinct.
func (p *plan) hasDistinctItems() bool {
	switch {
	case p == nil:
		return false
	case p.kind == keyedList || p.kind == set || p.inside.hasDistinctItems() || p.elem.hasDistinctItems():
		return true
	}
	return slices.ContainsFunc(p.fields, func(f planField) bool { return f.plan.hasDistinctItems() })
}

// isKey reports whether values can identify the elements of a list.
func (p *plan) isKey() bool {
	return p.kind == leaf && (p.scalar == schema.String || p.scalar == schema.Numeric)
}

// field returns the declared field with a name, or nil.
func (p *plan) field(name string) *planField {
	low, high := 0, len(p.fields)
	for low < high {
		if middle := (low + high) / 2; p.fields[middle].name < name {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low == len(p.fields) || p.fields[low].name != name {
		return nil
	}
	return &p.fields[low]
}

// member returns the plan of a member of an object, nil if the schema does not allow it, and its
// field if it is declared.
func (p *plan) member(name string) (*plan, *planField) {
	if p.kind == untyped {
		return p, nil
	}
	if f := p.field(name); f != nil {
		return f.plan, f
	}
	return p.elem, nil
}

// systemMetadata are the fields of metadata that have no owner in any object (SA-31).
var systemMetadata = []string{
	"name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName",
	"generation", "managedFields", "resourceVersion",
}

// withoutSystemFields returns the plan of an object without the fields that have no owner in any
// object (SA-31).
func (p *plan) withoutSystemFields() *plan {
	out := p.clone()
	for i := range out.fields {
		switch f := &out.fields[i]; f.name {
		case "apiVersion", "kind":
			f.excluded = true
		case "metadata":
			f.notReported = true
			f.plan = f.plan.clone()
			f.plan.alwaysValid = true
			for j := range f.plan.fields {
				g := &f.plan.fields[j]
				g.excluded = slices.Contains(systemMetadata, g.name)
				if g.name == "managedFields" {
					// The library removes the entries from both objects before it validates them.
					g.plan = &plan{kind: leaf, alwaysValid: true}
				}
				f.plan.alwaysValid = f.plan.alwaysValid && g.plan.alwaysValid
			}
		}
	}
	return out
}

// without returns the plan for writes that cannot own the fields at some paths.
func (p *plan) without(paths [][]string) *plan {
	for _, path := range paths {
		p = p.withoutPath(path)
	}
	return p
}

func (p *plan) withoutPath(path []string) *plan {
	if f := p.field(path[0]); f == nil && p.elem == nil || f != nil && f.excluded {
		return p
	}
	out := p.clone()
	if out.field(path[0]) == nil { // the schema does not declare it but allows it
		out.fields = append(out.fields, planField{name: path[0], plan: p.elem, undeclared: true})
		slices.SortFunc(out.fields, byName)
	}
	if f := out.field(path[0]); len(path) > 1 {
		f.plan = f.plan.withoutPath(path[1:])
	} else {
		f.excluded = true
	}
	return out
}

// clone returns a copy with its own fields.
func (p *plan) clone() *plan {
	out := *p
	out.fields = slices.Clone(p.fields)
	return &out
}

func byName(a, b planField) int { return strings.Compare(a.name, b.name) }
