package memstore

import (
	"strconv"
	"sync/atomic"
)

// Revision counts the writes of a store: every write gets the next one. On the wire it is the
// resourceVersion.
type Revision uint64

// String returns the revision in decimal, as it stands in a resourceVersion.
func (r Revision) String() string { return strconv.FormatUint(uint64(r), 10) }

// Record is an object as it was stored at one revision. Records are shared by everybody who
// reads them and by every revision in which they did not change: nobody may change one, nor
// what its slices hold. Only the store makes them.
type Record struct {
	Key            string   // where it is stored
	UID            string   // from the draft; the store gives it no meaning
	CreateRevision Revision // the write that created the object under this key
	Revision       Revision // the write that stored this state, or what At was given
	Labels         Pairs    // from the draft
	Fields         Pairs    // from the draft
	Data           []byte   // the encoded object, stamped with Revision

	revisionOffset int // where in Data the decimal revision begins; negative: nowhere
	encodings      atomic.Pointer[cachedEncoding]
}

// cachedEncoding is one other encoding of a record, in a list that only grows at its front.
type cachedEncoding struct {
	kind string
	data []byte
	next *cachedEncoding
}

// WithRevision returns the same content stamped with another revision: Data is spliced anew, Created and
// all else stay. Encodings made by Derived are not carried over, as they hold the old stamp.
func (r *Record) WithRevision(rev Revision) *Record {
	if rev == r.Revision {
		return r
	}
	c := &Record{
		Key: r.Key, UID: r.UID, CreateRevision: r.CreateRevision, Revision: rev,
		Labels: r.Labels, Fields: r.Fields, Data: r.Data, revisionOffset: r.revisionOffset,
	}
	if r.revisionOffset >= 0 {
		c.Data = insertRevision(r.Data[:r.revisionOffset], rev, r.Data[r.revisionOffset+decimalLen(r.Revision):])
	}
	return c
}

// CachedEncoding returns another encoding of the record (protobuf, a table row, ...), made by make on first
// use and kept as long as the record. Looking up one that exists takes no lock. Callers that race
// may each run make, and all get the result of one of them. An error is passed through and not kept.
// Meant for a handful of kinds: they are searched one by one. make must not change the record, nor
// keep the bytes it returns for other use.
func (r *Record) CachedEncoding(kind string, encode func(*Record) ([]byte, error)) ([]byte, error) {
	first := r.encodings.Load()
	if d := first.find(kind); d != nil {
		return d.data, nil
	}
	data, err := encode(r)
	if err != nil {
		return nil, err
	}
	for {
		if r.encodings.CompareAndSwap(first, &cachedEncoding{kind, data, first}) {
			return data, nil
		}
		first = r.encodings.Load()
		if d := first.find(kind); d != nil {
			return d.data, nil
		}
	}
}

// retainedBytes is what a record that nothing but an event keeps alive occupies: its data, in all encodings that
// there are now. Most are made while the record is current.
func (r *Record) retainedBytes() int64 {
	if r == nil {
		return 0
	}
	bytes := len(r.Data)
	for d := r.encodings.Load(); d != nil; d = d.next {
		bytes += len(d.data)
	}
	return int64(bytes)
}

func (d *cachedEncoding) find(kind string) *cachedEncoding {
	for ; d != nil; d = d.next {
		if d.kind == kind {
			return d
		}
	}
	return nil
}

// insertRevision returns before, the revision in decimal and after, in one slice without spare capacity.
func insertRevision(before []byte, rev Revision, after []byte) []byte {
	data := make([]byte, 0, len(before)+decimalLen(rev)+len(after))
	data = append(data, before...)
	data = strconv.AppendUint(data, uint64(rev), 10)
	return append(data, after...)
}

// decimalLen is the length of the revision in decimal.
func decimalLen(rev Revision) int {
	n := 1
	for ; rev >= 10; rev /= 10 {
		n++
	}
	return n
}
