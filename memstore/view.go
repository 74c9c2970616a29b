package memstore

import (
	"iter"
	"slices"
	"strings"
)

// View is the store at one revision: what it shows belongs together and never changes. Making one
// and reading it takes no lock that a writer holds for long, and none at all for the current state.
// It keeps what it shows in memory while it is held. The zero View is empty, at revision 0.
type View struct {
	rev     Revision
	base    *state
	patches []patch // what happened between base and rev, sorted by key
}

// patch is the difference one key makes between a base state and a view.
type patch struct {
	key    string
	record *Record // nil: the key is absent from the view
	inBase bool    // the key is present in the base
}

// Revision is the revision that the view shows.
func (v View) Revision() Revision { return v.rev }

// Get returns the record under the key, nil if there is none.
func (v View) Get(key string) *Record {
	if i, ok := v.findPatch(key); ok {
		return v.patches[i].record
	}
	if v.base == nil {
		return nil
	}
	return v.base.get(key)
}

// Range yields the records whose key has the prefix and is not below from ("" means from the start),
// in the byte order of their keys, which is etcd's. To go on after key k, give k+"\x00". Seeking costs
// O(log n) wherever from lies, and the walk allocates nothing per record. Every use of the sequence
// walks anew.
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

// merge walks base and patches side by side; where both have a key, the patch holds.
func (v View) merge(prefix, from string, yield func(*Record) bool) {
	s := v.base.scan(prefix, from)
	i, _ := v.findPatch(max(prefix, from))
	over := v.patches[i:]
	for r := s.next(); ; {
		p := patch{}
		if len(over) > 0 && strings.HasPrefix(over[0].key, prefix) {
			p = over[0]
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
			over = over[1:]
		}
	}
}

// Count returns how many keys have the prefix. For "" and for a prefix that ends in "/" the store
// keeps count; any other is counted by walking.
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
		if is := p.record != nil; is && !p.inBase {
			n++
		} else if !is && p.inBase {
			n--
		}
	}
	return n
}

// findPatch returns where the key is, or would be, among the patches.
func (v View) findPatch(key string) (int, bool) {
	return slices.BinarySearchFunc(v.patches, key, func(p patch, k string) int { return strings.Compare(p.key, k) })
}

// mergeByKey sums up events, given in order, by key.
func mergeByKey(events []*Event) []patch {
	over := make([]patch, 0, len(events))
	for _, e := range events {
		over = append(over, patch{e.Key(), e.Record, e.Prev != nil})
	}
	slices.SortStableFunc(over, func(a, b patch) int { return strings.Compare(a.key, b.key) })
	n := 0
	for i, p := range over {
		if i > 0 && over[n-1].key == p.key {
			over[n-1].record = p.record // the last state counts, and whether the base had the key the first event knew
			continue
		}
		over[n] = p
		n++
	}
	return over[:n]
}
