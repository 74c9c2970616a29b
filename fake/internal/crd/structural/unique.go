package structural

import (
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// uniqueness describes how the items of a list differ.
type uniqueness int

const (
	notUnique  uniqueness = iota // a list of any items, or no list
	unique                       // a set
	uniqueKeys                   // a map
)

func newUniqueness(s *structuralschema.Structural) uniqueness {
	switch {
	case s.XListType == nil:
	case *s.XListType == "set":
		return unique
	case *s.XListType == "map":
		return uniqueKeys
	}
	return notUnique
}

// compileUniqueness sets the fields of a shape that isUnique reads.
func (s *shape) compileUniqueness(from *structuralschema.Structural) {
	s.uniqueness = newUniqueness(from)
	if len(from.XListMapKeys) > 0 {
		s.key = from.XListMapKeys[0]
	}
	s.hasUnique = s.uniqueness != notUnique || s.items != nil && s.items.hasUnique || s.additional != nil && s.additional.hasUnique
	for _, property := range s.properties {
		s.hasUnique = s.hasUnique || property.hasUnique
	}
}

// isUnique reports whether the lists in a value that are sets or maps surely have no duplicates:
// sets of strings, and maps whose first keys are different strings. It is much faster than the
// library.
func (s *shape) isUnique(value any) bool {
	if !s.hasUnique {
		return true
	}
	switch value := value.(type) {
	case map[string]any:
		for name, field := range value {
			property := s.properties[name]
			if property != nil && !property.isUnique(field) || s.additional != nil && !s.additional.isUnique(field) {
				return false
			}
		}
	case []any:
		if !s.isUniqueList(value) {
			return false
		}
		for i := 0; s.items != nil && s.items.hasUnique && i < len(value); i++ {
			if !s.items.isUnique(value[i]) {
				return false
			}
		}
	}
	return true
}

func (s *shape) isUniqueList(list []any) bool {
	switch s.uniqueness {
	case notUnique:
		return true
	case unique:
		return areDistinct(list, func(item any) (string, bool) {
			text, ok := item.(string)
			return text, ok
		})
	default:
		return areDistinct(list, func(item any) (string, bool) {
			object, _ := item.(map[string]any)
			key, ok := object[s.key].(string)
			return key, ok
		})
	}
}

// areDistinct reports whether all items have different strings.
func areDistinct(list []any, text func(item any) (string, bool)) bool {
	const few = 16 // compared with each other without a set
	var all [few]string
	var set map[string]bool
	if len(list) > few {
		set = make(map[string]bool, len(list))
	}
	for i, item := range list {
		s, ok := text(item)
		if !ok || set[s] {
			return false
		}
		if set != nil {
			set[s] = true
			continue
		}
		for _, other := range all[:i] {
			if s == other {
				return false
			}
		}
		all[i] = s
	}
	return true
}
