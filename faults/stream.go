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
	s := &watchWriter{x: x, op: x.op, stop: stop, initial: isStreamingList(x.op.Query)}
	s.op.Phase = Stream
	r := x.r.WithContext(ctx)
	if r.Header.Get("Accept-Encoding") != "" {
		r.Header = r.Header.Clone()
		r.Header.Del("Accept-Encoding")
	}
	s.run(next, r)
	if s.result != proceed {
		return s.result
	}
	if s.reordered != nil {
		s.writeNow(s.reordered) // there was no next frame
	}
	if len(s.buffered) > 0 {
		s.writeNow(s.buffered) // the handler ended in the middle of a frame
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
func (s *watchWriter) run(next http.Handler, r *http.Request) {
	defer func() {
		if s.result == proceed {
			return
		}
		if cause := recover(); cause != nil && cause != http.ErrAbortHandler {
			panic(cause)
		}
	}()
	next.ServeHTTP(s, r)
}

func (s *watchWriter) Header() http.Header { return s.x.w.Header() }

// Unwrap is used by http.ResponseController.
func (s *watchWriter) Unwrap() http.ResponseWriter { return s.x.w }

// Flush implements http.Flusher.
func (s *watchWriter) Flush() { _ = s.FlushError() }

// FlushError implements the Flush of http.ResponseController.
func (s *watchWriter) FlushError() error {
	if s.result != proceed {
		return errWatchEnded
	}
	if !s.wroteHeader {
		s.WriteHeader(http.StatusOK)
	}
	return s.x.tryFlush()
}

func (s *watchWriter) WriteHeader(code int) {
	if s.result != proceed {
		return
	}
	if code < 200 || s.wroteHeader || code != http.StatusOK {
		s.wroteHeader = s.wroteHeader || code >= 200
		s.x.w.WriteHeader(code) // not a watch, or not yet
		return
	}
	s.wroteHeader = true
	s.contentType = s.Header().Get("Content-Type")
	if encoding := s.Header().Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		s.contentType += " in " + encoding
	} else {
		s.framing = framingFor(s.contentType)
	}
	switch {
	case s.framing != nil:
		s.splitter = frames.NewSplitter(frames.MediaType(s.contentType))
	case s.refreshRules():
		s.writeUnreadable()
		return
	}
	s.x.w.WriteHeader(code)
}

// writeUnreadable responds with an error to a watch whose frames rules could match and cannot read.
// An unchanged watch would hide that the fault was not injected.
func (s *watchWriter) writeUnreadable() {
	status := apierrors.NewInternalError(fmt.Errorf(
		"rules of this server act on watch frames (%s), and frames of %q cannot be read; accept %s or %s",
		strings.Join(s.rules.couldMatchNames(Stream, s.op), ", "), s.contentType, runtime.ContentTypeJSON, runtime.ContentTypeProtobuf)).Status()
	clear(s.Header())
	writeStatus(s.x.w, s.x.r, completeStatus(status, s.op))
	s.terminate(finished)
}

// refreshRules reports whether a rule could match frames of this watch. Without rules, or if they
// have not changed, it is one atomic load.
func (s *watchWriter) refreshRules() bool {
	if now := s.x.set.rules(); now != s.rules {
		s.rules = now
		s.mayMatch = now.couldMatch(Stream, s.op)
		if s.mayMatch && s.wroteHeader && s.framing == nil && s.contentType != "" {
			s.x.set.recordNotApplied(now, s.op, "frames of "+s.contentType+" cannot be read")
		}
	}
	return s.mayMatch
}

func (s *watchWriter) Write(p []byte) (int, error) {
	if !s.wroteHeader {
		s.WriteHeader(http.StatusOK)
	}
	if s.result != proceed {
		return 0, errWatchEnded
	}
	watchful := s.refreshRules()
	if s.framing == nil {
		return s.x.write(p)
	}
	if !watchful && !s.buffering && s.reordered == nil {
		s.trackFrames(p)
		return s.x.write(p)
	}
	for rest := p; len(rest) > 0; {
		n, complete := s.splitter.Advance(rest)
		if err := s.writePart(rest[:n], complete); err != nil {
			return len(p) - len(rest), err
		}
		rest = rest[n:]
	}
	return len(p), nil
}

// trackFrames tracks the ends of frames in bytes that are passed on unchanged.
func (s *watchWriter) trackFrames(p []byte) {
	s.initial = false // the bookmark may be among them
	for len(p) > 0 {
		n, complete := s.splitter.Advance(p)
		s.midFrame = !complete
		p = p[n:]
	}
}

// writePart handles bytes of one frame. If the beginning of the frame was already passed on, the
// rest is, too.
func (s *watchWriter) writePart(p []byte, complete bool) error {
	if !s.midFrame {
		s.buffering = true
	}
	s.midFrame = !complete
	if !s.buffering {
		_, err := s.x.write(p)
		return err
	}
	s.buffered = append(s.buffered, p...)
	if !complete {
		return nil
	}
	f := &frame{s.buffered, s.op}
	s.buffered, s.buffering = s.buffered[:0], false
	return s.writeFrame(f)
}

// frame is one complete frame. Effects may change it.
type frame struct {
	data []byte
	op   Op // the operation that rules match
}

// writeFrame applies the rules to a frame and sends it unless they drop it.
func (s *watchWriter) writeFrame(f *frame) error {
	o, held := proceed, s.reordered
	if s.framing.parseEvent(f.data, &f.op) {
		f.op.InitialEvents = s.initial
		s.initial = s.initial && !f.op.InitialEventsEnd
		o = s.x.applyRules(s.rules, f.op, func(e Effect) outcome { return e.(streamEffect).applyStream(s, f) })
	}
	switch o {
	case frameDropped:
		return nil
	case proceed:
		if _, err := s.x.write(f.data); err != nil {
			return err
		}
	case frameSent:
	default:
		s.terminate(o)
		return errWatchEnded
	}
	if held == nil {
		return nil
	}
	s.reordered = nil
	_, err := s.x.write(held)
	return err
}

// writeNow writes and flushes. Errors are ignored, because the handler notices a disconnected
// client.
func (s *watchWriter) writeNow(p []byte) {
	_, _ = s.x.write(p)
	s.x.flush()
}

// terminate ends the watch: nothing more is written, and the handler is canceled.
func (s *watchWriter) terminate(o outcome) {
	s.result = o
	if o == aborted && s.wroteHeader {
		s.x.flush() // send what was written before
	}
	s.stop()
}

var _ interface {
	http.ResponseWriter
	http.Flusher
	Unwrap() http.ResponseWriter
} = (*watchWriter)(nil)
