package memstore

import (
	"sync/atomic"
	"time"
)

// Event is what one write did. Events are immutable and shared, as records are.
type Event struct {
	Revision Revision // the write
	Record   *Record  // the state after it; nil: the object was deleted
	Prev     *Record  // the state before it; nil: the object was created

	time          time.Duration // when, on the clock of the store; ages are reckoned from it
	size          int64         // what it is taken to occupy, once it is remembered
	deletedRecord atomic.Pointer[Record]
}

// Key is the key that was written.
func (e *Event) Key() string {
	if e.Record != nil {
		return e.Record.Key
	}
	return e.Prev.Key
}

// Changed reports whether the write changed anything. It is false for what Update returns when
// the draft equalled the stored object (Record and Prev are then the same record, and Revision is
// its revision), and for nil, which Update returns when the object to be deleted did not exist.
func (e *Event) Changed() bool { return e != nil && e.Record != e.Prev }

// DeletedRecord returns Prev's content stamped with the revision of this event: what a DELETED event
// shows, also to a watcher whose selector the object no longer matches. It is made once, however
// many watchers ask, so that encodings derived from it are shared too. Nil for a creation.
func (e *Event) DeletedRecord() *Record {
	if r := e.deletedRecord.Load(); r != nil || e.Prev == nil {
		return r
	}
	e.deletedRecord.CompareAndSwap(nil, e.Prev.WithRevision(e.Revision))
	return e.deletedRecord.Load()
}

// lessByRevision orders events; the logs are keyed by it.
func lessByRevision(a, b *Event) bool { return a.Revision < b.Revision }
