package structural

import (
	"math"
	"regexp"
	"slices"
	"sync"

	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

// newChecker compiles a schema. Values that a keyword applies to which is not supported are not
// surely valid.
func newChecker(s *spec.Schema) *checker {
	c := &checker{}
	if s.Ref.String() != "" || s.Not != nil || len(s.OneOf) > 0 || len(s.Dependencies) > 0 {
		return c
	}
	c.anyOf, c.allOf, c.enum = newCheckers(s.AnyOf), newCheckers(s.AllOf), s.Enum
	c.isNullable = len(s.Enum) == 0 && (len(s.Type) == 0 || s.Nullable || s.Type.Contains("null"))
	c.isBool = hasType(s, "boolean")
	c.compileNumber(s)
	c.compileString(s)
	c.compileList(s)
	c.compileObject(s)
	return c
}

func newCheckers(schemas []spec.Schema) []*checker {
	var all []*checker
	for i := range schemas {
		all = append(all, newChecker(&schemas[i]))
	}
	return all
}

// hasType reports whether a schema allows a type. In the library a format does so, too, if the
// schema has no type or is that of strings.
func hasType(s *spec.Schema, name string) bool {
	return s.Type.Contains(name) || len(s.Type) == 0 && s.Format == ""
}

// compileNumber does not support that a number without fraction is an integer.
func (c *checker) compileNumber(s *spec.Schema) {
	c.minimum, c.maximum = newBound(s.Minimum, s.ExclusiveMinimum), newBound(s.Maximum, s.ExclusiveMaximum)
	c.isInt32 = s.Format == "int32"
	if s.MultipleOf != nil || !slices.Contains([]string{"", "int32", "int64", "double"}, s.Format) ||
		!c.isBoundSupported(s, c.minimum) || !c.isBoundSupported(s, c.maximum) {
		return
	}
	c.isFloat = hasType(s, "number")
	c.isInteger = hasType(s, "integer") || c.isFloat
}

func newBound(limit *float64, isExclusive bool) *bound {
	if limit == nil {
		return nil
	}
	return &bound{*limit, isExclusive}
}

// isBoundSupported reports whether a bound, which may be nil, is a value of the type and format.
// The library has errors for others, whatever the value is.
func (c *checker) isBoundSupported(s *spec.Schema, b *bound) bool {
	const maxExact = 1 << 53
	switch {
	case b == nil:
		return true
	case c.isInt32 && (b.limit < math.MinInt32 || b.limit > math.MaxInt32):
		return false
	case s.Type.Contains("integer") && b.limit != math.Trunc(b.limit):
		return false
	}
	return -maxExact <= b.limit && b.limit <= maxExact
}

func (c *checker) compileString(s *spec.Schema) {
	c.minLength, c.maxLength = s.MinLength, s.MaxLength
	if strfmt.Default.ContainsName(s.Format) {
		c.format = s.Format
	}
	if s.Pattern != "" {
		compiled := sync.OnceValues(func() (*regexp.Regexp, error) { return regexp.Compile(s.Pattern) })
		c.matches = func(value string) bool {
			pattern, err := compiled()
			return err == nil && pattern.MatchString(value)
		}
	}
	c.isString = hasType(s, "string")
}

func (c *checker) compileList(s *spec.Schema) {
	if s.UniqueItems || s.AdditionalItems != nil || s.Items != nil && len(s.Items.Schemas) > 0 {
		return
	}
	c.minItems, c.maxItems = s.MinItems, s.MaxItems
	if s.Items != nil && s.Items.Schema != nil {
		c.items = newChecker(s.Items.Schema)
	}
	c.isList = hasType(s, "array")
}

func (c *checker) compileObject(s *spec.Schema) {
	if len(s.PatternProperties) > 0 {
		return
	}
	c.minProperties, c.maxProperties, c.required = s.MinProperties, s.MaxProperties, s.Required
	c.properties = make(map[string]*checker, len(s.Properties))
	for name, property := range s.Properties {
		c.properties[name] = newChecker(&property)
	}
	if s.AdditionalProperties != nil {
		c.isClosed = !s.AdditionalProperties.Allows
		if s.AdditionalProperties.Schema != nil {
			c.additional = newChecker(s.AdditionalProperties.Schema)
		}
	}
	c.isObject = hasType(s, "object")
}
