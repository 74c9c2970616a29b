package faults

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/internal/frames"
)

// errWatchEnded is what the handler of a watch gets from its writer once a rule has
// ended the watch.
var errWatchEnded = errors.New("faults: a rule has ended this watch")

// watchWriter is the ResponseWriter of a watch. While no rule could match its frames
// it passes on what it gets and only keeps track of where frames end; else it
// holds each frame until it is complete, and asks the rules.
type watchWriter struct {
	x    *exchange
	op   Op
	stop context.CancelFunc // ends the handler that writes

	framing     framing         // nil until the header is written, and if frames cannot be read
	splitter    frames.Splitter // of framing
	contentType string          // the Content-Type, for messages

	rules    *ruleSnapshot // the rules that watchful was found out for
	mayMatch bool          // one of them could match a frame

	wroteHeader bool // the header is written
	midFrame    bool // the last byte written was not the last of a frame
	buffering   bool // the frame at hand is collected in held
	buffered    []byte
	reordered   []byte // a frame that goes out behind the next one; nil if there is none

	result outcome // proceed while the watch runs
}

// serveWatch lets next write a watch, under the eyes of the rules.
func serveWatch(x *exchange, next http.Handler) outcome {
	ctx, stop := context.WithCancel(x.r.Context())
	defer stop()
	s := &watchWriter{x: x, op: x.op, stop: stop}
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
		s.writeNow(s.reordered) // no other has come
	}
	if len(s.buffered) > 0 {
		s.writeNow(s.buffered) // an unfinished frame is the handler's own doing
	}
	return finished
}

// run calls next. A watch that a rule has ended may end next with
// ErrAbortHandler, as it does with a reverse proxy that cannot write any more.
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

// Unwrap is for http.ResponseController.
func (s *watchWriter) Unwrap() http.ResponseWriter { return s.x.w }

// Flush sends what was written and is not withheld.
func (s *watchWriter) Flush() { _ = s.FlushError() }

// FlushError is Flush for http.ResponseController.
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
		s.x.w.WriteHeader(code) // no watch yet, or none at all
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

// writeUnreadable answers a watch that rules are armed for and that cannot be read: to
// serve it untouched would be a test that tests nothing.
func (s *watchWriter) writeUnreadable() {
	status := apierrors.NewInternalError(fmt.Errorf(
		"rules of this server act on watch frames (%s), and frames of %q cannot be read; accept %s or %s",
		strings.Join(s.rules.couldMatchNames(Stream, s.op), ", "), s.contentType, runtime.ContentTypeJSON, runtime.ContentTypeProtobuf)).Status()
	clear(s.Header())
	writeStatus(s.x.w, s.x.r, completeStatus(status, s.op))
	s.terminate(finished)
}

// refreshRules finds out whether a rule could match frames of this watch. With no rules
// it is one atomic load, and with the same ones as before little more.
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

// trackFrames follows the ends of frames through bytes that pass untouched.
func (s *watchWriter) trackFrames(p []byte) {
	for len(p) > 0 {
		n, complete := s.splitter.Advance(p)
		s.midFrame = !complete
		p = p[n:]
	}
}

// writePart handles bytes of one frame. A frame that had begun to pass before the
// rules came goes on doing so.
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
	whole := &frame{s.buffered, s.op}
	s.buffered, s.buffering = s.buffered[:0], false
	return s.writeFrame(whole)
}

// frame is one complete frame, which effects may change.
type frame struct {
	data []byte
	op   Op // what rules may ask about it
}

// writeFrame asks the rules about a frame, and sends it if they let it.
func (s *watchWriter) writeFrame(f *frame) error {
	o, late := proceed, s.reordered
	if s.framing.parseEvent(f.data, &f.op) {
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
	if late == nil {
		return nil
	}
	s.reordered = nil
	_, err := s.x.write(late)
	return err
}

// writeNow sends bytes of a rule at once. A client that has left is noticed by the
// handler, as ever.
func (s *watchWriter) writeNow(p []byte) {
	_, _ = s.x.write(p)
	s.x.flush()
}

// terminate ends the watch: nothing more is written, and the handler is told to stop.
func (s *watchWriter) terminate(o outcome) {
	s.result = o
	if o == aborted && s.wroteHeader {
		s.x.flush() // what came before the break is not lost with it
	}
	s.stop()
}

var _ interface {
	http.ResponseWriter
	http.Flusher
	Unwrap() http.ResponseWriter
} = (*watchWriter)(nil)
