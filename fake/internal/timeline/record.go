package timeline

import (
	"hash/maphash"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"example.com/fakeapi/faults"
	"example.com/fakeapi/internal/frames"
	"example.com/fakeapi/internal/requestinfo"
	"example.com/fakeapi/internal/responsewriter"
)

// The limits of a Recorder. Exchanges without watches take at most 16 MiB, and as much for the
// decisions of admission. The frames of all watches together have a limit of their own.
const (
	// MaxExchanges is the maximum number of exchanges. Active exchanges do not count.
	MaxExchanges = 1000
	// MaxBodyBytes is how many bytes of a body or a frame are recorded.
	MaxBodyBytes = 8 << 10
	// MaxFramesPerWatch is the maximum number of frames of a watch.
	MaxFramesPerWatch = 128
	// MaxFrameBytes is the maximum size of the frames of all watches. Frames with the same bytes,
	// as many watches receive them, count once. If the frames are larger, each watch drops the
	// older half of its frames.
	MaxFrameBytes = 16 << 20
)

// Recorder records the requests and responses of a handler. During a request it only copies bytes.
// They are parsed when Timeline is called.
type Recorder struct {
	begin time.Time
	hits  func() []faults.Hit
	pool  bodyPool
	notes notes
	// changes are the beginnings of responses, and the ends of exchanges.
	changes changes
	// evicting is held while frames are dropped.
	evicting sync.Mutex

	mu      sync.Mutex // guards the fields below
	ring    []*recording
	oldest  int // the index of the oldest recording in a full ring
	seq     uint64
	removed uint64                  // counts those that Reset removed
	running map[*recording]struct{} // active exchanges that have left the ring
}

// NewRecorder returns a Recorder whose timeline begins now. hits returns the hits of fault rules.
func NewRecorder(hits func() []faults.Hit) *Recorder {
	return &Recorder{begin: time.Now(), hits: hits, pool: bodyPool{seed: maphash.MakeSeed()}}
}

// Handler records every request to next, and the response as the client receives it. It must be
// outside of all handlers that change responses.
func (r *Recorder) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		x := r.add(request)
		defer r.end(x)
		requestinfo.SetNumber(request.Context(), x.seq)
		next.ServeHTTP(&responseWriter{Status: responsewriter.Status{ResponseWriter: w}, x: x, pool: &r.pool, evict: r.evict, changes: &r.changes, request: request}, x.observe(request))
	})
}

// add begins an exchange.
func (r *Recorder) add(request *http.Request) *recording {
	path := request.RequestURI // the original URL; r.URL may be rewritten
	if !strings.HasPrefix(path, "/") {
		path = request.URL.RequestURI()
	}
	x := &recording{begin: time.Now(), client: request.UserAgent(), method: request.Method, path: path, info: *requestinfo.FromRequest(request)}
	if hasBody(request) {
		x.requestType = frames.MediaType(request.Header.Get("Content-Type"))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seq++
	x.seq, x.order = r.seq, r.pool.order.Add(1)
	if len(r.ring) < MaxExchanges {
		r.ring = append(r.ring, x)
		return x
	}
	oldest := r.ring[r.oldest]
	r.ring[r.oldest] = x
	r.oldest = (r.oldest + 1) % MaxExchanges
	if oldest.ended {
		x.request.data, x.answer.data = oldest.dropBodies(&r.pool)
		return x
	}
	if r.running == nil {
		r.running = make(map[*recording]struct{})
	}
	r.running[oldest] = struct{}{}
	return x
}

// end ends an exchange. If it is no longer in the ring, it is dropped.
func (r *Recorder) end(x *recording) {
	x.finish()
	defer r.changes.notify()
	r.mu.Lock()
	defer r.mu.Unlock()
	x.ended = true
	if _, outside := r.running[x]; outside {
		delete(r.running, x)
		x.dropBodies(&r.pool)
	}
}

// recordings returns the recorded exchanges in the order of their arrival, and the number of those
// that were dropped.
func (r *Recorder) recordings() (known []*recording, forgotten uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known = make([]*recording, 0, len(r.running)+len(r.ring))
	for x := range r.running {
		known = append(known, x)
	}
	known = append(known, r.ring...)
	return known, r.seq - r.removed - uint64(len(known))
}

// evict drops frames if they exceed MaxFrameBytes.
func (r *Recorder) evict() {
	if !r.evicting.TryLock() {
		return
	}
	defer r.evicting.Unlock()
	known, _ := r.recordings()
	for r.pool.bytes.Load() > MaxFrameBytes*3/4 {
		before := r.pool.bytes.Load()
		for _, x := range known {
			x.dropOlderHalf(&r.pool)
		}
		if r.pool.bytes.Load() >= before {
			return // the remaining bytes were added meanwhile
		}
	}
}

// recording is the record of one request. seq to path do not change.
type recording struct {
	seq, order           uint64
	begin                time.Time
	client, method, path string
	info                 requestinfo.RequestInfo
	// requestType is the media type of the body, "" if there is none.
	requestType string
	ended       bool // guarded by Recorder.mu

	mu   sync.Mutex // guards the fields below
	end  time.Time
	code int
	user string

	answerType      string
	request, answer truncatedBody
	stream          *stream    // nil unless it is a watch
	admission       *decisions // nil if there are none
}

func hasBody(r *http.Request) bool { return r.Body != nil && r.Body != http.NoBody }

// finish records the end.
func (x *recording) finish() {
	now := time.Now()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.end = now
}

// dropBodies releases the exchange's blobs and returns its buffers for reuse by another exchange.
// Allocating buffers costs more than copying into them.
func (x *recording) dropBodies(p *bodyPool) (request, answer []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stream != nil {
		x.stream.drop(len(x.stream.frames), p)
	}
	request, answer = x.request.data[:0], x.answer.data[:0]
	x.request.data, x.answer.data = nil, nil
	return request, answer
}

// dropOlderHalf drops the older half of the frames.
func (x *recording) dropOlderHalf(p *bodyPool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stream != nil {
		x.stream.drop((len(x.stream.frames)+1)/2, p)
	}
}

// recordingReader is the body of a recorded request.
type recordingReader struct {
	io.ReadCloser
	x *recording
}

// Read implements io.Reader.
func (r *recordingReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if n > 0 {
		r.x.mu.Lock()
		defer r.x.mu.Unlock()
		r.x.request.add(p[:n])
	}
	return n, err
}
