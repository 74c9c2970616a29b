package memstore

import (
	"iter"
	"slices"
	"strings"
)

// View is the content of the store at one revision. It never changes. Creating and reading the
// current View takes no lock; creating an older one takes a lock for a short time. A View keeps its
// records in memory. The zero View is empty, at revision 0.
type View struct {
	rev     Revision
	base    *state
	patches []patch // the changes between base and rev, sorted by key
}

// patch is the difference of one key between a base state and a view.
type patch struct {
	key    string
	record *Record // nil if the key does not exist in the view
	inBase bool    // whether the key exists in the base
}

// Revision returns the revision of the view.
func (v View) Revision() Revision { return v.rev }

// Get returns the record of a key, or nil if it does not exist.
func (v View) Get(key string) *Record {
	if i, ok := v.findPatch(key); ok {
		return v.patches[i].record
	}
	if v.base == nil {
		return nil
	}
	return v.base.get(key)
}

// Range returns the records whose key has the prefix and is not below from, in the byte order of
// their keys, as in etcd. from "" means from the start. To continue after a key, pass key+"\x00".
// Finding the first record costs O(log n), and the iteration does not allocate for each record. The
// sequence can be used several times.
func (v View) Range(prefix, from string) iter.Seq[*Record] {
	return func(yield func(*Record) bool) {
		switch {
		case v.base == nil:
		case len(v.patches) == 0:
			v.base.scan(prefix, from).forEach(yield)
		default:
			v.merge(prefix, from, yield)
		}
	}
}

func (s scanner) forEach(yield func(*Record) bool) {
	for r := s.next(); r != nil && yield(r); r = s.next() {
	}
}

// merge iterates over base and patches. For keys in both, the patch takes precedence.
func (v View) merge(prefix, from string, yield func(*Record) bool) {
	s := v.base.scan(prefix, from)
	i, _ := v.findPatch(max(prefix, from))
	patches := v.patches[i:]
	for r := s.next(); ; {
		p := patch{}
		if len(patches) > 0 && strings.HasPrefix(patches[0].key, prefix) {
			p = patches[0]
		}
		switch {
		case r == nil && p.key == "":
			return
		case p.key == "" || r != nil && r.Key < p.key:
			if !yield(r) {
				return
			}
			r = s.next()
		default:
			if p.record != nil && !yield(p.record) {
				return
			}
			if r != nil && r.Key == p.key {
				r = s.next()
			}
			patches = patches[1:]
		}
	}
}

// Count returns the number of keys with the prefix. It is fast for "" and for prefixes that end in
// "/". For others it iterates over the keys.
func (v View) Count(prefix string) int {
	if v.base == nil {
		return 0
	}
	n := 0
	if prefix != "" && !strings.HasSuffix(prefix, "/") {
		for range v.Range(prefix, "") {
			n++
		}
		return n
	}
	n = v.base.dirs.get(prefix)
	i, _ := v.findPatch(prefix)
	for _, p := range v.patches[i:] {
		if !strings.HasPrefix(p.key, prefix) {
			break
		}
		if exists := p.record != nil; exists && !p.inBase {
			n++
		} else if !exists && p.inBase {
			n--
		}
	}
	return n
}

// findPatch returns the index of the patch of a key, or where it would be, and whether it exists.
func (v View) findPatch(key string) (int, bool) {
	return slices.BinarySearchFunc(v.patches, key, func(p patch, k string) int { return strings.Compare(p.key, k) })
}

// mergeByKey returns the patches for events, which are in order, with one patch for each key.
func mergeByKey(events []*Event) []patch {
	merged := make([]patch, 0, len(events))
	for _, e := range events {
		merged = append(merged, patch{e.Key(), e.Record, e.Prev != nil})
	}
	slices.SortStableFunc(merged, func(a, b patch) int { return strings.Compare(a.key, b.key) })
	n := 0
	for i, p := range merged {
		if i > 0 && merged[n-1].key == p.key {
			merged[n-1].record = p.record // the record of the last event, and inBase of the first
			continue
		}
		merged[n] = p
		n++
	}
	return merged[:n]
}
