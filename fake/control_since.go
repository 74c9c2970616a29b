package fakeapi

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// maxWait is the longest wait of a request, and maxWaiting is how many requests can wait.
	maxWait    = 10 * time.Minute
	maxWaiting = 256
	// maxWaitCount is the largest number of items to wait for, which the records can have.
	maxWaitCount = 1000
	// metHeader is the header that reports whether there was what a request waited for.
	metHeader = "Fakeapi-Met"
)

// sinceParam returns the parameter since, or 0 without it.
func (c *controlAPI) sinceParam(r *http.Request) (uint64, error) {
	text := r.URL.Query().Get("since")
	if text == "" {
		return 0, nil
	}
	since, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, apierrors.NewBadRequest(fmt.Sprintf("since: %q is not a number of an earlier response", text))
	}
	if last := c.server.recorder.Order(); since > last {
		return 0, apierrors.NewBadRequest(fmt.Sprintf("since: %d is not a number of this server, whose last is %d", since, last))
	}
	return since, nil
}

// condition is what a request waits for. It returns whether it holds, and a channel that is closed
// when that may have changed.
type condition func() (holds bool, changed <-chan struct{})

// waitParams are the parameters of a request that can wait.
type waitParams struct {
	wait  time.Duration // 0 for a request that does not wait
	count int
}

func readWaitParams(r *http.Request) (p waitParams, err error) {
	query := r.URL.Query()
	p.count = 1
	if text := query.Get("count"); text != "" {
		p.count, err = strconv.Atoi(text)
		if err != nil || p.count < 1 || p.count > maxWaitCount {
			return p, apierrors.NewBadRequest(fmt.Sprintf("count: %q is not a number from 1 to %d", text, maxWaitCount))
		}
		if query.Get("wait") == "" {
			return p, apierrors.NewBadRequest("count requires wait")
		}
	}
	if text := query.Get("wait"); text != "" {
		p.wait, err = time.ParseDuration(text)
		if err != nil || p.wait <= 0 || p.wait > maxWait {
			return p, apierrors.NewBadRequest(fmt.Sprintf("wait: %q is not a duration such as 10s, of at most %v", text, maxWait))
		}
	}
	return p, nil
}

// waits are the requests that wait.
type waits struct {
	mu    sync.Mutex // guards the fields below
	count int
	end   chan struct{} // closed when all must end; nil if none waits
}

// begin returns a channel that is closed when the wait must end, or an error if there are too many
// waits.
func (s *waits) begin() (end <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count >= maxWaiting {
		return nil, apierrors.NewTooManyRequests(fmt.Sprintf("%d requests of the control API wait already", maxWaiting), 1)
	}
	s.count++
	if s.end == nil {
		s.end = make(chan struct{})
	}
	return s.end, nil
}

// done ends a wait.
func (s *waits) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count--
}

// endWaits ends the waits of all requests, which respond with what there is.
func (c *controlAPI) endWaits() {
	if c == nil {
		return
	}
	c.waits.mu.Lock()
	defer c.waits.mu.Unlock()
	if c.waits.end != nil {
		close(c.waits.end)
		c.waits.end = nil
	}
}

// waitUntil waits until a condition holds, and reports whether it does. It ends after the duration,
// when the client has gone, and when the server shuts down. An error is that of too many requests.
func (c *controlAPI) waitUntil(r *http.Request, wait time.Duration, holds condition) (bool, error) {
	end, err := c.waits.begin()
	if err != nil {
		return false, err
	}
	defer c.waits.done()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		met, changed := holds()
		if met {
			return true, nil
		}
		select {
		case <-changed:
		case <-timer.C:
			return false, nil
		case <-end:
			return false, nil
		case <-r.Context().Done():
			return false, nil
		}
	}
}

// await waits as the parameters say, and returns the fields of the JSON response about it. It does
// nothing for a request that does not wait.
func (c *controlAPI) await(w http.ResponseWriter, r *http.Request, p waitParams, holds condition) (fields []any, err error) {
	if p.wait == 0 {
		return nil, nil
	}
	met, err := c.waitUntil(r, p.wait, holds)
	if err != nil {
		return nil, err
	}
	w.Header().Set(metHeader, strconv.FormatBool(met))
	return []any{"met", met}, nil
}
