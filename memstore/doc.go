// Package memstore keeps encoded objects in memory under revisions, as etcd does behind a Kubernetes
// API server, and remembers for a while what happened to them. It knows keys, bytes, revisions and
// time; it knows nothing of HTTP or Kubernetes.
//
// # When to use it
//
// Where something serves objects with resourceVersions and watches from memory: it is the store
// of the server in package fake, and fits any other that lists at a revision, pages without
// gaps and lets watches resume. Who wants a server takes that package.
//
// # First steps
//
//	store := memstore.New(memstore.Options{})
//	event, err := store.Update("pods/default/web", func(cur *memstore.Record) (*memstore.Draft, error) {
//		if cur != nil {
//			return nil, errExists
//		}
//		return &memstore.Draft{Data: object, RevisionOffset: offset}, nil // the revision goes there
//	})
//	record := store.View().Get("pods/default/web")
//	cursor, err := store.Watch("pods/", event.Revision)
//
// # State
//
// A [Store] maps keys to [Record] values. A key is a path, "pods/default/web", and keys are ordered as
// bytes, as in etcd: "a-b/x" comes before "a/x". The part before the first "/" is the topic; by convention
// it is the resource.
//
// Records are immutable and shared: by readers, by events, by every revision in which the object did not
// change. What the store holds of an object is its encoding, and the few things that reads filter by: UID,
// labels, fields. [Record.CachedEncoding] keeps further encodings with the record, made when first asked for.
//
// A [View] is all records at one revision. [Store.View] gives the current one without a lock, and it stays
// as it is however many writes follow: [View.Get], [View.Range] and [View.Count] agree with each other and with
// [View.Revision]. [Store.ViewAt] gives an older one. A paged list is a ViewAt for each page, from the
// last key seen; a page costs the same at any depth.
//
// # Writes
//
// One write happens at a time, and each gets the next [Revision]. [Store.Update] is the primitive: a function
// from the current record to the next [Draft], optimistic, repeated on conflict. Create, replace, patch,
// status update, delete and all preconditions are such functions. Returning nil deletes; returning what is there
// already is no write. The store inserts the revision into the bytes where [Draft].RevisionOffset says, so that
// what is stored is what will be served. [Store.Load] makes many writes at once, all or nothing.
//
// The records may take [Options].Quota bytes; a write that would make it more fails with [ErrQuotaExceeded], and
// changes nothing. What makes the state no larger is always taken.
//
// # History and its two floors
//
// The store remembers the events of the last [Options].HistoryAge, but no more than HistoryCount and HistoryBytes;
// the oldest go first, at each write, and whenever somebody asks, so that an idle store forgets, too. Every
// 64th state is kept as a whole (states share what they have in common), and a view in between is made of
// the kept state before it and the events since.
//
// Two floors bound what is answered, as in a real server, where etcd is compacted every five minutes while the
// watch cache lives on:
//
//   - the exact floor: [Store.ViewAt] fails below it. [Store.CompactViews] raises it to the present.
//   - the watch floor: [Store.Watch] fails below it. It is never above the exact floor. [Store.CompactAll]
//     raises both.
//
// What fails below a floor fails with a [*CompactedError]. The current revision is never below a floor.
//
// # Watching
//
// A [Cursor] is a position in history with a prefix. It is pulled: [Cursor.Next] returns what has happened since,
// and [Cursor.Ready] a channel to wait on when that was nothing. No event is queued for a cursor, so a writer never
// waits for a watcher, and a slow watcher misses nothing: it fails, with ErrCompacted, once an event of its
// topic is forgotten before it was read. Forgotten events of other topics do not matter, so the
// watcher of a quiet resource survives any churn elsewhere. A cursor needs no closing.
//
// Waking is per topic: the first write after somebody began to wait closes one channel. It costs the
// writer some 0.1 µs for each parked goroutine, once; while they are awake, writes cost nothing more. A reader
// who follows everything and is concerned by little waits with [Cursor.ReadyFor].
//
// # Going back, and going two ways
//
// [Store.Snapshot] and [Store.Restore] tell the story of an etcd restored from a backup: with a bump of 0, the revision
// goes back, too. [Store.Fork] splits off an independent store with the same state and history. None of
// them copies a record: a fixture is loaded once, and every test gets a fork.
//
// # Time
//
// The only clock is time.Now, and there are no goroutines and no timers: inside a testing/synctest bubble history
// ages on virtual time, and nothing has to be stopped. The channels that cursors and [Store.Wait]
// wait on belong to the bubble they wait in. So a store is used in one bubble, or in none; to take one into a
// bubble, or out of it, fork it there.
//
// # Errors
//
// [ErrCompacted], [ErrFutureRevision], [ErrRestored] and [ErrEmptyKey] are told apart with errors.Is; the
// first two come with the revisions, as [*CompactedError] and [*FutureRevisionError]. An error of the
// function of an Update or a Load comes back as it is, and nothing is written. Nothing panics
// over what it is given, but records are shared: who changes one changes it for all.
//
// # Limits
//
// No persistence. No transactions over several keys that read and retry: Load is for fixtures, and holds the
// writer's lock. No secondary indexes: each would make a write about three times as expensive, and selectors
// are cheap on records that carry their labels. No access to the history but through views and cursors.
package memstore
