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
	"example.com/fakeapi/memstore"
)

// watch streams the changes of a collection (WA, BM and SI rules). What is
// wrong before the stream starts is an HTTP error, what goes wrong later is an
// ERROR event (WA-18).
func (a *API) watch(q *request) error {
	opts, sel, err := q.listOptions(a.hasWatchList())
	if err != nil {
		return err
	}
	rev, err := parseRevision(opts.ResourceVersion)
	if err != nil {
		return err
	}
	if q.untold != nil {
		return q.untold
	}
	if err := negotiate.CheckStream(q.r, q.out); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(q.r.Context(), a.watchTimeout(&opts))
	defer cancel()
	defer a.cache.bind(cancel)()
	life := context.Background()
	if custom := q.res.Custom; custom != nil { // which ends when its definition changes
		life = custom.CRD().Done()
		defer context.AfterFunc(life, cancel)()
	}
	if err := a.cache.ready(); err != nil { // WA-39
		return err
	}
	s := &stream{
		a: a, w: q.w, flusher: http.NewResponseController(q.w), form: q.form,
		res:       q.res,
		prefix:    a.watchPrefix(q),
		sel:       sel,
		bookmarks: opts.AllowWatchBookmarks,
		request:   q.r.Context(),
		life:      life,
		ctx:       ctx,
		metrics:   a.settings.Metrics.WatchEvents(q.res.GroupVersionResource()),
	}
	if upgrades(q.r) {
		return serveSocket(q.w, q.r, s.form.ContentType(true), cancel, func(ws *socket) {
			s.socket = ws
			s.fail(s.run(ctx, rev, &opts))
		})
	}
	s.fail(s.run(ctx, rev, &opts))
	return nil
}

// watchPrefix is the collection that is watched; a name in the path is left to
// the selector.
func (a *API) watchPrefix(q *request) string {
	collection := *q
	collection.target.Name = ""
	return collection.key()
}

// watchTimeout is timeoutSeconds, or a random time from the minimum to its
// double (WA-16, WA-17).
func (a *API) watchTimeout(opts *metainternal.ListOptions) time.Duration {
	if s := opts.TimeoutSeconds; s != nil && *s > 0 {
		return time.Duration(*s) * time.Second
	}
	return a.settings.WatchTimeout + a.ids.Below(a.settings.WatchTimeout)
}

// stream is one watch being served.
type stream struct {
	a         *API
	w         http.ResponseWriter
	flusher   *http.ResponseController
	socket    *socket // in the place of w, if it is not nil
	form      *encode.Encoder
	res       *resource.Resource
	prefix    string
	sel       selector
	bookmarks bool
	// unmarked says that no bookmark tells where the initial events end.
	unmarked bool
	// request is the context of the request, which has no deadline.
	request context.Context
	// life ends with the definition of a custom resource, and never for others.
	life context.Context
	// ctx ends with the watch.
	ctx     context.Context
	metrics *metrics.WatchEvents

	cursor *memstore.Cursor
	// sent is the revision up to which everything is known to be sent.
	sent memstore.Revision
	// frames are encoded but not written yet.
	frames []byte
	// held tells that the next event cannot be converted.
	held bool
}

// batch is how many events are taken from the store and written at a time.
const batch = 64

// open sends the headers, before anything is known of events (WA-01).
func (s *stream) open() {
	if s.socket != nil {
		return
	}
	s.w.Header().Set("Content-Type", s.form.ContentType(true))
	s.w.WriteHeader(http.StatusOK)
	_ = s.flusher.Flush()
}

// run serves the stream until ctx ends, which is a clean end and no error. Where
// it starts is settled before the headers go out: what the client does when it has
// them is seen.
func (s *stream) run(ctx context.Context, rev memstore.Revision, opts *metainternal.ListOptions) error {
	if initial := opts.SendInitialEvents; initial != nil && *initial {
		return s.list(ctx, max(rev, s.newest(opts)))
	}
	if rev == 0 && opts.SendInitialEvents == nil {
		s.unmarked = true // a server without WatchList begins with all that is there, too (WA-05)
		return s.list(ctx, s.newest(opts))
	}
	if rev == 0 {
		rev = s.a.horizon.Revision() // only what happens from now on (SI-07)
	}
	err := s.from(rev)
	s.open()
	if err != nil {
		return err
	}
	return s.follow(ctx)
}

// newest is the revision that initial events must not be older than if the client named
// none: that of now for "" (SI-02), any for "0".
func (s *stream) newest(opts *metainternal.ListOptions) memstore.Revision {
	if opts.ResourceVersion == "" {
		return s.a.store.Revision()
	}
	return 0
}

// list is a stream that begins with all that is there, not older than rev.
func (s *stream) list(ctx context.Context, rev memstore.Revision) error {
	view := s.a.horizon.View()
	if rev > view.Revision() {
		s.open() // the wait is a part of the stream, and not of its time (SI-09)
		if err := s.a.await(s.request, requestTimeout, s.a.horizon, rev); err != nil {
			return err
		}
		view = s.a.horizon.View()
	} else {
		s.open()
	}
	if err := s.convertible(view); err != nil {
		return err
	}
	if err := s.from(view.Revision()); err != nil {
		return err
	}
	if err := s.initial(view); err != nil {
		return err
	}
	return s.follow(ctx)
}

// from makes the cursor that reads on behind a revision.
func (s *stream) from(rev memstore.Revision) (err error) {
	s.sent = rev
	s.cursor, err = s.a.store.Watch(s.prefix, rev)
	return err
}

// initial sends the ADDED events of all that is there, in key order (WA-08),
// and the bookmark that ends them (BM-06).
func (s *stream) initial(view memstore.View) error {
	for rec := range view.Range(s.prefix, "") {
		selected, err := s.selects(rec)
		if err != nil {
			return err
		}
		if !selected {
			continue
		}
		if err := s.append(watch.Added, rec); err != nil {
			return err
		}
		if len(s.frames) > 64<<10 {
			if err := s.write(); err != nil {
				return err
			}
		}
	}
	if s.bookmarks && !s.unmarked {
		if err := s.bookmark(view.Revision(), true); err != nil {
			return err
		}
	}
	return s.flush()
}

// follow sends what happens as it comes into view, and a bookmark now and then.
func (s *stream) follow(ctx context.Context) error {
	due := newSchedule(ctx, s.bookmarks, s.a.settings.BookmarkInterval)
	defer due.stop()
	buffer := make([]*memstore.Event, batch)
	var events []*memstore.Event // read, and not sent yet
	for ctx.Err() == nil {
		if len(events) == 0 {
			n, err := s.cursor.Next(buffer)
			if err != nil {
				return err
			}
			events = buffer[:n]
		}
		sent, err := s.send(events)
		if err != nil {
			return err
		}
		if events = events[sent:]; sent > 0 && !s.held {
			continue
		}
		if err := s.flush(); err != nil {
			return err
		}
		if err := s.idle(ctx, events, due); err != nil {
			return err
		}
	}
	if s.life.Err() != nil && s.request.Err() == nil {
		return s.rest(events, buffer)
	}
	return nil
}

// rest sends what has happened before the definition of a custom resource ended: that its
// objects are gone, if it was deleted. On a real server some time passes in between.
func (s *stream) rest(events, buffer []*memstore.Event) error {
	s.ctx = s.request
	until := s.a.store.Revision()
	for {
		if len(events) == 0 {
			n, err := s.cursor.Next(buffer)
			if n == 0 || err != nil { // a restore leaves nothing to tell
				return s.flush()
			}
			events = buffer[:n]
		}
		sent, err := s.send(events)
		if err != nil {
			return err
		}
		if events = events[sent:]; sent == 0 || s.sent >= until {
			return s.flush()
		}
	}
}

// send writes the events that are in view and tells how many those were.
func (s *stream) send(events []*memstore.Event) (int, error) {
	if len(events) == 0 {
		return 0, nil
	}
	horizon := s.a.horizon.Revision()
	sent := 0
	for sent < len(events) && events[sent].Revision <= horizon {
		err := s.event(events[sent])
		if s.held = unreadable(err); s.held {
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

// idle waits for news: for the first of the events that wait to come into view,
// or else for anything to happen. A bookmark that is due is sent.
func (s *stream) idle(ctx context.Context, waiting []*memstore.Event, due *schedule) error {
	var news News
	switch {
	case s.held:
		news.After = holdTime
	case len(waiting) > 0:
		news = s.a.horizon.Until(waiting[0].Revision)
		if waiting[0].Revision <= s.a.horizon.Revision() {
			return nil
		}
	default:
		news.Written = s.cursor.Ready()
	}
	ring, stop := alarm(news.After)
	defer stop()
	select {
	case <-ctx.Done():
	case <-news.Moved:
	case <-news.Written:
	case <-ring:
	case <-due.regular:
		if !due.over() {
			return s.progress(waiting)
		}
	case <-due.last:
		return s.progress(waiting)
	}
	return nil
}

// progress sends a bookmark at the revision up to which everything was sent;
// none before a revision from the future is reached (BM-09).
func (s *stream) progress(waiting []*memstore.Event) error {
	rev := s.cursor.Revision()
	if rev > s.a.store.Revision() {
		return nil
	}
	if len(waiting) > 0 {
		rev = waiting[0].Revision - 1
	}
	// A horizon may go back; what was sent stays sent.
	rev = max(min(rev, s.a.horizon.Revision()), s.sent)
	if err := s.bookmark(rev, false); err != nil {
		return err
	}
	return s.flush()
}

// event appends what the watcher sees of an event: with a selector an object
// that begins to match is ADDED and one that ceases to is DELETED, in its last
// matching state and with the revision of the change (WA-12, WA-13).
func (s *stream) event(e *memstore.Event) error {
	was, err := s.selects(e.Prev)
	if err != nil {
		return err
	}
	is, err := s.selects(e.Record)
	switch {
	case err != nil:
		return err
	case is && !was:
		return s.append(watch.Added, e.Record)
	case is:
		return s.append(watch.Modified, e.Record)
	case was:
		return s.append(watch.Deleted, e.DeletedRecord())
	}
	return nil
}

func (s *stream) append(kind watch.EventType, rec *memstore.Record) (err error) {
	if err := s.convert(rec); err != nil {
		return err
	}
	before := len(s.frames)
	s.frames, err = s.form.AppendEvent(s.frames, kind, rec)
	s.metrics.Record(len(s.frames) - before)
	return err
}

func (s *stream) bookmark(rev memstore.Revision, initialEventsEnd bool) (err error) {
	before := len(s.frames)
	s.frames, err = s.form.AppendBookmark(s.frames, rev.String(), initialEventsEnd)
	s.metrics.Record(len(s.frames) - before)
	return err
}

// write hands the frames to the connection.
func (s *stream) write() error {
	if len(s.frames) == 0 {
		return nil
	}
	err := s.hand(s.frames)
	if s.frames = s.frames[:0]; cap(s.frames) > 1<<20 {
		s.frames = nil
	}
	if err != nil {
		return errGone
	}
	return nil
}

// hand gives whole frames to whom it may concern.
func (s *stream) hand(all []byte) error {
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
		return errGone
	}
	return nil
}

// errGone says that the client is not there any more.
var errGone = errors.New("the client has gone")

// fail ends the stream after an error: with an ERROR event, or without one
// where a real server just closes.
func (s *stream) fail(err error) {
	var compacted *memstore.CompactedError
	switch {
	case err == nil, errors.Is(err, errGone), errors.Is(err, errEnded), errors.Is(err, memstore.ErrRestored), errors.Is(err, encode.ErrEventAsList):
		return
	case errors.As(err, &compacted):
		err = status.TooOldResourceVersion(uint64(compacted.Requested), uint64(compacted.Floor))
	}
	frames, err := s.form.AppendError(s.frames, status.FromError(err))
	if err != nil {
		return
	}
	s.metrics.Record(len(frames) - len(s.frames))
	s.frames = frames
	_ = s.flush()
}
