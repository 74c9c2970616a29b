package memstore

import (
	"strconv"
	"sync/atomic"
)

// Revision is the number of a write. Every write gets the next one. In the Kubernetes API it is the
// resourceVersion.
type Revision uint64

// String returns the revision in decimal, as in a resourceVersion.
func (r Revision) String() string { return strconv.FormatUint(uint64(r), 10) }

// Record is an object as it was stored at one revision. Records are created by the store and shared
// by all readers and by all revisions in which the object did not change. They and their slices
// must not be modified.
type Record struct {
	Key            string   // the key under which the object is stored
	UID            string   // from the draft; the store only compares it
	CreateRevision Revision // the revision of the write that created the object
	Revision       Revision // the revision of the write that stored this state, or the argument of WithRevision
	Labels         Pairs    // from the draft
	Fields         Pairs    // from the draft
	Data           []byte   // the encoded object with Revision inserted

	revisionOffset int // the offset of the revision in Data; -1 if it was not inserted
	encodings      atomic.Pointer[cachedEncoding]
}

// cachedEncoding is another encoding of a record. It is an element of a list that grows at the
// front only.
type cachedEncoding struct {
	kind string
	data []byte
	next *cachedEncoding
}

// WithRevision returns a copy of the record with another revision inserted in Data. CreateRevision
// and all other fields are the same. The cached encodings are not copied, because they contain the
// old revision.
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

// CachedEncoding returns another encoding of the record, such as protobuf or a table row, under the
// name kind. The first call computes it with encode, and the result is cached with the record.
// Reading a cached encoding takes no lock. Concurrent first calls may each call encode, and all
// return the result of one of them. An error is returned and not cached. The kinds are searched
// linearly, so there should be few. encode must not modify the record, and must not keep a
// reference to the bytes that it returns.
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

// retainedBytes returns the size of a record that only the history refers to: its data in all
// encodings that are cached now. Most are computed while the record is current.
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

// insertRevision returns before, the revision in decimal and after in a slice without spare
// capacity.
func insertRevision(before []byte, rev Revision, after []byte) []byte {
	data := make([]byte, 0, len(before)+decimalLen(rev)+len(after))
	data = append(data, before...)
	data = strconv.AppendUint(data, uint64(rev), 10)
	return append(data, after...)
}

// decimalLen returns the number of decimal digits of the revision.
func decimalLen(rev Revision) int {
	n := 1
	for ; rev >= 10; rev /= 10 {
		n++
	}
	return n
}
