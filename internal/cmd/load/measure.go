package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// tooMany failures end a measurement: it would say nothing any more.
const tooMany = 100

// job is a kind of request that is repeated.
type job struct {
	name    string
	clients int
	// first and last number the requests; without a last they go on until the time is
	// over, and with one and timed until whatever comes first.
	first, last int
	timed       bool
	// request is made by a client; of its requests it is the turn-th, of all the n-th.
	request func(ctx context.Context, c *client, who, turn, n int) error
}

// tally is what the clients of a job have seen.
type tally struct {
	mu        sync.Mutex // guards the others
	latencies []time.Duration
	failed    int
	first     error
}

func (t *tally) fail(err error) (enough bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed++
	if t.first == nil {
		t.first = err
	}
	return t.failed >= tooMany
}

// measure has the clients repeat a request, and reports how it went. The error is that
// of ctx; what failed otherwise is part of the report.
func (s *session) measure(ctx context.Context, j job) error {
	s.tell("%s, clients: %d", j.name, j.clients)
	var t tally
	var next atomic.Int64
	next.Store(int64(j.first) - 1)
	var clients sync.WaitGroup
	began := time.Now()
	for who := range j.clients {
		clients.Go(func() { s.repeat(ctx, j, who, began, &next, &t) })
	}
	clients.Wait()
	s.add(j.name, j.clients, time.Since(began), &t, ctx)
	return ctx.Err()
}

// repeat is what one of the clients does.
func (s *session) repeat(ctx context.Context, j job, who int, began time.Time, next *atomic.Int64, t *tally) {
	var took []time.Duration
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.latencies = append(t.latencies, took...)
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
		} else if ctx.Err() == nil && t.fail(err) {
			return
		}
	}
}

// add reports a measurement, unless it was interrupted.
func (s *session) add(name string, clients int, elapsed time.Duration, t *tally, ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	f := NewFigure(name, clients, elapsed, t.latencies)
	f.Requests, f.Failed = f.Requests+t.failed, t.failed
	if t.first != nil {
		f.FirstError = t.first.Error()
	}
	s.report.Figures = append(s.report.Figures, f)
}
