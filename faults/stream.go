package faults

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/internal/frames"
)

// errWatchEnded is returned by the writer of a watch after a rule has ended the watch.
var errWatchEnded = errors.New("faults: a rule has ended this watch")

// watchWriter is the ResponseWriter of a watch. While no rule could match its frames, it passes all
// bytes on and only tracks where frames end. Otherwise it buffers each frame until it is complete
// and applies the rules.
type watchWriter struct {
	x    *exchange
	op   Op
	stop context.CancelFunc // cancels the handler

	framing     framing         // nil until the header is written, and if frames cannot be read
	splitter    frames.Splitter // for framing
	contentType string          // the Content-Type, for messages

	rules    *ruleSnapshot // the rules for which mayMatch was computed
	mayMatch bool          // whether one of rules could match a frame

	wroteHeader bool // the header is written
	midFrame    bool // the last byte written was not the last of a frame
	buffering   bool // the current frame is collected in buffered
	buffered    []byte
	reordered   []byte // a frame to send after the next one, or nil
	initial     bool   // the next frame is one of the initial events

	result outcome // proceed while the watch runs
}

// serveWatch runs next for a watch and applies the rules to its frames.
func serveWatch(x *exchange, next http.Handler) outcome {
	ctx, stop := context.WithCancel(x.r.Context())
	defer stop()
	w := &watchWriter{x: x, op: x.op, stop: stop, initial: isStreamingList(x.op.Query)}
	w.op.Phase = Stream
	r := x.r.WithContext(ctx)
	if r.Header.Get("Accept-Encoding") != "" {
		r.Header = r.Header.Clone()
		r.Header.Del("Accept-Encoding")
	}
	w.run(next, r)
	if w.result != proceed {
		return w.result
	}
	if w.reordered != nil {
		w.writeNow(w.reordered) // there was no next frame
	}
	if len(w.buffered) > 0 {
		w.writeNow(w.buffered) // the handler ended in the middle of a frame
	}
	return finished
}

// isStreamingList reports whether a watch with these parameters begins with initial events that a
// bookmark ends.
func isStreamingList(query url.Values) bool {
	initial, _ := strconv.ParseBool(query.Get("sendInitialEvents"))
	bookmarks, _ := strconv.ParseBool(query.Get("allowWatchBookmarks"))
	return initial && bookmarks
}

// run calls next. If a rule has ended the watch, next may panic with ErrAbortHandler, as a reverse
// proxy does when it cannot write.
func (w *watchWriter) run(next http.Handler, r *http.Request) {
	defer func() {
		if w.result == proceed {
			return
		}
		if cause := recover(); cause != nil && cause != http.ErrAbortHandler {
			panic(cause)
		}
	}()
	next.ServeHTTP(w, r)
}

func (w *watchWriter) Header() http.Header { return w.x.w.Header() }

// Unwrap is used by http.ResponseController.
func (w *watchWriter) Unwrap() http.ResponseWriter { return w.x.w }

// Flush implements http.Flusher.
func (w *watchWriter) Flush() { _ = w.FlushError() }

// FlushError implements the Flush of http.ResponseController.
func (w *watchWriter) FlushError() error {
	if w.result != proceed {
		return errWatchEnded
	}
	if !w.wroteHeader {
		w.WriteHeader(http.StatusOK)
	}
	return w.x.tryFlush()
}

func (w *watchWriter) WriteHeader(code int) {
	if w.result != proceed {
		return
	}
	if w.wroteHeader || code != http.StatusOK {
		w.wroteHeader = w.wroteHeader || code >= 200
		w.x.w.WriteHeader(code) // not a watch, or not yet
		return
	}
	w.wroteHeader = true
	w.contentType = w.Header().Get("Content-Type")
	if encoding := w.Header().Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		w.contentType += " in " + encoding
	} else {
		w.framing = framingFor(w.contentType)
	}
	switch {
	case w.framing != nil:
		w.splitter = frames.NewSplitter(frames.MediaType(w.contentType))
	case w.refreshRules():
		w.writeUnreadable()
		return
	}
	w.x.w.WriteHeader(code)
}

// writeUnreadable responds with an error to a watch whose frames rules could match and cannot read.
// An unchanged watch would hide that the fault was not injected.
func (w *watchWriter) writeUnreadable() {
	status := apierrors.NewInternalError(fmt.Errorf(
		"rules of this server act on watch frames (%s), and frames of %q cannot be read; accept %s or %s",
		strings.Join(w.rules.couldMatchNames(Stream, w.op), ", "), w.contentType, runtime.ContentTypeJSON, runtime.ContentTypeProtobuf)).Status()
	clear(w.Header())
	writeStatus(w.x.w, w.x.r, completeStatus(status, w.op))
	w.terminate(finished)
}

// refreshRules reports whether a rule could match frames of this watch. Without rules, or if they
// have not changed, it is one atomic load.
func (w *watchWriter) refreshRules() bool {
	if now := w.x.set.rules(); now != w.rules {
		w.rules = now
		w.mayMatch = now.couldMatch(Stream, w.op)
		if w.framing == nil && w.contentType != "" {
			w.x.set.recordNotApplied(now, w.op, "frames of "+w.contentType+" cannot be read")
		}
	}
	return w.mayMatch
}

func (w *watchWriter) Write(p []byte) (int, error) {
	if !w.wroteHeader {
		w.WriteHeader(http.StatusOK)
	}
	if w.result != proceed {
		return 0, errWatchEnded
	}
	watchful := w.refreshRules()
	if w.framing == nil {
		return w.x.write(p)
	}
	if !watchful && !w.buffering && w.reordered == nil {
		w.trackFrames(p)
		return w.x.write(p)
	}
	for rest := p; len(rest) > 0; {
		n, complete := w.splitter.Advance(rest)
		if err := w.writePart(rest[:n], complete); err != nil {
			return len(p) - len(rest), err
		}
		rest = rest[n:]
	}
	return len(p), nil
}

// trackFrames tracks the ends of frames in bytes that are passed on unchanged.
func (w *watchWriter) trackFrames(p []byte) {
	w.initial = false // the bookmark may be among them
	for len(p) > 0 {
		n, complete := w.splitter.Advance(p)
		w.midFrame = !complete
		p = p[n:]
	}
}

// writePart handles bytes of one frame. If the beginning of the frame was already passed on, the
// rest is, too.
func (w *watchWriter) writePart(p []byte, complete bool) error {
	if !w.midFrame {
		w.buffering = true
	}
	w.midFrame = !complete
	if !w.buffering {
		_, err := w.x.write(p)
		return err
	}
	w.buffered = append(w.buffered, p...)
	if !complete {
		return nil
	}
	f := &frame{w.buffered, w.op}
	w.buffered, w.buffering = w.buffered[:0], false
	return w.writeFrame(f)
}

// frame is one complete frame. Effects may change it.
type frame struct {
	data []byte
	op   Op // the operation that rules match
}

// writeFrame applies the rules to a frame and sends it unless they drop it.
func (w *watchWriter) writeFrame(f *frame) error {
	o, held := proceed, w.reordered
	if w.framing.parseEvent(f.data, &f.op) {
		f.op.InitialEvents = w.initial
		w.initial = w.initial && !f.op.InitialEventsEnd
		o = w.x.applyRules(w.rules, f.op, func(e Effect) outcome { return e.(streamEffect).applyStream(w, f) })
	}
	switch o {
	case frameDropped:
		return nil
	case proceed:
		if _, err := w.x.write(f.data); err != nil {
			return err
		}
	case frameSent:
	default:
		w.terminate(o)
		return errWatchEnded
	}
	if held == nil {
		return nil
	}
	w.reordered = nil
	_, err := w.x.write(held)
	return err
}

// writeNow writes and flushes. Errors are ignored, because the handler notices a disconnected
// client.
func (w *watchWriter) writeNow(p []byte) {
	_, _ = w.x.write(p)
	w.x.flush()
}

// terminate ends the watch: nothing more is written, and the handler is canceled.
func (w *watchWriter) terminate(o outcome) {
	w.result = o
	if o == aborted {
		w.x.flush() // send what was written before
	}
	w.stop()
}

var _ interface {
	http.ResponseWriter
	http.Flusher
	Unwrap() http.ResponseWriter
} = (*watchWriter)(nil)
