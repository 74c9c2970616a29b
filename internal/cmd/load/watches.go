package load

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// initialEventsEnd is the annotation of the bookmark that ends a streaming list (KEP-3157).
const initialEventsEnd = "k8s.io/initial-events-end"

// watchList measures a streaming list up to its bookmark.
func (s *session) watchList(ctx context.Context) error {
	path := s.maps + "?watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=60"
	read := func(ctx context.Context, c *client, _, _, _ int) error {
		ctx, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		return c.frames(ctx, path, func(frame []byte) bool { return !bytes.Contains(frame, []byte(initialEventsEnd)) })
	}
	refused := new(responseError)
	if err := read(ctx, s.clients[0], 0, 0, 0); errors.As(err, &refused) && refused.code < http.StatusInternalServerError {
		s.note("streaming lists are not served: %s", refused)
		return nil
	}
	return s.measure(ctx, job{name: "watch list", clients: 1, request: read})
}

// frames opens a watch and calls more with its frames until it returns false.
func (c *client) frames(ctx context.Context, path string, more func(frame []byte) bool) error {
	answer, err := c.open(ctx, http.MethodGet, path, "", nil)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	return readFrames(answer.Body, more)
}

func readFrames(body io.Reader, more func(frame []byte) bool) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 4<<10), 4<<20)
	for lines.Scan() {
		if bytes.HasPrefix(lines.Bytes(), []byte(`{"type":"ERROR"`)) {
			return fmt.Errorf("the watch ended with %.300s", lines.Bytes())
		}
		if !more(lines.Bytes()) {
			return nil
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return errors.New("the watch ended")
}

// fanOut measures the time until all watchers have received a write, for each number of watchers.
func (s *session) fanOut(ctx context.Context) error {
	for _, watchers := range s.config.Watchers {
		if err := s.measureFanOut(ctx, watchers); err != nil {
			return err
		}
		s.memory(ctx, strconv.Itoa(watchers)+" watchers later")
	}
	return nil
}

// measureFanOut opens watchers and writes until the time is over. Each write waits until all
// watchers have read the previous event. The latency is that of the last watcher.
func (s *session) measureFanOut(ctx context.Context, watchers int) error {
	s.progress("fan-out, watchers: %d", watchers)
	parent := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	arrived := make(chan error, watchers)
	if err := s.openWatchers(ctx, watchers, func(err error) bool {
		select {
		case arrived <- err:
			return true
		case <-ctx.Done():
			return false
		}
	}); err != nil {
		return errors.Join(fmt.Errorf("opening %d watchers", watchers), err)
	}
	var r results
	began := time.Now()
	for turn := 0; turn == 0 || time.Since(began) < s.config.Duration; turn++ {
		at := time.Now()
		if err := s.oneEvent(ctx, turn, watchers, arrived); err != nil {
			r.fail(err) // the watchers are no longer in step
			break
		}
		r.latencies = append(r.latencies, time.Since(at))
	}
	s.add(job{name: fmt.Sprintf("fan-out to %d", watchers), clients: 1}, time.Since(began), &r, parent)
	return parent.Err()
}

// oneEvent writes, and waits until all watchers have read the event.
func (s *session) oneEvent(ctx context.Context, turn, watchers int, arrived <-chan error) error {
	path := s.objectName(1, 0, turn)
	if err := s.clients[0].do(ctx, http.MethodPatch, path, mergeMedia, fmt.Appendf(nil, `{"data":{"n":"%d"}}`, s.changes.Add(1))); err != nil {
		return err
	}
	late := time.NewTimer(requestTimeout)
	defer late.Stop()
	for n := range watchers {
		select {
		case err := <-arrived:
			if err != nil {
				return err
			}
		case <-late.C:
			return fmt.Errorf("after %v %d of %d watchers have read the event", requestTimeout, n, watchers)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// openWatchers opens watches from the current resourceVersion. Until ctx is done, each calls event
// with nil for an event of the run, until it returns false, and with an error if the watch ends.
func (s *session) openWatchers(ctx context.Context, watchers int, event func(error) bool) error {
	now, err := s.now(ctx)
	if err != nil {
		return err
	}
	path := s.maps + "?watch=1&resourceVersion=" + url.QueryEscape(now)
	for range watchers {
		answer, err := s.watchers.open(ctx, http.MethodGet, path, "", nil)
		if err != nil {
			return err
		}
		go func() {
			defer func() { _ = answer.Body.Close() }()
			if err := readFrames(answer.Body, func(frame []byte) bool {
				// Other events are not of this run, such as those of a cluster's own ConfigMaps.
				return !bytes.HasPrefix(frame, []byte(`{"type":"MODIFIED"`)) || event(nil)
			}); err != nil && ctx.Err() == nil {
				event(err)
			}
		}()
	}
	return nil
}

// now returns the current resourceVersion.
func (s *session) now(ctx context.Context) (string, error) {
	answer, err := s.clients[0].read(ctx, http.MethodGet, s.maps+"?limit=1", "", nil)
	if err != nil {
		return "", err
	}
	var list struct {
		Metadata struct{ ResourceVersion string }
	}
	err = json.Unmarshal(answer, &list)
	return list.Metadata.ResourceVersion, err
}
