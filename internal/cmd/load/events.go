package load

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// events measures how many events the server sends to several watchers in a second while all
// clients write as fast as they can, for each number of watchers.
func (s *session) events(ctx context.Context) error {
	for _, watchers := range s.config.Watchers {
		if err := s.measureEvents(ctx, watchers); err != nil {
			return err
		}
	}
	return nil
}

// received counts the events that all watchers have read.
type received struct {
	events atomic.Int64
	// expected is the number of events that all watchers read in total, 0 until it is known. done
	// then receives nil, or the error of a watch.
	expected atomic.Int64
	done     chan error
}

// event is called for each event, and with the error of a watch that ends.
func (r *received) event(err error) bool {
	if err == nil && r.events.Add(1) != r.expected.Load() {
		return true
	}
	select {
	case r.done <- err:
	default: // the first one counts
	}
	return err == nil
}

// wait waits until n events are read.
func (r *received) wait(ctx context.Context, n int64) error {
	r.expected.Store(n)
	if r.events.Load() >= n {
		return nil
	}
	late := time.NewTimer(requestTimeout)
	defer late.Stop()
	select {
	case err := <-r.done:
		return err
	case <-late.C:
		return fmt.Errorf("after %v the watchers have read %d of %d events", requestTimeout, r.events.Load(), n)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// measureEvents opens watchers, writes until the time is over, and waits until all events are read.
// The rate, and the processor time, are those of an event to one watcher.
func (s *session) measureEvents(ctx context.Context, watchers int) error {
	s.progress("events, watchers: %d", watchers)
	parent := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	counter := &received{done: make(chan error, 1)}
	if err := s.openWatchers(ctx, watchers, counter.event); err != nil {
		return errors.Join(fmt.Errorf("opening %d watchers", watchers), err)
	}
	var r results
	processor, hasTime := s.startProcessorTime(ctx)
	began := time.Now()
	written := s.writeAll(ctx, began, &r)
	if r.first == nil {
		if err := counter.wait(ctx, written*int64(watchers)); err != nil {
			r.fail(err)
		}
	}
	elapsed := time.Since(began)
	if hasTime {
		r.processor = s.stopProcessorTime(ctx, processor)
	}
	s.addEvents(fmt.Sprintf("events to %d", watchers), elapsed, counter.events.Load(), &r, parent)
	return parent.Err()
}

// writeAll patches the objects with all clients, each at least once, until the time is over, and
// returns the number of writes.
func (s *session) writeAll(ctx context.Context, began time.Time, r *results) int64 {
	var written atomic.Int64
	var clients sync.WaitGroup
	for who := range s.config.Clients {
		clients.Go(func() {
			for turn := 0; ctx.Err() == nil && (turn == 0 || time.Since(began) < s.config.Duration); turn++ {
				path := s.objectName(s.config.Clients, who, turn)
				body := fmt.Appendf(nil, `{"data":{"n":"%d"}}`, s.changes.Add(1))
				if err := s.clients[who].do(ctx, http.MethodPatch, path, mergeMedia, body); err != nil {
					r.fail(err)
					return
				}
				written.Add(1)
			}
		})
	}
	clients.Wait()
	return written.Load()
}

// addEvents adds the figure of events to the report, unless ctx is done.
func (s *session) addEvents(name string, elapsed time.Duration, events int64, r *results, ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	f := Figure{Name: name, Clients: s.config.Clients, Requests: int(events), Failed: r.failed}
	f.PerSecond = float64(events) / elapsed.Seconds()
	if events > 0 {
		f.ProcessorTime = float64(r.processor) / float64(time.Microsecond) / float64(events)
	}
	if r.first != nil {
		f.FirstError = r.first.Error()
	}
	s.report.Figures = append(s.report.Figures, f)
}
