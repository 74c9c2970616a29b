package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// maxFailures is the number of failures that ends a measurement.
const maxFailures = 100

// job is a kind of request that is repeated.
type job struct {
	name string
	// resource is that of Config.Resources, if the job is of one.
	resource string
	clients  int
	// first and last number the requests. If last is 0, they are repeated until the duration is
	// over; if timed is set too, until whichever comes first.
	first, last int
	timed       bool
	// request sends a request of client c. turn counts the requests of the client, n all requests.
	request func(ctx context.Context, c *client, who, turn, n int) error
}

// results collects the results of the clients of a job.
type results struct {
	mu        sync.Mutex // guards the fields below
	latencies []time.Duration
	failed    int
	first     error
	// processor is the processor time of the server in total, 0 if it is not known.
	processor time.Duration
}

func (r *results) fail(err error) (enough bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed++
	if r.first == nil {
		r.first = err
	}
	return r.failed >= maxFailures
}

// measure repeats a request with all clients of the job and adds a figure to the report. It returns
// the error of ctx; failed requests are only reported.
func (s *session) measure(ctx context.Context, j job) error {
	s.progress("%s, clients: %d", j.name, j.clients)
	var r results
	var next atomic.Int64
	next.Store(int64(j.first) - 1)
	var clients sync.WaitGroup
	processor, hasTime := s.startProcessorTime(ctx)
	began := time.Now()
	for who := range j.clients {
		clients.Go(func() { s.repeat(ctx, j, who, began, &next, &r) })
	}
	clients.Wait()
	elapsed := time.Since(began)
	if hasTime {
		r.processor = s.stopProcessorTime(ctx, processor)
	}
	s.add(j, elapsed, &r, ctx)
	return ctx.Err()
}

// repeat runs the requests of one client.
func (s *session) repeat(ctx context.Context, j job, who int, began time.Time, next *atomic.Int64, r *results) {
	var took []time.Duration
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.latencies = append(r.latencies, took...)
	}()
	for turn := 0; ctx.Err() == nil; turn++ {
		if (j.last == 0 || j.timed) && turn > 0 && time.Since(began) >= s.config.Duration {
			return
		}
		n := int(next.Add(1))
		if j.last > 0 && n > j.last {
			return
		}
		at := time.Now()
		err := j.request(ctx, s.clients[who], who, turn, n)
		if err == nil {
			took = append(took, time.Since(at))
		} else if ctx.Err() == nil && r.fail(err) {
			return
		}
	}
}

// add adds a figure to the report, unless ctx is done.
func (s *session) add(j job, elapsed time.Duration, r *results, ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	f := NewFigure(j.name, j.clients, elapsed, r.latencies)
	f.Resource, f.Requests, f.Failed = j.resource, f.Requests+r.failed, r.failed
	if f.Requests > 0 {
		f.ProcessorTime = float64(r.processor) / float64(time.Microsecond) / float64(f.Requests)
	}
	if r.first != nil {
		f.FirstError = r.first.Error()
	}
	s.report.Figures = append(s.report.Figures, f)
}
