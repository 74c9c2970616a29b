package handlers

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/fakeapi/fake/internal/encode"
	"example.com/fakeapi/fake/internal/metrics"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/watchcache"
	"example.com/fakeapi/internal/requestinfo"
	"example.com/fakeapi/memstore"
)

// watch streams the changes of a collection (WA, BM and SI rules). Errors before the stream starts
// are HTTP errors; later ones are ERROR events (WA-18).
func (a *API) watch(q *request) error {
	opts, sel, err := q.decodeListOptions(a.watchList.Load())
	if err != nil {
		return err
	}
	rev, err := parseRevision(opts.ResourceVersion)
	if err != nil {
		return err
	}
	if q.tableOptionsErr != nil {
		return q.tableOptionsErr
	}
	if err := negotiate.CheckStream(q.r, q.output); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(q.r.Context(), a.watchTimeout(&opts))
	defer cancel()
	defer a.cache.OnEndWatches(cancel)()
	crdChanged := context.Background()
	if custom := q.res.Custom; custom != nil { // it ends when the CustomResourceDefinition changes
		crdChanged = custom.CRD().Done()
		defer context.AfterFunc(crdChanged, cancel)()
	}
	if err := a.checkCacheReady(q); err != nil { // WA-39
		return err
	}
	prefix := a.watchPrefix(q)
	watches, done := a.watches.add(prefix)
	defer done()
	s := &stream{
		api: a, w: q.w, flusher: http.NewResponseController(q.w), encoder: q.encoder,
		res:        q.res,
		prefix:     prefix,
		sel:        sel,
		watches:    watches,
		bookmarks:  opts.AllowWatchBookmarks,
		request:    q.r.Context(),
		crdChanged: crdChanged,
		ctx:        ctx,
		metrics:    a.settings.Metrics.WatchEvents(q.res.GroupVersionResource()),
	}
	if requestinfo.IsWebSocket(q.r) {
		return serveWebSocket(q.w, q.r, s.encoder.ContentType(true), cancel, func(ws *webSocketWriter) {
			s.socket = ws
			s.sendError(s.run(rev, &opts))
		})
	}
	s.sendError(s.run(rev, &opts))
	return nil
}

// watchPrefix returns the prefix of the keys of the collection. The selector has the name of the
// path.
func (a *API) watchPrefix(q *request) string {
	collection := *q
	collection.info.Name = ""
	return collection.key()
}

// watchTimeout returns timeoutSeconds or, if it is 0 or not set, a random time between
// Settings.WatchTimeout and twice that (WA-16, WA-17). A watch with a negative one ends
// immediately.
func (a *API) watchTimeout(opts *metainternal.ListOptions) time.Duration {
	if s := opts.TimeoutSeconds; s != nil && *s != 0 {
		return time.Duration(*s) * time.Second
	}
	return a.settings.WatchTimeout + a.ids.Jitter(a.settings.WatchTimeout)
}

// stream serves one watch.
type stream struct {
	api       *API
	w         http.ResponseWriter
	flusher   *http.ResponseController
	socket    *webSocketWriter // replaces w if it is not nil
	encoder   *encode.Encoder
	res       *resource.Resource
	prefix    string
	sel       selector
	bookmarks bool
	// initialEventsEnd reports whether a bookmark follows the initial events.
	initialEventsEnd bool
	// request is the context of the request. It has no deadline.
	request context.Context
	// crdChanged is done when the CustomResourceDefinition of a custom resource changes. For other
	// resources it is never done.
	crdChanged context.Context
	// ctx is done when the watch ends.
	ctx     context.Context
	metrics *metrics.WatchEvents

	cursor *memstore.Cursor
	// sent is the revision up to which all events are sent.
	sent memstore.Revision
	// frames are encoded and not written yet.
	frames []byte
	// blocked reports whether the next event cannot be converted.
	blocked bool
	// watches is the number of open watches of the collection.
	watches *atomic.Int64
	// written is the time of the last write of frames.
	written time.Time
	// waited reports whether the stream waited for a write to the store since it last read events.
	waited bool
	// behind reports whether writes are faster than the stream: it last read several events, or one
	// that it did not wait for.
	behind bool
}

// batchSize is how many events are read from the store and written at a time.
const batchSize = 64

// writeHeader sends the headers, before any event is read (WA-01).
func (s *stream) writeHeader() {
	if s.socket != nil {
		return
	}
	s.w.Header().Set("Content-Type", s.encoder.ContentType(true))
	s.w.WriteHeader(http.StatusOK)
	_ = s.flusher.Flush()
}

// run serves the stream until ctx is done, which is not an error. The stream starts at a revision
// from before the headers are sent, so that it includes what the client does after it has received
// them.
func (s *stream) run(rev memstore.Revision, opts *metainternal.ListOptions) error {
	if s.ctx.Err() != nil { // timeoutSeconds is negative
		s.writeHeader()
		return nil
	}
	if initial := opts.SendInitialEvents; initial != nil && *initial {
		s.initialEventsEnd = true
		return s.listAndFollow(max(rev, s.minInitialRevision(opts)))
	}
	if rev == 0 && opts.SendInitialEvents == nil {
		// A server without WatchList sends the existing objects first, too (WA-05).
		return s.listAndFollow(s.minInitialRevision(opts))
	}
	err := s.checkWindow(rev)
	if rev == 0 {
		rev = s.api.cache.Revision() // only later events (SI-07)
	}
	if err == nil {
		err = s.openCursor(rev)
	}
	s.writeHeader()
	if err != nil {
		return err
	}
	return s.follow()
}

// minInitialRevision returns the revision that the initial events must not be older than, besides
// the requested one: the current one for resourceVersion "" (SI-02), and 0 for others.
func (s *stream) minInitialRevision(opts *metainternal.ListOptions) memstore.Revision {
	if opts.ResourceVersion == "" {
		return s.api.store.Revision()
	}
	return 0
}

// listAndFollow serves a stream that starts with the existing objects, of a state that is not older
// than rev.
func (s *stream) listAndFollow(rev memstore.Revision) error {
	view := s.api.cache.View()
	if rev > view.Revision() {
		s.writeHeader() // the wait is part of the stream and does not count for its timeout (SI-09)
		if err := s.api.cache.WaitUntilFresh(s.request, requestinfo.RequestTimeout, rev); err != nil {
			return err
		}
		view = s.api.cache.View()
	} else {
		s.writeHeader()
	}
	if err := s.waitUntilConvertible(view); err != nil {
		return err
	}
	if err := s.openCursor(view.Revision()); err != nil {
		return err
	}
	if err := s.sendInitialEvents(view); err != nil {
		return err
	}
	return s.follow()
}

// openCursor opens the cursor of the events after rev.
func (s *stream) openCursor(rev memstore.Revision) (err error) {
	s.sent = rev
	s.cursor, err = s.api.store.Watch(s.prefix, rev)
	return err
}

// sendInitialEvents sends the ADDED events of the existing objects, in the order of their keys
// (WA-08), and the bookmark that ends them (BM-06).
func (s *stream) sendInitialEvents(view memstore.View) error {
	for rec := range s.sel.candidates(view, s.prefix, "") {
		selected, err := s.matches(rec)
		if err != nil {
			return err
		}
		if !selected {
			continue
		}
		if err := s.appendRecord(watch.Added, rec); err != nil {
			return err
		}
		if len(s.frames) > 64<<10 {
			if err := s.write(); err != nil {
				return err
			}
		}
	}
	if s.bookmarks && s.initialEventsEnd {
		if err := s.appendBookmark(view.Revision(), true); err != nil {
			return err
		}
	}
	return s.flush()
}

// follow sends events as they become visible, and bookmarks, until ctx is done.
func (s *stream) follow() error {
	due := newBookmarkSchedule(s.ctx, s.bookmarks, s.api.settings.BookmarkInterval)
	defer due.stop()
	buffer := make([]*memstore.Event, batchSize)
	var events []*memstore.Event // read and not sent yet
	for s.ctx.Err() == nil {
		if len(events) == 0 {
			n, err := s.cursor.Next(buffer)
			if err != nil {
				return err
			}
			events = buffer[:n]
			if n > 0 {
				s.behind = n > 1 || !s.waited
			}
			s.waited = false
		}
		sent, err := s.sendEvents(events)
		if err != nil {
			return err
		}
		if events = events[sent:]; sent > 0 && !s.blocked {
			continue
		}
		if err := s.flush(); err != nil {
			return err
		}
		if err := s.wait(events, due); err != nil {
			return err
		}
	}
	if s.crdChanged.Err() != nil && s.request.Err() == nil {
		return s.drainAfterCRDChange(events, buffer)
	}
	return nil
}

// sendEvents writes the events that are visible and returns their number.
func (s *stream) sendEvents(events []*memstore.Event) (int, error) {
	if len(events) == 0 {
		return 0, nil
	}
	visible := s.api.cache.Revision()
	sent := 0
	for sent < len(events) && events[sent].Revision <= visible {
		err := s.appendEvent(events[sent])
		if s.blocked = isConversionError(err); s.blocked {
			break
		}
		if err != nil {
			return sent, err
		}
		s.sent = events[sent].Revision
		events[sent] = nil // so that it can be freed before the buffer is filled again
		sent++
	}
	return sent, s.write()
}

// wait waits until the first of the pending events is visible or, if there are none, for a write.
// It sends a bookmark that is due.
func (s *stream) wait(pending []*memstore.Event, due *bookmarkSchedule) error {
	var changes watchcache.Changes
	switch {
	case s.blocked:
		changes.Delay = conversionRetryInterval
	case len(pending) > 0:
		changes = s.api.cache.Until(pending[0].Revision)
		if pending[0].Revision <= s.api.cache.Revision() {
			return nil
		}
	default:
		changes.Store = s.cursor.Ready()
	}
	fired, stop := watchcache.NewTimer(changes.Delay)
	defer stop()
	select {
	case <-s.ctx.Done():
	case <-changes.View:
	case <-changes.Store:
		s.waited = true
		s.pause()
	case <-fired:
	case <-due.regular:
		if !due.isPastLast() {
			return s.sendBookmark(pending)
		}
	case <-due.last:
		return s.sendBookmark(pending)
	}
	return nil
}

// sendBookmark sends a bookmark with the revision up to which all events are sent. It sends none
// before the store has the revision at which the watch started (BM-09).
func (s *stream) sendBookmark(pending []*memstore.Event) error {
	rev := s.cursor.Revision()
	if rev > s.api.store.Revision() {
		return nil
	}
	if len(pending) > 0 {
		rev = pending[0].Revision - 1
	}
	// The view can go back to a revision before that of a sent event.
	rev = max(min(rev, s.api.cache.Revision()), s.sent)
	if err := s.appendBookmark(rev, false); err != nil {
		return err
	}
	return s.flush()
}
