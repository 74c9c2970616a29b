package structural

import (
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// IsComplete reports whether an object has all defaults, no unknown fields and canonical metadata,
// so that DefaultStored does not change it. It does not change obj, and is much faster than
// DefaultStored. It may report false for an object that DefaultStored does not change.
func (s *Schema) IsComplete(obj map[string]any) bool { return s.isComplete(obj, true) }

// IsPruned reports whether an object has all defaults, no unknown fields and canonical metadata, so
// that PruneAndDefault returns nothing and does not change it. It may report false for other
// objects with the same result.
func (s *Schema) IsPruned(obj map[string]any) bool { return s.isComplete(obj, false) }

// isComplete is IsComplete for an object that must have a generation, or need not.
func (s *Schema) isComplete(obj map[string]any, hasGeneration bool) bool {
	if !isCanonicalMetadata(obj["metadata"], hasGeneration) {
		return false
	}
	if s.preserve { // nothing is pruned
		return !s.features.defaults && !s.features.embedded && hasTypeMeta(obj)
	}
	return s.shape().isComplete(obj)
}

// hasTypeMeta reports whether the kind and the apiVersion are strings.
func hasTypeMeta(obj map[string]any) bool {
	return !notString(obj["kind"]) && !notString(obj["apiVersion"])
}

// shape has the parts of a schema that determine how a value is pruned, which defaults it gets, and
// which lists have no duplicates. The zero value is that of a schema without fields.
type shape struct {
	properties map[string]*shape
	additional *shape // of the other fields; nil if they are unknown
	items      *shape
	defaults   []string // the properties with a default
	preserve   bool     // unknown fields are kept
	embedded   bool     // the value is an object with TypeMeta and ObjectMeta

	uniqueness uniqueness
	key        string // that differs in a list
	hasUnique  bool   // the value has such lists
}

// newShape returns the shape of a schema, which may be nil.
func newShape(s *structuralschema.Structural) *shape {
	out := &shape{}
	if s == nil {
		return out
	}
	out.preserve, out.embedded = s.XPreserveUnknownFields, s.XEmbeddedResource
	if len(s.Properties) > 0 {
		out.properties = make(map[string]*shape, len(s.Properties))
	}
	for name, property := range s.Properties {
		out.properties[name] = newShape(&property)
		if property.Default.Object != nil {
			out.defaults = append(out.defaults, name)
		}
	}
	if s.AdditionalProperties != nil {
		out.additional = newShape(s.AdditionalProperties.Structural)
	}
	if s.Items != nil {
		out.items = newShape(s.Items)
	}
	out.compileUniqueness(s)
	return out
}

// newRootShape returns the shape of the schema of a custom resource.
func newRootShape(s *structuralschema.Structural) *shape {
	root := newShape(s)
	root.embedded = true
	return root
}

// hasDefaults reports whether a part of a value of the shape has a default.
func (s *shape) hasDefaults() bool {
	if s == nil {
		return false
	}
	for _, property := range s.properties {
		if property.hasDefaults() {
			return true
		}
	}
	return len(s.defaults) > 0 || s.additional.hasDefaults() || s.items.hasDefaults()
}

// isComplete is Schema.IsComplete for a value. It reports false for null, which may be pruned.
func (s *shape) isComplete(value any) bool {
	switch value := value.(type) {
	case nil:
		return false
	case map[string]any:
		for _, name := range s.defaults {
			if _, has := value[name]; !has {
				return false
			}
		}
		for name, field := range value {
			if !s.isCompleteField(name, field) {
				return false
			}
		}
	case []any:
		if s.items == nil {
			return s.preserve || len(value) == 0
		}
		for _, item := range value {
			if !s.items.isComplete(item) {
				return false
			}
		}
	}
	return true
}

// isCompleteField is isComplete for a field of an object.
func (s *shape) isCompleteField(name string, field any) bool {
	if s.embedded {
		switch name {
		case "kind", "apiVersion":
			_, isString := field.(string)
			return isString
		case "metadata":
			return isCanonicalMetadata(field, false) && !s.properties[name].hasDefaults()
		}
	}
	if property := s.properties[name]; property != nil {
		return property.isComplete(field)
	}
	if s.additional != nil {
		return s.additional.isComplete(field)
	}
	return s.preserve
}
