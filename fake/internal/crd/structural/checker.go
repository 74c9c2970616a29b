package structural

import (
	"slices"
	"unicode/utf8"

	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

// checker finds values that are surely valid by a schema. It knows the common keywords, is much
// faster than a validator, and allocates nothing. The validator decides about all other values. The
// rules are those of package validate of kube-openapi.
type checker struct {
	anyOf, allOf []*checker
	enum         []any

	// Only null and values of these types may be surely valid.
	isNullable, isBool, isInteger, isFloat, isString, isList, isObject bool

	minimum, maximum *bound
	isInt32          bool

	minLength, maxLength *int64
	matches              func(string) bool // of the pattern; nil if there is none
	format               string

	minItems, maxItems *int64
	items              *checker // nil if they may have any value

	minProperties, maxProperties *int64
	required                     []string
	properties                   map[string]*checker
	additional                   *checker // of the other fields; nil if they may have any value
	isClosed                     bool     // no other field is surely valid
}

// bound is a minimum or a maximum.
type bound struct {
	limit       float64
	isExclusive bool
}

// accepts reports whether a value is surely valid.
func (c *checker) accepts(value any) bool {
	switch value := value.(type) {
	case nil:
		return c.isNullable // what follows does not apply
	case bool:
		return c.isBool && c.hasEnum(value) && c.acceptsBranches(value)
	case int64:
		return c.isInteger && c.acceptsInteger(value) && c.hasEnum(value) && c.acceptsBranches(value)
	case float64:
		return c.isFloat && c.acceptsFloat(value) && c.hasEnum(value) && c.acceptsBranches(value)
	case string:
		return c.isString && c.acceptsString(value) && c.hasEnum(value) && c.acceptsBranches(value)
	case []any:
		return c.isList && len(c.enum) == 0 && c.acceptsList(value) && c.acceptsBranches(value)
	case map[string]any:
		return c.isObject && len(c.enum) == 0 && c.acceptsObject(value) && c.acceptsBranches(value)
	}
	return false
}

// hasEnum reports whether a value is in the enum, if there is one. The value is not a list or an
// object, which cannot be compared.
func (c *checker) hasEnum(value any) bool {
	return len(c.enum) == 0 || slices.Contains(c.enum, value)
}

func (c *checker) acceptsBranches(value any) bool {
	accepts := func(branch *checker) bool { return branch.accepts(value) }
	for _, branch := range c.allOf {
		if !accepts(branch) {
			return false
		}
	}
	return len(c.anyOf) == 0 || slices.ContainsFunc(c.anyOf, accepts)
}

// acceptsInteger compares an integer with the integer part of a bound, as the library does.
func (c *checker) acceptsInteger(value int64) bool {
	switch {
	case c.isInt32 && int64(int32(value)) != value:
		return false
	case c.minimum != nil && (value < int64(c.minimum.limit) || c.minimum.isExclusive && value == int64(c.minimum.limit)):
		return false
	}
	return c.maximum == nil || value < int64(c.maximum.limit) || !c.maximum.isExclusive && value == int64(c.maximum.limit)
}

func (c *checker) acceptsFloat(value float64) bool {
	if c.minimum != nil && (value < c.minimum.limit || c.minimum.isExclusive && value == c.minimum.limit) {
		return false
	}
	return c.maximum == nil || value < c.maximum.limit || !c.maximum.isExclusive && value == c.maximum.limit
}

func (c *checker) acceptsString(value string) bool {
	if c.minLength != nil || c.maxLength != nil {
		if !isBetween(utf8.RuneCountInString(value), c.minLength, c.maxLength) {
			return false
		}
	}
	return (c.matches == nil || c.matches(value)) && (c.format == "" || strfmt.Default.Validates(c.format, value))
}

func (c *checker) acceptsList(list []any) bool {
	if !isBetween(len(list), c.minItems, c.maxItems) {
		return false
	}
	if c.items != nil {
		for _, item := range list {
			if !c.items.accepts(item) {
				return false
			}
		}
	}
	return true
}

func (c *checker) acceptsObject(object map[string]any) bool {
	if !isBetween(len(object), c.minProperties, c.maxProperties) {
		return false
	}
	for _, name := range c.required {
		if _, has := object[name]; !has {
			return false
		}
	}
	for name, value := range object {
		if property := c.properties[name]; property != nil {
			if !property.accepts(value) {
				return false
			}
		} else if c.isClosed || c.additional != nil && !c.additional.accepts(value) {
			return false
		}
	}
	return true
}

// isBetween reports whether n is neither less than low nor more than high, which may be nil.
func isBetween(n int, low, high *int64) bool {
	return (low == nil || int64(n) >= *low) && (high == nil || int64(n) <= *high)
}
