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
	"example.com/fakeapi/internal/responsewriter"
)

// What a Recorder keeps at most. Of plain exchanges that is 16 MiB; the frames of all
// watches together have a bound of their own.
const (
	// MaxExchanges is the number of exchanges; those that have not ended are kept
	// beside them.
	MaxExchanges = 1000
	// MaxBodyBytes is how much of a body or a frame, in bytes.
	MaxBodyBytes = 8 << 10
	// MaxFramesPerWatch is the number of frames of one watch.
	MaxFramesPerWatch = 128
	// MaxFrameBytes is what the frames of all watches may take; those with the same
	// bytes, as many watches get them, count once. If they take more, each watch
	// forgets the older half of what it has.
	MaxFrameBytes = 16 << 20
)

// Recorder remembers what passes through a handler. On the way of a request it only
// copies bytes; what they say is read when Timeline is called.
type Recorder struct {
	begin time.Time
	hits  func() []faults.Hit
	pool  bodyPool
	// evicting is held by the one who makes room.
	evicting sync.Mutex

	mu      sync.Mutex // guards all below
	ring    []*recording
	seq     uint64
	running map[*recording]struct{} // those that the ring has no place for any more
}

// NewRecorder makes a Recorder, whose time begins now. hits gives what fault rules did.
func NewRecorder(hits func() []faults.Hit) *Recorder {
	return &Recorder{begin: time.Now(), hits: hits, pool: bodyPool{seed: maphash.MakeSeed()}}
}

// Handler notes every request that next serves, and what the client gets for it: put
// it outside of all that changes answers.
func (r *Recorder) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		x := r.add(request)
		defer r.end(x)
		next.ServeHTTP(&responseWriter{Status: responsewriter.Status{ResponseWriter: w}, x: x, pool: &r.pool, evict: r.evict, request: request}, x.recordBody(request))
	})
}

// add begins an exchange.
func (r *Recorder) add(request *http.Request) *recording {
	path := request.RequestURI // as it was sent; nobody has to put it together
	if !strings.HasPrefix(path, "/") {
		path = request.URL.RequestURI()
	}
	x := &recording{begin: time.Now(), client: request.UserAgent(), method: request.Method, path: path}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seq++
	x.seq, x.order = r.seq, r.pool.order.Add(1)
	if len(r.ring) < MaxExchanges {
		r.ring = append(r.ring, x)
		return x
	}
	at := r.slot(x.seq)
	oldest := r.ring[at]
	r.ring[at] = x
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

// slot is where an exchange lies once the ring is full, and before that as well.
func (r *Recorder) slot(seq uint64) int { return int((seq - 1) % MaxExchanges) }

// end ends an exchange. One that has lost its place in the ring is forgotten.
func (r *Recorder) end(x *recording) {
	x.finish()
	r.mu.Lock()
	defer r.mu.Unlock()
	x.ended = true
	if _, outside := r.running[x]; outside {
		delete(r.running, x)
		x.dropBodies(&r.pool)
	}
}

// recordings gives the exchanges that are known, in the order of their arrival, and how many
// are not any more.
func (r *Recorder) recordings() (known []*recording, forgotten uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known = make([]*recording, 0, len(r.running)+len(r.ring))
	for x := range r.running {
		known = append(known, x)
	}
	known = append(known, r.ring...)
	return known, r.seq - uint64(len(known))
}

// evict makes room if the frames take too much of it. One does that at a time.
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
			return // what there is was added meanwhile
		}
	}
}

// recording is what is kept of one request. What is set when it is made does not
// change.
type recording struct {
	seq, order           uint64
	begin                time.Time
	client, method, path string
	ended                bool // guarded by the lock of the Recorder

	mu   sync.Mutex // guards all below
	end  time.Time
	code int

	requestType, answerType string
	request, answer         truncatedBody
	stream                  *stream // of a watch, else nil
}

// truncatedBody is the beginning of a body.
type truncatedBody struct {
	data []byte
	size int64
}

func (p *truncatedBody) add(b []byte) {
	p.size += int64(len(b))
	if room := MaxBodyBytes - len(p.data); room > 0 {
		p.data = append(p.data, b[:min(len(b), room)]...)
	}
}

// recordBody gives the request with a body that tells the exchange what is read of it.
func (x *recording) recordBody(r *http.Request) *http.Request {
	if r.Body == nil || r.Body == http.NoBody {
		return r
	}
	x.requestType = frames.MediaType(r.Header.Get("Content-Type"))
	r2 := *r
	r2.Body = &recordingReader{ReadCloser: r.Body, x: x}
	return &r2
}

// finish notes the end.
func (x *recording) finish() {
	now := time.Now()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.end = now
}

// dropBodies gives back what the exchange has taken of the pool, and its buffers, empty, for
// another one: as garbage, bodies would cost more than it does to copy them.
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

// dropOlderHalf forgets the older half of the frames.
func (x *recording) dropOlderHalf(p *bodyPool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stream != nil {
		x.stream.drop((len(x.stream.frames)+1)/2, p)
	}
}

// recordingReader is the body of a request that is recorded.
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
