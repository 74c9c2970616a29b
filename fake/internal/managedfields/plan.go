package managedfields

import (
	"reflect"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// shape is what a plan does with a value.
type shape uint8

const (
	// odd is what the shortcut leaves alone: a value here means the long way.
	odd shape = iota
	// leaf has an owner as a whole: scalars, atomic lists, maps and structs.
	leaf
	// structure is a struct whose fields have owners.
	structure
	// dictionary is a map with string keys whose values have owners.
	dictionary
	// keyed is a list whose elements are told apart by some of their fields.
	keyed
	// set is a list of strings or integers, each with an owner.
	set
	// sequence is a list inside of a leaf.
	sequence
	// loose is, in custom resources only, what the schema says nothing of.
	loose
)

// plan says how the values of a Go type are compared field by field: the type's
// schema laid over its json tags, worked out once. Plans are immutable. A value
// may always be one pointer away from the type.
type plan struct {
	shape shape
	// same compares two values of a leaf.
	same likeness
	// fields are those of a structure, by name; a leaf that is a struct has them
	// too, for the keys of lists.
	fields []planField
	// elem is what is in a dictionary or a list, and in a structure of a custom resource
	// what is in the fields that are not named.
	elem *plan
	// scalar is what a leaf of a custom resource has to be, unless there is an inside.
	scalar schema.Scalar
	// native is the Go type of a dictionary if it is a usual one.
	native native
	// number tells a set of integers.
	number bool
	// keys tell the elements of a keyed list apart, by name.
	keys []planKey
	// inside is what is in a leaf that is not sound, to be looked through for what
	// might fail the schema.
	inside *plan
	// sound tells that no Go value of the type can fail the schema. The library
	// checks all of an object, also where a write owns nothing, and gives up on
	// an error; what is sound need not be looked at for that.
	sound bool
}

// native names the Go types of maps that most dictionaries are of.
type native uint8

const (
	anyMap     native = iota
	texts             // map[string]string
	quantities        // corev1.ResourceList
)

// planField is a field of a structure.
type planField struct {
	name string
	// index leads to it, through inlined structs.
	index []int
	omit  omission
	plan  *plan
	// unowned fields have no owner, whoever writes them, nor has what is in them.
	unowned bool
	// silent fields have no owner themselves, but what is in them may have.
	silent bool
}

// planKey is a field that tells list elements apart: a string or an integer.
type planKey struct {
	field *planField
	// fallback is what the schema puts in place of a string that is left out.
	fallback string
	// required keys have no fallback.
	required bool
	// number tells an integer.
	number bool
}

// omission tells when a field is left out of the JSON of its struct.
type omission struct {
	empty bool
	// zero is set for omitzero.
	zero func(reflect.Value) bool
}

// omits reports whether the field v is left out. Structs are never empty.
func (o omission) omits(v reflect.Value) bool {
	if o.zero != nil && o.zero(v) {
		return true
	}
	if !o.empty {
		return false
	}
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

// value gives the field of a struct, not valid if it is left out.
func (f *planField) value(v reflect.Value) reflect.Value {
	if len(f.index) == 1 {
		v = v.Field(f.index[0])
	} else {
		v = v.FieldByIndex(f.index)
	}
	if f.omit.omits(v) {
		return reflect.Value{}
	}
	return v
}

// field gives the field called name, nil if nobody can own it.
func (p *plan) field(name string) *planField {
	if f := p.find(name); f != nil && !f.unowned {
		return f
	}
	return nil
}

// find gives the field called name, nil if there is none of the name.
func (p *plan) find(name string) *planField {
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

// without gives the plan for writes that cannot own what is at the paths, nor
// what is below it.
func (p *plan) without(paths []path) *plan {
	for _, at := range paths {
		p = p.withoutOne(at)
	}
	return p
}

func (p *plan) withoutOne(at path) *plan {
	if p == nil || p.field(at[0]) == nil {
		return p
	}
	out := *p
	out.fields = slices.Clone(p.fields)
	if f := out.field(at[0]); len(at) > 1 {
		f.plan = f.plan.withoutOne(at[1:])
	} else {
		f.unowned = true
	}
	return &out
}
