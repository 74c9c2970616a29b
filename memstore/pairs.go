package memstore

import (
	"cmp"
	"slices"
	"strings"
)

// Pair is a key with its value.
type Pair struct{ Key, Value string }

// Pairs is a small map from string to string, as a slice that is sorted by Key and has no duplicate
// keys. It needs one allocation, where a map needs several, and can be compared without hashing.
type Pairs []Pair

// MakePairs returns the entries of m as Pairs. It returns nil if m is empty.
func MakePairs(m map[string]string) Pairs {
	if len(m) == 0 {
		return nil
	}
	p := make(Pairs, 0, len(m))
	for k, v := range m {
		p = append(p, Pair{k, v})
	}
	slices.SortFunc(p, func(a, b Pair) int { return cmp.Compare(a.Key, b.Key) })
	return p
}

// Get returns the value of key and whether it exists.
func (p Pairs) Get(key string) (string, bool) {
	i, ok := slices.BinarySearchFunc(p, key, func(a Pair, k string) int { return strings.Compare(a.Key, k) })
	if !ok {
		return "", false
	}
	return p[i].Value, true
}
