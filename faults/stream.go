package faults

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/fakeapi/internal/frames"
)

// errStopped is what the handler of a watch gets from its writer once a rule has
// ended the watch.
var errStopped = errors.New("faults: a rule has ended this watch")

// stream is the ResponseWriter of a watch. While no rule could match its frames
// it passes on what it gets and only keeps track of where frames end; else it
// holds each frame until it is complete, and asks the rules.
type stream struct {
	x    *exchange
	op   Op
	stop context.CancelFunc // ends the handler that writes

	framing framing         // nil until the header is written, and if frames cannot be read
	split   frames.Splitter // of framing
	media   string          // the Content-Type, for messages

	known    *armory // the rules that watchful was found out for
	watchful bool    // one of them could match a frame

	wrote   bool // the header is written
	inside  bool // the last byte written was not the last of a frame
	holding bool // the frame at hand is collected in held
	held    []byte
	late    []byte // a frame that goes out behind the next one; nil if there is none

	end outcome // proceed while the watch runs
}

// serveStream lets next write a watch, under the eyes of the rules.
func serveStream(x *exchange, next http.Handler) outcome {
	ctx, stop := context.WithCancel(x.r.Context())
	defer stop()
	s := &stream{x: x, op: x.op, stop: stop}
	s.op.Phase = Stream
	r := x.r.WithContext(ctx)
	if r.Header.Get("Accept-Encoding") != "" {
		r.Header = r.Header.Clone()
		r.Header.Del("Accept-Encoding")
	}
	s.run(next, r)
	if s.end != proceed {
		return s.end
	}
	if s.late != nil {
		s.emit(s.late) // no other has come
	}
	if len(s.held) > 0 {
		s.emit(s.held) // an unfinished frame is the handler's own doing
	}
	return finished
}

// run calls next. A watch that a rule has ended may end next with
// ErrAbortHandler, as it does with a reverse proxy that cannot write any more.
func (s *stream) run(next http.Handler, r *http.Request) {
	defer func() {
		if s.end == proceed {
			return
		}
		if cause := recover(); cause != nil && cause != http.ErrAbortHandler {
			panic(cause)
		}
	}()
	next.ServeHTTP(s, r)
}

func (s *stream) Header() http.Header { return s.x.w.Header() }

// Unwrap is for http.ResponseController.
func (s *stream) Unwrap() http.ResponseWriter { return s.x.w }

// Flush sends what was written and is not withheld.
func (s *stream) Flush() { _ = s.FlushError() }

// FlushError is Flush for http.ResponseController.
func (s *stream) FlushError() error {
	if s.end != proceed {
		return errStopped
	}
	if !s.wrote {
		s.WriteHeader(http.StatusOK)
	}
	return s.x.tryFlush()
}

func (s *stream) WriteHeader(code int) {
	if s.end != proceed {
		return
	}
	if code < 200 || s.wrote || code != http.StatusOK {
		s.wrote = s.wrote || code >= 200
		s.x.w.WriteHeader(code) // no watch yet, or none at all
		return
	}
	s.wrote = true
	s.media = s.Header().Get("Content-Type")
	if encoding := s.Header().Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		s.media += " in " + encoding
	} else {
		s.framing = framingOf(s.media)
	}
	switch {
	case s.framing != nil:
		s.split = frames.NewSplitter(frames.MediaType(s.media))
	case s.look():
		s.refuse()
		return
	}
	s.x.w.WriteHeader(code)
}

// refuse answers a watch that rules are armed for and that cannot be read: to
// serve it untouched would be a test that tests nothing.
func (s *stream) refuse() {
	status := apierrors.NewInternalError(fmt.Errorf(
		"rules of this server act on watch frames (%s), and frames of %q cannot be read; accept %s or %s",
		strings.Join(s.known.couldMatchNames(Stream, s.op), ", "), s.media, typeJSON, typeProtobuf)).Status()
	clear(s.Header())
	writeStatus(s.x.w, s.x.r, complete(status, s.op))
	s.halt(finished)
}

// look finds out whether a rule could match frames of this watch. With no rules
// it is one atomic load, and with the same ones as before little more.
func (s *stream) look() bool {
	if now := s.x.set.load(); now != s.known {
		s.known = now
		s.watchful = now.couldMatch(Stream, s.op)
		if s.watchful && s.wrote && s.framing == nil && s.media != "" {
			s.x.set.miss(now, s.op, "frames of "+s.media+" cannot be read")
		}
	}
	return s.watchful
}

func (s *stream) Write(p []byte) (int, error) {
	if !s.wrote {
		s.WriteHeader(http.StatusOK)
	}
	if s.end != proceed {
		return 0, errStopped
	}
	watchful := s.look()
	if s.framing == nil {
		return s.x.write(p)
	}
	if !watchful && !s.holding && s.late == nil {
		s.track(p)
		return s.x.write(p)
	}
	for rest := p; len(rest) > 0; {
		n, complete := s.split.Advance(rest)
		if err := s.piece(rest[:n], complete); err != nil {
			return len(p) - len(rest), err
		}
		rest = rest[n:]
	}
	return len(p), nil
}

// track follows the ends of frames through bytes that pass untouched.
func (s *stream) track(p []byte) {
	for len(p) > 0 {
		n, complete := s.split.Advance(p)
		s.inside = !complete
		p = p[n:]
	}
}

// piece handles bytes of one frame. A frame that had begun to pass before the
// rules came goes on doing so.
func (s *stream) piece(p []byte, complete bool) error {
	if !s.inside {
		s.holding = true
	}
	s.inside = !complete
	if !s.holding {
		_, err := s.x.write(p)
		return err
	}
	s.held = append(s.held, p...)
	if !complete {
		return nil
	}
	whole := &frame{s.held, s.op}
	s.held, s.holding = s.held[:0], false
	return s.pass(whole)
}

// frame is one complete frame, which effects may change.
type frame struct {
	data []byte
	op   Op // what rules may ask about it
}

// pass asks the rules about a frame, and sends it if they let it.
func (s *stream) pass(f *frame) error {
	o, late := proceed, s.late
	if s.framing.describe(f.data, &f.op) {
		o = s.x.strike(s.known, f.op, func(e Effect) outcome { return e.(streamEffect).stream(s, f) })
	}
	switch o {
	case withheld:
		return nil
	case proceed:
		if _, err := s.x.write(f.data); err != nil {
			return err
		}
	case sent:
	default:
		s.halt(o)
		return errStopped
	}
	if late == nil {
		return nil
	}
	s.late = nil
	_, err := s.x.write(late)
	return err
}

// emit sends bytes of a rule at once. A client that has left is noticed by the
// handler, as ever.
func (s *stream) emit(p []byte) {
	_, _ = s.x.write(p)
	s.x.flush()
}

// halt ends the watch: nothing more is written, and the handler is told to stop.
func (s *stream) halt(o outcome) {
	s.end = o
	if o == broken && s.wrote {
		s.x.flush() // what came before the break is not lost with it
	}
	s.stop()
}

var _ interface {
	http.ResponseWriter
	http.Flusher
	Unwrap() http.ResponseWriter
} = (*stream)(nil)
