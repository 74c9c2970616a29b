package aggregator

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"example.com/fakeapi/internal/responsewriter"
)

// The times for which documents of other servers, and errors of fetching them, are kept, and the
// time limit of fetching one.
const (
	documentLifetime = time.Minute
	errorLifetime    = time.Second
	fetchTimeout     = 5 * time.Second
)

// documents are what was fetched from the server of an APIService.
type documents struct {
	// busy has an element while one of the documents is fetched. It is a lock of the fields below: a
	// channel, because a goroutine of a synctest bubble that waits for a mutex keeps time from
	// passing.
	busy      chan struct{}
	service   *APIService
	discovery fetched[versionDiscovery]
	v3        fetched[v3Index]
	v2        fetched[v2Document]
}

// fetched is a document, or the error of fetching it.
type fetched[T any] struct {
	value T
	err   error
	until time.Time
}

// documentsOf returns the documents of the server of an APIService, locked. The caller calls
// unlock. It returns nil if ctx ends before.
func (a *Aggregator) documentsOf(ctx context.Context, s *APIService) *documents {
	a.mu.Lock()
	d := a.documents[s.Name]
	if d == nil {
		if len(a.documents) == maxBackends {
			clear(a.documents)
		}
		d = &documents{busy: make(chan struct{}, 1)}
		a.documents[s.Name] = d
	}
	a.mu.Unlock()
	select {
	case d.busy <- struct{}{}:
	case <-ctx.Done():
		return nil
	}
	if d.service != s { // it has changed, or became available
		d.service, d.discovery, d.v3, d.v2 = s, fetched[versionDiscovery]{}, fetched[v3Index]{}, fetched[v2Document]{}
	}
	return d
}

func (d *documents) unlock() { <-d.busy }

// get returns a kept document, or one that fetch returns. Fetching ends with ctx, and its error is
// not kept then: it is not one of the server.
func (f *fetched[T]) get(ctx context.Context, fetch func(ctx context.Context) (T, error)) (T, error) {
	if time.Now().Before(f.until) {
		return f.value, f.err
	}
	limited, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	value, err := fetch(limited)
	if err != nil && ctx.Err() != nil {
		return value, err
	}
	f.value, f.err, f.until = value, err, time.Now().Add(documentLifetime)
	if err != nil {
		f.until = time.Now().Add(errorLifetime)
	}
	return value, err
}

// fetch requests a document of the server of an APIService as the aggregator itself.
func (a *Aggregator) fetch(ctx context.Context, s *APIService, path, accept string) (*responsewriter.Buffer, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, path, http.NoBody)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", accept)
	w := responsewriter.NewBuffer(http.Header{})
	a.Serve(w, r, s, aggregatorUser())
	if w.Code == http.StatusServiceUnavailable {
		return nil, fmt.Errorf("%s of %s is not available: %s", path, s.Name, w.Body.String())
	}
	return w, nil
}
