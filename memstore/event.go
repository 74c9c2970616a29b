package memstore

import (
	"sync/atomic"
	"time"
)

// Event is the result of one write. Like records, events are immutable and shared.
type Event struct {
	Revision Revision // the revision of the write
	Record   *Record  // the record after the write; nil if it was deleted
	Prev     *Record  // the record before the write; nil if it was created

	time          time.Duration // the time of the write on the clock of the store
	size          int64         // the size that HistoryBytes counts; 0 before the event is in the history
	deletedRecord atomic.Pointer[Record]
}

// Key returns the key that was written.
func (e *Event) Key() string {
	if e.Record != nil {
		return e.Record.Key
	}
	return e.Prev.Key
}

// Changed reports whether the write changed anything. It is false for the event that Update returns
// if the draft equals the stored object (Record and Prev are then the same, and Revision is its
// revision), and for nil, which Update returns if the object to delete does not exist.
func (e *Event) Changed() bool { return e != nil && e.Record != e.Prev }

// DeletedRecord returns Prev with the revision of the event inserted, the object of a DELETED watch
// event, or nil if the event created the object. All calls return the same Record, so its cached
// encodings are shared by all watches.
func (e *Event) DeletedRecord() *Record {
	if r := e.deletedRecord.Load(); r != nil || e.Prev == nil {
		return r
	}
	e.deletedRecord.CompareAndSwap(nil, e.Prev.WithRevision(e.Revision))
	return e.deletedRecord.Load()
}

// lessByRevision is the order of event logs.
func lessByRevision(a, b *Event) bool { return a.Revision < b.Revision }
