package memstore

import (
	"cmp"
	"slices"
	"strings"
)

// Pair is one key with its value.
type Pair struct{ Key, Value string }

// Pairs stands in for a small map[string]string: sorted by Key, no key twice. It costs one
// allocation where a map costs several, and two of them are compared without hashing.
type Pairs []Pair

// MakePairs returns the entries of m, sorted. An empty or nil map gives nil.
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

// Get returns the value of key, and whether there is one.
func (p Pairs) Get(key string) (string, bool) {
	i, ok := slices.BinarySearchFunc(p, key, func(a Pair, k string) int { return strings.Compare(a.Key, k) })
	if !ok {
		return "", false
	}
	return p[i].Value, true
}
