package memstore

import (
	"bytes"
	"fmt"
	"slices"
)

// Draft is an object to be stored.
type Draft struct {
	// Data is the encoded object without its revision. The store copies it, so the caller may reuse
	// the buffer after the write has returned.
	Data []byte

	// RevisionOffset is the offset in Data at which the store inserts the revision in decimal. If
	// it is negative, Data is stored unchanged. The zero value inserts the revision at the start.
	RevisionOffset int

	// UID, Labels and Fields are stored with the record, so that label and field selectors need not
	// decode Data. The store only compares them. The slices are not copied. They must be sorted by
	// key and not be changed afterwards.
	UID    string
	Labels Pairs
	Fields Pairs

	// Reads are prefixes of the keys of other records on which the draft depends. If one of these
	// records may have changed since fn of Update was called, fn is called again.
	Reads []string
}

// check returns an error if the draft cannot be stored.
func (d *Draft) check() error {
	if d.RevisionOffset > len(d.Data) {
		return fmt.Errorf("memstore: revision offset %d exceeds the %d bytes of data", d.RevisionOffset, len(d.Data))
	}
	return nil
}

// equals reports whether storing d would change nothing in r except the revision.
func (d *Draft) equals(r *Record) bool {
	return d.UID == r.UID && d.equalData(r) && slices.Equal(d.Labels, r.Labels) && slices.Equal(d.Fields, r.Fields)
}

func (d *Draft) equalData(r *Record) bool {
	offset := r.revisionOffset
	switch {
	case max(d.RevisionOffset, -1) != offset:
		return false
	case offset < 0:
		return bytes.Equal(d.Data, r.Data)
	}
	n := decimalLen(r.Revision)
	return bytes.Equal(d.Data[:offset], r.Data[:offset]) && bytes.Equal(d.Data[offset:], r.Data[offset+n:])
}

// record returns the record for d at rev. prev is the record that it replaces, nil if the object is
// new.
func (d *Draft) record(key string, rev Revision, prev *Record) *Record {
	r := &Record{
		Key: key, UID: d.UID, CreateRevision: rev, Revision: rev,
		Labels: d.Labels, Fields: d.Fields, revisionOffset: max(d.RevisionOffset, -1),
	}
	if prev != nil {
		r.Key, r.CreateRevision = prev.Key, prev.CreateRevision // share the string of the key
	}
	if d.RevisionOffset >= 0 {
		r.Data = insertRevision(d.Data[:d.RevisionOffset], rev, d.Data[d.RevisionOffset:])
	} else {
		r.Data = append(make([]byte, 0, len(d.Data)), d.Data...)
	}
	return r
}
