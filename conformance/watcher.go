package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// event is an event of a watch.
type event struct {
	Type   string          `json:"type"`
	Object json.RawMessage `json:"object"`

	meta metav1.PartialObjectMetadata // metadata of the object
}

func (e event) String() string {
	return fmt.Sprintf("%s %s@%s", e.Type, e.meta.Name, e.meta.ResourceVersion)
}

// watcher reads the events of a watch. It waits until the context of the watch ends.
type watcher struct {
	method, url string
	response    *http.Response
	frames      *json.Decoder
	cancel      context.CancelFunc
	seen        []string // events so far, for error messages
}

// watch opens a watch of the collection. The query begins with "?".
func (c collection) watch(ctx context.Context, query string) (*watcher, error) {
	return c.s.watch(ctx, get(c.path()+query))
}

// watch opens a watch, and expects a 200 response. The caller closes the watch; it ends with ctx.
// It retries after 429 with Retry-After.
func (s *session) watch(ctx context.Context, c call) (*watcher, error) {
	for tries := 0; ; tries++ {
		w, rejected, err := s.open(ctx, c)
		if err != nil || rejected == nil {
			return w, err
		}
		if !rejected.waitToRetry(ctx, tries) {
			return nil, rejected.errorf("expected a watch with code 200")
		}
	}
}

// open opens a watch. If the code is not 200, it returns the response instead.
func (s *session) open(ctx context.Context, c call) (*watcher, *response, error) {
	ctx, cancel := context.WithCancel(ctx)
	req, err := s.newHTTPRequest(ctx, c)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	resp, err := s.clientFor(c).Do(req)
	if err != nil {
		cancel()
		return nil, nil, fmt.Errorf("%s %s: opening a watch: %w", c.method, c.path, err)
	}
	w := &watcher{method: c.method, url: req.URL.Redacted(), response: resp, frames: json.NewDecoder(resp.Body), cancel: cancel}
	if resp.StatusCode == http.StatusOK {
		return w, nil, nil
	}
	defer w.close()
	body, _ := io.ReadAll(resp.Body)
	return nil, &response{method: c.method, url: w.url, code: resp.StatusCode, header: resp.Header, body: body}, nil
}

// close closes the watch.
func (w *watcher) close() {
	w.cancel()
	w.response.Body.Close()
}

// errorf returns an error with the request and the events so far.
func (w *watcher) errorf(format string, args ...any) error {
	seen := "none"
	if len(w.seen) > 0 {
		seen = strings.Join(w.seen, ", ")
	}
	return fmt.Errorf("%s %s: %w; events so far: %s", w.method, w.url, fmt.Errorf(format, args...), seen)
}

// next waits for an event. The error wraps io.EOF if the server ended the stream without an error.
func (w *watcher) next() (event, error) {
	var e event
	if err := w.frames.Decode(&e); err != nil {
		return e, w.errorf("waiting for an event: %w", err)
	}
	if err := json.Unmarshal(e.Object, &e.meta); err != nil {
		return e, w.errorf("the object of a %s event: %w", e.Type, err)
	}
	w.seen = append(w.seen, e.String())
	return e, nil
}

// want waits for an event, and expects its type and the name of its object. Before another event, a
// server may send bookmarks to a client that accepts them, but none that covers the event.
func (w *watcher) want(kind, name string) (event, error) {
	bookmarks := kind != "BOOKMARK" && strings.Contains(w.url, "allowWatchBookmarks=true")
	var last string // resourceVersion of the last bookmark
	for {
		e, err := w.next()
		if err != nil {
			return e, fmt.Errorf("expected %s %s: %w", kind, name, err)
		}
		if bookmarks && e.Type == "BOOKMARK" && !e.endsInitialEvents() {
			last = e.meta.ResourceVersion
			continue
		}
		if e.Type != kind || e.meta.Name != name {
			return e, w.errorf("expected %s %s, got %v", kind, name, e)
		}
		if last != "" && (e.meta.ResourceVersion == last || expectNotOlder(e.meta.ResourceVersion, last) != nil) {
			return e, w.errorf("expected no %v after a bookmark at %s", e, last)
		}
		return e, nil
	}
}

// wantAt is like want, and also expects a resourceVersion.
func (w *watcher) wantAt(kind, name, resourceVersion string) error {
	e, err := w.want(kind, name)
	if err == nil && e.meta.ResourceVersion != resourceVersion {
		err = w.errorf("expected %s %s at resourceVersion %s, got %v", kind, name, resourceVersion, e)
	}
	return err
}

// wantAdded waits for ADDED events of exactly these objects, in this order.
func (w *watcher) wantAdded(names ...string) error {
	for _, name := range names {
		if _, err := w.want("ADDED", name); err != nil {
			return err
		}
	}
	return nil
}

// readAll reads events until the server ends the stream, and expects no error.
func (w *watcher) readAll() ([]event, error) {
	var all []event
	for {
		e, err := w.next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, e)
	}
}

// wantEnd waits for the end of the stream, and expects no further events.
func (w *watcher) wantEnd() error {
	more, err := w.readAll()
	if err != nil {
		return fmt.Errorf("expected the stream to end without an error: %w", err)
	}
	if len(more) > 0 {
		return w.errorf("expected the stream to end, got %v", more)
	}
	return nil
}

// expectSameState expects an event with an earlier state of its object, except for the
// resourceVersion.
func (w *watcher) expectSameState(e event, before json.RawMessage) error {
	if !equalJSON(withoutResourceVersion(e.Object), withoutResourceVersion(before)) {
		return w.errorf("expected %s with the state %s, got %s", e.Type, excerpt(before), excerpt(e.Object))
	}
	return nil
}

// withoutResourceVersion returns an object without its resourceVersion, or what is not an object as
// it is.
func withoutResourceVersion(doc json.RawMessage) json.RawMessage {
	var o map[string]any
	if json.Unmarshal(doc, &o) != nil {
		return doc
	}
	unstructured.RemoveNestedField(o, "metadata", "resourceVersion")
	out, err := json.Marshal(o)
	if err != nil {
		return doc
	}
	return out
}

// equalJSON reports whether two documents are equal except for the order of fields and white space.
func equalJSON(a, b []byte) bool {
	canonical := func(doc []byte) []byte {
		var v any
		if json.Unmarshal(doc, &v) != nil {
			return doc
		}
		out, err := json.Marshal(v)
		if err != nil {
			return doc
		}
		return out
	}
	return bytes.Equal(canonical(a), canonical(b))
}
