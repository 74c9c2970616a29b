package handlers

import (
	"context"
	"errors"
	"net/http"
	"time"

	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/fakeapi/fake/internal/encode"
	"example.com/fakeapi/fake/internal/metrics"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/internal/requestinfo"
	"example.com/fakeapi/memstore"
)

// watch streams the changes of a collection (WA, BM and SI rules). What is
// wrong before the stream starts is an HTTP error, what goes wrong later is an
// ERROR event (WA-18).
func (a *API) watch(q *request) error {
	opts, sel, err := q.decodeListOptions(a.hasWatchList())
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
	defer a.watchCache.onEnd(cancel)()
	crdChanged := context.Background()
	if custom := q.res.Custom; custom != nil { // which ends when its definition changes
		crdChanged = custom.CRD().Done()
		defer context.AfterFunc(crdChanged, cancel)()
	}
	if err := a.watchCache.checkReady(); err != nil { // WA-39
		return err
	}
	s := &stream{
		api: a, w: q.w, flusher: http.NewResponseController(q.w), encoder: q.encoder,
		res:        q.res,
		prefix:     a.watchPrefix(q),
		sel:        sel,
		bookmarks:  opts.AllowWatchBookmarks,
		request:    q.r.Context(),
		crdChanged: crdChanged,
		ctx:        ctx,
		metrics:    a.settings.Metrics.WatchEvents(q.res.GroupVersionResource()),
	}
	if requestinfo.IsWebSocket(q.r) {
		return serveWebSocket(q.w, q.r, s.encoder.ContentType(true), cancel, func(ws *webSocketWriter) {
			s.socket = ws
			s.sendError(s.run(ctx, rev, &opts))
		})
	}
	s.sendError(s.run(ctx, rev, &opts))
	return nil
}

// watchPrefix is the collection that is watched; a name in the path is left to
// the selector.
func (a *API) watchPrefix(q *request) string {
	collection := *q
	collection.info.Name = ""
	return collection.key()
}

// watchTimeout is timeoutSeconds, or a random time from the minimum to its
// double (WA-16, WA-17).
func (a *API) watchTimeout(opts *metainternal.ListOptions) time.Duration {
	if s := opts.TimeoutSeconds; s != nil && *s > 0 {
		return time.Duration(*s) * time.Second
	}
	return a.settings.WatchTimeout + a.ids.Jitter(a.settings.WatchTimeout)
}

// stream is one watch being served.
type stream struct {
	api       *API
	w         http.ResponseWriter
	flusher   *http.ResponseController
	socket    *webSocketWriter // in the place of w, if it is not nil
	encoder   *encode.Encoder
	res       *resource.Resource
	prefix    string
	sel       selector
	bookmarks bool
	// unmarked says that no bookmark tells where the initial events end.
	unmarked bool
	// request is the context of the request, which has no deadline.
	request context.Context
	// crdChanged ends with the definition of a custom resource, and never for others.
	crdChanged context.Context
	// ctx ends with the watch.
	ctx     context.Context
	metrics *metrics.WatchEvents

	cursor *memstore.Cursor
	// sent is the revision up to which everything is known to be sent.
	sent memstore.Revision
	// frames are encoded but not written yet.
	frames []byte
	// blocked tells that the next event cannot be converted.
	blocked bool
}

// batchSize is how many events are taken from the store and written at a time.
const batchSize = 64

// writeHeader sends the headers, before anything is known of events (WA-01).
func (s *stream) writeHeader() {
	if s.socket != nil {
		return
	}
	s.w.Header().Set("Content-Type", s.encoder.ContentType(true))
	s.w.WriteHeader(http.StatusOK)
	_ = s.flusher.Flush()
}

// run serves the stream until ctx ends, which is a clean end and no error. Where
// it starts is settled before the headers go out: what the client does when it has
// them is seen.
func (s *stream) run(ctx context.Context, rev memstore.Revision, opts *metainternal.ListOptions) error {
	if initial := opts.SendInitialEvents; initial != nil && *initial {
		return s.listAndFollow(ctx, max(rev, s.minInitialRevision(opts)))
	}
	if rev == 0 && opts.SendInitialEvents == nil {
		s.unmarked = true // a server without WatchList begins with all that is there, too (WA-05)
		return s.listAndFollow(ctx, s.minInitialRevision(opts))
	}
	if rev == 0 {
		rev = s.api.view.Revision() // only what happens from now on (SI-07)
	}
	err := s.openCursor(rev)
	s.writeHeader()
	if err != nil {
		return err
	}
	return s.follow(ctx)
}

// minInitialRevision is the revision that initial events must not be older than if the client named
// none: that of now for "" (SI-02), any for "0".
func (s *stream) minInitialRevision(opts *metainternal.ListOptions) memstore.Revision {
	if opts.ResourceVersion == "" {
		return s.api.store.Revision()
	}
	return 0
}

// listAndFollow is a stream that begins with all that is there, not older than rev.
func (s *stream) listAndFollow(ctx context.Context, rev memstore.Revision) error {
	view := s.api.view.View()
	if rev > view.Revision() {
		s.writeHeader() // the wait is a part of the stream, and not of its time (SI-09)
		if err := s.api.waitForRevision(s.request, requestinfo.RequestTimeout, s.api.view, rev); err != nil {
			return err
		}
		view = s.api.view.View()
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
	return s.follow(ctx)
}

// openCursor makes the cursor that reads on behind a revision.
func (s *stream) openCursor(rev memstore.Revision) (err error) {
	s.sent = rev
	s.cursor, err = s.api.store.Watch(s.prefix, rev)
	return err
}

// sendInitialEvents sends the ADDED events of all that is there, in key order (WA-08),
// and the bookmark that ends them (BM-06).
func (s *stream) sendInitialEvents(view memstore.View) error {
	for rec := range view.Range(s.prefix, "") {
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
	if s.bookmarks && !s.unmarked {
		if err := s.appendBookmark(view.Revision(), true); err != nil {
			return err
		}
	}
	return s.flush()
}

// follow sends what happens as it comes into view, and a bookmark now and then.
func (s *stream) follow(ctx context.Context) error {
	due := newBookmarkSchedule(ctx, s.bookmarks, s.api.settings.BookmarkInterval)
	defer due.stop()
	buffer := make([]*memstore.Event, batchSize)
	var events []*memstore.Event // read, and not sent yet
	for ctx.Err() == nil {
		if len(events) == 0 {
			n, err := s.cursor.Next(buffer)
			if err != nil {
				return err
			}
			events = buffer[:n]
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
		if err := s.wait(ctx, events, due); err != nil {
			return err
		}
	}
	if s.crdChanged.Err() != nil && s.request.Err() == nil {
		return s.drainAfterCRDChange(events, buffer)
	}
	return nil
}

// drainAfterCRDChange sends what has happened before the definition of a custom resource ended: that its
// objects are gone, if it was deleted. On a real server some time passes in between.
func (s *stream) drainAfterCRDChange(events, buffer []*memstore.Event) error {
	s.ctx = s.request
	until := s.api.store.Revision()
	for {
		if len(events) == 0 {
			n, err := s.cursor.Next(buffer)
			if n == 0 || err != nil { // a restore leaves nothing to tell
				return s.flush()
			}
			events = buffer[:n]
		}
		sent, err := s.sendEvents(events)
		if err != nil {
			return err
		}
		if events = events[sent:]; sent == 0 || s.sent >= until {
			return s.flush()
		}
	}
}

// sendEvents writes the events that are in view and tells how many those were.
func (s *stream) sendEvents(events []*memstore.Event) (int, error) {
	if len(events) == 0 {
		return 0, nil
	}
	visible := s.api.view.Revision()
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
		events[sent] = nil // it may be long until the buffer is filled again
		sent++
	}
	return sent, s.write()
}

// wait waits for news: for the first of the events that wait to come into view,
// or else for anything to happen. A bookmark that is due is sent.
func (s *stream) wait(ctx context.Context, waiting []*memstore.Event, due *bookmarkSchedule) error {
	var changes Changes
	switch {
	case s.blocked:
		changes.Delay = conversionRetryInterval
	case len(waiting) > 0:
		changes = s.api.view.Until(waiting[0].Revision)
		if waiting[0].Revision <= s.api.view.Revision() {
			return nil
		}
	default:
		changes.StoreChanged = s.cursor.Ready()
	}
	fired, stop := newTimer(changes.Delay)
	defer stop()
	select {
	case <-ctx.Done():
	case <-changes.ViewChanged:
	case <-changes.StoreChanged:
	case <-fired:
	case <-due.regular:
		if !due.isPastLast() {
			return s.sendBookmark(waiting)
		}
	case <-due.last:
		return s.sendBookmark(waiting)
	}
	return nil
}

// sendBookmark sends a bookmark at the revision up to which everything was sent;
// none before a revision from the future is reached (BM-09).
func (s *stream) sendBookmark(waiting []*memstore.Event) error {
	rev := s.cursor.Revision()
	if rev > s.api.store.Revision() {
		return nil
	}
	if len(waiting) > 0 {
		rev = waiting[0].Revision - 1
	}
	// A horizon may go back; what was sent stays sent.
	rev = max(min(rev, s.api.view.Revision()), s.sent)
	if err := s.appendBookmark(rev, false); err != nil {
		return err
	}
	return s.flush()
}

// appendEvent appends what the watcher sees of an event: with a selector an object
// that begins to match is ADDED and one that ceases to is DELETED, in its last
// matching state and with the revision of the change (WA-12, WA-13).
func (s *stream) appendEvent(e *memstore.Event) error {
	was, err := s.matches(e.Prev)
	if err != nil {
		return err
	}
	is, err := s.matches(e.Record)
	switch {
	case err != nil:
		return err
	case is && !was:
		return s.appendRecord(watch.Added, e.Record)
	case is:
		return s.appendRecord(watch.Modified, e.Record)
	case was:
		return s.appendRecord(watch.Deleted, e.DeletedRecord())
	}
	return nil
}

func (s *stream) appendRecord(kind watch.EventType, rec *memstore.Record) (err error) {
	if err := s.convert(rec); err != nil {
		return err
	}
	before := len(s.frames)
	s.frames, err = s.encoder.AppendEvent(s.frames, kind, rec)
	s.metrics.Record(len(s.frames) - before)
	return err
}

func (s *stream) appendBookmark(rev memstore.Revision, initialEventsEnd bool) (err error) {
	before := len(s.frames)
	s.frames, err = s.encoder.AppendBookmark(s.frames, rev.String(), initialEventsEnd)
	s.metrics.Record(len(s.frames) - before)
	return err
}

// write hands the frames to the connection.
func (s *stream) write() error {
	if len(s.frames) == 0 {
		return nil
	}
	err := s.writeFrames(s.frames)
	if s.frames = s.frames[:0]; cap(s.frames) > 1<<20 {
		s.frames = nil
	}
	if err != nil {
		return errClientGone
	}
	return nil
}

// writeFrames gives whole frames to whom it may concern.
func (s *stream) writeFrames(all []byte) error {
	if s.socket != nil {
		return s.socket.send(all)
	}
	_, err := s.w.Write(all)
	return err
}

func (s *stream) flush() error {
	if err := s.write(); err != nil {
		return err
	}
	if s.socket != nil {
		return nil // each message is
	}
	if err := s.flusher.Flush(); err != nil {
		return errClientGone
	}
	return nil
}

// errClientGone says that the client is not there any more.
var errClientGone = errors.New("the client has gone")

// sendError ends the stream after an error: with an ERROR event, or without one
// where a real server just closes.
func (s *stream) sendError(err error) {
	var compacted *memstore.CompactedError
	switch {
	case err == nil, errors.Is(err, errClientGone), errors.Is(err, errWatchEnded), errors.Is(err, memstore.ErrRestored), errors.Is(err, encode.ErrEventAsList):
		return
	case errors.As(err, &compacted):
		err = status.TooOldResourceVersion(uint64(compacted.Requested), uint64(compacted.Floor))
	}
	frames, err := s.encoder.AppendError(s.frames, status.FromError(err))
	if err != nil {
		return
	}
	s.metrics.Record(len(frames) - len(s.frames))
	s.frames = frames
	_ = s.flush()
}
