package core

import (
	"maps"
	"slices"
)

// smallSet is a set of values of which most objects have few, such as the names in a list. It does
// not allocate for as many as few has room for.
type smallSet[T comparable] struct {
	few  [16]T
	n    int
	many map[T]struct{} // all values, if there are more
}

// has reports whether the set has a value.
func (s *smallSet[T]) has(v T) bool {
	if s.many != nil {
		_, ok := s.many[v]
		return ok
	}
	return slices.Contains(s.few[:s.n], v)
}

// add adds a value. It reports whether the set did not have it.
func (s *smallSet[T]) add(v T) bool {
	if s.has(v) {
		return false
	}
	if s.many == nil && s.n < len(s.few) {
		s.few[s.n] = v
		s.n++
		return true
	}
	if s.many == nil {
		s.many = make(map[T]struct{}, 4*len(s.few))
		for _, old := range s.few {
			s.many[old] = struct{}{}
		}
	}
	s.many[v] = struct{}{}
	return true
}

// values returns the values in any order.
func (s *smallSet[T]) values() []T {
	if s.many != nil {
		return slices.Collect(maps.Keys(s.many))
	}
	return slices.Clone(s.few[:s.n])
}
