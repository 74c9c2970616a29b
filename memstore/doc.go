// Package memstore is an in-memory key-value store with revisions and a limited history, as etcd is
// for a Kubernetes API server. It stores encoded objects under keys, reads them at the current or
// an older revision, and lets readers follow the changes. It does not depend on HTTP or Kubernetes.
//
// # When to use it
//
// Use it as the storage of a server with resourceVersions and watches: it lists at a revision,
// pages without gaps and resumes watches. It is the storage of package fakeapi. For a complete
// server, use that package.
//
// # First steps
//
//	store := memstore.New(memstore.Options{})
//	create := func(cur *memstore.Record) (*memstore.Draft, error) {
//		if cur != nil {
//			return nil, errExists
//		}
//		// The revision is inserted at offset.
//		return &memstore.Draft{Data: object, RevisionOffset: offset}, nil
//	}
//	event, err := store.Update("pods/default/web", create)
//	record := store.View().Get("pods/default/web")
//	cursor, err := store.Watch("pods/", event.Revision)
//
// # Stored form
//
// A [Store] maps keys to [Record] values. A key is a path such as "pods/default/web". Keys are
// ordered by their bytes, as in etcd: "a-b/x" comes before "a/x". The part before the first "/" is
// the topic of the key; by convention it is the resource.
//
// A Record is immutable. All readers, events and revisions in which the object did not change share
// the same Record. It holds the encoded object as it is served, and what reads filter by without
// decoding it: UID, labels and fields. [Record.CachedEncoding] caches further encodings with the
// record.
//
// A [View] is the set of all records at one revision. [Store.View] returns the current one without
// taking a lock. A View never changes: [View.Get], [View.Range], [View.Count] and [View.Revision]
// are consistent however many writes follow. [Store.ViewAt] returns the View at an older revision.
// A paged list uses one ViewAt for each page and continues after the last key; the cost of a page
// does not depend on its position. A value that is derived from a part of the store is valid as
// long as [View.Identity] of that part is the same.
//
// # Revision
//
// Writes are serialized, and each write gets the next [Revision]. The store inserts the revision in
// decimal into the data at [Draft].RevisionOffset, so the stored bytes contain their own
// resourceVersion and can be served as they are.
//
// [Store.Update] is the only write of a single key: it takes a function from the current record to
// the next [Draft], and runs it again if the record was changed in between. Create, replace, patch,
// status update, delete and all preconditions are such functions. Returning nil deletes the record.
// A draft that equals the current record is not written and uses no revision. [Store.Load] makes
// many writes at once, all or none.
//
// [Options].Quota limits the size of the records. A write that would exceed it fails with
// [ErrQuotaExceeded] and changes nothing. A write that does not increase the size always succeeds.
//
// # History and its two floors
//
// The store keeps the events of the last [Options].HistoryAge, limited by HistoryCount and
// HistoryBytes. The oldest events are removed first, on each write and each read of the history, so
// the history of an idle store expires, too. The store keeps every 64th state; states share
// unchanged nodes of a radix tree. The view of a revision in between is the kept state before it
// and the events since.
//
// Two floors limit what can be read, as in a real API server, where etcd is compacted every five
// minutes and the watch cache has a window of its own:
//
//   - The view floor is the oldest revision that [Store.ViewAt] returns. [Store.CompactViews]
//     raises it to the current revision.
//   - The watch floor is the oldest revision that [Store.Watch] accepts. It is never above the view
//     floor. [Store.CompactAll] raises both to the current revision.
//
// Reads below a floor fail with a [*CompactedError]. Neither floor is above the current revision.
//
// # Watching
//
// A [Cursor] is a position in the history with a prefix. Readers pull: [Cursor.Next] returns the
// events since the position, and [Cursor.Ready] returns a channel to wait on if there are none. No
// events are queued for a cursor, so writers never wait for readers. A slow reader misses nothing
// silently: Next fails with ErrCompacted if an event of the cursor's topic was removed before it
// was read. Removed events of other topics do not matter, so a watch of a rarely written resource
// is not affected by writes to others. A cursor need not be closed.
//
// Readers are woken by topic: the first write after a reader began to wait closes one channel. It
// costs the writer about 0.1 µs for each waiting goroutine. A reader of a broad prefix that needs
// only some of the events waits with [Cursor.ReadyFor].
//
// # Snapshots and forks
//
// [Store.Snapshot] and [Store.Restore] behave like an etcd that is restored from a backup: with a
// bump of 0 the revision goes back to that of the snapshot. [Store.Fork] returns an independent
// store with the same state and history. None of them copies records, so tests can load a fixture
// once and use one fork each.
//
// # Time
//
// The only clock is time.Now. There are no goroutines and no timers, so in a testing/synctest
// bubble the history expires on virtual time, and a store need not be closed. The channels of
// cursors and [Store.Wait] belong to the bubble in which they were made. So use a store in one
// bubble or in none; to move it into or out of a bubble, fork it there.
//
// # Errors
//
// [ErrCompacted], [ErrFutureRevision], [ErrRestored], [ErrQuotaExceeded] and [ErrEmptyKey] are
// matched with errors.Is. The first two are returned as [*CompactedError] and
// [*FutureRevisionError], which have the revisions. If the function passed to Update or Load
// returns an error, the error is returned unchanged and nothing is written. Records are shared, so
// callers must not modify them.
//
// # Limits
//
//   - There is no persistence.
//   - There are no transactions over several keys that are retried on conflict. Load is for
//     fixtures; it holds the writer's lock.
//   - There are no secondary indexes. Each would make a write about three times as expensive, and
//     records have their labels and fields for filtering.
//   - The history is accessible through views and cursors only.
package memstore
