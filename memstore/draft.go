package memstore

import (
	"bytes"
	"fmt"
	"slices"
)

// Draft is an object as it should be stored, before it has a revision.
type Draft struct {
	// Data is the encoded object without its revision. The store copies it into a slice of the
	// exact size, so the caller may reuse the buffer once the write has returned.
	Data []byte

	// RevisionOffset is the offset in Data at which the decimal revision is inserted at commit.
	// Negative: nowhere, Data is stored as it is. (The zero value inserts it at the very start.)
	RevisionOffset int

	// UID, Labels and Fields are kept with the record for those who filter without decoding:
	// labels for label selectors, fields for field selectors. The store only compares them.
	// The slices are kept, not copied; they must be sorted by key and never change again.
	UID    string
	Labels Pairs
	Fields Pairs
}

// check refuses a draft that cannot be stored.
func (d *Draft) check() error {
	if d.RevisionOffset > len(d.Data) {
		return fmt.Errorf("memstore: stamp at offset %d of %d bytes of data", d.RevisionOffset, len(d.Data))
	}
	return nil
}

// equals reports whether storing d would leave r as it is but for the revision.
func (d *Draft) equals(r *Record) bool {
	return d.UID == r.UID && d.equalData(r) && slices.Equal(d.Labels, r.Labels) && slices.Equal(d.Fields, r.Fields)
}

func (d *Draft) equalData(r *Record) bool {
	if d.RevisionOffset < 0 || r.revisionOffset < 0 {
		return d.RevisionOffset < 0 && r.revisionOffset < 0 && bytes.Equal(d.Data, r.Data)
	}
	n := decimalLen(r.Revision)
	return d.RevisionOffset == r.revisionOffset && len(d.Data)+n == len(r.Data) &&
		bytes.Equal(d.Data[:d.RevisionOffset], r.Data[:d.RevisionOffset]) && bytes.Equal(d.Data[d.RevisionOffset:], r.Data[d.RevisionOffset+n:])
}

// record makes what is stored at rev in the place of prev (nil: the object is new).
func (d *Draft) record(key string, rev Revision, prev *Record) *Record {
	r := &Record{
		Key: key, UID: d.UID, CreateRevision: rev, Revision: rev,
		Labels: d.Labels, Fields: d.Fields, revisionOffset: max(d.RevisionOffset, -1),
	}
	if prev != nil {
		r.Key, r.CreateRevision = prev.Key, prev.CreateRevision // the key's bytes are shared by all states of the object
	}
	if d.RevisionOffset >= 0 {
		r.Data = insertRevision(d.Data[:d.RevisionOffset], rev, d.Data[d.RevisionOffset:])
	} else {
		r.Data = append(make([]byte, 0, len(d.Data)), d.Data...)
	}
	return r
}
