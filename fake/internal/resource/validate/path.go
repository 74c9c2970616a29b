package validate

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Path is the path of a field in an object. nil is the object itself. Child, Index and Key are
// inlined into their callers, where the result stays on the stack.
type Path struct {
	parent *Path
	// name is the name of a field, or the key of a map if isKey is set. For an element of a list it
	// is "" and index is its index.
	name  string
	index int
	isKey bool
}

// Child returns the path of a field of an object.
func (p *Path) Child(name string) *Path { return &Path{parent: p, name: name} }

// Index returns the path of an element of a list.
func (p *Path) Index(i int) *Path { return &Path{parent: p, index: i} }

// Key returns the path of a value of a map.
func (p *Path) Key(key string) *Path { return &Path{parent: p, name: key, isKey: true} }

// Field returns the path in the form of apimachinery, nil for the object itself. It copies the
// names, since otherwise all that p refers to would have to be on the heap.
func (p *Path) Field() *field.Path {
	if p == nil {
		return nil
	}
	parent := p.parent.Field()
	switch {
	case p.isKey:
		return parent.Key(strings.Clone(p.name))
	case p.name == "":
		return parent.Index(p.index)
	}
	return parent.Child(strings.Clone(p.name))
}

// String returns the path as it is in the causes of a Status, for instance
// "spec.containers[0].name".
func (p *Path) String() string { return p.Field().String() }

// Required returns the error for a value that is missing. detail may be "".
func (p *Path) Required(detail string) *field.Error { return field.Required(p.Field(), detail) }

// Invalid returns the error for a value that is malformed or out of range.
func (p *Path) Invalid(value any, detail string) *field.Error {
	return field.Invalid(p.Field(), Internal(value), detail)
}

// Duplicate returns the error for a value that must be unique.
func (p *Path) Duplicate(value any) *field.Error { return field.Duplicate(p.Field(), Internal(value)) }

// NotFound returns the error for a value that refers to something missing.
func (p *Path) NotFound(value any) *field.Error { return field.NotFound(p.Field(), Internal(value)) }

// Forbidden returns the error for a field that must not be set, or not be changed.
func (p *Path) Forbidden(detail string) *field.Error { return field.Forbidden(p.Field(), detail) }

// TooLong returns the error for a text of more than maxBytes bytes.
func (p *Path) TooLong(maxBytes int) *field.Error { return field.TooLong(p.Field(), "", maxBytes) }

// TooMany returns the error for a list of more than maxItems elements.
func (p *Path) TooMany(items, maxItems int) *field.Error {
	return field.TooMany(p.Field(), items, maxItems)
}

// NotSupported returns the error for a value that is not one of valid.
func NotSupported[T ~string](p *Path, value any, valid ...T) *field.Error {
	return field.NotSupported(p.Field(), Internal(value), valid)
}
